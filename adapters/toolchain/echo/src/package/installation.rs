// SPDX-License-Identifier: Apache-2.0
//! `Installation`: an admitted package, immutable and ready to run (checks A11 to A15).

use super::{
    artifacts::Artifacts,
    calls, effects,
    envelope::Envelope,
    findings::Findings,
    functions::Functions,
    header, orders,
    program::{Sources, read_program},
    projection,
    types::{Scope, TypeError, TypeId, Types},
};
use crate::{
    eval::{
        self,
        code::Code,
        compile::{Obstruction, compile},
        names::Names,
    },
    executable::{Evaluated, Executable, Facts},
    pin::Budget,
    refusal::Refusal,
    state::view::{AtomView, FootprintRow},
};
use edict_codec::cbor::{Value, encode};
use std::collections::BTreeMap;

/// An admitted package. It carries no authority: a context must be granted it.
#[derive(Debug)]
pub struct Installation {
    facts: Facts,
    code: Code,
}

impl Installation {
    pub(super) fn new(facts: Facts, code: Code) -> Self {
        Self { facts, code }
    }
}

impl Executable for Installation {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn decode_input(&self, input: &[u8]) -> Result<Value, Refusal> {
        eval::decode_input(&self.code, input)
    }

    fn run(
        &self,
        input: Value,
        budget: Budget,
        view: &mut dyn AtomView,
    ) -> Result<Evaluated, Refusal> {
        eval::run(&self.code, &input, budget, view)
    }
}

/// Reads, judges and compiles the program of a package.
pub(super) fn load(
    envelope: &Envelope<'_>,
    artifacts: &Artifacts,
    intent: &str,
) -> Result<(Code, Vec<FootprintRow>), Refusal> {
    let mut names = Names::default();
    let mut types = Types::load(envelope.types, exported(&artifacts.exports), &mut names)
        .map_err(malformed_type)?;
    let (ends, obstructions) = stated_types(envelope, &mut types, &mut names)?;
    let mut findings = Findings::default();
    if let Err(wrong) = header::judge(&artifacts.target_ir, &artifacts.core) {
        let path = format!(".targetIr.bytes{}", wrong.path.trim_end_matches('.'));
        findings.malformed(&path, &wrong.message);
    }
    let coordinate = artifacts.core.get("coordinate").and_then(Value::as_text);
    let mut functions = Functions::new(
        &artifacts.core,
        coordinate.unwrap_or_default(),
        &artifacts.exports,
    );
    let program = artifacts.target_ir.get("intents");
    let sources = Sources {
        intent: program
            .and_then(|it| it.get(intent))
            .unwrap_or(&Value::Null),
        name: intent,
        constraints: envelope.constraints,
    };
    let tree = read_program(
        &sources,
        &mut functions,
        &mut types,
        &mut names,
        &mut findings,
    );
    types.judge().map_err(malformed_type)?;
    orders::judge(&tree.intent, &mut findings);
    if !findings.is_clean() {
        findings.judge()?;
        return Err(Refusal::new("program-malformed", "the program is unsound"));
    }
    let code = compile(&tree, &obstructions, types, names, ends, &mut findings);
    findings.judge()?;
    calls::judge(&tree)?;
    let facts = projection::Facts {
        operation: envelope.operation,
        output_type: envelope.output_type,
        max_output_bytes: envelope.budget.max_output_bytes,
    };
    let rebuilt = projection::rebuild(&tree, &code.names, &facts);
    if rebuilt.map(|it| encode(&it)).as_deref() != Some(envelope.projection.bytes) {
        return Err(Refusal::at(
            "projection-mismatch",
            ".projection.bytes",
            "the result of Target IR is another one",
        ));
    }
    let footprint = effects::judge(envelope, &tree)?;
    Ok((code, footprint))
}

fn malformed_type(error: TypeError) -> Refusal {
    Refusal::at("type-malformed", error.path, error.message)
}

/// The definitions that lawpacks export, by coordinate.
fn exported(exports: &[Value]) -> BTreeMap<String, String> {
    let rows = exports
        .iter()
        .filter_map(|it| it.get("types").and_then(Value::as_array))
        .flatten();
    rows.filter_map(|row| {
        let text = |key: &str| row.get(key).and_then(Value::as_text);
        Some((
            text("coordinate")?.to_owned(),
            text("definition")?.to_owned(),
        ))
    })
    .collect()
}

/// Input and output type, and the obstructions with the types of their payloads.
type Stated = ((TypeId, TypeId), Vec<Obstruction>);

/// The type texts of the package itself.
fn stated_types(
    envelope: &Envelope<'_>,
    types: &mut Types,
    names: &mut Names,
) -> Result<Stated, Refusal> {
    let mut read = |text: &str, path: &str| {
        types
            .text(text, Scope::Package, path, names)
            .map_err(malformed_type)
    };
    let input = read(envelope.input_type, ".inputType")?;
    let output = read(envelope.output_type, ".outputType")?;
    let mut obstructions = Vec::with_capacity(envelope.obstructions.len());
    for (index, row) in envelope.obstructions.iter().enumerate() {
        obstructions.push(Obstruction {
            coordinate: row.coordinate.to_owned(),
            payload: read(
                row.payload_type,
                &format!(".obstructions[{index}].payloadType"),
            )?,
        });
    }
    for (index, row) in envelope.effects.iter().enumerate() {
        read(row.key_type, &format!(".effects[{index}].keyType"))?;
        if let Some(value_type) = row.value_type {
            read(value_type, &format!(".effects[{index}].valueType"))?;
        }
    }
    Ok(((input, output), obstructions))
}
