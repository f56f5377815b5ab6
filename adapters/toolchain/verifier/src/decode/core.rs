// SPDX-License-Identifier: Apache-2.0
//! The Core module: functions, the intent and its statements.

use super::expression::{Binder, Expression, Predicate, binder, expression, predicate};
use super::reader::{
    Defect, Fields, Under, kind, list, map, named, nullable, raw_digest, refuse, text, unsigned,
};
use super::types::{Definition, Type};
use edict_codec::cbor::{Value, encode};
use std::collections::BTreeMap;

/// A Core module.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    /// `package@version`.
    pub(crate) coordinate: String,
    /// Manifest digests of the imported lawpacks by coordinate.
    pub(crate) imports: BTreeMap<String, [u8; 32]>,
    pub(crate) capabilities: Vec<String>,
    pub(crate) types: BTreeMap<String, Definition>,
    pub(crate) functions: BTreeMap<String, Function>,
    pub(crate) intents: BTreeMap<String, Intent>,
}

/// A function of a module, or a helper of a lawpack.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) parameters: Vec<Binder>,
    pub(crate) result: Type,
    pub(crate) bindings: Vec<Node>,
    pub(crate) value: Expression,
}

/// The entry of a program.
#[derive(Clone, Debug)]
pub(crate) struct Intent {
    pub(crate) parameter: Binder,
    pub(crate) result: Type,
    pub(crate) profile: String,
    pub(crate) core_profile: String,
    pub(crate) basis: Option<Expression>,
    /// Predicates by the number in their id.
    pub(crate) constraints: Vec<Predicate>,
    pub(crate) budget_coordinate: String,
    pub(crate) budget: Budget,
    pub(crate) body: Block,
}

/// Three ceilings of one invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) steps: u64,
    pub(crate) allocated_bytes: u64,
    pub(crate) output_bytes: u64,
}

/// Statements and what they yield.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) nodes: Vec<Node>,
    pub(crate) result: Expression,
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Let {
        binding: Binder,
        value: Expression,
    },
    Require {
        predicate: Predicate,
        raise: Raise,
    },
    Effect {
        binding: Binder,
        effect: String,
        input: Expression,
        arms: BTreeMap<String, (Binder, Raise)>,
    },
    Branch {
        condition: Predicate,
        binding: Option<Binder>,
        then: Block,
        otherwise: Block,
    },
    For {
        item: Binder,
        collection: Expression,
        bound: u64,
        fold: Option<Fold>,
        body: Block,
    },
}

/// What makes a loop yield a value.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    pub(crate) binding: Binder,
    pub(crate) accumulator: Binder,
    pub(crate) initial: Expression,
}

/// An authored obstruction.
#[derive(Clone, Debug)]
pub(crate) struct Raise {
    pub(crate) obstruction: String,
    pub(crate) payload: Option<Expression>,
}

impl Budget {
    /// The map of the three ceilings.
    pub(crate) fn to_value(self) -> Value {
        Value::text_map([
            ("maxSteps", Value::unsigned(self.steps)),
            ("maxAllocatedBytes", Value::unsigned(self.allocated_bytes)),
            ("maxOutputBytes", Value::unsigned(self.output_bytes)),
        ])
    }

    /// Reads the map of the three ceilings.
    pub(crate) fn read(value: &Value) -> Result<Self, Defect> {
        Self::from_fields(Fields::new(
            value,
            &["maxSteps", "maxAllocatedBytes", "maxOutputBytes"],
            &[],
        )?)
    }

    fn from_fields(fields: Fields<'_>) -> Result<Self, Defect> {
        Ok(Self {
            steps: fields.get("maxSteps", unsigned)?,
            allocated_bytes: fields.get("maxAllocatedBytes", unsigned)?,
            output_bytes: fields.get("maxOutputBytes", unsigned)?,
        })
    }
}

