// SPDX-License-Identifier: Apache-2.0
//! Statements: scope, effects, arms, loops, and what a list of them may consume.

use super::environment::Range;
use super::expression::Judge;
use crate::closure::Closure;
use crate::closure::effect::{Intrinsic, Plan, key_bytes};
use crate::cost::{Cost, Total};
use crate::decode::core::{Block, Fold, Node, Raise};
use crate::decode::expression::{Binder, Expression, Local, Predicate};
use crate::decode::reader::{Defect, Under, refuse};
use crate::decode::types::{Type, Width};
use edict_codec::cbor::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Payloads are at most this long, encoded.
const MAX_PAYLOAD_BYTES: u64 = 65_536;
/// Bytes are visited as integers of this range.
const BYTE: Range = (0, 255);

/// What an intent body may do, and what it was found to do.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) closure: &'a Closure,
    /// Coordinates of the imported lawpacks.
    pub(crate) imports: BTreeSet<&'a str>,
    /// Effects that the profile lists.
    pub(crate) allowed: BTreeSet<&'a str>,
    pub(crate) core_profile: &'a str,
    /// Classes by obstruction and payload type as really raised.
    pub(crate) raised: BTreeMap<(String, String), String>,
    /// Greatest encoding of a payload.
    pub(crate) payload_bytes: u64,
    /// Effects called.
    pub(crate) effects: BTreeSet<String>,
}

/// Judges the bindings of a function.
pub(crate) fn function_nodes(judge: &mut Judge<'_>, nodes: &[Node]) -> Result<Cost, Defect> {
    statements(judge, &mut None, nodes).map(|total| total.cost)
}

/// Judges the statements of an intent; what they bind stays in scope.
pub(crate) fn intent_nodes<'b>(
    judge: &mut Judge<'_>,
    context: Context<'b>,
    nodes: &[Node],
) -> Result<(Total, Context<'b>), Defect> {
    let mut context = Some(context);
    let total = statements(judge, &mut context, nodes)?;
    match context {
        Some(context) => Ok((total, context)),
        None => refuse("no context"),
    }
}

type MaybeContext<'a, 'b> = &'a mut Option<Context<'b>>;

fn statements(
    judge: &mut Judge<'_>,
    context: MaybeContext<'_, '_>,
    nodes: &[Node],
) -> Result<Total, Defect> {
    let mut total = Total::default();
    for (index, node) in nodes.iter().enumerate() {
        let part = statement(judge, context, node).under(index)?;
        total = total.and(Total::of(Cost::VISIT)).and(part);
    }
    Ok(total)
}

fn statement(
    judge: &mut Judge<'_>,
    context: MaybeContext<'_, '_>,
    node: &Node,
) -> Result<Total, Defect> {
    match node {
        Node::Let { binding, value } => binding_node(judge, binding, value),
        Node::For {
            item,
            collection,
            bound,
            fold,
            body,
        } => {
            if context.is_none() && fold.is_none() {
                return refuse("a function holds no statement loop");
            }
            let parts = Loop {
                item,
                collection,
                bound: *bound,
                fold: fold.as_ref(),
                body,
            };
            loop_node(judge, context, &parts)
        }
        Node::Require { predicate, raise } => match context {
            Some(context) => require(judge, context, predicate, raise),
            None => refuse("a function holds no require"),
        },
        Node::Effect {
            binding,
            effect,
            input,
            arms,
        } => match context {
            Some(context) => effect_node(judge, context, binding, effect, input, arms),
            None => refuse("a function calls no effect"),
        },
        Node::Branch {
            condition,
            binding,
            then,
            otherwise,
        } => {
            if context.is_none() {
                return refuse("a function holds no branch");
            }
            branch(
                judge,
                context,
                condition,
                binding.as_ref(),
                [then, otherwise],
            )
        }
    }
}

fn binding_node(
    judge: &mut Judge<'_>,
    binding: &Binder,
    value: &Expression,
) -> Result<Total, Defect> {
    judge.binder(binding).under("binding")?;
    let judged = judge.expect(value, &binding.ty).under("value")?;
    judge
        .environment
        .bind(binding, judged.range, value)
        .under("binding")?;
    Ok(Total::of(judged.cost))
}

fn require(
    judge: &mut Judge<'_>,
    context: &mut Context<'_>,
    predicate: &Predicate,
    raise: &Raise,
) -> Result<Total, Defect> {
    let tested = judge.predicate(predicate).under("predicate")?;
    let payload = raised(judge, context, raise).under("onFailure")?;
    judge.environment.assume(predicate, true);
    Ok(Total::of(tested.and(payload)))
}

