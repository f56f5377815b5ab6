// SPDX-License-Identifier: Apache-2.0
//! Expressions and predicates of Core.

use super::reader::{Defect, Fields, kind, list, nullable, refuse, text};
use super::types::Type;
use edict_codec::cbor::Value;
use std::fmt;

/// A binder of a function or intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Local {
    Argument(u32),
    Numbered(u32),
    Obstruction(u32),
}

/// A place where a value gets a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binder {
    pub(crate) local: Local,
    pub(crate) ty: Type,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Constant {
        ty: Type,
        value: Value,
    },
    Local(Local),
    Field {
        base: Box<Expression>,
        field: String,
    },
    /// Fields in written order.
    Record(Vec<(String, Expression)>),
    List {
        item: Type,
        items: Vec<Expression>,
    },
    Case {
        ty: String,
        case: String,
        payload: Option<Box<Expression>>,
    },
    Match {
        value: Box<Expression>,
        arms: Vec<Arm>,
    },
    Call {
        callee: String,
        type_arguments: Vec<Type>,
        arguments: Vec<Expression>,
    },
    If {
        condition: Box<Predicate>,
        then: Box<Expression>,
        otherwise: Box<Expression>,
    },
}

/// One arm of a match.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Arm {
    pub(crate) case: String,
    pub(crate) binding: Option<Binder>,
    pub(crate) value: Expression,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Predicate {
    Compare {
        operator: Operator,
        left: Expression,
        right: Expression,
    },
    All(Vec<Predicate>),
    Any(Vec<Predicate>),
    Not(Box<Predicate>),
    Literal(bool),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Local {
    fn parse(text: &str) -> Option<Self> {
        let (family, number) = text.split_once('.')?;
        let parsed: u32 = number.parse().ok()?;
        if parsed.to_string() != number {
            return None;
        }
        match family {
            "arg" => Some(Self::Argument(parsed)),
            "local" => Some(Self::Numbered(parsed)),
            "obstruction" => Some(Self::Obstruction(parsed)),
            _ => None,
        }
    }

    fn read(value: &Value) -> Result<Self, Defect> {
        Self::parse(&text(value)?).ok_or_else(|| Defect::new("expected the id of a binder"))
    }
}

impl fmt::Display for Local {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(number) => write!(formatter, "arg.{number}"),
            Self::Numbered(number) => write!(formatter, "local.{number}"),
            Self::Obstruction(number) => write!(formatter, "obstruction.{number}"),
        }
    }
}

/// Reads a binder; its name follows from its id.
pub(crate) fn binder(value: &Value) -> Result<Binder, Defect> {
    let fields = Fields::new(value, &["id", "name", "type"], &[])?;
    let local = fields.get("id", Local::read)?;
    fields.constant("name", &format!("${}", local.to_string().replace('.', "")))?;
    Ok(Binder {
        local,
        ty: fields.get("type", Type::read)?,
    })
}

