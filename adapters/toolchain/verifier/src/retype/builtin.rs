// SPDX-License-Identifier: Apache-2.0
//! Built-in calls: operand types, proofs, result type, interval and dearest cost.

use super::arithmetic;
use super::environment::{Environment, Operand, Range, Term, length_range};
use super::expression::Judged;
use crate::cost::Cost;
use crate::decode::expression::Expression;
use crate::decode::reader::{Defect, refuse};
use crate::decode::types::{Type, Width};

/// What a built-in call is.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) ty: Type,
    pub(crate) range: Option<Range>,
    /// Beyond the visit and the arguments.
    pub(crate) cost: Cost,
}

/// A call of a `core.` callee with judged arguments.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) callee: &'a str,
    pub(crate) result: Option<&'a Type>,
    pub(crate) arguments: &'a [Expression],
    pub(crate) judged: &'a [Judged],
}

/// Whether the type arguments of `callee` end with its result type.
pub(crate) fn names_result(callee: &str) -> bool {
    matches!(
        callee,
        "core.narrow" | "core.nominal.wrap" | "core.option.some" | "core.option.none"
    )
}

/// Judges a built-in call.
pub(crate) fn judge(environment: &Environment<'_>, call: &Call<'_>) -> Result<Outcome, Defect> {
    let group = call.callee.rsplit_once('.').map_or("", |(group, _)| group);
    match group {
        "core.integer" => arithmetic::judge(environment, call),
        "core.bytes" => bytes(environment, call),
        "core.string" => string(environment, call),
        "core.list" => list(environment, call),
        "core.utf8" => utf8(environment, call),
        "core.option" => option(environment, call),
        "core.nominal" => nominal(environment, call),
        "core" if call.callee == "core.narrow" => narrow(environment, call),
        _ => unknown(call),
    }
}

pub(super) fn unknown<T>(call: &Call<'_>) -> Result<T, Defect> {
    Err(Defect::new(format!("no built-in `{}`", call.callee)).under("callee"))
}

pub(super) fn free(ty: Type) -> Outcome {
    Outcome {
        ty,
        range: None,
        cost: Cost::FREE,
    }
}

pub(super) fn costing(ty: Type, cost: Cost) -> Outcome {
    Outcome {
        ty,
        range: None,
        cost,
    }
}

pub(super) const U64: Type = Type::Integer(Width::U64);

pub(super) fn operand<const N: usize>(call: &Call<'_>) -> Result<[Type; N], Defect> {
    let types: Vec<Type> = call.judged.iter().map(|it| it.ty.clone()).collect();
    types.try_into().map_err(|_| {
        Defect::new(format!("takes {N} arguments, found {}", call.judged.len())).under("args")
    })
}

pub(super) fn mismatch<T>(call: &Call<'_>) -> Result<T, Defect> {
    let shown: Vec<String> = call.judged.iter().map(|it| it.ty.to_string()).collect();
    Err(Defect::new(format!("operands of type {}", shown.join(", "))).under("args"))
}

/// The `index`-th argument as a proof sees it.
pub(super) fn number(
    environment: &Environment<'_>,
    call: &Call<'_>,
    index: usize,
) -> Result<Operand, Defect> {
    match (call.arguments.get(index), call.judged.get(index)) {
        (
            Some(value),
            Some(Judged {
                range: Some(range), ..
            }),
        ) => Ok(Operand {
            term: environment.term(value),
            range: *range,
        }),
        _ => mismatch(call),
    }
}

fn max_bytes(environment: &Environment<'_>, ty: &Type) -> Option<u64> {
    match environment.table().resolve(ty) {
        Type::Bytes { max, .. } => Some(*max),
        _ => None,
    }
}

fn max_string(environment: &Environment<'_>, ty: &Type) -> Option<u64> {
    match environment.table().resolve(ty) {
        Type::String { max } => Some(*max),
        _ => None,
    }
}

fn is_u64(environment: &Environment<'_>, ty: &Type) -> bool {
    *environment.table().resolve(ty) == U64
}

fn grown(left: u64, right: u64, apply: fn(u64, u64) -> Option<u64>) -> Result<u64, Defect> {
    apply(left, right).ok_or_else(|| Defect::new("the maximum length exceeds U64"))
}