/// Judges an authored obstruction and records it; returns the cost of its payload.
fn raised(judge: &mut Judge<'_>, context: &mut Context<'_>, raise: &Raise) -> Result<Cost, Defect> {
    let coordinate = &raise.obstruction;
    let declared = context
        .closure
        .obstruction(coordinate)
        .filter(|(owner, _)| context.imports.contains(owner));
    let Some((_, declared)) = declared else {
        return Err(Defect::new("no imported obstruction of that name").under("callee"));
    };
    let (payload_type, cost) = match &raise.payload {
        None => (Type::Record(BTreeMap::new()), Cost::FREE),
        Some(payload) => {
            let at = |defect: Defect| defect.under(0usize).under("args");
            if judge
                .environment
                .table()
                .fields(&declared.payload)
                .is_none()
            {
                return Err(at(Defect::new("the declared payload is no record")));
            }
            let judged = judge.expect(payload, &declared.payload).map_err(at)?;
            (declared.payload.clone(), judged.cost)
        }
    };
    let encoded = judge.environment.table().encoded(&payload_type);
    if encoded > MAX_PAYLOAD_BYTES {
        return Err(Defect::new("the payload may exceed 65536 bytes").under("args"));
    }
    context.payload_bytes = context.payload_bytes.max(encoded);
    context.raised.insert(
        (coordinate.clone(), payload_type.to_string()),
        declared.class.clone(),
    );
    Ok(cost)
}

fn effect_node(
    judge: &mut Judge<'_>,
    context: &mut Context<'_>,
    binding: &Binder,
    effect: &str,
    input: &Expression,
    arms: &BTreeMap<String, (Binder, Raise)>,
) -> Result<Total, Defect> {
    let closure = context.closure;
    let Some(plan) = closure.effect(effect) else {
        return Err(Defect::new("no effect of the lawpack of the profile").under("effect"));
    };
    if !context.allowed.contains(effect) {
        return Err(Defect::new("not an effect of the profile").under("effect"));
    }
    if !permits(context.core_profile, plan.intrinsic) {
        return Err(Defect::new("a write class that the profile forbids").under("effect"));
    }
    judge.binder(binding).under("binding")?;
    let judged = judge.expect(input, &plan.input).under("input")?;
    let table = judge.environment.table();
    if !table.assignable(&plan.output, &binding.ty) {
        return Err(Defect::new("does not fit the effect's result").under("binding"));
    }
    let mut handled = Cost::FREE;
    if !arms.keys().eq(plan.failures.keys()) {
        return Err(Defect::new("the arms are not the declared failures").under("arms"));
    }
    for ((name, (binder, raise)), declared) in arms.iter().zip(plan.failures.values()) {
        let cost = arm(judge, context, binder, raise, &declared.payload)
            .under(name)
            .under("arms")?;
        handled = handled.or(cost);
    }
    judge.environment.declare(binding, None).under("binding")?;
    context.effects.insert(effect.to_owned());
    let mut total = Total::of(judged.cost.and(atom_cost(judge, plan)).and(handled));
    let pair = (plan.space.clone(), plan.intrinsic.coordinate().to_owned());
    total.calls.insert(pair, 1);
    Ok(total)
}

fn arm(
    judge: &mut Judge<'_>,
    context: &mut Context<'_>,
    binder: &Binder,
    raise: &Raise,
    payload: &Type,
) -> Result<Cost, Defect> {
    let table = judge.environment.table();
    table.well_formed(&binder.ty).under("binding")?;
    if !matches!(binder.local, Local::Obstruction(_)) || !table.equivalent(payload, &binder.ty) {
        return Err(Defect::new(format!("expected obstruction.N of {payload}")).under("binding"));
    }
    let mark = judge.environment.mark();
    judge.environment.declare(binder, None).under("binding")?;
    let cost = raised(judge, context, raise).under("raise");
    judge.environment.reset(mark);
    cost
}

/// Key and value at their greatest length.
fn atom_cost(judge: &Judge<'_>, plan: &Plan) -> Cost {
    let table = judge.environment.table();
    let key = key_bytes(table, &plan.key);
    match plan.intrinsic {
        Intrinsic::Delete => Cost::deletion(key),
        Intrinsic::Read | Intrinsic::Create | Intrinsic::Replace => {
            Cost::atom(key, table.encoded(&plan.value))
        }
    }
}