/// Reads a Core module.
pub(crate) fn core(value: &Value) -> Result<Core, Defect> {
    let fields = Fields::new(
        value,
        &[
            "apiVersion",
            "coordinate",
            "imports",
            "requiredCoreCapabilities",
            "types",
            "functions",
            "intents",
        ],
        &[],
    )?;
    fields.constant("apiVersion", "edict.core/v1")?;
    Ok(Core {
        coordinate: fields.get("coordinate", package_coordinate)?,
        imports: fields.get("imports", imports)?,
        capabilities: fields.get("requiredCoreCapabilities", |value| list(value, text))?,
        types: fields.get("types", |value| map(value, Definition::read))?,
        functions: fields.get("functions", |value| named(value, function))?,
        intents: fields.get("intents", |value| named(value, intent))?,
    })
}

/// `package@version`.
pub(crate) fn package_coordinate(value: &Value) -> Result<String, Defect> {
    let coordinate = text(value)?;
    match coordinate.split_once('@') {
        Some((package, version))
            if !package.is_empty() && !version.is_empty() && !version.contains('@') =>
        {
            Ok(coordinate)
        }
        _ => refuse("expected package@version"),
    }
}

fn imports(value: &Value) -> Result<BTreeMap<String, [u8; 32]>, Defect> {
    let rows = list(value, |value| {
        let fields = Fields::new(value, &["coordinate", "manifest"], &[])?;
        Ok((
            fields.get("coordinate", package_coordinate)?,
            fields.get("manifest", raw_digest)?,
        ))
    })?;
    if !rows.is_sorted_by(|left, right| left.0 < right.0) {
        return refuse("imports do not ascend by coordinate");
    }
    Ok(rows.into_iter().collect())
}

/// Reads a function.
pub(crate) fn function(value: &Value) -> Result<Function, Defect> {
    let fields = Fields::new(value, &["parameters", "result", "bindings", "value"], &[])?;
    Ok(Function {
        parameters: fields.get("parameters", |value| list(value, binder))?,
        result: fields.get("result", Type::read)?,
        bindings: fields.get("bindings", |value| list(value, node))?,
        value: fields.get("value", expression)?,
    })
}

fn intent(value: &Value) -> Result<Intent, Defect> {
    let fields = Fields::new(
        value,
        &[
            "parameter",
            "result",
            "operationProfile",
            "coreProfile",
            "basis",
            "constraints",
            "budget",
            "body",
        ],
        &[],
    )?;
    let (budget_coordinate, budget) = fields.get("budget", |value| {
        let keys = [
            "coordinate",
            "maxSteps",
            "maxAllocatedBytes",
            "maxOutputBytes",
        ];
        let fields = Fields::new(value, &keys, &[])?;
        Ok((
            fields.get("coordinate", text)?,
            Budget::from_fields(fields)?,
        ))
    })?;
    Ok(Intent {
        parameter: fields.get("parameter", binder)?,
        result: fields.get("result", Type::read)?,
        profile: fields.get("operationProfile", text)?,
        core_profile: fields.get("coreProfile", text)?,
        basis: fields.get("basis", |value| nullable(value, expression))?,
        constraints: fields.get("constraints", constraints)?,
        budget_coordinate,
        budget,
        body: fields.get("body", block)?,
    })
}

/// Stored ascending by bytes, numbered without gap; returned by number.
fn constraints(value: &Value) -> Result<Vec<Predicate>, Defect> {
    let rows = list(value, |row| {
        let fields = Fields::new(row, &["id", "predicate"], &[])?;
        let id = fields.get("id", text)?;
        let number: Option<usize> = id.strip_prefix("where.").and_then(|n| n.parse().ok());
        let Some(number) = number.filter(|number| format!("where.{number}") == id) else {
            return Err(Defect::new("expected where.N").under("id"));
        };
        Ok((encode(row), number, fields.get("predicate", predicate)?))
    })?;
    if !rows.is_sorted_by(|left, right| left.0 < right.0) {
        return refuse("constraints do not ascend by their bytes");
    }
    let mut numbered: BTreeMap<usize, Predicate> = BTreeMap::new();
    let count = rows.len();
    for (index, (_, number, predicate)) in rows.into_iter().enumerate() {
        if number >= count || numbered.insert(number, predicate).is_some() {
            return Err(Defect::new("constraint numbers have a gap").under("id")).under(index);
        }
    }
    Ok(numbered.into_values().collect())
}

