// SPDX-License-Identifier: Apache-2.0
//! One run of the process over given streams.

use super::{
    inputs, record,
    request::{Operation, Request},
};
use crate::{
    build::{self, Built},
    failure::{Failure, Report},
    lawpack::authoring,
    output::rows,
    syntax,
};
use edict_codec::{
    bounded::{BoundedReadError, ByteLimit, read_all},
    json::Json,
};
use std::{
    io::{Read, Write},
    path::Path,
};

/// Where a run reads and writes.
#[derive(Debug)]
pub struct Streams<R, O, E> {
    /// The request.
    pub stdin: R,
    /// Successes.
    pub stdout: O,
    /// Failures.
    pub stderr: E,
}

/// What a run answers before it is written.
#[derive(Debug, Default)]
struct Output {
    records: Vec<Json>,
    command: Option<&'static str>,
    exit_code: u8,
}

/// Greatest size of a request in bytes.
const MAX_STDIN: u64 = 8_388_608;

const HELP: &str = "edict: the compiler of Edict

usage: edict < request.jsonl

A request is one settings record and input records, one JSON object a line:
  {\"schema\":\"edict.compiler.settings/v1\",\"operation\":\"build\",\"application\":\"edict.application.json\"}
  {\"schema\":\"edict.compiler.settings/v1\",\"operation\":\"build\",\"lawpack\":\"edict.lawpack.json\"}
  {\"schema\":\"edict.compiler.settings/v1\",\"operation\":\"check\"}
  {\"schema\":\"edict.compiler.settings/v1\",\"operation\":\"project\",\"application\":\"edict.application.json\"}

Exit codes: 0 success, 1 check found mistakes, 2 everything else.
";

/// Answers one request. `arguments` leaves out the program name, `stdin_limit` is the value of
/// `EDICT_CLI_MAX_STDIN_BYTES`. The result is the exit code.
pub fn run(
    arguments: &[String],
    stdin_limit: Option<&str>,
    streams: &mut Streams<impl Read, impl Write, impl Write>,
) -> u8 {
    match arguments {
        [] => {}
        [only] if only == "--help" || only == "-h" => return print(&mut streams.stdout, HELP),
        [only] if only == "--version" || only == "-V" => {
            let version = concat!("edict ", env!("CARGO_PKG_VERSION"), "\n");
            return print(&mut streams.stdout, version);
        }
        _ => {
            let message = "edict takes no arguments; the request is read from standard input";
            let failure = Failure::cli("UnexpectedArguments", message);
            return write(&failed(None, &failure, 2), streams);
        }
    }
    let request = request(&mut streams.stdin, stdin_limit);
    let output = match request {
        Err(failure) => failed(None, &failure, 2),
        Ok(request) => answer(&request),
    };
    write(&output, streams)
}

fn request(stdin: &mut dyn Read, limit: Option<&str>) -> Result<Request, Box<Failure>> {
    let limit = match limit {
        None => MAX_STDIN,
        Some(text) => text.parse().map_err(|_| {
            let message = format!("EDICT_CLI_MAX_STDIN_BYTES is no number of bytes: `{text}`");
            Failure::cli("InvalidSettings", message)
        })?,
    };
    let bytes = read_all(stdin, ByteLimit::new(limit)).map_err(|error| match error {
        BoundedReadError::TooLarge { limit } => {
            let message = format!("the request is larger than {limit} bytes");
            Failure::cli("StdinTooLarge", message)
        }
        BoundedReadError::Io(error) => {
            Failure::cli("StdinReadFailed", format!("read standard input: {error}"))
        }
    })?;
    Request::parse(&bytes)
}

/// Reports a defect of the compiler; the result is the exit code.
pub fn internal_error(stderr: &mut dyn Write) -> u8 {
    let message = "a defect of the compiler; nothing was written";
    let output = failed(None, &Failure::cli("InternalError", message), 2);
    output.exit_code.max(print(stderr, &output.text()))
}

fn print(stream: &mut dyn Write, text: &str) -> u8 {
    let written = stream.write_all(text.as_bytes());
    u8::from(written.is_err() || stream.flush().is_err()).saturating_mul(2)
}

/// Writes the records of an answer and its terminal event to the stream that its exit code names.
fn write(output: &Output, streams: &mut Streams<impl Read, impl Write, impl Write>) -> u8 {
    let text = output.text();
    let written = if output.exit_code == 0 {
        print(&mut streams.stdout, &text)
    } else {
        print(&mut streams.stderr, &text)
    };
    output.exit_code.max(written)
}

impl Output {
    /// All records and the terminal event.
    fn text(&self) -> String {
        let event = record::event(self.command, self.exit_code);
        let records = self.records.iter().cloned().chain([event]);
        records.map(record::line).collect()
    }
}

fn failed(command: Option<&'static str>, failure: &Failure, exit_code: u8) -> Output {
    let reports = failure.sources.iter().chain([&failure.summary]);
    Output {
        records: reports.map(record::diagnostic).collect(),
        command,
        exit_code,
    }
}

fn answer(request: &Request) -> Output {
    let command = request.operation.command();
    let answered = match &request.operation {
        Operation::Build(application) => build_application(application, request),
        Operation::Lawpack { path, check_only } => build_lawpack(path, *check_only, request),
        Operation::Check => check(request),
        Operation::Project(application) => project(application, request),
    };
    match answered {
        Ok(output) => Output {
            command: Some(command),
            ..output
        },
        Err(failure) => failed(Some(command), &failure, 2),
    }
}

fn success(records: Vec<Json>) -> Output {
    Output {
        records,
        ..Output::default()
    }
}

fn no_inputs(request: &Request) -> Result<(), Box<Failure>> {
    if request.inputs.is_empty() {
        return Ok(());
    }
    Err(Failure::cli(
        "InvalidInput",
        "`build` takes no input records",
    ))
}

fn build_application(application: &str, request: &Request) -> Result<Output, Box<Failure>> {
    no_inputs(request)?;
    let built = build::build(application)?;
    Ok(success(vec![Json::object([
        ("schema", Json::text("edict.cli.build-result/v1")),
        ("type", Json::text("buildResult")),
        ("command", Json::text("build")),
        ("operation", Json::text(built.operation.as_str())),
        (
            "outputDirectory",
            Json::text(built.output_directory.as_str()),
        ),
        ("artifacts", rows(&built.artifacts)),
    ])]))
}

fn build_lawpack(path: &str, check_only: bool, request: &Request) -> Result<Output, Box<Failure>> {
    no_inputs(request)?;
    let authored = authoring::author(Path::new(path))?;
    if check_only {
        authored.compare()?;
    } else {
        authored.write()?;
    }
    Ok(success(vec![Json::object([
        ("schema", Json::text("edict.cli.lawpack-result/v1")),
        ("type", Json::text("lawpackResult")),
        ("command", Json::text("build")),
        ("lawpack", Json::text(authored.coordinate())),
        ("outputDirectory", Json::text(authored.output_directory())),
        ("artifacts", rows(authored.artifacts())),
    ])]))
}

fn check(request: &Request) -> Result<Output, Box<Failure>> {
    let sources = inputs::read(&request.inputs)?;
    let mut records = Vec::new();
    for source in &sources {
        let diagnostics = match syntax::parse(&source.bytes) {
            Err(diagnostic) => vec![diagnostic],
            Ok(ast) => syntax::semantic::check_semantic(&ast)
                .err()
                .unwrap_or_default(),
        };
        let reports = diagnostics.iter();
        let reports = reports.map(|it| record::diagnostic(&Report::source(&source.name, it)));
        records.extend(reports);
    }
    if !records.is_empty() {
        return Ok(Output {
            records,
            command: None,
            exit_code: 1,
        });
    }
    let files = sources
        .iter()
        .map(|source| Json::text(source.name.as_str()));
    Ok(success(vec![Json::object([
        ("schema", Json::text("edict.cli.check-result/v1")),
        ("type", Json::text("checkResult")),
        ("command", Json::text("check")),
        ("files", Json::Array(files.collect())),
    ])]))
}

fn project(application: &str, request: &Request) -> Result<Output, Box<Failure>> {
    let unsaved = if request.inputs.is_empty() {
        None
    } else {
        let mut sources = inputs::read(&request.inputs)?;
        if sources.len() > 1 {
            let message = "`project` takes at most one source";
            return Err(Failure::cli("InvalidInput", message));
        }
        sources.pop().map(|source| (source.name, source.bytes))
    };
    match build::compile(application, unsaved) {
        Ok(built) => Ok(success(projections(&built))),
        Err(failure) if !failure.sources.is_empty() => Ok(success(
            failure.sources.iter().map(record::diagnostic).collect(),
        )),
        Err(failure) => Err(failure),
    }
}

fn projections(built: &Built) -> Vec<Json> {
    let schemas = [
        "edict.projection.core/v1",
        "edict.projection.target-ir/v1",
        "edict.projection.result/v1",
        "edict.projection.package/v1",
    ];
    let values = built.values.iter().map(Some).chain([None]);
    schemas
        .into_iter()
        .zip(&built.artifacts)
        .zip(values)
        .map(|((schema, artifact), value)| {
            let mut members = vec![
                ("schema", Json::text(schema)),
                ("type", Json::text("projection")),
                ("command", Json::text("project")),
                ("coordinate", Json::text(built.operation.as_str())),
                ("artifact", artifact.row()),
            ];
            if let Some(value) = value {
                members.push(("value", record::untyped(value)));
            }
            Json::object(members)
        })
        .collect()
}
