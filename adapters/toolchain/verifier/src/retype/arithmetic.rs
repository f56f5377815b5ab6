// SPDX-License-Identifier: Apache-2.0
//! Integer built-ins: bare arithmetic needs a proof that it stays in its width.

use super::builtin::{Call, Outcome, U64, costing, mismatch, number, operand, unknown};
use super::environment::{Environment, Range, clamp};
use crate::cost::Cost;
use crate::decode::reader::{Defect, refuse};
use crate::decode::types::{Type, Width};

/// Judges a call of `core.integer`.
pub(super) fn judge(environment: &Environment<'_>, call: &Call<'_>) -> Result<Outcome, Defect> {
    let name = call.callee.rsplit('.').next().unwrap_or_default();
    match name {
        "toU64" => {
            let [ty] = operand(call)?;
            if *environment.table().resolve(&ty) != Type::Integer(Width::U32) {
                return mismatch(call);
            }
            Ok(Outcome {
                ty: U64,
                range: Some(number(environment, call, 0)?.range),
                cost: Cost::FREE,
            })
        }
        "decimal" => {
            let [ty] = operand(call)?;
            let max = match environment.table().resolve(&ty) {
                Type::Integer(Width::U32) => 10,
                Type::Integer(Width::I32) => 11,
                Type::Integer(Width::U64 | Width::I64) => 20,
                _ => return mismatch(call),
            };
            Ok(costing(Type::String { max }, Cost::fresh(max)))
        }
        "negate" => {
            let [ty] = operand(call)?;
            let Type::Integer(width) = *environment.table().resolve(&ty) else {
                return mismatch(call);
            };
            let (least, greatest) = number(environment, call, 0)?.range;
            proven(width, (greatest.saturating_neg(), least.saturating_neg()))
        }
        _ => pair(environment, call, name),
    }
}

fn pair(environment: &Environment<'_>, call: &Call<'_>, name: &str) -> Result<Outcome, Defect> {
    let arithmetic = matches!(
        name,
        "add" | "subtract" | "multiply" | "divide" | "remainder"
    );
    let checked = matches!(
        name,
        "checkedAdd" | "checkedSub" | "checkedMul" | "checkedDiv" | "checkedRem"
    );
    if !arithmetic && !checked {
        return unknown(call);
    }
    let [left, right] = operand(call)?;
    let (left, right) = (
        environment.table().resolve(&left),
        environment.table().resolve(&right),
    );
    let Type::Integer(width) = *left else {
        return mismatch(call);
    };
    if left != right {
        return mismatch(call);
    }
    if checked {
        return Ok(costing(Type::Integer(width).optional(), Cost::CELL));
    }
    let left = number(environment, call, 0)?;
    let right = number(environment, call, 1)?;
    match name {
        "add" => proven(
            width,
            (
                left.range.0.saturating_add(right.range.0),
                left.range.1.saturating_add(right.range.1),
            ),
        ),
        "subtract" => {
            let range = (
                left.range.0.saturating_sub(right.range.1),
                left.range.1.saturating_sub(right.range.0),
            );
            if !width.signed() && environment.proves(&right, &left) {
                let (least, greatest) = clamp(range, width);
                // A fact that never holds proves a difference that is never computed.
                return proven(width, (least, greatest.max(least)));
            }
            proven(width, range)
        }
        "multiply" => proven(
            width,
            corners(left.range, right.range, i128::saturating_mul),
        ),
        _ => division(width, name, left.range, right.range),
    }
}

fn proven(width: Width, range: Range) -> Result<Outcome, Defect> {
    if !width.holds(range.0) || !width.holds(range.1) {
        return refuse(format!(
            "cannot show that the result, {} to {}, fits {width:?}",
            range.0, range.1
        ));
    }
    Ok(Outcome {
        ty: Type::Integer(width),
        range: Some(range),
        cost: Cost::FREE,
    })
}

/// Bounds of an operation that is monotone in each operand.
fn corners(left: Range, right: Range, apply: fn(i128, i128) -> i128) -> Range {
    let all = [
        apply(left.0, right.0),
        apply(left.0, right.1),
        apply(left.1, right.0),
        apply(left.1, right.1),
    ];
    all.iter().fold((i128::MAX, i128::MIN), |range, value| {
        (range.0.min(*value), range.1.max(*value))
    })
}

fn division(width: Width, name: &str, left: Range, right: Range) -> Result<Outcome, Defect> {
    let holds = |value: i128| right.0 <= value && value <= right.1;
    if holds(0) {
        return refuse("cannot show that the divisor is not 0");
    }
    if width.signed() && left.0 <= width.range().0 && holds(-1) {
        return refuse("cannot show that the quotient fits");
    }
    if name == "divide" {
        let quotient = |left: i128, right: i128| left.checked_div(right).unwrap_or(0);
        return proven(width, corners(left, right, quotient));
    }
    let magnitude = right.0.abs().max(right.1.abs()).saturating_sub(1);
    proven(
        width,
        (
            left.0.min(0).max(magnitude.saturating_neg()),
            left.1.max(0).min(magnitude),
        ),
    )
}
