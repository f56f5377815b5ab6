// SPDX-License-Identifier: Apache-2.0
//! The map of a foreign package: exact keys and types, its program and its result.

use super::{PACKAGE, PROGRAM_KIND, report::bytes_32};
use crate::{
    package::fields::{Item, Wrong},
    pin::Budget,
    refusal::Refusal,
};
use edict_codec::{cbor::Value, digest::frame};

/// Profiles of the runtime whose meaning this host implements, as that runtime names them.
const INTRINSIC: [u8; 32] = [
    0xdc, 0xc7, 0x97, 0x88, 0x3e, 0xfc, 0xfd, 0x39, 0x23, 0x1a, 0x4c, 0xee, 0x8b, 0x25, 0x74, 0xf5,
    0xde, 0xe4, 0x6a, 0x72, 0xbe, 0x88, 0x4e, 0x5a, 0x00, 0x6f, 0x5c, 0xdd, 0xfb, 0xfa, 0x4c, 0x1b,
];
const INTERPRETER: [u8; 32] = [
    0x41, 0x51, 0x05, 0xa8, 0x05, 0xa8, 0x0d, 0x5e, 0x1d, 0xe7, 0x6c, 0x6e, 0xee, 0x9b, 0x3a, 0x9a,
    0x9a, 0x17, 0xfe, 0xc8, 0x0f, 0x7f, 0x8f, 0x7a, 0xb6, 0xef, 0x20, 0x26, 0xc0, 0xdd, 0x0d, 0xec,
];

const PROJECTION: &str = "edict.result-projection.artifact/v1";

/// A package whose keys and types are right.
#[derive(Debug)]
pub(super) struct Envelope<'a> {
    pub(super) operation: &'a str,
    pub(super) obstruction: &'a str,
    pub(super) budget: Budget,
    pub(super) target_ir: [u8; 32],
    pub(super) projection_digest: [u8; 32],
    pub(super) input_schema: [u8; 32],
    pub(super) result_schema: [u8; 32],
    pub(super) key_path: Vec<&'a str>,
    pub(super) value_path: Vec<&'a str>,
    program: &'a [u8],
    intrinsic: [u8; 32],
    interpreter: [u8; 32],
    projection: &'a [u8],
    runtime: Item<'a>,
}

/// The one program, as far as it can differ.
#[derive(Debug)]
pub(super) struct Program {
    node_type: [u8; 32],
    attachment_type: [u8; 32],
    pub(super) max_replacement_bytes: u64,
}

/// How the result is put together.
#[derive(Debug)]
pub(super) enum Expression {
    /// The value at a path of the application input.
    Input(Vec<String>),
    /// A record, ascending by name.
    Record(Vec<(String, Self)>),
}

/// A projection with the most bytes of its result.
#[derive(Debug)]
pub(super) struct Projection {
    pub(super) expression: Expression,
    pub(super) max_output_bytes: u64,
}

impl Program {
    /// The space of all attachments of that type on nodes of that type.
    pub(super) fn space(&self) -> String {
        let hex = edict_codec::hex::encode;
        format!(
            "echo.anchored/{}/{}",
            hex(&self.node_type),
            hex(&self.attachment_type)
        )
    }
}

/// Whether this is such a package at all.
pub(super) fn schema(package: &Value) -> Result<(), Refusal> {
    match package.get("schema") {
        Some(Value::Text(schema)) if schema == PACKAGE => Ok(()),
        Some(Value::Text(_)) => Err(Refusal::at(
            "profile-unsupported",
            ".schema",
            format!("the pin is that of an `{PACKAGE}`"),
        )),
        _ if package.as_map().is_none() => Err(Refusal::at(
            "package-malformed",
            ".",
            "a map must stand here",
        )),
        _ => Err(Refusal::at(
            "package-malformed",
            ".schema",
            "a schema must stand here",
        )),
    }
}

