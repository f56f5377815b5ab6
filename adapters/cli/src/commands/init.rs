// SPDX-License-Identifier: Apache-2.0
//! `init`: a running project of one case, lawpacks included, pinned to the programs beside this one.

use super::{Answer, Problems, lock};
use crate::{
    args::{Existing, InitArgs, LockArgs, ShapeArg},
    files::{failed, write_new},
};
use edict_codec::{
    cbor::{Value, encode},
    json::{Json, write_document},
};
use edict_test_model::{Failure, FailureKind, Stage, SuiteId};
use edict_test_store::file::{empty_directory, make_directory};
use std::{fmt::Write as _, path::Path};

/// Name of the manifest.
const SUITE: &str = "edict.test-suite.json";
/// Name of the lock.
const LOCK: &str = "edict.test-toolchain-lock.json";
/// Place of the input fixture.
const INPUT: &str = "fixtures/adds-up.input.bin";

/// A vendored file: its path and its bytes.
type Vendored = (&'static str, &'static [u8]);

/// The closure of the first program: the assertions of this product, and a starter lawpack with one
/// pure profile and one budget. They are what `edict` makes of the definitions beside them.
const LAWPACKS: [Vendored; 6] = [
    (
        "cases/vendor/edict-test/manifest.cbor",
        include_bytes!("../../starter/edict-test/manifest.cbor"),
    ),
    (
        "cases/vendor/edict-test/exports.cbor",
        include_bytes!("../../starter/edict-test/exports.cbor"),
    ),
    (
        "cases/vendor/starter/manifest.cbor",
        include_bytes!("../../starter/starter/manifest.cbor"),
    ),
    (
        "cases/vendor/starter/exports.cbor",
        include_bytes!("../../starter/starter/exports.cbor"),
    ),
    (
        "cases/vendor/starter/adapter.cbor",
        include_bytes!("../../starter/starter/adapter.cbor"),
    ),
    (
        "cases/vendor/starter/configuration.cbor",
        include_bytes!("../../starter/starter/configuration.cbor"),
    ),
];

/// The program, in which the digests of the lawpack manifests are filled in.
const SOURCE: &str = include_str!("../../starter/adds-up.edict");

const DIRECTORIES: [&str; 6] = [
    "cases",
    "cases/src",
    "cases/vendor",
    "cases/vendor/edict-test",
    "cases/vendor/starter",
    "fixtures",
];

/// Writes the project and its lock; the answer names every file.
pub(super) fn init(arguments: &InitArgs) -> Result<Answer, Problems> {
    let one = |failure| vec![failure];
    let directory = &arguments.directory;
    let id = suite_id(arguments).map_err(one)?;
    let files = files(&id).map_err(one)?;
    empty_directory(directory).map_err(|error| one(failed(&error)))?;
    for name in DIRECTORIES {
        make_directory(&directory.join(name)).map_err(|error| one(failed(&error)))?;
    }
    let mut text = String::new();
    for (name, bytes) in &files {
        write_new(&directory.join(name), bytes).map_err(one)?;
        // Writing into a string cannot fail.
        _ = writeln!(text, "wrote {name}");
    }
    lock::lock(&pins(&directory.join(SUITE)))?;
    _ = writeln!(text, "wrote {LOCK}");
    let shown = quoted(&directory.join(SUITE).display().to_string());
    _ = write!(
        text,
        "\nrun it:\n  edict-test --suite {shown}\n\
         pin other programs:\n  edict-test lock --suite {shown} --existing replace\n"
    );
    Ok(Answer::text(text))
}

