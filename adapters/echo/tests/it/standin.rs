// SPDX-License-Identifier: Apache-2.0
//! A stand-in for a host, in memory. It evaluates nothing: it answers every pure invocation with one
//! canned value and coherent digests, and a row of the hostile table bends one answer.

use crate::plan::{HELLO, named};
use edict_codec::cbor::{Value, decode, encode};
use edict_codec::digest::{DeriveHasher, TypedDigest, derive_typed};
use edict_test_echo::{EchoHost, Ending, HostSettings, Launch, Transport, TransportError};
use edict_test_model::Excerpt;
use edict_test_model::diagnostic::Child;
use edict_test_model::evidence::{
    Basis, HostHello, Program, body_digest, input_digest, receipt_digest, request_digest, worldline,
};
use edict_test_model::run::StorageKind;
use std::sync::{Arc, Mutex};

/// A reply before it is bent.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) kind: u16,
    pub(crate) sequence: u64,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// The bytes of its frame.
    pub(crate) fn frame(&self) -> Vec<u8> {
        raw_frame(
            [0x89, 0x45, 0x43, 0x48],
            1,
            self.kind,
            self.sequence,
            &self.body,
        )
    }

    /// The same reply with one member of its body replaced.
    pub(crate) fn with(&self, member: &str, value: Value) -> Self {
        let mut reply = self.clone();
        let mut body = decode(&self.body).unwrap();
        let Value::Map(entries) = &mut body else {
            panic!("a reply is a map")
        };
        let entry = entries
            .iter_mut()
            .find(|(key, _)| key.as_text() == Some(member));
        entry.unwrap().1 = value;
        reply.body = encode(&body);
        reply
    }
}

/// A frame with any header and a right digest.
pub(crate) fn raw_frame(
    magic: [u8; 4],
    version: u16,
    kind: u16,
    sequence: u64,
    body: &[u8],
) -> Vec<u8> {
    let mut frame = magic.to_vec();
    frame.extend_from_slice(&version.to_be_bytes());
    frame.extend_from_slice(&kind.to_be_bytes());
    frame.extend_from_slice(&sequence.to_be_bytes());
    frame.extend_from_slice(&u32::try_from(body.len()).unwrap().to_be_bytes());
    frame.extend_from_slice(body);
    let mut hasher = DeriveHasher::new("echo/frame/v1");
    hasher.update(&frame);
    frame.extend_from_slice(&hasher.finish());
    frame
}

/// What a stand-in writes, and whether it then ends.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ended: bool,
    /// Every honest reply so far, the one to bend last.
    pub(crate) replies: Vec<Reply>,
}

impl Wire {
    pub(crate) fn write(&mut self, reply: &Reply) {
        self.bytes.extend(reply.frame());
    }

    pub(crate) fn end(&mut self) {
        self.ended = true;
    }
}

/// What one row does instead of giving the honest answer.
pub(crate) type Bend = fn(&mut Wire, &Reply);

/// Everything a test sees afterwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Type and body of each request.
    pub(crate) requests: Vec<(u16, Value)>,
    /// How often a process was started and ended.
    pub(crate) started: usize,
    pub(crate) ended: Vec<bool>,
}

/// Starts stand-ins that bend the `nth` answer (from 1) to requests of type `at`.
#[derive(Clone, Debug)]
pub(crate) struct StandIn {
    pub(crate) programs: Vec<Arc<Program>>,
    pub(crate) at: u16,
    pub(crate) nth: usize,
    pub(crate) bend: Bend,
    pub(crate) seen: Arc<Mutex<Seen>>,
}

impl StandIn {
    pub(crate) fn new(programs: &[Arc<Program>], at: u16, nth: usize, bend: Bend) -> Self {
        Self {
            programs: programs.to_vec(),
            at,
            nth,
            bend,
            seen: Arc::default(),
        }
    }

    /// One that bends nothing.
    pub(crate) fn honest(programs: &[Arc<Program>]) -> Self {
        Self::new(programs, 0, 0, |_, _| {})
    }

    pub(crate) fn host(&self) -> EchoHost {
        self.host_with(16_777_216)
    }

    pub(crate) fn host_with(&self, max_frame_bytes: u64) -> EchoHost {
        self.host_of(max_frame_bytes, false)
    }

    /// One that is started anew for every case.
    pub(crate) fn host_per_case(&self) -> EchoHost {
        self.host_of(16_777_216, true)
    }

