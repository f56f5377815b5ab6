// SPDX-License-Identifier: Apache-2.0
//! The request: one settings record, then input records.

use crate::{
    document::{prose, to_value},
    failure::Failure,
    shape::{At, ShapeError, Strictness},
};
use edict_codec::{
    cbor::Value,
    json::{self, JsonLimits},
};

/// Containers of a request line nest at most this deep.
const DEPTH: usize = 64;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Build an application.
    Build(String),
    /// Build a lawpack, or compare it with what is there.
    Lawpack {
        /// Path of the definition.
        path: String,
        /// Whether nothing is written.
        check_only: bool,
    },
    /// Check sources on their own.
    Check,
    /// Show what an application compiles to.
    Project(String),
}

impl Operation {
    /// The word for it in answers.
    pub(super) const fn command(&self) -> &'static str {
        match self {
            Self::Build(_) | Self::Lawpack { .. } => "build",
            Self::Check => "check",
            Self::Project(_) => "project",
        }
    }
}

/// One input record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// Unsaved text.
    Source {
        /// How diagnostics call it.
        name: String,
        /// The text.
        text: String,
    },
    /// Files in that order.
    Paths(Vec<String>),
    /// Every source below a directory.
    Directory(String),
    /// Files that match.
    Glob(String),
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) operation: Operation,
    pub(super) inputs: Vec<Input>,
}

impl Request {
    /// Reads all lines of a request.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Box<Failure>> {
        let lines = bytes.split(|byte| *byte == b'\n').enumerate();
        let mut records = Vec::new();
        for (index, line) in lines {
            let number = index.saturating_add(1);
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            records.push((number, record(number, line)?));
        }
        let mut records = records.into_iter();
        let Some((number, first)) = records.next() else {
            let message = "the request is empty; it starts with a settings record";
            return Err(Failure::cli("InvalidSettings", message));
        };
        let operation = settings(&At::root(&first, Strictness::Closed))
            .map_err(|error| on_line("InvalidSettings", number, &error))?;
        let inputs = records
            .map(|(number, value)| {
                input(&At::root(&value, Strictness::Closed))
                    .map_err(|error| on_line("InvalidInput", number, &error))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { operation, inputs })
    }
}

fn record(number: usize, line: &[u8]) -> Result<Value, Box<Failure>> {
    let limits = JsonLimits {
        bytes: usize::MAX,
        depth: DEPTH,
    };
    let refuse = |message: String| {
        let message = format!("read line {number} of the request: {message}");
        Failure::cli("InvalidJsonl", message)
    };
    let node = json::parse(line, limits).map_err(|error| {
        let (start, end) = (error.span.start, error.span.end);
        refuse(format!("{} at bytes {start}..{end}", prose(error.kind)))
    })?;
    to_value(&node).map_err(|(_, message)| refuse(message))
}

fn on_line(kind: &'static str, number: usize, error: &ShapeError) -> Box<Failure> {
    Failure::cli(kind, format!("line {number} of the request: {error}"))
}

fn header(at: &At<'_>, schema: &str, types: [&str; 2]) -> Result<(), ShapeError> {
    at.member("schema")?.exactly(schema)?;
    if let Some(given) = at.optional("type")
        && !types.contains(&given.text()?)
    {
        return Err(given.fail(format!("expected `{}` or `{}`", types[0], types[1])));
    }
    Ok(())
}

fn settings(at: &At<'_>) -> Result<Operation, ShapeError> {
    let types = ["settings", "compilerSettings"];
    header(at, "edict.compiler.settings/v1", types)?;
    let optional = ["type", "application", "lawpack", "checkOnly"];
    at.object(&["schema", "operation"], &optional)?;
    let path = |name| at.optional(name).map(|it| it.text().map(str::to_owned));
    let (application, lawpack) = (
        path("application").transpose()?,
        path("lawpack").transpose()?,
    );
    let check_only = at.optional("checkOnly");
    let operation = at.member("operation")?;
    if let Some(check_only) = &check_only
        && (lawpack.is_none() || check_only.value().as_bool().is_none())
    {
        return Err(check_only.fail_name("`checkOnly` is a truth value that stands with `lawpack`"));
    }
    match (operation.text()?, application, lawpack) {
        ("build", Some(application), None) => Ok(Operation::Build(application)),
        ("build", None, Some(path)) => Ok(Operation::Lawpack {
            path,
            check_only: check_only.and_then(|it| it.value().as_bool()) == Some(true),
        }),
        ("build", _, _) => Err(at.fail("`build` takes either `application` or `lawpack`")),
        ("check", None, None) => Ok(Operation::Check),
        ("check", _, _) => Err(at.fail("`check` takes inputs, no application or lawpack")),
        ("project", Some(application), None) => Ok(Operation::Project(application)),
        ("project", _, _) => Err(at.fail("`project` takes `application`")),
        (word, _, _) => {
            let message = format!("`{word}` is none of `build`, `check`, `project`");
            Err(operation.fail(message))
        }
    }
}

fn input(at: &At<'_>) -> Result<Input, ShapeError> {
    header(at, "edict.compiler.input/v1", ["input", "compilerInput"])?;
    let kind = at.member("kind")?;
    let closed = |member: &str| at.object(&["schema", "kind", member], &["type"]);
    match kind.text()? {
        "source" => {
            at.object(&["schema", "kind", "name", "text"], &["type"])?;
            Ok(Input::Source {
                name: at.text_of("name")?.to_owned(),
                text: at.text_of("text")?.to_owned(),
            })
        }
        "path" => {
            closed("path")?;
            Ok(Input::Paths(vec![at.text_of("path")?.to_owned()]))
        }
        "pathList" => {
            closed("paths")?;
            at.member("paths")?.texts().map(Input::Paths)
        }
        "directory" => {
            closed("path")?;
            Ok(Input::Directory(at.text_of("path")?.to_owned()))
        }
        "glob" => {
            closed("pattern")?;
            Ok(Input::Glob(at.text_of("pattern")?.to_owned()))
        }
        word => {
            let message =
                format!("`{word}` is none of `source`, `path`, `pathList`, `directory`, `glob`");
            Err(kind.fail(message))
        }
    }
}
