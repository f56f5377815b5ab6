// SPDX-License-Identifier: Apache-2.0
//! The process: one request as a JSON line, one record, exit code 0, 1 or 2.

mod files;
mod request;

use crate::evaluate::evaluate;
use crate::verify::verify;
use edict_codec::bounded::{BoundedReadError, ByteLimit, read_all};
use edict_codec::digest::TypedDigest;
use edict_codec::json::{Json, write_record};
use request::Request;
use std::io::{Read, Write};
use std::thread;

/// Bytes of a request unless the environment of the process says otherwise.
pub const MAX_STDIN_BYTES: u64 = 8_388_608;
/// Judging recurses over nesting of at most 128 and calls of at most 128.
const STACK_BYTES: usize = 1 << 28;
const HELP: &str = "\
edict-verifier reads one edict.verifier.request/v1 as a JSON line on standard input.

Operations: verify, evaluate. Exit: 0 accepted or evaluated, 1 rejected, 2 could not judge.
";

/// Why nothing was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    kind: &'static str,
    message: String,
    help: Option<&'static str>,
}

impl Failure {
    fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            help: None,
        }
    }

    fn with_help(mut self, help: &'static str) -> Self {
        self.help = Some(help);
        self
    }

    fn record(&self) -> Json {
        Json::object([
            ("column", Json::Null),
            ("file", Json::Null),
            ("help", Json::optional(self.help, Json::text)),
            ("kind", Json::text(self.kind)),
            ("line", Json::Null),
            ("message", Json::text(&*self.message)),
            ("schema", Json::text("edict.cli.diagnostic/v1")),
            ("severity", Json::text("error")),
            ("span", Json::Null),
            ("stage", Json::text("cli")),
            ("type", Json::text("diagnostic")),
        ])
    }
}

/// A finished judgement.
struct Answer {
    record: Json,
    exit: u8,
}

/// The three streams of a process.
#[expect(
    missing_debug_implementations,
    reason = "streams have no form to print"
)]
pub struct Streams<'a> {
    /// Where the request comes from.
    pub stdin: &'a mut (dyn Read + Send),
    /// Where the record of a judgement goes.
    pub stdout: &'a mut dyn Write,
    /// Where the record of a failure goes.
    pub stderr: &'a mut dyn Write,
}

/// Runs the process; returns its exit code. `limit` is the greatest length of the request.
pub fn run(arguments: &[String], streams: &mut Streams<'_>, limit: u64) -> u8 {
    let text = match arguments {
        [] => None,
        [lone] if lone == "--help" || lone == "-h" => Some(HELP.to_owned()),
        [lone] if lone == "--version" || lone == "-V" => {
            Some(format!("edict-verifier {}\n", env!("CARGO_PKG_VERSION")))
        }
        _ => {
            let failure = Failure::new("UnexpectedArguments", "the program takes no arguments")
                .with_help("write one request to standard input");
            return fail(streams.stderr, &failure);
        }
    };
    if let Some(text) = text {
        return written(&streams.stdout.write_all(text.as_bytes()), 0);
    }
    let judged = read(streams.stdin, limit)
        .and_then(|bytes| request::parse(&bytes))
        .and_then(on_a_deep_stack);
    match judged {
        Ok(answer) => written(&line(streams.stdout, &answer.record), answer.exit),
        Err(failure) => fail(streams.stderr, &failure),
    }
}

fn read(stdin: &mut dyn Read, limit: u64) -> Result<Vec<u8>, Failure> {
    read_all(stdin, ByteLimit::new(limit)).map_err(|error| match error {
        BoundedReadError::TooLarge { limit } => Failure::new(
            "StdinTooLarge",
            format!("the request exceeds {limit} bytes"),
        ),
        BoundedReadError::Io(error) => Failure::new(
            "StdinReadFailed",
            format!("cannot read the request: {error}"),
        ),
    })
}

fn on_a_deep_stack(request: Request) -> Result<Answer, Failure> {
    let lost = || Failure::new("InternalError", "the judgement ended without an answer");
    let worker = thread::Builder::new().stack_size(STACK_BYTES);
    match worker.spawn(move || judge(&request)) {
        Ok(handle) => handle.join().unwrap_or_else(|_| Err(lost())),
        Err(error) => Err(Failure::new(
            "InternalError",
            format!("cannot start the judgement: {error}"),
        )),
    }
}

fn judge(request: &Request) -> Result<Answer, Failure> {
    match request {
        Request::Verify { output, inputs } => {
            files::absent(output)?;
            let inputs = files::build(inputs)?;
            let report =
                verify(&inputs).map_err(|error| Failure::new("Unjudgeable", error.to_string()))?;
            files::write(output, &report.bytes)?;
            let rejection = report.rejection.as_ref();
            let outcome = if rejection.is_some() {
                "rejected"
            } else {
                "accepted"
            };
            Ok(Answer {
                record: Json::object([
                    (
                        "kind",
                        Json::optional(rejection, |it| Json::text(it.kind.name())),
                    ),
                    ("operation", Json::text("verify")),
                    ("outcome", Json::text(outcome)),
                    (
                        "path",
                        Json::optional(rejection, |it| Json::text(&*it.path)),
                    ),
                    ("report", digest(&report.digest())),
                    ("schema", Json::text("edict.verifier.result/v1")),
                    ("type", Json::text("verifierResult")),
                ]),
                exit: u8::from(rejection.is_some()),
            })
        }
        Request::Evaluate { output, inputs } => {
            files::absent(output)?;
            let after = inputs.atoms.as_ref().map(|it| &it.after);
            if let Some(after) = after {
                files::absent(after)?;
            }
            let inputs = files::program(inputs)?;
            let evaluation =
                evaluate(&inputs).map_err(|error| Failure::new(error.kind(), error.to_string()))?;
            if let (Some(after), Some(atoms)) = (after, &evaluation.atoms) {
                files::write(after, atoms)?;
            }
            files::write(output, &evaluation.body)?;
            let obstruction = evaluation.obstruction.as_deref();
            let outcome = if obstruction.is_some() {
                "obstruction"
            } else {
                "result"
            };
            let consumed = Json::object([
                ("allocatedBytes", Json::unsigned(evaluation.allocated_bytes)),
                ("outputBytes", Json::unsigned(evaluation.output_bytes)),
                ("steps", Json::unsigned(evaluation.steps)),
            ]);
            Ok(Answer {
                record: Json::object([
                    ("body", digest(&evaluation.digest())),
                    ("consumed", consumed),
                    ("coordinate", Json::optional(obstruction, Json::text)),
                    ("operation", Json::text("evaluate")),
                    ("outcome", Json::text(outcome)),
                    ("schema", Json::text("edict.verifier.result/v1")),
                    ("type", Json::text("verifierResult")),
                ]),
                exit: 0,
            })
        }
    }
}

fn digest(digest: &TypedDigest) -> Json {
    Json::object([
        ("algorithm", Json::text(digest.algorithm().name())),
        ("bytes", Json::text(digest.hex())),
        ("domain", Json::text(digest.domain())),
    ])
}

fn line(stream: &mut dyn Write, record: &Json) -> std::io::Result<()> {
    stream.write_all(write_record(record).as_bytes())?;
    stream.write_all(b"\n")?;
    stream.flush()
}

/// A record that nobody received is no judgement.
fn written(outcome: &std::io::Result<()>, exit: u8) -> u8 {
    if outcome.is_ok() { exit } else { 2 }
}

fn fail(stderr: &mut dyn Write, failure: &Failure) -> u8 {
    // The exit code says it all when standard error is gone too.
    _ = line(stderr, &failure.record());
    2
}