/// A path as a shell takes it for one word.
fn quoted(path: &str) -> String {
    let plain = |scalar: char| scalar.is_alphanumeric() || "/._-+@%:,=".contains(scalar);
    if path.chars().all(plain) && !path.starts_with('-') {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

/// The given id, or the name of the directory.
fn suite_id(arguments: &InitArgs) -> Result<String, Failure> {
    let named = std::path::absolute(&arguments.directory).ok();
    let named = named
        .as_deref()
        .and_then(Path::file_name)
        .and_then(|name| name.to_str().map(str::to_owned));
    let Some(id) = arguments.id.clone().or(named) else {
        return Err(refused(
            "the directory has no name to call the suite by; give --id ID",
        ));
    };
    match SuiteId::parse(&id) {
        Ok(_) => Ok(id),
        Err(error) => Err(refused(&format!(
            "`{id}` is no suite id: {error}; give --id ID"
        ))),
    }
}

/// Every file but the lock.
fn files(id: &str) -> Result<Vec<(&'static str, Vec<u8>)>, Failure> {
    let input = encode(&Value::text_map([
        ("left", Value::unsigned(2)),
        ("right", Value::unsigned(3)),
        ("sum", Value::unsigned(5)),
    ]));
    let mut files = vec![
        (SUITE, suite(id).into_bytes()),
        ("cases/adds-up.application.json", application().into_bytes()),
        ("cases/src/adds-up.edict", source()?.into_bytes()),
        (INPUT, input),
    ];
    let vendored = LAWPACKS.iter().map(|(name, bytes)| (*name, bytes.to_vec()));
    files.extend(vendored);
    Ok(files)
}

fn suite(id: &str) -> String {
    let expect = Json::object([
        ("kind", Json::text("caseResult")),
        (
            "schema",
            Json::text(edict_test_model::suite::document::CASE_RESULT),
        ),
    ]);
    let case = Json::object([
        ("id", Json::text("adds-up")),
        ("description", Json::text("two and three make five")),
        ("application", Json::text("cases/adds-up.application.json")),
        ("input", Json::text(INPUT)),
        ("expect", expect),
    ]);
    write_document(&Json::object([
        ("schema", Json::text("edict.test-suite/v1")),
        ("id", Json::text(id)),
        ("toolchainLock", Json::text(LOCK)),
        ("cases", Json::Array(vec![case])),
    ]))
}

fn application() -> String {
    let pack = |name: &str, parts: &[(&'static str, &str)]| {
        let paths = parts
            .iter()
            .map(|(member, file)| (*member, Json::text(format!("vendor/{name}/{file}.cbor"))));
        Json::object(paths)
    };
    let own = [
        ("manifest", "manifest"),
        ("exports", "exports"),
        ("adapter", "adapter"),
        ("targetConfiguration", "configuration"),
    ];
    let shared = [("manifest", "manifest"), ("exports", "exports")];
    write_document(&Json::object([
        ("schema", Json::text("edict.application/v1")),
        ("coordinate", Json::text("starter.adds@1")),
        (
            "sources",
            Json::Array(vec![Json::text("src/adds-up.edict")]),
        ),
        (
            "lawpacks",
            Json::Array(vec![pack("starter", &own), pack("edict-test", &shared)]),
        ),
        (
            "target",
            Json::object([("profile", Json::text("echo.dpo@1"))]),
        ),
        ("outputDirectory", Json::text("out")),
    ]))
}

/// The source with the digests of the manifests that are vendored.
fn source() -> Result<String, Failure> {
    let mut text = SOURCE.to_owned();
    for (name, mark) in [
        ("cases/vendor/starter/manifest.cbor", "STARTER-DIGEST"),
        ("cases/vendor/edict-test/manifest.cbor", "EDICT-TEST-DIGEST"),
    ] {
        let found = LAWPACKS.iter().find(|(file, _)| *file == name);
        let digest =
            found.and_then(|(_, bytes)| edict_test_model::binding::manifest_identity(bytes));
        let Some(digest) = digest else {
            return Err(Failure::internal("a vendored lawpack has no identity"));
        };
        text = text.replace(mark, &format!("sha256:{}", digest.hex()));
    }
    Ok(text)
}

fn pins(suite: &Path) -> LockArgs {
    LockArgs {
        suite: Some(suite.to_path_buf()),
        out: None,
        check: None,
        shape: ShapeArg::Bundled,
        compiler: None,
        lowerer: None,
        verifier: None,
        host: None,
        provider_package: None,
        source: Vec::new(),
        existing: Existing::Refuse,
    }
}

fn refused(message: &str) -> Failure {
    Failure::new(Stage::Arguments, FailureKind::UsageError, message)
}
