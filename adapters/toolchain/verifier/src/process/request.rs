// SPDX-License-Identifier: Apache-2.0
//! `edict.verifier.request/v1`: closed objects, one request.

use super::Failure;
use edict_codec::json::{JsonLimits, Node, parse as parse_json};
use std::path::PathBuf;

const MAX_JSON_DEPTH: usize = 64;

/// What to do, and where its files are.
#[derive(Debug)]
pub(super) enum Request {
    Verify { output: PathBuf, inputs: Build },
    Evaluate { output: PathBuf, inputs: Program },
}

/// Paths of a build.
#[derive(Debug)]
pub(super) struct Build {
    pub(super) source: PathBuf,
    pub(super) core: PathBuf,
    pub(super) target_ir: PathBuf,
    pub(super) projection: PathBuf,
    pub(super) package: PathBuf,
    pub(super) lawpacks: Vec<Lawpack>,
}

/// Paths of a program to evaluate.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) core: PathBuf,
    pub(super) lawpacks: Vec<Lawpack>,
    pub(super) input: PathBuf,
    pub(super) intent: String,
    pub(super) atoms: Option<Atoms>,
}

/// Where the atoms of a program with effects are read, and where they are written afterwards.
#[derive(Debug)]
pub(super) struct Atoms {
    pub(super) before: PathBuf,
    pub(super) after: PathBuf,
}

/// Paths of a lawpack.
#[derive(Debug)]
pub(super) struct Lawpack {
    pub(super) manifest: PathBuf,
    pub(super) exports: PathBuf,
    pub(super) adapter: Option<PathBuf>,
    pub(super) configuration: Option<PathBuf>,
}

/// Reads the one request of standard input; blank lines are skipped.
pub(super) fn parse(bytes: &[u8]) -> Result<Request, Failure> {
    let mut requests = Vec::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let limits = JsonLimits {
            bytes: line.len(),
            depth: MAX_JSON_DEPTH,
        };
        let node = parse_json(line, limits).map_err(|error| {
            let number = index.saturating_add(1);
            Failure::new("InvalidJsonl", format!("line {number}: {error}"))
        })?;
        requests.push(node);
    }
    match &*requests {
        [request] => read(request),
        _ => Err(invalid(format!(
            "expected one request, found {}",
            requests.len()
        ))),
    }
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new("InvalidRequest", message)
        .with_help("see `edict.verifier.request/v1` in the language contract")
}

fn closed(node: &Node, at: &str, names: &[&str]) -> Result<(), Failure> {
    let Some(members) = node.as_object() else {
        return Err(invalid(format!("{at}: expected an object")));
    };
    for member in members {
        if !names.contains(&&*member.name) {
            return Err(invalid(format!("{at}: unknown member `{}`", member.name)));
        }
    }
    match names.iter().find(|name| node.get(name).is_none()) {
        Some(missing) => Err(invalid(format!("{at}: missing member `{missing}`"))),
        None => Ok(()),
    }
}

fn text(node: &Node, at: &str, name: &str) -> Result<String, Failure> {
    node.get(name)
        .and_then(Node::as_text)
        .filter(|text| !text.is_empty() && !text.contains('\0'))
        .map(str::to_owned)
        .ok_or_else(|| invalid(format!("{at}: `{name}` is no text")))
}

fn path(node: &Node, at: &str, name: &str) -> Result<PathBuf, Failure> {
    text(node, at, name).map(PathBuf::from)
}

fn read(request: &Node) -> Result<Request, Failure> {
    let names = ["schema", "type", "operation", "output", "inputs"];
    closed(request, "request", &names)?;
    for (name, expected) in [
        ("schema", "edict.verifier.request/v1"),
        ("type", "verifierRequest"),
    ] {
        if text(request, "request", name)? != expected {
            return Err(invalid(format!("request: `{name}` is not `{expected}`")));
        }
    }
    let output = path(request, "request", "output")?;
    let Some(inputs) = request.get("inputs") else {
        return Err(invalid("request: missing member `inputs`"));
    };
    match &*text(request, "request", "operation")? {
        "verify" => Ok(Request::Verify {
            output,
            inputs: build(inputs)?,
        }),
        "evaluate" => Ok(Request::Evaluate {
            output,
            inputs: program(inputs)?,
        }),
        other => Err(invalid(format!("request: no operation `{other}`"))),
    }
}

fn build(inputs: &Node) -> Result<Build, Failure> {
    let names = [
        "source",
        "core",
        "targetIr",
        "resultProjection",
        "package",
        "lawpacks",
    ];
    closed(inputs, "inputs", &names)?;
    Ok(Build {
        source: path(inputs, "inputs", "source")?,
        core: path(inputs, "inputs", "core")?,
        target_ir: path(inputs, "inputs", "targetIr")?,
        projection: path(inputs, "inputs", "resultProjection")?,
        package: path(inputs, "inputs", "package")?,
        lawpacks: lawpacks(inputs)?,
    })
}

fn program(inputs: &Node) -> Result<Program, Failure> {
    let atoms = inputs.get("atoms");
    let mut names = vec!["core", "lawpacks", "input", "intent"];
    names.extend(atoms.map(|_| "atoms"));
    closed(inputs, "inputs", &names)?;
    Ok(Program {
        atoms: atoms.map(atoms_of).transpose()?,
        core: path(inputs, "inputs", "core")?,
        lawpacks: lawpacks(inputs)?,
        input: path(inputs, "inputs", "input")?,
        intent: text(inputs, "inputs", "intent")?,
    })
}

fn atoms_of(atoms: &Node) -> Result<Atoms, Failure> {
    let at = "inputs.atoms";
    closed(atoms, at, &["before", "after"])?;
    Ok(Atoms {
        before: path(atoms, at, "before")?,
        after: path(atoms, at, "after")?,
    })
}

fn lawpacks(inputs: &Node) -> Result<Vec<Lawpack>, Failure> {
    let Some(rows) = inputs.get("lawpacks").and_then(Node::as_array) else {
        return Err(invalid("inputs: `lawpacks` is no list"));
    };
    let names = ["manifest", "exports", "adapter", "targetConfiguration"];
    let optional = |row: &Node, at: &str, name: &str| match row.get(name) {
        Some(node) if node.tree != edict_codec::json::Tree::Null => path(row, at, name).map(Some),
        _ => Ok(None),
    };
    rows.iter()
        .enumerate()
        .map(|(index, row)| {
            let at = format!("inputs.lawpacks[{index}]");
            closed(row, &at, &names)?;
            Ok(Lawpack {
                manifest: path(row, &at, "manifest")?,
                exports: path(row, &at, "exports")?,
                adapter: optional(row, &at, "adapter")?,
                configuration: optional(row, &at, "targetConfiguration")?,
            })
        })
        .collect()
}
