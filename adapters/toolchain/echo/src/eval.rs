// SPDX-License-Identifier: Apache-2.0
//! Evaluation: typed inputs, flat code and the interpreter (sections 4 and 5.4).

mod builtins;
pub(crate) mod code;
pub(crate) mod compile;
mod effects;
mod machine;
pub(crate) mod names;
pub(crate) mod read;
pub(crate) mod value;
mod write;

use crate::{
    executable::{Decision, Evaluated, Origin},
    limits,
    meter::Meter,
    pin::Budget,
    refusal::Refusal,
    state::view::AtomView,
};
use code::Code;
use edict_codec::cbor::{self, DecodeLimits};
use machine::{Machine, Stop};

/// Decodes an input and checks its type.
pub(crate) fn decode_input(code: &Code, input: &[u8]) -> Result<cbor::Value, Refusal> {
    let limits = DecodeLimits {
        depth: usize::try_from(limits::MAX_CBOR_DEPTH).unwrap_or(usize::MAX),
        nodes: usize::try_from(limits::MAX_CBOR_NODES).unwrap_or(usize::MAX),
    };
    let value = cbor::decode_with(input, limits)
        .map_err(|error| Refusal::new("input-noncanonical", error.to_string()))?;
    typed(code, &value)?;
    Ok(value)
}

fn typed(code: &Code, input: &cbor::Value) -> Result<value::Value, Refusal> {
    read::read(&code.types, &code.names, code.input, input)
        .map_err(|mismatch| Refusal::at("input-type", mismatch.path, mismatch.message))
}

/// Runs a program on a decoded input: steps (3) to (8) of section 4.1.
pub(crate) fn run(
    code: &Code,
    input: &cbor::Value,
    budget: Budget,
    view: &mut dyn AtomView,
) -> Result<Evaluated, Refusal> {
    let input = typed(code, input)?;
    let mut machine = Machine::new(code, input, Meter::new(budget), view);
    let decision = match machine.run() {
        Ok(decision) => decision,
        Err(Stop::Exhausted(exhausted)) => Decision::Obstruction {
            origin: Origin::Budget,
            coordinate: "echo.obstruction.budget-exhausted/v1".to_owned(),
            body: cbor::encode(&exhausted.payload()),
        },
        Err(Stop::Fault(message)) => return Err(Refusal::poisoning("evaluation-fault", message)),
        Err(Stop::Refused(refusal)) => return Err(*refusal),
    };
    Ok(Evaluated {
        decision,
        consumed: machine.meter.consumed(),
        basis: machine.basis,
    })
}