    fn host_of(&self, max_frame_bytes: u64, process_per_case: bool) -> EchoHost {
        let settings = HostSettings {
            executable: named("edict.test/executable/v1"),
            max_frame_bytes,
            process_per_case,
        };
        EchoHost::new(settings, Box::new(self.clone()))
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen.lock().unwrap().clone()
    }
}

impl Launch for StandIn {
    fn launch(&self) -> Result<Box<dyn Transport>, String> {
        self.seen.lock().unwrap().started += 1;
        Ok(Box::new(Process {
            standin: self.clone(),
            wire: Wire::default(),
            context: None,
            asked: 0,
        }))
    }
}

#[derive(Clone, Debug)]
struct Context {
    nonce: [u8; 32],
    worldline: TypedDigest,
    decided: u64,
    last_receipt: Option<TypedDigest>,
}

#[derive(Debug)]
struct Process {
    standin: StandIn,
    wire: Wire,
    context: Option<Context>,
    asked: usize,
}

impl Transport for Process {
    fn begin(&mut self) {}

    fn send(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        if self.wire.ended {
            return Err(TransportError::Closed);
        }
        let kind = u16::from_be_bytes([bytes[6], bytes[7]]);
        let sequence = u64::from_be_bytes(bytes[8..16].try_into().unwrap());
        let body = &bytes[20..bytes.len() - 32];
        let request = decode(body).unwrap();
        let before = self.context.clone();
        let reply = Reply {
            kind: kind | 0x8000,
            sequence,
            body: self.answer(kind, body, &request),
        };
        self.standin
            .seen
            .lock()
            .unwrap()
            .requests
            .push((kind, request));
        self.wire.replies.push(reply.clone());
        if kind == self.standin.at {
            self.asked += 1;
            if self.asked == self.standin.nth {
                (self.standin.bend)(&mut self.wire, &reply);
                if self.wire.bytes.get(6..8) == Some(&[0x8f, 0xff]) {
                    // What was refused was not decided.
                    self.context = before;
                }
                return Ok(());
            }
        }
        self.wire.write(&reply);
        if kind == 9 {
            self.wire.end();
        }
        Ok(())
    }

    fn receive(&mut self, length: usize) -> Result<Vec<u8>, TransportError> {
        let wire = &mut self.wire;
        if wire.bytes.len() < length && !wire.ended {
            return Err(TransportError::TimedOut);
        }
        let length = length.min(wire.bytes.len());
        Ok(wire.bytes.drain(..length).collect())
    }

    fn end(self: Box<Self>, orderly: bool) -> Ending {
        self.standin.seen.lock().unwrap().ended.push(orderly);
        Ending {
            orderly: self.wire.ended,
            unread: self.wire.bytes.len() as u64,
            child: Some(Child::not_started("host")),
            excerpt: Some(Excerpt::of_bytes(b"last words")),
            ..Ending::default()
        }
    }
}

impl Process {
    fn answer(&mut self, kind: u16, body: &[u8], request: &Value) -> Vec<u8> {
        match kind {
            1 => HELLO.to_vec(),
            2 => encode(&self.install(request)),
            4 => encode(&self.open(request)),
            5 => encode(&self.invoke(body, request)),
            8 => encode(&self.close()),
            9 => encode(&Value::text_map([("contexts", Value::unsigned(0))])),
            _ => encode(&Value::Map(vec![])),
        }
    }

    fn install(&self, request: &Value) -> Value {
        let digest = TypedDigest::from_value(request.get("packageDigest").unwrap()).unwrap();
        let program = self.program(|it| it.package.digest == digest);
        let package = &program.package;
        Value::text_map([
            ("installation", program.installation.to_value()),
            ("operation", Value::text(package.operation.as_str())),
            ("kind", Value::text(package.kind.name())),
            ("budget", package.budget.to_value()),
            ("staticBound", package.static_bound.to_value()),
            ("inputType", Value::text(package.input_type.as_str())),
            ("outputType", Value::text(package.output_type.as_str())),
            ("repeated", Value::Bool(false)),
        ])
    }

    fn open(&mut self, request: &Value) -> Value {
        let nonce = bytes_32(request.get("nonce").unwrap());
        let subject = TypedDigest::from_value(request.get("subject").unwrap()).unwrap();
        let context = Context {
            nonce,
            worldline: worldline(&nonce, &subject, StorageKind::Volatile),
            decided: 0,
            last_receipt: None,
        };
        let reply = Value::text_map([
            ("worldline", context.worldline.to_value()),
            ("basis", Basis::genesis().to_value()),
            ("decided", Value::unsigned(0)),
            ("lastReceipt", Value::Null),
            ("wal", Value::Null),
            ("recovery", Value::Null),
        ]);
        self.context = Some(context);
        reply
    }