/// Reads an expression.
pub(crate) fn expression(value: &Value) -> Result<Expression, Defect> {
    match kind(value)? {
        "const" => {
            let fields = Fields::new(value, &["kind", "type", "value"], &[])?;
            Ok(Expression::Constant {
                ty: fields.get("type", Type::read)?,
                value: fields.get("value", |value| Ok(value.clone()))?,
            })
        }
        "local" => {
            let fields = Fields::new(value, &["kind", "id"], &[])?;
            Ok(Expression::Local(fields.get("id", Local::read)?))
        }
        "field" => {
            let fields = Fields::new(value, &["kind", "base", "field"], &[])?;
            Ok(Expression::Field {
                base: Box::new(fields.get("base", expression)?),
                field: fields.get("field", text)?,
            })
        }
        "record" => {
            let fields = Fields::new(value, &["kind", "fields"], &[])?;
            Ok(Expression::Record(
                fields.get("fields", |value| list(value, record_field))?,
            ))
        }
        "list" => {
            let fields = Fields::new(value, &["kind", "item", "items"], &[])?;
            Ok(Expression::List {
                item: fields.get("item", Type::read)?,
                items: fields.get("items", |value| list(value, expression))?,
            })
        }
        "variant" => {
            let fields = Fields::new(value, &["kind", "type", "case", "payload"], &[])?;
            Ok(Expression::Case {
                ty: fields.get("type", text)?,
                case: fields.get("case", text)?,
                payload: fields
                    .get("payload", |value| nullable(value, expression))?
                    .map(Box::new),
            })
        }
        "match" => {
            let fields = Fields::new(value, &["kind", "value", "arms"], &[])?;
            Ok(Expression::Match {
                value: Box::new(fields.get("value", expression)?),
                arms: fields.get("arms", |value| list(value, arm))?,
            })
        }
        "call" => call(value),
        "if" => {
            let fields = Fields::new(value, &["kind", "condition", "then", "else"], &[])?;
            Ok(Expression::If {
                condition: Box::new(fields.get("condition", predicate)?),
                then: Box::new(fields.get("then", expression)?),
                otherwise: Box::new(fields.get("else", expression)?),
            })
        }
        _ => Err(Defect::new("unknown kind of expression").under("kind")),
    }
}

fn call(value: &Value) -> Result<Expression, Defect> {
    let fields = Fields::new(value, &["kind", "callee", "typeArgs", "args"], &[])?;
    Ok(Expression::Call {
        callee: fields.get("callee", text)?,
        type_arguments: fields.get("typeArgs", |value| list(value, Type::read))?,
        arguments: fields.get("args", |value| list(value, expression))?,
    })
}

fn record_field(value: &Value) -> Result<(String, Expression), Defect> {
    let fields = Fields::new(value, &["name", "value"], &[])?;
    Ok((fields.get("name", text)?, fields.get("value", expression)?))
}

fn arm(value: &Value) -> Result<Arm, Defect> {
    let fields = Fields::new(value, &["case", "binding", "value"], &[])?;
    Ok(Arm {
        case: fields.get("case", text)?,
        binding: fields.get("binding", |value| nullable(value, binder))?,
        value: fields.get("value", expression)?,
    })
}

/// Reads a predicate.
pub(crate) fn predicate(value: &Value) -> Result<Predicate, Defect> {
    match kind(value)? {
        "compare" => {
            let fields = Fields::new(value, &["kind", "op", "left", "right"], &[])?;
            Ok(Predicate::Compare {
                operator: fields.get("op", operator)?,
                left: fields.get("left", expression)?,
                right: fields.get("right", expression)?,
            })
        }
        "all" => Ok(Predicate::All(parts(value)?)),
        "any" => Ok(Predicate::Any(parts(value)?)),
        "not" => {
            let fields = Fields::new(value, &["kind", "part"], &[])?;
            Ok(Predicate::Not(Box::new(fields.get("part", predicate)?)))
        }
        "true" => Fields::new(value, &["kind"], &[]).map(|_| Predicate::Literal(true)),
        "false" => Fields::new(value, &["kind"], &[]).map(|_| Predicate::Literal(false)),
        _ => Err(Defect::new("unknown kind of predicate").under("kind")),
    }
}

fn parts(value: &Value) -> Result<Vec<Predicate>, Defect> {
    let fields = Fields::new(value, &["kind", "parts"], &[])?;
    fields.get("parts", |value| {
        let parts = list(value, predicate)?;
        if parts.len() < 2 {
            return refuse("expected two or more parts");
        }
        Ok(parts)
    })
}

fn operator(value: &Value) -> Result<Operator, Defect> {
    match value.as_text() {
        Some("==") => Ok(Operator::Equal),
        Some("!=") => Ok(Operator::Unequal),
        Some("<") => Ok(Operator::Less),
        Some("<=") => Ok(Operator::AtMost),
        Some(">") => Ok(Operator::Greater),
        Some(">=") => Ok(Operator::AtLeast),
        _ => refuse("unknown comparison"),
    }
}
