// SPDX-License-Identifier: Apache-2.0
//! How a program ends: its result, or an obstruction with its payload.

use super::{BROKEN, Machine, Stop};
use crate::{
    eval::write::{self, WriteError},
    executable::{Decision, Origin},
    limits,
    meter::Resource,
    refusal::Refusal,
};
use edict_codec::cbor;

impl Machine<'_> {
    /// Keeps the encoding of the basis value.
    pub(super) fn keep_basis(&mut self) -> Result<(), Stop> {
        let value = self.pop()?;
        let code = self.code;
        let cutoff = usize::try_from(limits::MAX_OUTPUT_BYTES).unwrap_or(usize::MAX);
        match write::write(&code.types, &code.names, None, &value, cutoff) {
            Ok(written) if !written.too_large => {
                self.basis = Some(written.bytes);
                Ok(())
            }
            Ok(_) | Err(_) => Err(too_large("the basis value")),
        }
    }

    /// Decides with the result on the stack.
    pub(super) fn end(&mut self) -> Result<Decision, Stop> {
        let value = self.pop()?;
        let code = self.code;
        let cutoff = usize::try_from(self.meter.max_output_bytes()).unwrap_or(usize::MAX);
        match write::write(&code.types, &code.names, Some(code.output), &value, cutoff) {
            Ok(written) => {
                self.meter.output(written.bytes.len())?;
                if written.too_large {
                    return Err(too_large("the result"));
                }
                Ok(Decision::Result {
                    body: written.bytes,
                })
            }
            Err(WriteError::TooLong) => Err(self.output_exhausted()),
            Err(WriteError::Misfit) => Err(Stop::Fault("the result is none of its type")),
        }
    }

    /// Decides with an authored obstruction.
    pub(super) fn raise(&mut self, form: u32) -> Result<Decision, Stop> {
        let code = self.code;
        let form = code.raises.get(form as usize).ok_or(BROKEN)?;
        let cutoff = usize::try_from(limits::MAX_PAYLOAD_BYTES).unwrap_or(usize::MAX);
        let body = match form.payload {
            None => cbor::encode(&cbor::Value::Map(Vec::new())),
            Some(ty) => {
                let value = self.pop()?;
                match write::write(&code.types, &code.names, Some(ty), &value, cutoff) {
                    Ok(written) if written.too_large => return Err(too_large("the payload")),
                    Ok(written) => written.bytes,
                    Err(WriteError::TooLong)
                        if self.meter.max_output_bytes() <= limits::MAX_PAYLOAD_BYTES =>
                    {
                        return Err(self.output_exhausted());
                    }
                    Err(WriteError::TooLong) => {
                        return Err(Stop::Fault("the payload is above its limit"));
                    }
                    Err(WriteError::Misfit) => {
                        return Err(Stop::Fault("the payload is none of its type"));
                    }
                }
            }
        };
        self.meter.output(body.len())?;
        Ok(Decision::Obstruction {
            origin: Origin::Authored,
            coordinate: form.coordinate.clone(),
            body,
        })
    }

    fn output_exhausted(&self) -> Stop {
        Stop::Exhausted(self.meter.exhausted(Resource::OutputBytes))
    }
}

/// Decides with the constraint of that number.
pub(super) fn constraint_failed(number: u32) -> Decision {
    let payload =
        cbor::Value::text_map([("constraint", cbor::Value::text(format!("where.{number}")))]);
    Decision::Obstruction {
        origin: Origin::Constraint,
        coordinate: "echo.obstruction.input-constraint/v1".to_owned(),
        body: cbor::encode(&payload),
    }
}

fn too_large(what: &str) -> Stop {
    Stop::from(Refusal::new(
        "state-limit",
        format!("{what} has too many items or levels"),
    ))
}