/// Reads the closed map of a package.
pub(super) fn read(value: &Value) -> Result<Envelope<'_>, Wrong> {
    let [
        schema,
        program,
        budget,
        closure,
        operation,
        input,
        obstruction,
        result,
        target,
        authority,
        intrinsic,
        footprint,
        failure,
        interpreter,
        projection,
        reading,
        basis,
        application_basis,
        failure_reading,
    ] = Item::root(value).map([
        "schema",
        "program",
        "budget_ceiling",
        "semantic_closure",
        "operation_coordinate",
        "input_schema_identity",
        "obstruction_coordinate",
        "result_schema_identity",
        "target_profile_identity",
        "authority_profile_identity",
        "intrinsic_profile_identity",
        "footprint_contract_identity",
        "obstruction_schema_identity",
        "interpreter_profile_identity",
        "application_result_projection",
        "result_interpretation_identity",
        "evaluation_basis_schema_identity",
        "application_basis_schema_identity",
        "obstruction_interpretation_identity",
    ])?;
    schema.text()?;
    for identity in [
        &target,
        &authority,
        &footprint,
        &failure,
        &reading,
        &basis,
        &application_basis,
        &failure_reading,
    ] {
        bytes_32(identity)?;
    }
    let [artifact, digest, runtime, key_path, value_path] = projection.map([
        "artifact_bytes",
        "artifact_identity",
        "runtime_expression",
        "application_input_node_key_path",
        "application_input_replacement_path",
    ])?;
    Ok(Envelope {
        operation: operation.coordinate()?,
        obstruction: obstruction.coordinate()?,
        budget: read_budget(&budget)?,
        target_ir: target_ir(&closure)?,
        projection_digest: bytes_32(&digest)?,
        input_schema: bytes_32(&input)?,
        result_schema: bytes_32(&result)?,
        key_path: path(&key_path)?,
        value_path: path(&value_path)?,
        program: program.bytes()?,
        intrinsic: bytes_32(&intrinsic)?,
        interpreter: bytes_32(&interpreter)?,
        projection: artifact.bytes()?,
        runtime,
    })
}

/// Steps, read bytes and written bytes; each is at least 1.
fn read_budget(item: &Item<'_>) -> Result<Budget, Wrong> {
    let [steps, read, write] = item.map(["steps", "read_bytes", "write_bytes"])?;
    for item in [&steps, &read, &write] {
        if item.number()? == 0 {
            return Err(item.wrong("a budget is at least 1"));
        }
    }
    Ok(Budget {
        max_steps: steps.number()?,
        max_allocated_bytes: read.number()?,
        max_output_bytes: write.number()?,
    })
}

/// The Target IR of a closure whose other members are well-formed.
fn target_ir(closure: &Item<'_>) -> Result<[u8; 32], Wrong> {
    let [
        core,
        lawpack,
        lawpack_name,
        target_ir,
        source,
        meaning,
        schema,
        schema_name,
    ] = closure.map([
        "core_identity",
        "lawpack_identity",
        "lawpack_coordinate",
        "target_ir_identity",
        "edict_source_identity",
        "canonical_meaning_identity",
        "application_schema_identity",
        "application_schema_coordinate",
    ])?;
    for identity in [&core, &lawpack, &source, &meaning, &schema] {
        bytes_32(identity)?;
    }
    lawpack_name.coordinate()?;
    schema_name.coordinate()?;
    bytes_32(&target_ir)
}

/// One name or more.
fn path<'a>(item: &Item<'a>) -> Result<Vec<&'a str>, Wrong> {
    let steps: Vec<&str> = item
        .array()?
        .iter()
        .map(Item::text)
        .collect::<Result<_, _>>()?;
    if steps.is_empty() {
        return Err(item.wrong("a path has a step"));
    }
    Ok(steps)
}

fn unsupported(path: &str, message: &str) -> Refusal {
    Refusal::at("profile-unsupported", path, message)
}

/// Reads and judges the embedded program: one kind, on the profiles that this host implements.
pub(super) fn program(envelope: &Envelope<'_>) -> Result<Program, Refusal> {
    let value = super::super::artifacts::decode(envelope.program)
        .map_err(|error| Refusal::at("artifact-noncanonical", ".program", error.to_string()))?;
    let malformed = |wrong: Wrong| {
        let path = format!(".program{}", wrong.path.trim_end_matches('.'));
        Refusal::at("package-malformed", path, wrong.message)
    };
    if value
        .get("kind")
        .and_then(Value::as_text)
        .is_some_and(|kind| kind != PROGRAM_KIND)
    {
        return Err(unsupported(
            ".program.kind",
            "this host runs one kind of program",
        ));
    }
    let read = || -> Result<(Program, [u8; 32], [u8; 32]), Wrong> {
        let [kind, schema, node, most, attachment, intrinsic, interpreter] = Item::root(&value)
            .map([
                "kind",
                "schema",
                "required_node_type",
                "max_replacement_bytes",
                "required_attachment_type",
                "intrinsic_profile_identity",
                "interpreter_profile_identity",
            ])?;
        kind.text()?;
        if schema.text()? != "echo.operation-program/v1" {
            return Err(schema.wrong("`echo.operation-program/v1` must stand here"));
        }
        let program = Program {
            node_type: bytes_32(&node)?,
            attachment_type: bytes_32(&attachment)?,
            max_replacement_bytes: most.number()?,
        };
        Ok((program, bytes_32(&intrinsic)?, bytes_32(&interpreter)?))
    };
    let (program, intrinsic, interpreter) = read().map_err(malformed)?;
    for (path, stated, inside, supported) in [
        (
            ".intrinsic_profile_identity",
            envelope.intrinsic,
            intrinsic,
            INTRINSIC,
        ),
        (
            ".interpreter_profile_identity",
            envelope.interpreter,
            interpreter,
            INTERPRETER,
        ),
    ] {
        if stated != inside {
            let message = "package and program name different profiles";
            return Err(Refusal::at("program-malformed", path, message));
        }
        if stated != supported {
            return Err(unsupported(path, "this host implements another one"));
        }
    }
    Ok(program)
}