fn length(environment: &Environment<'_>, call: &Call<'_>, cost: Cost) -> Result<Outcome, Defect> {
    let [ty] = operand(call)?;
    let Some(range) = length_range(environment.table().resolve(&ty)) else {
        return mismatch(call);
    };
    Ok(Outcome {
        ty: U64,
        range: Some(range),
        cost,
    })
}

fn bytes(environment: &Environment<'_>, call: &Call<'_>) -> Result<Outcome, Defect> {
    let of = |ty: &Type| match max_bytes(environment, ty) {
        Some(max) => Ok(max),
        None => mismatch(call),
    };
    match call.callee {
        "core.bytes.length" => {
            let [ty] = operand(call)?;
            of(&ty)?;
            length(environment, call, Cost::FREE)
        }
        "core.bytes.concat" => {
            let [left, right] = operand(call)?;
            let max = grown(of(&left)?, of(&right)?, u64::checked_add)?;
            Ok(costing(Type::bytes(max), Cost::fresh(max)))
        }
        "core.bytes.slice" => slice(environment, call),
        "core.bytes.checkedSlice" => {
            let [whole, start, end] = operand(call)?;
            let max = of(&whole)?;
            if !is_u64(environment, &start) || !is_u64(environment, &end) {
                return mismatch(call);
            }
            let cost = Cost::fresh(max).and(Cost::CELL);
            Ok(costing(Type::bytes(max).optional(), cost))
        }
        "core.bytes.at" => {
            let [whole, index] = operand(call)?;
            of(&whole)?;
            if !is_u64(environment, &index) {
                return mismatch(call);
            }
            Ok(free(Type::Integer(Width::U32).optional()))
        }
        "core.bytes.hex" => {
            let [whole] = operand(call)?;
            let max = grown(of(&whole)?, 2, u64::checked_mul)?;
            Ok(costing(Type::String { max }, Cost::fresh(max)))
        }
        _ => unknown(call),
    }
}

fn slice(environment: &Environment<'_>, call: &Call<'_>) -> Result<Outcome, Defect> {
    let [whole, start, end] = operand(call)?;
    let Some(max) = max_bytes(environment, &whole) else {
        return mismatch(call);
    };
    if !is_u64(environment, &start) || !is_u64(environment, &end) {
        return mismatch(call);
    }
    let (start, end) = (number(environment, call, 1)?, number(environment, call, 2)?);
    if !environment.proves(&start, &end) {
        return refuse("cannot show that the start is at most the end");
    }
    if !environment.proves(&end, &whole_length(environment, call, &whole)?) {
        return refuse("cannot show that the end is within the length");
    }
    Ok(costing(Type::bytes(max), Cost::fresh(max)))
}

/// The length of the first argument, as the operand of a proof.
fn whole_length(
    environment: &Environment<'_>,
    call: &Call<'_>,
    whole: &Type,
) -> Result<Operand, Defect> {
    let term = call
        .arguments
        .first()
        .and_then(|value| environment.place(value))
        .map(Term::Length);
    let stated = length_range(environment.table().resolve(whole));
    let known = term.as_ref().and_then(|term| environment.range(term));
    match known.or(stated) {
        Some(range) => Ok(Operand { term, range }),
        None => mismatch(call),
    }
}

fn string(environment: &Environment<'_>, call: &Call<'_>) -> Result<Outcome, Defect> {
    let of = |ty: &Type| match max_string(environment, ty) {
        Some(max) => Ok(max),
        None => mismatch(call),
    };
    match call.callee {
        "core.string.length" => {
            let [ty] = operand(call)?;
            let cost = Cost::scan(of(&ty)?.saturating_mul(4));
            length(environment, call, cost)
        }
        "core.string.concat" => {
            let [left, right] = operand(call)?;
            let max = grown(of(&left)?, of(&right)?, u64::checked_add)?;
            Ok(costing(
                Type::String { max },
                Cost::fresh(max.saturating_mul(4)),
            ))
        }
        _ => unknown(call),
    }
}

fn list(environment: &Environment<'_>, call: &Call<'_>) -> Result<Outcome, Defect> {
    let item = |ty: &Type| match environment.table().resolve(ty) {
        Type::List { item, .. } => Ok((**item).clone()),
        _ => mismatch(call),
    };
    match call.callee {
        "core.list.length" => {
            let [ty] = operand(call)?;
            item(&ty)?;
            length(environment, call, Cost::FREE)
        }
        "core.list.at" => {
            let [whole, index] = operand(call)?;
            if !is_u64(environment, &index) {
                return mismatch(call);
            }
            Ok(free(item(&whole)?.optional()))
        }
        _ => unknown(call),
    }
}