fn permits(core_profile: &str, intrinsic: Intrinsic) -> bool {
    match core_profile {
        "continuum.profile.read-only/v1" => matches!(intrinsic, Intrinsic::Read),
        "continuum.profile.create/v1" => {
            matches!(intrinsic, Intrinsic::Read | Intrinsic::Create)
        }
        "continuum.profile.read-write/v1" => true,
        _ => false,
    }
}

fn branch(
    judge: &mut Judge<'_>,
    context: MaybeContext<'_, '_>,
    condition: &Predicate,
    binding: Option<&Binder>,
    blocks: [&Block; 2],
) -> Result<Total, Defect> {
    if let Some(binding) = binding {
        judge.binder(binding).under("binding")?;
    }
    let tested = judge.predicate(condition).under("condition")?;
    let yielded = binding.map(|binding| &binding.ty);
    let mark = judge.environment.mark();
    let mut totals = Vec::new();
    let mut range: Option<Range> = None;
    for (block_of, truth) in blocks.into_iter().zip([true, false]) {
        let step = if truth { "then" } else { "else" };
        judge.environment.assume(condition, truth);
        let (total, result) = block(judge, context, block_of, yielded).under(step)?;
        judge.environment.reset(mark);
        totals.push(total);
        range = match (range, result) {
            (None, result) if truth => result,
            (Some(left), Some(right)) => Some((left.0.min(right.0), left.1.max(right.1))),
            _ => None,
        };
    }
    if let Some(binding) = binding {
        judge.environment.declare(binding, range).under("binding")?;
    }
    let either = totals.into_iter().reduce(Total::or).unwrap_or_default();
    Ok(Total::of(tested).and(either))
}

/// Judges a block; with `yielded`, its result must be assignable to that.
fn block(
    judge: &mut Judge<'_>,
    context: MaybeContext<'_, '_>,
    block: &Block,
    yielded: Option<&Type>,
) -> Result<(Total, Option<Range>), Defect> {
    let total = statements(judge, context, &block.nodes).under("nodes")?;
    let Some(expected) = yielded else {
        let absent = Expression::Constant {
            ty: Type::Bool,
            value: Value::Null,
        };
        if block.result != absent {
            return Err(Defect::new("a block without a value has a result").under("result"));
        }
        return Ok((total, None));
    };
    let result = judge.expect(&block.result, expected).under("result")?;
    Ok((total.and(Total::of(result.cost)), result.range))
}

struct Loop<'a> {
    item: &'a Binder,
    collection: &'a Expression,
    bound: u64,
    fold: Option<&'a Fold>,
    body: &'a Block,
}

fn loop_node(
    judge: &mut Judge<'_>,
    context: MaybeContext<'_, '_>,
    parts: &Loop<'_>,
) -> Result<Total, Defect> {
    if let Some(fold) = parts.fold {
        judge.binder(&fold.binding).under("binding")?;
    }
    let collection = judge.expression(parts.collection).under("collection")?;
    let table = judge.environment.table();
    let (item, max, range) = match table.resolve(&collection.ty) {
        Type::List { item, max } => ((**item).clone(), *max, None),
        Type::Bytes { max, .. } => (Type::Integer(Width::U32), *max, Some(BYTE)),
        _ => return Err(Defect::new("neither List nor Bytes").under("collection")),
    };
    if max > parts.bound {
        let message = format!("the collection may hold {max} items");
        return Err(Defect::new(message).under("bound"));
    }
    if !table.equivalent(&item, &parts.item.ty) {
        return Err(Defect::new(format!("expected {item}")).under("item"));
    }
    let initial = match parts.fold {
        None => Cost::FREE,
        Some(fold) => {
            judge.binder(&fold.accumulator).under("accumulator")?;
            let expected = &fold.accumulator.ty;
            judge.expect(&fold.initial, expected).under("initial")?.cost
        }
    };
    let mark = judge.environment.mark();
    judge.declare(parts.item, range).under("item")?;
    if let Some(fold) = parts.fold {
        judge
            .declare(&fold.accumulator, None)
            .under("accumulator")?;
    }
    let yielded = parts.fold.map(|fold| &fold.accumulator.ty);
    let (body, _) = block(judge, context, parts.body, yielded).under("body")?;
    judge.environment.reset(mark);
    if let Some(fold) = parts.fold {
        let table = judge.environment.table();
        if !table.assignable(&fold.accumulator.ty, &fold.binding.ty) {
            return Err(Defect::new("does not fit the accumulator").under("binding"));
        }
        judge
            .environment
            .declare(&fold.binding, None)
            .under("binding")?;
    }
    let each = Total::of(Cost::VISIT).and(body).times(max);
    Ok(Total::of(collection.cost.and(initial)).and(each))
}
