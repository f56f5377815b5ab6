// SPDX-License-Identifier: Apache-2.0
//! The cost column of the built-ins (2.6) with every length at its maximum.

use super::Cost;
use crate::types::size::units;
use crate::types::ty::Type;

/// Greatest number of bytes in text or bytes.
fn bytes(ty: &Type) -> u64 {
    match ty {
        Type::Text { max } => max.saturating_mul(4),
        Type::Bytes { max, .. } => *max,
        Type::Option(item) => bytes(item),
        _ => 0,
    }
}

fn fresh(n: u64) -> Cost {
    Cost::new(units(n), n.saturating_add(32))
}

fn scan(n: u64) -> Cost {
    Cost::new(units(n), 0)
}

const BOXED: Cost = Cost::new(0, 32);

/// What a call of a built-in adds to its node and arguments, the dearer outcome.
pub(super) fn cost(callee: &str, types: &[Type], result: &Type) -> Cost {
    let operand = types.first().unwrap_or(&Type::Error);
    match callee {
        "core.string.length" | "core.utf8.valid" => scan(bytes(operand)),
        "core.bytes.concat" | "core.string.concat" | "core.bytes.slice" | "core.utf8.encode" => {
            fresh(bytes(result))
        }
        // Decimal and hexadecimal text is ASCII: its bytes are its scalars.
        "core.integer.decimal" | "core.bytes.hex" => fresh(bytes(result) / 4),
        "core.bytes.checkedSlice" => fresh(bytes(result)).plus(BOXED),
        "core.utf8.decode" => {
            // Valid text has as many bytes as its source, not four for each scalar of the bound.
            let n = bytes(operand);
            scan(n).plus(BOXED).plus(fresh(n))
        }
        "core.integer.checkedAdd"
        | "core.integer.checkedSub"
        | "core.integer.checkedMul"
        | "core.integer.checkedDiv"
        | "core.integer.checkedRem"
        | "core.option.some" => BOXED,
        "core.narrow" => match operand {
            Type::Text { .. } => scan(bytes(operand)).plus(BOXED),
            _ => BOXED,
        },
        _ => Cost::default(),
    }
}