fn block(value: &Value) -> Result<Block, Defect> {
    let fields = Fields::new(value, &["nodes", "result"], &[])?;
    Ok(Block {
        nodes: fields.get("nodes", |value| list(value, node))?,
        result: fields.get("result", expression)?,
    })
}

fn node(value: &Value) -> Result<Node, Defect> {
    match kind(value)? {
        "let" => {
            let fields = Fields::new(value, &["kind", "binding", "value"], &[])?;
            Ok(Node::Let {
                binding: fields.get("binding", binder)?,
                value: fields.get("value", expression)?,
            })
        }
        "require" => {
            let fields = Fields::new(value, &["kind", "predicate", "onFailure"], &[])?;
            Ok(Node::Require {
                predicate: fields.get("predicate", predicate)?,
                raise: fields.get("onFailure", raise)?,
            })
        }
        "effect" => {
            let fields = Fields::new(value, &["kind", "binding", "effect", "input", "arms"], &[])?;
            Ok(Node::Effect {
                binding: fields.get("binding", binder)?,
                effect: fields.get("effect", text)?,
                input: fields.get("input", expression)?,
                arms: fields.get("arms", |value| map(value, effect_arm))?,
            })
        }
        "branch" => {
            let keys = ["kind", "condition", "binding", "then", "else"];
            let fields = Fields::new(value, &keys, &[])?;
            Ok(Node::Branch {
                condition: fields.get("condition", predicate)?,
                binding: fields.get("binding", |value| nullable(value, binder))?,
                then: fields.get("then", block)?,
                otherwise: fields.get("else", block)?,
            })
        }
        "for" => for_node(value),
        _ => Err(Defect::new("unknown kind of node").under("kind")),
    }
}

fn for_node(value: &Value) -> Result<Node, Defect> {
    let keys = [
        "kind",
        "item",
        "collection",
        "bound",
        "binding",
        "accumulator",
        "initial",
        "body",
    ];
    let fields = Fields::new(value, &keys, &[])?;
    let binding = fields.get("binding", |value| nullable(value, binder))?;
    let accumulator = fields.get("accumulator", |value| nullable(value, binder))?;
    let initial = fields.get("initial", |value| nullable(value, expression))?;
    let fold = match (binding, accumulator, initial) {
        (Some(binding), Some(accumulator), Some(initial)) => Some(Fold {
            binding,
            accumulator,
            initial,
        }),
        (None, None, None) => None,
        _ => return refuse("binding, accumulator and initial stand together or not at all"),
    };
    Ok(Node::For {
        item: fields.get("item", binder)?,
        collection: fields.get("collection", expression)?,
        bound: fields.get("bound", unsigned)?,
        fold,
        body: fields.get("body", block)?,
    })
}

fn effect_arm(value: &Value) -> Result<(Binder, Raise), Defect> {
    let fields = Fields::new(value, &["binding", "raise"], &[])?;
    Ok((fields.get("binding", binder)?, fields.get("raise", raise)?))
}

fn raise(value: &Value) -> Result<Raise, Defect> {
    let fields = Fields::new(value, &["kind", "callee", "typeArgs", "args"], &[])?;
    fields.constant("kind", "call")?;
    fields.get("typeArgs", |value| match list(value, Type::read)?.len() {
        0 => Ok(()),
        _ => refuse("an obstruction takes no type arguments"),
    })?;
    let mut arguments = fields.get("args", |value| list(value, expression))?;
    let payload = arguments.pop();
    if !arguments.is_empty() || !matches!(payload, None | Some(Expression::Record(_))) {
        return Err(Defect::new("expected no argument or one record").under("args"));
    }
    Ok(Raise {
        obstruction: fields.get("callee", text)?,
        payload,
    })
}