/// Judges the embedded projection and the expression that is to be evaluated for it.
pub(super) fn projection(envelope: &Envelope<'_>) -> Result<Projection, Refusal> {
    const AT: &str = ".application_result_projection";
    if frame(PROJECTION, envelope.projection) != envelope.projection_digest {
        return Err(Refusal::at(
            "artifact-digest-mismatch",
            format!("{AT}.artifact_bytes"),
            "the stated identity is that of other bytes",
        ));
    }
    let value = super::super::artifacts::decode(envelope.projection).map_err(|error| {
        Refusal::at(
            "artifact-noncanonical",
            format!("{AT}.artifact_bytes"),
            error.to_string(),
        )
    })?;
    let mismatch = |wrong: Wrong| {
        Refusal::at(
            "projection-mismatch",
            format!("{AT}.artifact_bytes"),
            wrong.message,
        )
    };
    let read = || -> Result<Projection, Wrong> {
        let [schema, expression, output, most, operation] = Item::root(&value).map([
            "schema",
            "expression",
            "outputType",
            "maxOutputBytes",
            "operationCoordinate",
        ])?;
        output.text()?;
        if schema.text()? != "edict.result-projection/v1" {
            return Err(schema.wrong("`edict.result-projection/v1` must stand here"));
        }
        if operation.text()? != envelope.operation {
            return Err(operation.wrong("the projection is that of another operation"));
        }
        Ok(Projection {
            expression: expression_of(&expression, &envelope.runtime, envelope)?,
            max_output_bytes: most.number()?,
        })
    };
    read().map_err(mismatch)
}

/// The runtime's expression, which must have the shape of the projection leaf by leaf. What the
/// capability gives back is what it was given: the node key and the replacement.
fn expression_of(
    stated: &Item<'_>,
    runtime: &Item<'_>,
    envelope: &Envelope<'_>,
) -> Result<Expression, Wrong> {
    let kind = stated.value().get("kind").and_then(Value::as_text);
    if kind == Some("record") {
        let [_, stated_fields] = stated.map(["kind", "fields"])?;
        let [runtime_kind, runtime_fields] = runtime.map(["kind", "fields"])?;
        if runtime_kind.text()? != "record" {
            return Err(runtime_kind.wrong("the projection has a record there"));
        }
        let names = named(&stated_fields)?;
        if names.len() != named(&runtime_fields)?.len() {
            return Err(runtime_fields.wrong("the projection has other fields"));
        }
        let mut fields = Vec::with_capacity(names.len());
        for (name, stated) in names {
            let runtime = runtime_fields.member(name)?;
            fields.push((name.to_owned(), expression_of(&stated, &runtime, envelope)?));
        }
        return Ok(Expression::Record(fields));
    }
    let (is_capability, stated_path) = source(stated)?;
    let (runtime_is_capability, runtime_path) = source(runtime)?;
    if stated_path != runtime_path || (runtime_is_capability && !is_capability) {
        return Err(runtime.wrong("the projection takes another source there"));
    }
    let given = [&envelope.key_path, &envelope.value_path];
    if is_capability && !given.contains(&&stated_path) {
        return Err(stated.wrong("the capability gives no such field"));
    }
    Ok(Expression::Input(
        stated_path.into_iter().map(str::to_owned).collect(),
    ))
}

/// Whether a leaf is of the capability, and its path.
fn source<'a>(item: &Item<'a>) -> Result<(bool, Vec<&'a str>), Wrong> {
    let [kind, source, steps] = item.map(["kind", "source", "path"])?;
    if kind.text()? != "source" {
        return Err(kind.wrong("only records and sources are known"));
    }
    let steps = path(&steps)?;
    match source.value().get("kind").and_then(Value::as_text) {
        Some("applicationInput") => source.map(["kind"]).map(|_| (false, steps)),
        Some("capabilityResult") => source.map(["kind", "stepId"]).map(|_| (true, steps)),
        _ => Err(source.wrong("only the application input and a capability are known")),
    }
}

fn named<'a>(item: &Item<'a>) -> Result<Vec<(&'a str, Item<'a>)>, Wrong> {
    let Some(entries) = item.value().as_map() else {
        return Err(item.wrong("a map must stand here"));
    };
    let mut names = Vec::with_capacity(entries.len());
    for (key, _) in entries {
        let name = key
            .as_text()
            .ok_or_else(|| item.wrong("a key is no text"))?;
        names.push((name, item.member(name)?));
    }
    Ok(names)
}
