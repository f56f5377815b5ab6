// SPDX-License-Identifier: Apache-2.0
//! `fixture encode|decode`: typed JSON to the operation's input codec, and back (C5).

use super::{Answer, Problems};
use crate::{
    args::{FixtureArgs, FixtureCommand, Part},
    files::write_new,
    wire::read_argument,
};
use edict_codec::{
    cbor::{Value, decode, encode},
    json::{Json, JsonLimits, Node, parse, write_document},
};
use edict_test_model::{
    Failure, FailureKind, FileSpan, Stage,
    built::blob,
    declared_type::{
        DeclaredType, JsonMismatch, from_json, from_untyped_json, to_json, to_untyped_json,
    },
    limits::Limit,
    package::ProgramPackage,
    suite::identity::{FixtureUse, fixture_of},
};
use std::sync::Arc;

/// Greatest size of a package in bytes, that of the host.
const MAX_PACKAGE: u64 = 4_194_304;

/// What the bytes of a fixture are held to.
enum Declared {
    /// The one type of an input.
    Input(Arc<DeclaredType>),
    /// The payload types of an obstruction, records first.
    Payload(Vec<Arc<DeclaredType>>),
    /// No type.
    Untyped,
}

/// Encodes or decodes one fixture.
pub(super) fn fixture(command: &FixtureCommand) -> Result<Answer, Problems> {
    let one = |failure| vec![failure];
    match command {
        FixtureCommand::Encode(arguments) => encoded(arguments).map_err(one),
        FixtureCommand::Decode(arguments) => decoded(arguments).map_err(one),
    }
}

fn encoded(arguments: &FixtureArgs) -> Result<Answer, Failure> {
    let Some(out) = &arguments.out else {
        return Err(refused("`fixture encode` needs --out FILE"));
    };
    let limit = Limit::FixtureBytes.ceiling();
    let bytes = read_argument(&arguments.input, limit)?;
    let name = arguments.input.display().to_string();
    let limits = JsonLimits {
        bytes: bytes.len(),
        depth: 128,
    };
    let node = parse(&bytes, limits).map_err(|error| {
        let mut failure = refused(&format!("`{name}` is no JSON document: {error}"));
        failure.span = Some(FileSpan {
            file: name.clone(),
            span: error.span,
            text: Some(Arc::clone(&bytes)),
        });
        failure
    })?;
    let value = value_of(&declared(arguments)?, &node).map_err(|mismatch| {
        let mut failure = refused(&format!("`{name}`: {mismatch}"));
        failure.pointer = Some(mismatch.pointer.clone());
        failure.span = mismatch.span.map(|span| FileSpan {
            file: name.clone(),
            span,
            text: Some(Arc::clone(&bytes)),
        });
        failure
    })?;
    let fixture = encode(&value);
    write_new(out, &fixture)?;
    let usage = match arguments.part {
        Some(Part::Payload) => FixtureUse::Payload,
        Some(Part::Input) | None => FixtureUse::Input,
    };
    Ok(Answer::text(format!(
        "bytes {}\nblob {}\nfixture {}\n",
        fixture.len(),
        blob(&fixture),
        fixture_of(usage, &fixture),
    )))
}

fn decoded(arguments: &FixtureArgs) -> Result<Answer, Failure> {
    if arguments.out.is_some() {
        return Err(refused(
            "`fixture decode` writes to standard output; leave --out away",
        ));
    }
    let name = arguments.input.display().to_string();
    let bytes = read_argument(&arguments.input, Limit::FixtureBytes.ceiling())?;
    let value = decode(&bytes)
        .map_err(|error| refused(&format!("`{name}` is no canonical value: {error}")))?;
    let json = json_of(&declared(arguments)?, &value).map_err(|mismatch| {
        let mut failure = refused(&format!("`{name}`: {mismatch}"));
        failure.pointer = Some(mismatch.pointer);
        failure
    })?;
    Ok(Answer::text(write_document(&json)))
}

fn declared(arguments: &FixtureArgs) -> Result<Declared, Failure> {
    let Some(path) = &arguments.package else {
        return Ok(Declared::Untyped);
    };
    if arguments.part != Some(Part::Payload) && arguments.coordinate.is_some() {
        return Err(refused("--coordinate is of --part payload"));
    }
    let bytes = read_argument(path, MAX_PACKAGE)?;
    let package = ProgramPackage::decode(&bytes).map_err(|error| {
        refused(&format!(
            "`{}` is no program package: {error}",
            path.display()
        ))
    })?;
    if arguments.part != Some(Part::Payload) {
        return Ok(Declared::Input(Arc::clone(&package.input)));
    }
    let coordinate = arguments.coordinate.as_deref().unwrap_or_default();
    let rows = package
        .obstructions
        .iter()
        .filter(|row| row.coordinate == coordinate);
    let mut types: Vec<Arc<DeclaredType>> = rows.map(|row| Arc::clone(&row.payload)).collect();
    if types.is_empty() {
        let known: Vec<&str> = package
            .obstructions
            .iter()
            .map(|row| row.coordinate.as_str())
            .collect();
        return Err(refused(&format!(
            "the program raises no `{coordinate}`; it raises: {}",
            known.join(", ")
        )));
    }
    // The record comes first: the bare form `{}` fits only where nothing else does.
    types.sort_by_key(|it| it.describe() == "Record<>");
    Ok(Declared::Payload(types))
}

fn value_of(declared: &Declared, node: &Node) -> Result<Value, JsonMismatch> {
    match declared {
        Declared::Untyped => from_untyped_json(node),
        Declared::Input(it) => from_json(it, node),
        Declared::Payload(types) => first(types, |it| from_json(it, node)),
    }
}

fn json_of(declared: &Declared, value: &Value) -> Result<Json, JsonMismatch> {
    match declared {
        Declared::Untyped => to_untyped_json(value),
        Declared::Input(it) => to_json(it, value),
        Declared::Payload(types) => first(types, |it| to_json(it, value)),
    }
}

/// The answer of the first type that fits, otherwise the rejection of the first type.
fn first<T>(
    types: &[Arc<DeclaredType>],
    convert: impl Fn(&DeclaredType) -> Result<T, JsonMismatch>,
) -> Result<T, JsonMismatch> {
    let mut answers = types.iter().map(|it| convert(it));
    let head = answers.next().unwrap_or_else(|| {
        Err(JsonMismatch {
            kind: edict_test_model::declared_type::JsonMismatchKind::WrongType,
            pointer: String::new(),
            span: None,
            problem: "no payload type".to_owned(),
        })
    });
    head.or_else(|rejection| answers.find_map(Result::ok).ok_or(rejection))
}

fn refused(message: &str) -> Failure {
    Failure::new(Stage::Arguments, FailureKind::UsageError, message)
}
