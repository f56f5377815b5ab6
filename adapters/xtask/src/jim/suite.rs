// SPDX-License-Identifier: Apache-2.0
//! The fixture writer: a checked table becomes a suite that `edict-test` runs.

use super::{
    JimError, check, home,
    story::{self, Step, Story},
    table::{Case, Table},
};
use edict_codec::{
    cbor::{Value, encode},
    json::{Json, write_document},
};
use std::{fs, path::Path};

/// The name of the manifest of a written suite.
pub const MANIFEST: &str = "edict.test-suite.json";

/// The rows of the committed suite: every group, every obstruction code that can be reached.
pub const SMALL: [&str; 14] = [
    "insert-in-middle",
    "delete-middle",
    "replace-shorter",
    "unicode-four-byte-insert",
    "cross-leaf-replace",
    "insert-then-delete-restores-text",
    "range-reversed-beats-bounds",
    "range-end-past-text",
    "utf8-start-inside",
    "noop-identical-bytes",
    "basis-stale",
    "fact-sequence-exhausted",
    "fact-buffer-missing",
    "fact-buffer-undecodable",
];

/// Checks the table, then writes manifest, fixtures and programs into `out`, which is absent or
/// empty.
///
/// # Errors
/// The table disagrees with the oracle, `out` holds something, or it cannot be written.
pub fn write(table: &Table, out: &Path) -> Result<(), JimError> {
    check::check(table)?;
    if out.exists() && fs::read_dir(out)?.next().is_some() {
        return Err(JimError::new(format!("{} is not empty", out.display())));
    }
    write_cases(table, out)?;
    copy(&home().join("programs"), &out.join("programs"))
}

/// Writes manifest and fixtures of a checked table beside programs that stand there already.
///
/// # Errors
/// Something cannot be written.
pub fn write_cases(table: &Table, out: &Path) -> Result<(), JimError> {
    fs::create_dir_all(out.join("fixtures"))?;
    let mut rows = Vec::new();
    for case in table.cases.iter().filter(|it| it.required) {
        rows.push(entry(case, &Story::of(case)?, out)?);
    }
    let manifest = Json::object([
        ("schema", Json::text("edict.test-suite/v1")),
        ("id", Json::text("jim.replace-range")),
        (
            "toolchainLock",
            Json::text("edict.test-toolchain-lock.json"),
        ),
        ("cases", Json::Array(rows)),
    ]);
    fs::write(out.join(MANIFEST), write_document(&manifest))?;
    let uncovered: Vec<_> = table
        .uncovered()
        .into_iter()
        .map(|id| format!("uncovered {id}\n"))
        .collect();
    if !uncovered.is_empty() {
        fs::write(out.join("uncovered.txt"), uncovered.concat())?;
    }
    Ok(())
}

/// One case of the manifest; its fixtures are written on the way.
fn entry(case: &Case, story: &Story, out: &Path) -> Result<Json, JimError> {
    let mut setup: Vec<&Step> = story.setup.iter().collect();
    let checked;
    let (program, expect) = match &story.outcome {
        Ok(state) => {
            setup.push(&story.judged);
            checked = story::check(&story.buffer, state);
            let expect = Json::object([
                ("kind", Json::text("caseResult")),
                ("schema", Json::text("edict.test.case-result/v1")),
            ]);
            (&checked, expect)
        }
        Err(obstruction) => {
            let payload = story::payload(&story.buffer, obstruction);
            let expect = Json::object([
                ("kind", Json::text("obstruction")),
                ("stage", Json::text("execution")),
                ("coordinate", Json::text(obstruction.coordinate)),
                (
                    "payload",
                    fixture(out, &format!("{}.payload", case.id), &payload)?,
                ),
            ]);
            (&story.judged, expect)
        }
    };
    let mut steps = Vec::new();
    for (index, step) in setup.into_iter().enumerate() {
        let input = fixture(out, &format!("{}.setup-{index}", case.id), &step.input)?;
        steps.push(Json::object([
            ("application", application(step)),
            ("input", input),
        ]));
    }
    Ok(Json::object([
        ("id", Json::text(&case.id)),
        ("description", Json::text(&case.why)),
        ("application", application(program)),
        (
            "input",
            fixture(out, &format!("{}.input", case.id), &program.input)?,
        ),
        ("setup", Json::Array(steps)),
        ("expect", expect),
    ]))
}

fn application(step: &Step) -> Json {
    Json::text(format!("programs/{}.application.json", step.program))
}

fn fixture(out: &Path, name: &str, value: &Value) -> Result<Json, JimError> {
    let path = format!("fixtures/{name}.bin");
    fs::write(out.join(&path), encode(value))?;
    Ok(Json::text(path))
}

/// Copies a directory tree without build outputs.
///
/// # Errors
/// Something cannot be read or written.
pub fn copy(from: &Path, to: &Path) -> Result<(), JimError> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_name() == "out" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