fn utf8(environment: &Environment<'_>, call: &Call<'_>) -> Result<Outcome, Defect> {
    let of = |ty: &Type| match max_bytes(environment, ty) {
        Some(max) => Ok(max),
        None => mismatch(call),
    };
    match call.callee {
        "core.utf8.valid" => {
            let [whole] = operand(call)?;
            Ok(costing(Type::Bool, Cost::scan(of(&whole)?)))
        }
        "core.utf8.isBoundary" => {
            let [whole, index] = operand(call)?;
            of(&whole)?;
            if !is_u64(environment, &index) {
                return mismatch(call);
            }
            Ok(free(Type::Bool))
        }
        "core.utf8.decode" => {
            let [whole] = operand(call)?;
            let max = of(&whole)?;
            let cost = Cost::scan(max).and(Cost::CELL).and(Cost::fresh(max));
            Ok(costing(Type::String { max }.optional(), cost))
        }
        "core.utf8.encode" => {
            let [text] = operand(call)?;
            let Some(max) = max_string(environment, &text) else {
                return mismatch(call);
            };
            let max = grown(max, 4, u64::checked_mul)?;
            Ok(costing(Type::bytes(max), Cost::fresh(max)))
        }
        _ => unknown(call),
    }
}

fn option(environment: &Environment<'_>, call: &Call<'_>) -> Result<Outcome, Defect> {
    let table = environment.table();
    let item = |ty: &Type| match table.resolve(ty) {
        Type::Option(item) => Ok((**item).clone()),
        _ => mismatch(call),
    };
    match (call.callee, call.result) {
        ("core.option.some", Some(result)) => {
            let [ty] = operand(call)?;
            if !table.assignable(&ty, &item(result)?) {
                return mismatch(call);
            }
            Ok(costing(result.clone(), Cost::CELL))
        }
        ("core.option.none", Some(result)) => {
            let [] = operand(call)?;
            item(result)?;
            Ok(free(result.clone()))
        }
        ("core.option.isSome", None) => {
            let [ty] = operand(call)?;
            item(&ty)?;
            Ok(free(Type::Bool))
        }
        ("core.option.unwrap", None) => {
            let [ty] = operand(call)?;
            let item = item(&ty)?;
            let place = call.arguments.first().and_then(|it| environment.place(it));
            if !place.is_some_and(|place| environment.has_some(&place)) {
                return refuse("cannot show that the option holds a value");
            }
            Ok(free(item))
        }
        ("core.option.default", None) => {
            let [ty, fallback] = operand(call)?;
            match table.join(&item(&ty)?, &fallback) {
                Some(joined) => Ok(free(joined)),
                None => mismatch(call),
            }
        }
        _ => unknown(call),
    }
}

fn nominal(environment: &Environment<'_>, call: &Call<'_>) -> Result<Outcome, Defect> {
    let table = environment.table();
    let [ty] = operand(call)?;
    match (call.callee, call.result) {
        ("core.nominal.wrap", Some(result)) => match table.representation(result) {
            Some(representation) if table.assignable(&ty, representation) => {
                Ok(free(result.clone()))
            }
            _ => mismatch(call),
        },
        ("core.nominal.raw", None) => match table.representation(&ty) {
            Some(representation) => Ok(free(representation.clone())),
            None => mismatch(call),
        },
        _ => unknown(call),
    }
}

fn narrow(environment: &Environment<'_>, call: &Call<'_>) -> Result<Outcome, Defect> {
    let table = environment.table();
    let [ty] = operand(call)?;
    let (Some(result), from) = (call.result, table.resolve(&ty)) else {
        return mismatch(call);
    };
    let Type::Option(to) = table.resolve(result) else {
        return Err(Defect::new("expected an Option as the result type").under("typeArgs"));
    };
    let scan = match (from, table.resolve(to)) {
        (Type::Integer(_), Type::Integer(_)) | (Type::Bytes { .. }, Type::Bytes { .. }) => {
            Cost::FREE
        }
        (Type::String { max }, Type::String { .. }) => Cost::scan(max.saturating_mul(4)),
        (Type::List { item, .. }, Type::List { item: target, .. })
            if table.assignable(item, target) =>
        {
            Cost::FREE
        }
        _ => return mismatch(call),
    };
    Ok(costing(result.clone(), Cost::CELL.and(scan)))
}
