// SPDX-License-Identifier: Apache-2.0
//! Every program that a page shows is built, and verified; one that a page calls refused is refused
//! with the kind that stands in its fence.

use crate::support::{Space, program, root};
use serde_json::{Value as Json, json};
use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

/// A block fenced as `edict`.
struct Block {
    page: String,
    refused: Option<String>,
    source: String,
}

/// All blocks of all pages below `docs`, in order.
fn blocks() -> Vec<Block> {
    let mut pages: Vec<_> = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect();
    pages.sort();
    let mut blocks = Vec::new();
    for path in pages {
        let page = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(fence) = line.strip_prefix("```") else {
                continue;
            };
            let body: Vec<&str> = lines.by_ref().take_while(|it| *it != "```").collect();
            let words: Vec<&str> = fence.split_whitespace().collect();
            let refused = match words.as_slice() {
                ["edict"] => None,
                ["edict", "refused", kind] => Some((*kind).to_owned()),
                // With a file name the block is a step of its page, which another test runs.
                _ => continue,
            };
            blocks.push(Block {
                page: page.clone(),
                refused,
                source: body.join("\n") + "\n",
            });
        }
    }
    blocks
}

/// Runs a program of the toolchain with one request; its records and exit code.
fn ask(name: &str, directory: &Path, request: &Json) -> (Vec<Json>, i32) {
    let mut child = Command::new(program(name))
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{request}\n").as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let records = text.lines().map(|line| serde_json::from_str(line).unwrap());
    (records.collect(), output.status.code().unwrap())
}

fn package(source: &str) -> &str {
    let first = source.split(';').next().unwrap();
    first.trim().strip_prefix("package ").unwrap()
}

fn build_request(member: &str, document: &str) -> Json {
    json!({"schema": "edict.compiler.settings/v1", "operation": "build", member: document})
}

/// Builds a module as an application of the tour.
fn application(space: &Space, source: &str) -> (Vec<Json>, i32) {
    let programs = space.path("programs");
    let mut source = source.to_owned();
    let mut lawpacks = Vec::new();
    for (coordinate, directory) in [("tour.kit@1", "tour-kit"), ("edict.test@1", "edict-test")] {
        if !source.contains(coordinate) {
            continue;
        }
        let digest = pin(space, coordinate);
        let blank = format!("lawpack {coordinate} digest \"sha256:…\"");
        source = source.replace(&blank, &format!("lawpack {coordinate} digest \"{digest}\""));
        let path = |file: &str| format!("vendor/{directory}/{file}.cbor");
        let mut entry = json!({"manifest": path("manifest"), "exports": path("exports")});
        if coordinate == "tour.kit@1" {
            entry["adapter"] = path("adapter").into();
            entry["targetConfiguration"] = path("configuration").into();
        }
        lawpacks.push(entry);
    }
    let output = programs.join("page-out");
    if output.exists() {
        fs::remove_dir_all(output).unwrap();
    }
    let document = json!({
        "schema": "edict.application/v1", "coordinate": package(&source),
        "sources": ["src/page.edict"], "lawpacks": lawpacks,
        "target": {"profile": "echo.dpo@1"}, "outputDirectory": "page-out",
    });
    fs::write(programs.join("src/page.edict"), &source).unwrap();
    fs::write(programs.join("page.json"), document.to_string()).unwrap();
    let built = ask(
        "edict",
        &programs,
        &build_request("application", "page.json"),
    );
    if built.1 != 0 {
        return built;
    }
    for entry in &mut lawpacks {
        for key in ["adapter", "targetConfiguration"] {
            if entry.get(key).is_none() {
                entry[key] = Json::Null;
            }
        }
    }
    let at = |name: &str| format!("page-out/{name}.cbor");
    let request = json!({
        "schema": "edict.verifier.request/v1", "type": "verifierRequest", "operation": "verify",
        "output": at("report"),
        "inputs": {
            "source": "src/page.edict", "core": at("core"), "targetIr": at("target-ir"),
            "resultProjection": at("result-projection"),
            "package": at("executable-operation-package"), "lawpacks": lawpacks,
        },
    });
    ask("edict-verifier", &programs, &request)
}

/// The digest of a lawpack as the programs of the tour pin it.
fn pin(space: &Space, coordinate: &str) -> String {
    let source = fs::read_to_string(space.path("programs/src/measures.edict")).unwrap();
    let import = source.lines().find(|it| it.contains(coordinate)).unwrap();
    import.split('"').nth(1).unwrap().to_owned()
}

/// Builds a module without an intent as the helpers of a lawpack.
fn helpers(source: &str) -> (Vec<Json>, i32) {
    let directory = tempfile::tempdir().unwrap();
    let definition = root().join("testdata/lawpacks/edict-test/edict.lawpack.json");
    let definition = fs::read_to_string(definition).unwrap();
    let id = package(source).split('@').next().unwrap();
    let definition = definition.replace("edict.test", id);
    fs::write(directory.path().join("pack.json"), definition).unwrap();
    fs::create_dir(directory.path().join("src")).unwrap();
    fs::write(directory.path().join("src/assert.edict"), source).unwrap();
    ask(
        "edict",
        directory.path(),
        &build_request("lawpack", "pack.json"),
    )
}

/// Whether a program of the test data, which other tests build and run, has these very lines,
/// comments left out.
fn is_part_of_a_program(lines: &str) -> bool {
    let mut pending = vec![root().join("testdata")];
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            pending.extend(fs::read_dir(path).unwrap().map(|it| it.unwrap().path()));
        } else if path.extension().is_some_and(|it| it == "edict") {
            let text = fs::read_to_string(path).unwrap();
            let code = text.lines().filter(|it| !it.trim_start().starts_with("//"));
            let code: Vec<&str> = code.collect();
            if code.join("\n").contains(lines.trim_end()) {
                return true;
            }
        }
    }
    false
}

#[test]
fn every_program_of_the_pages_is_built_and_verified_or_refused_as_it_says() {
    let space = Space::unpinned("tour");
    let mut seen = [0, 0, 0];
    for block in blocks() {
        if !block.source.starts_with("package ") {
            let Block { page, source, .. } = block;
            assert!(
                is_part_of_a_program(&source),
                "{page}: of no program:\n{source}"
            );
            continue;
        }
        let Block {
            page,
            refused,
            source,
        } = block;
        match refused {
            None if source.contains("\nintent ") || source.contains("\naction ") => {
                let (records, code) = application(&space, &source);
                assert_eq!(code, 0, "{page}: {records:#?}\n{source}");
                assert_eq!(records[0]["outcome"], "accepted", "{page}");
                seen[0] += 1;
            }
            None => {
                let (records, code) = helpers(&source);
                assert_eq!(code, 0, "{page}: {records:#?}\n{source}");
                seen[1] += 1;
            }
            Some(expected) => {
                let (records, code) = application(&space, &source);
                assert_ne!(code, 0, "{page}:\n{source}");
                let word = |name: &str| records[0][name].as_str().unwrap_or_default();
                let found = format!("{}/{}", word("stage"), word("kind"));
                assert_eq!(found, expected, "{page}: {records:#?}\n{source}");
                assert!(records[0]["line"].is_u64(), "{page}");
                seen[2] += 1;
            }
        }
    }
    assert!(seen[0] >= 9 && seen[1] >= 1 && seen[2] >= 6, "{seen:?}");
}
