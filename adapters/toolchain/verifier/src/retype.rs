// SPDX-License-Identifier: Apache-2.0
//! Core is typed again from scratch, against its closure and nothing else.

mod arithmetic;
mod builtin;
mod environment;
mod expression;
mod facts;
mod numbering;
mod predicate;
mod reach;
mod signature;
mod statement;

pub(crate) use reach::Reached;

use crate::closure::Closure;
use crate::cost::{Calls, Cost, Total};
use crate::decode::core::{Core, Function, Intent, Node};
use crate::decode::expression::{Expression, Local};
use crate::decode::lawpack::belongs;
use crate::decode::reader::{Defect, Under, refuse};
use crate::decode::types::Definition;
use crate::table::TypeTable;
use environment::Environment;
use expression::Judge;
use signature::Signatures;
use statement::Context;
use std::collections::{BTreeMap, BTreeSet};

const FOLD_CAPABILITY: &str = "edict.core.for-accumulator/v1";

/// What typing shows about a program.
#[derive(Debug)]
pub(crate) struct Judgement {
    /// Name of the one intent.
    pub(crate) intent: String,
    pub(crate) bound: Cost,
    pub(crate) output_bytes: u64,
    pub(crate) calls: Calls,
    /// Classes by obstruction and payload type as really raised.
    pub(crate) raised: BTreeMap<(String, String), String>,
    /// Effects called.
    pub(crate) effects: BTreeSet<String>,
}

/// A disagreement and the artifact that owns it.
#[derive(Debug)]
pub(crate) enum Owner {
    Closure(Defect),
    Core(Defect),
}

/// Types a module again.
pub(crate) fn judge(core: &Core, closure: &Closure) -> Result<Judgement, Owner> {
    let helpers = closure.helpers();
    let exported = TypeTable::new(closure.definitions())
        .under("lawpacks")
        .map_err(Owner::Closure)?;
    let mut signatures = Signatures::default();
    signatures
        .judge_all(&exported, &helpers, &|caller, callee| {
            closure.helper_admits(caller, callee)
        })
        .under("pureFunctions")
        .under("lawpacks")
        .map_err(Owner::Closure)?;
    module(core, closure, signatures).map_err(Owner::Core)
}

fn module(core: &Core, closure: &Closure, mut signatures: Signatures) -> Result<Judgement, Defect> {
    let table = types(core, closure).under("types")?;
    let imports: BTreeSet<&str> = core.imports.keys().map(String::as_str).collect();
    let functions: BTreeMap<String, &Function> = core
        .functions
        .iter()
        .map(|(name, function)| (format!("{}.{name}", core.coordinate), function))
        .collect();
    let admits = |callee: &str| {
        belongs(callee, &core.coordinate)
            || closure
                .owner(callee)
                .is_some_and(|owner| imports.contains(&*owner.coordinate))
    };
    signatures
        .judge_all(&table, &functions, &|_, callee| admits(callee))
        .under("functions")?;
    let mut entries = core.intents.iter();
    let (Some((name, intent)), None) = (entries.next(), entries.next()) else {
        return Err(Defect::new("expected exactly one intent").under("intents"));
    };
    if core.functions.contains_key(name) {
        return Err(Defect::new("a function has the same name")
            .under(name)
            .under("intents"));
    }
    let mut callees = signature::Callees::default();
    crate::visit::intent(&mut callees, intent);
    if let Some(callee) = callees.0.iter().find(|callee| !admits(callee)) {
        return Err(Defect::new(format!("`{callee}` is not imported"))
            .under(name)
            .under("intents"));
    }
    let entry = Entry {
        core,
        closure,
        table: &table,
        signatures: &signatures,
    };
    let judgement = entry
        .judge(name, intent, imports)
        .under(name)
        .under("intents")?;
    capabilities(core)?;
    reach::check(core, closure, &table).under("types")?;
    Ok(judgement)
}

/// The types of a module together with those of its closure.
pub(crate) fn types(core: &Core, closure: &Closure) -> Result<TypeTable, Defect> {
    let mut definitions = closure.definitions();
    for (name, definition) in &core.types {
        match definitions.get(name) {
            Some(exported) if exported != definition => {
                return Err(Defect::new("not as its lawpack defines it").under(name));
            }
            Some(_) => {}
            None if belongs(name, &core.coordinate) => {
                if matches!(definition, Definition::Nominal(_)) {
                    return Err(Defect::new("only lawpacks declare nominal types").under(name));
                }
                definitions.insert(name.clone(), definition.clone());
            }
            None => return Err(Defect::new("no lawpack exports it").under(name)),
        }
    }
    TypeTable::new(definitions)
}

fn capabilities(core: &Core) -> Result<(), Defect> {
    let expected: &[&str] = if reach::folds(core) {
        &[FOLD_CAPABILITY]
    } else {
        &[]
    };
    if core.capabilities == expected {
        Ok(())
    } else {
        Err(Defect::new(format!("expected {expected:?}")).under("requiredCoreCapabilities"))
    }
}

struct Entry<'a> {
    core: &'a Core,
    closure: &'a Closure,
    table: &'a TypeTable,
    signatures: &'a Signatures,
}