    fn invoke(&mut self, body: &[u8], request: &Value) -> Value {
        let installation = TypedDigest::from_value(request.get("installation").unwrap()).unwrap();
        let program = self.program(|it| it.installation == installation);
        let input = request.get("input").unwrap().as_bytes().unwrap();
        let result = encode(&Value::text_map([
            ("status", Value::unsigned(0)),
            ("assertions", Value::unsigned(1)),
            ("message", Value::text("")),
        ]));
        let record = encode(&record(&program, input, &result));
        let context = self.context.as_mut().unwrap();
        let invocation = request.get("invocation").unwrap().clone();
        let receipt = encode(&Value::text_map([
            ("abi", Value::text("echo.receipt/v1")),
            (
                "execution",
                derive_typed("echo/pure-execution/v1", &record).to_value(),
            ),
            ("worldline", context.worldline.to_value()),
            ("nonce", Value::bytes(context.nonce.to_vec())),
            ("invocation", invocation.clone()),
            ("request", request_digest(body).to_value()),
            ("ordinal", Value::unsigned(context.decided)),
            ("previous", nullable(context.last_receipt.as_ref())),
            ("build", HostHello::decode(HELLO).unwrap().build.to_value()),
            ("wal", Value::Null),
        ]));
        context.decided += 1;
        context.last_receipt = Some(receipt_digest(&receipt));
        Value::text_map([
            ("worldline", context.worldline.to_value()),
            ("invocation", invocation),
            ("kind", Value::text("result")),
            ("record", Value::bytes(record)),
            ("receipt", Value::bytes(receipt)),
            ("body", Value::bytes(result)),
            ("footprint", Value::Null),
            ("patch", Value::Null),
            ("recalled", Value::Bool(false)),
        ])
    }

    fn close(&self) -> Value {
        let context = self.context.as_ref().unwrap();
        Value::text_map([
            ("worldline", context.worldline.to_value()),
            ("basis", Basis::genesis().to_value()),
            ("decided", Value::unsigned(context.decided)),
            ("lastReceipt", nullable(context.last_receipt.as_ref())),
        ])
    }

    fn program(&self, is: impl Fn(&Program) -> bool) -> Arc<Program> {
        let mut programs = self.standin.programs.iter();
        Arc::clone(programs.find(|it| is(it)).unwrap())
    }
}

fn record(program: &Program, input: &[u8], result: &[u8]) -> Value {
    let package = &program.package;
    Value::text_map([
        ("abi", Value::text("echo.pure-execution/v1")),
        ("installation", program.installation.to_value()),
        ("package", package.digest.to_value()),
        ("report", program.report.digest.to_value()),
        ("operation", Value::text(package.operation.as_str())),
        ("interpreter", Value::text(package.interpreter.as_str())),
        ("costLaw", Value::text(package.cost_law.as_str())),
        ("input", input_digest(input).to_value()),
        ("basis", Value::Null),
        ("budget", package.budget.to_value()),
        (
            "consumed",
            Value::text_map([
                ("steps", Value::unsigned(12)),
                ("allocatedBytes", Value::unsigned(80)),
                ("outputBytes", Value::unsigned(result.len() as u64)),
            ]),
        ),
        (
            "outcome",
            Value::text_map([
                ("kind", Value::text("result")),
                ("body", body_digest(result).to_value()),
                ("length", Value::unsigned(result.len() as u64)),
            ]),
        ),
    ])
}

fn nullable(digest: Option<&TypedDigest>) -> Value {
    digest.map_or(Value::Null, TypedDigest::to_value)
}

fn bytes_32(value: &Value) -> [u8; 32] {
    value.as_bytes().unwrap().try_into().unwrap()
}

/// A `refused` reply to the same request.
pub(crate) fn refused(reply: &Reply, kind: &str, scope: &str) -> Reply {
    Reply {
        kind: 0x8fff,
        sequence: reply.sequence,
        body: encode(&Value::text_map([
            ("kind", Value::text(kind)),
            ("message", Value::text("said the stand-in")),
            ("path", Value::Null),
            ("scope", Value::text(scope)),
        ])),
    }
}

/// A `fault` frame.
pub(crate) fn fault(sequence: u64) -> Reply {
    Reply {
        kind: 0xffff,
        sequence,
        body: encode(&Value::text_map([
            ("kind", Value::text("internal")),
            ("message", Value::text("said the stand-in")),
        ])),
    }
}