impl<'a> Entry<'a> {
    fn judge(
        &self,
        name: &str,
        intent: &'a Intent,
        imports: BTreeSet<&'a str>,
    ) -> Result<Judgement, Defect> {
        numbering::intent(intent)?;
        let allowed = self.profile(intent)?;
        self.budget(intent, &imports).under("budget")?;
        self.table.well_formed(&intent.result).under("result")?;
        let mut judge = Judge {
            environment: Environment::new(self.table),
            signatures: self.signatures,
        };
        if !matches!(intent.parameter.local, Local::Argument(_)) {
            return Err(Defect::new("expected arg.0").under("id").under("parameter"));
        }
        self.table
            .well_formed(&intent.parameter.ty)
            .under("type")
            .under("parameter")?;
        judge.environment.declare(&intent.parameter, None)?;
        let before = clauses(&mut judge, intent)?;
        for constraint in &intent.constraints {
            judge.environment.assume(constraint, true);
        }
        let context = Context {
            closure: self.closure,
            imports,
            allowed,
            core_profile: &intent.core_profile,
            raised: BTreeMap::new(),
            payload_bytes: 0,
            effects: BTreeSet::new(),
        };
        let (body, context) = statement::intent_nodes(&mut judge, context, &intent.body.nodes)
            .under("nodes")
            .under("body")?;
        leaves(&intent.body.result).under("result").under("body")?;
        let result = judge
            .expect(&intent.body.result, &intent.result)
            .under("result")
            .under("body")?;
        let total = Total::of(Cost::VISIT.and(before).and(result.cost)).and(body);
        let output_bytes = self
            .table
            .encoded(&intent.result)
            .max(context.payload_bytes);
        self.fits(intent, total.cost, output_bytes)
            .under("budget")?;
        Ok(Judgement {
            intent: name.to_owned(),
            bound: total.cost,
            output_bytes,
            calls: total.calls,
            raised: context.raised,
            effects: context.effects,
        })
    }

    /// The effects that the profile of the intent allows.
    fn profile(&self, intent: &Intent) -> Result<BTreeSet<&'a str>, Defect> {
        let first = self.closure.lawpacks.first();
        let adapter = first.and_then(|lawpack| lawpack.adapter.as_ref());
        let declared = adapter.and_then(|adapter| adapter.profiles.get(&intent.profile));
        let Some(declared) = declared else {
            return Err(Defect::new("no profile of the first lawpack").under("operationProfile"));
        };
        let known = matches!(
            intent.core_profile.as_str(),
            "continuum.profile.pure/v1"
                | "continuum.profile.read-only/v1"
                | "continuum.profile.create/v1"
                | "continuum.profile.read-write/v1"
        );
        if !known || declared.core != intent.core_profile {
            return Err(Defect::new(format!("expected {}", declared.core)).under("coreProfile"));
        }
        Ok(declared.effects.iter().map(String::as_str).collect())
    }

    /// The declared budget is the one that an imported lawpack with an adapter gives.
    fn budget(&self, intent: &Intent, imports: &BTreeSet<&str>) -> Result<(), Defect> {
        let owner = self
            .closure
            .owner(&intent.budget_coordinate)
            .filter(|owner| imports.contains(&*owner.coordinate));
        let declared = owner
            .and_then(|owner| owner.adapter.as_ref())
            .and_then(|adapter| adapter.budgets.get(&intent.budget_coordinate));
        match declared {
            None => Err(Defect::new("no budget of an imported lawpack").under("coordinate")),
            Some(declared) if *declared != intent.budget => {
                refuse("not the ceilings of that budget")
            }
            Some(_) => Ok(()),
        }
    }

    /// Rule 3.10: with functions or loops the bound must fit the budget.
    fn fits(&self, intent: &Intent, bound: Cost, output_bytes: u64) -> Result<(), Defect> {
        let must = !self.core.functions.is_empty() || has_loop(&intent.body.nodes);
        let fits = bound.steps <= intent.budget.steps
            && bound.bytes <= intent.budget.allocated_bytes
            && output_bytes <= intent.budget.output_bytes;
        if must && !fits {
            return refuse(format!(
                "the program may need {} steps, {} bytes and {output_bytes} output bytes",
                bound.steps, bound.bytes
            ));
        }
        Ok(())
    }
}

/// The basis and the constraints see the parameter only, and no facts.
fn clauses(judge: &mut Judge<'_>, intent: &Intent) -> Result<Cost, Defect> {
    let mut cost = Cost::FREE;
    if let Some(basis) = &intent.basis {
        cost = cost.and(judge.expression(basis).under("basis")?.cost);
    }
    for (number, constraint) in intent.constraints.iter().enumerate() {
        let judged = judge
            .predicate(constraint)
            .under(format!("where.{number}"))
            .under("constraints")?;
        cost = cost.and(judged);
    }
    Ok(cost)
}

fn has_loop(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::For { .. } => true,
        Node::Branch {
            then, otherwise, ..
        } => has_loop(&then.nodes) || has_loop(&otherwise.nodes),
        Node::Let { .. } | Node::Require { .. } | Node::Effect { .. } => false,
    })
}

/// The result is made of record literals over locals and field paths.
fn leaves(result: &Expression) -> Result<(), Defect> {
    match result {
        Expression::Record(fields) => {
            for (index, (_, value)) in fields.iter().enumerate() {
                leaves(value).under("value").under(index).under("fields")?;
            }
            Ok(())
        }
        Expression::Local(_) => Ok(()),
        Expression::Field { base, .. } => path(base).under("base"),
        _ => refuse("a leaf is neither a local nor a field path"),
    }
}

fn path(base: &Expression) -> Result<(), Defect> {
    match base {
        Expression::Local(_) => Ok(()),
        Expression::Field { base, .. } => path(base).under("base"),
        _ => refuse("a leaf is neither a local nor a field path"),
    }
}
