// SPDX-License-Identifier: Apache-2.0
//! Hostile stand-ins: each bends one answer, and the client names exactly that (BT-010, H58-H60).

use crate::plan::{named, pins, plan, pure};
use crate::standin::{Bend, Reply, StandIn, Wire, fault, raw_frame, refused};
use edict_codec::cbor::{Value, decode, encode};
use edict_test_model::evidence::{CaseEvidence, bind_case};
use edict_test_model::ports::ExecutionPort;
use edict_test_model::{ContextNonce, FailureKind};

pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
    crate::trials![
        bt_010_every_hostile_host_is_named_and_none_gives_a_verdict,
        an_honest_stand_in_binds,
        an_outcome_of_a_closed_context_is_late,
        hosts_that_fail_the_handshake_are_refused,
        another_pinned_interpreter_is_a_profile_mismatch,
        a_shutdown_must_end_in_order,
    ]
}

const HELLO: u16 = 1;
const INSTALL: u16 = 2;
const OPEN: u16 = 4;
const INVOKE: u16 = 5;
const CLOSE: u16 = 8;
const SHUTDOWN: u16 = 9;

/// The request whose answer is bent, which one of them, the kind due, and the bend.
type Row = (&'static str, u16, usize, FailureKind, Bend);

fn part(wire: &mut Wire, reply: &Reply, length: usize) {
    wire.bytes.extend(&reply.frame()[..length]);
    wire.end();
}

fn flipped(wire: &mut Wire, reply: &Reply, index: usize) {
    let mut frame = reply.frame();
    let index = index.min(frame.len() - 1);
    frame[index] ^= 1;
    wire.bytes.extend(frame);
}

fn claim(wire: &mut Wire, reply: &Reply, length: u32) {
    let mut frame = reply.frame();
    frame[16..20].copy_from_slice(&length.to_be_bytes());
    wire.bytes.extend(&frame[..30]);
    wire.end();
}

fn with_body(reply: &Reply, body: &[u8]) -> Reply {
    Reply {
        body: body.to_vec(),
        ..reply.clone()
    }
}

fn with_sequence(reply: &Reply, sequence: u64) -> Reply {
    Reply {
        sequence,
        ..reply.clone()
    }
}

fn with_kind(reply: &Reply, kind: u16) -> Reply {
    Reply {
        kind,
        ..reply.clone()
    }
}

/// The reply `back` requests before the one that is bent.
fn earlier(wire: &Wire, back: usize) -> Reply {
    wire.replies[wire.replies.len() - 1 - back].clone()
}

/// The first outcome given.
fn first_outcome(wire: &Wire) -> Reply {
    wire.replies
        .iter()
        .find(|it| it.kind == 0x8005)
        .unwrap()
        .clone()
}

fn extra(reply: &Reply) -> Reply {
    let Value::Map(mut entries) = decode(&reply.body).unwrap() else {
        panic!("a reply is a map")
    };
    entries.push((Value::text("unexpected-member"), Value::Null));
    with_body(reply, &encode(&Value::map(entries)))
}

#[rustfmt::skip]
fn rows() -> Vec<Row> {
    use FailureKind as Kind;
    vec![
        // The frame itself, in the order of reading.
        ("ends instead of answering", INVOKE, 2, Kind::HostLost, |wire, _| wire.end()),
        ("one byte of header", INVOKE, 2, Kind::FrameTruncated, |wire, it| part(wire, it, 1)),
        ("nineteen bytes of header", INVOKE, 2, Kind::FrameTruncated, |wire, it| part(wire, it, 19)),
        ("header alone", INVOKE, 2, Kind::FrameTruncated, |wire, it| part(wire, it, 20)),
        ("half a body", INVOKE, 2, Kind::FrameTruncated, |wire, it| part(wire, it, 200)),
        ("half a digest", INVOKE, 2, Kind::FrameTruncated, |wire, it| part(wire, it, it.body.len() + 36)),
        ("text instead of a frame", INVOKE, 2, Kind::FrameMalformed, |wire, _| wire.bytes.extend(b"ok 1 - everything is fine\n")),
        ("wrong magic", INVOKE, 2, Kind::FrameMalformed, |wire, it| flipped(wire, it, 0)),
        ("framing version 0", INVOKE, 2, Kind::FrameMalformed, |wire, it| flipped(wire, it, 5)),
        ("unknown type", INVOKE, 2, Kind::FrameMalformed, |wire, it| wire.write(&with_kind(it, 0x8006))),
        ("a request type", INVOKE, 2, Kind::FrameMalformed, |wire, it| wire.write(&with_kind(it, 5))),
        ("length 0xFFFFFFFF", INVOKE, 2, Kind::FrameTooLarge, |wire, it| claim(wire, it, u32::MAX)),
        ("one byte above the ceiling", INVOKE, 2, Kind::FrameTooLarge, |wire, it| claim(wire, it, 16_777_165)),
        ("an allowed length, then the end", INVOKE, 2, Kind::FrameTruncated, |wire, it| claim(wire, it, 16_777_164)),
        ("a bit of the body flipped", INVOKE, 2, Kind::FrameMalformed, |wire, it| flipped(wire, it, 300)),
        ("a bit of the digest flipped", INVOKE, 2, Kind::FrameMalformed, |wire, it| flipped(wire, it, usize::MAX)),
        ("silence", INVOKE, 2, Kind::WallTimeout, |_, _| {}),
        ("silence inside a frame", INVOKE, 2, Kind::WallTimeout, |wire, it| wire.bytes.extend(&it.frame()[..40])),
        // The body.
        ("body that is not canonical", INVOKE, 2, Kind::FrameMalformed, |wire, it| wire.write(&with_body(it, b"\xbf\xff"))),
        ("bytes behind the body's item", INVOKE, 2, Kind::FrameMalformed, |wire, it| { let body = [it.body.as_slice(), b"\xf6"].concat(); wire.write(&with_body(it, &body)); }),
        ("an empty body", INVOKE, 2, Kind::FrameMalformed, |wire, it| wire.write(&with_body(it, b""))),
        ("a body that is no map", INVOKE, 2, Kind::FrameMalformed, |wire, it| wire.write(&with_body(it, b"\x80"))),
        ("an unknown member", INVOKE, 2, Kind::FrameMalformed, |wire, it| wire.write(&extra(it))),
        ("a member of another type", INVOKE, 2, Kind::FrameMalformed, |wire, it| wire.write(&it.with("recalled", Value::Null))),
        ("a third kind of outcome", INVOKE, 2, Kind::FrameMalformed, |wire, it| wire.write(&it.with("kind", Value::text("passed")))),
        // Correlation.
        ("the earlier outcome again", INVOKE, 2, Kind::OutcomeDuplicate, |wire, it| { let first = first_outcome(wire); wire.write(&with_sequence(&first, it.sequence)); }),
        ("the earlier outcome frame again", INVOKE, 2, Kind::OutcomeDuplicate, |wire, _| { let first = first_outcome(wire); wire.write(&first); }),
        ("an outcome twice", INVOKE, 1, Kind::OutcomeDuplicate, |wire, it| { wire.write(it); wire.write(it); }),
        ("the last outcome twice", INVOKE, 2, Kind::OutcomeDuplicate, |wire, it| { wire.write(it); wire.write(it); }),
        ("an outcome of a foreign invocation", INVOKE, 2, Kind::OutcomeUnknown, |wire, it| wire.write(&it.with("invocation", Value::bytes(vec![9; 32])))),
        ("an outcome of a foreign worldline", INVOKE, 2, Kind::OutcomeUnknown, |wire, it| wire.write(&it.with("worldline", named("echo/worldline/v1").to_value()))),
        ("a second, foreign outcome", INVOKE, 2, Kind::OutcomeUnknown, |wire, it| { wire.write(it); wire.write(&it.with("invocation", Value::bytes(vec![9; 32]))); }),
        ("its outcome under a later sequence", INVOKE, 2, Kind::OutcomeReordered, |wire, it| wire.write(&with_sequence(it, it.sequence + 1))),
        ("its outcome under an earlier sequence", INVOKE, 2, Kind::OutcomeReordered, |wire, it| wire.write(&with_sequence(it, it.sequence - 1))),
        ("another reply in place of the outcome", INVOKE, 2, Kind::OutcomeMissing, |wire, it| { let open = earlier(wire, 2); wire.write(&with_sequence(&open, it.sequence)); }),
        ("the outcome passed over", INVOKE, 2, Kind::OutcomeMissing, |wire, it| wire.write(&refused(&with_sequence(it, it.sequence + 1), "context-unknown", "request"))),
        ("an earlier reply again", INVOKE, 2, Kind::HostProtocol, |wire, _| { let open = earlier(wire, 2); wire.write(&open); }),
        ("an outcome before any invocation", OPEN, 1, Kind::OutcomeUnknown, |wire, it| { let body = Value::text_map([("worldline", named("echo/worldline/v1").to_value()), ("invocation", Value::bytes(vec![1; 32]))]); wire.write(&with_kind(&with_body(it, &encode(&body)), 0x8005)); }),
        ("an outcome after the context is closed", CLOSE, 1, Kind::OutcomeDuplicate, |wire, it| { let first = first_outcome(wire); wire.write(&with_sequence(&first, it.sequence)); }),
        ("a reply of another type", OPEN, 1, Kind::HostProtocol, |wire, it| wire.write(&with_kind(it, 0x8008))),
        ("a reply with another sequence", OPEN, 1, Kind::HostProtocol, |wire, it| wire.write(&with_sequence(it, 9))),
        // Refusals and faults.
        ("refuses the program", INSTALL, 1, Kind::InstallRefused, |wire, it| wire.write(&refused(it, "package-malformed", "request"))),
        ("installs another program", INSTALL, 1, Kind::SubjectMismatch, |wire, it| wire.write(&it.with("installation", named("echo/installation/v1").to_value()))),
        ("installs another operation", INSTALL, 1, Kind::SubjectMismatch, |wire, it| wire.write(&it.with("operation", Value::text("demo@1.other")))),
        ("refuses the context", OPEN, 1, Kind::ContextRefused, |wire, it| wire.write(&refused(it, "nonce-reused", "request"))),
        ("opens another worldline", OPEN, 1, Kind::ForeignContext, |wire, it| wire.write(&it.with("worldline", named("echo/worldline/v1").to_value()))),
        ("opens a used context", OPEN, 1, Kind::ReplayedContext, |wire, it| wire.write(&it.with("decided", Value::unsigned(1)))),
        ("opens a context at Tick 1", OPEN, 1, Kind::BasisMismatch, |wire, it| { let root = decode(&it.body).unwrap().get("basis").unwrap().get("stateRoot").unwrap().clone(); wire.write(&it.with("basis", Value::text_map([("tick", Value::unsigned(1)), ("stateRoot", root)]))); }),
        ("refuses the input", INVOKE, 2, Kind::InputRefused, |wire, it| wire.write(&refused(it, "input-type", "request"))),
        ("refuses the input as not canonical", INVOKE, 2, Kind::InputRefused, |wire, it| wire.write(&refused(it, "input-noncanonical", "request"))),
        ("refuses the input as too large", INVOKE, 2, Kind::InputRefused, |wire, it| wire.write(&refused(it, "input-too-large", "request"))),
        ("refuses the invocation", INVOKE, 2, Kind::InvocationRefused, |wire, it| wire.write(&refused(it, "invocation-replayed", "request"))),
        ("poisons the context", INVOKE, 2, Kind::HostFault, |wire, it| wire.write(&refused(it, "evaluation-fault", "context"))),
        ("a refusal of no known scope", INVOKE, 2, Kind::FrameMalformed, |wire, it| wire.write(&refused(it, "input-type", "universe"))),
        ("gives up", INVOKE, 2, Kind::HostFault, |wire, it| { wire.write(&fault(it.sequence)); wire.end(); }),
        ("gives up without a request to blame", INVOKE, 2, Kind::HostFault, |wire, _| { wire.write(&fault(0)); wire.end(); }),
        ("an unreadable fault", INVOKE, 2, Kind::FrameMalformed, |wire, it| wire.write(&with_kind(it, 0xffff))),
        ("closes elsewhere", CLOSE, 1, Kind::HostProtocol, |wire, it| wire.write(&it.with("decided", Value::unsigned(3)))),
        ("refuses to close", CLOSE, 1, Kind::HostProtocol, |wire, it| wire.write(&refused(it, "context-unknown", "request"))),
        // Evidence, as far as it needs a wire.
        ("an outcome that is only recalled", INVOKE, 2, Kind::ReplayedContext, |wire, it| wire.write(&it.with("recalled", Value::Bool(true)))),
        ("record and receipt of the operation before", INVOKE, 2, Kind::ForeignInvocation, |wire, it| { let first = decode(&first_outcome(wire).body).unwrap(); wire.write(&it.with("receipt", first.get("receipt").unwrap().clone())); }),
        ("an empty record", INVOKE, 2, Kind::EvidenceMalformed, |wire, it| wire.write(&it.with("record", Value::bytes(vec![])))),
        ("another value", INVOKE, 2, Kind::ResultBindingMismatch, |wire, it| wire.write(&it.with("body", Value::bytes(b"\xf6".to_vec())))),
        ("a patch of a pure program", INVOKE, 2, Kind::SettlementMismatch, |wire, it| wire.write(&it.with("patch", Value::bytes(b"\x80".to_vec())))),
    ]
}

fn run(standin: &StandIn) -> (CaseEvidence, Option<FailureKind>) {
    let host = standin.host();
    host.preflight(&pins()).unwrap();
    let plan = plan(&[pure(), pure()]);
    let nonce = ContextNonce::new([3; 32]);
    let evidence = host.run_case(&plan, nonce);
    let failure = bind_case(&plan, &nonce, &evidence).failure;
    (evidence, failure.map(|it| it.kind))
}

fn bt_010_every_hostile_host_is_named_and_none_gives_a_verdict() {
    let mut wrong = Vec::new();
    assert!(rows().len() >= 40);
    for (what, at, nth, kind, bend) in rows() {
        let standin = StandIn::new(&[pure()], at, nth, bend);
        let (evidence, failure) = run(&standin);
        let ended = standin.seen().ended;
        // A refused input leaves the host in order; one that ends itself gets the grace of a teardown
        // to show how; after anything else it is killed.
        let expected_end: &[bool] = match kind {
            FailureKind::InputRefused => &[],
            FailureKind::HostLost | FailureKind::FrameTruncated | FailureKind::HostFault => &[true],
            _ => &[false],
        };
        if failure != Some(kind) || ended != expected_end || evidence.operations.len() > 2 {
            wrong.push(format!("{what}: {failure:?}, ended {ended:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn an_honest_stand_in_binds() {
    let standin = StandIn::honest(&[pure()]);
    let (evidence, failure) = run(&standin);
    assert_eq!(failure, None);
    assert_eq!(evidence.failure, None);
    assert_eq!(evidence.operations.len(), 2);
}

fn an_outcome_of_a_closed_context_is_late() {
    let standin = StandIn::new(&[pure()], OPEN, 2, |wire, it| {
        let first = first_outcome(wire);
        wire.write(&with_sequence(&first, it.sequence));
    });
    let host = standin.host();
    host.preflight(&pins()).unwrap();
    let plan = plan(&[pure()]);
    let first = host.run_case(&plan, ContextNonce::new([1; 32]));
    assert_eq!(first.failure, None);
    let second = host.run_case(&plan, ContextNonce::new([2; 32]));
    assert_eq!(second.failure.unwrap().kind, FailureKind::OutcomeLate);
}

fn hosts_that_fail_the_handshake_are_refused() {
    let rows: [(&str, FailureKind, Bend); 12] = [
        ("refused", FailureKind::HandshakeFailed, |wire, it| {
            wire.write(&refused(it, "profile-unsupported", "request"));
        }),
        (
            "another protocol",
            FailureKind::HandshakeFailed,
            |wire, it| {
                wire.write(&rebuilt(
                    it,
                    "protocol",
                    Value::text("echo.host-transport/v2"),
                ));
            },
        ),
        ("fault points", FailureKind::HandshakeFailed, |wire, it| {
            wire.write(&rebuilt(it, "faultPoints", Value::Bool(true)));
        }),
        (
            "another build than its reply",
            FailureKind::HandshakeFailed,
            |wire, it| {
                wire.write(&it.with("version", Value::text("0.2")));
            },
        ),
        ("malformed", FailureKind::HandshakeFailed, |wire, it| {
            wire.write(&it.with("workers", Value::Null));
        }),
        ("no profile", FailureKind::ProfileUnsupported, |wire, it| {
            wire.write(&rebuilt(it, "profiles", Value::Array(vec![])));
        }),
        (
            "no evidence",
            FailureKind::EvidenceVersionUnsupported,
            |wire, it| {
                let only = Value::Array(vec![Value::text("echo.receipt/v1")]);
                wire.write(&rebuilt(it, "evidence", only));
            },
        ),
        (
            "another cost law",
            FailureKind::ProfileMismatch,
            |wire, it| {
                wire.write(&rebuilt(it, "costLaw", Value::text("echo.cost/v2")));
            },
        ),
        ("lost", FailureKind::HostLost, |wire, _| wire.end()),
        ("silent", FailureKind::WallTimeout, |_, _| {}),
        ("not a frame", FailureKind::FrameMalformed, |wire, it| {
            let frame = raw_frame(*b"HTTP", 1, it.kind, it.sequence, &it.body);
            wire.bytes.extend(frame);
        }),
        ("gives up", FailureKind::HostFault, |wire, _| {
            wire.write(&fault(0));
            wire.end();
        }),
    ];
    for (what, kind, bend) in rows {
        let standin = StandIn::new(&[], HELLO, 1, bend);
        let host = standin.host();
        let failure = host.preflight(&pins()).unwrap_err();
        assert_eq!(failure.kind, kind, "{what}");
        assert_eq!(standin.seen().ended.len(), 1, "{what}");
        // It is not tried again.
        assert!(host.preflight(&pins()).is_err());
        assert_eq!(standin.seen().started, 1, "{what}");
    }
}

/// A `hello` reply with one member replaced and the build made right again.
fn rebuilt(reply: &Reply, member: &str, value: Value) -> Reply {
    let changed = reply.with(member, value);
    let Value::Map(entries) = decode(&changed.body).unwrap() else {
        panic!("hello is a map")
    };
    let outside = ["build", "workers", "stateRoot"];
    let preimage = entries
        .into_iter()
        .filter(|(key, _)| !outside.contains(&key.as_text().unwrap()));
    let preimage = encode(&Value::Map(preimage.collect()));
    let build = edict_codec::digest::derive_typed("echo/host-build/v1", &preimage);
    changed.with("build", build.to_value())
}

fn another_pinned_interpreter_is_a_profile_mismatch() {
    let standin = StandIn::honest(&[]);
    let mut pins = pins();
    pins.interpreter_identity = named("echo/interpreter-profile/v1");
    let failure = standin.host().preflight(&pins).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ProfileMismatch);
}

fn a_shutdown_must_end_in_order() {
    let rows: [(&str, Option<FailureKind>, Bend); 5] = [
        ("in order", None, |wire, it| {
            wire.write(it);
            wire.end();
        }),
        (
            "more after bye",
            Some(FailureKind::HostProtocol),
            |wire, it| {
                wire.write(it);
                wire.write(it);
                wire.end();
            },
        ),
        (
            "an open context",
            Some(FailureKind::HostProtocol),
            |wire, it| {
                wire.write(&it.with("contexts", Value::unsigned(1)));
                wire.end();
            },
        ),
        ("no bye", Some(FailureKind::HostLost), |wire, _| wire.end()),
        ("stays", Some(FailureKind::WallTimeout), |wire, it| {
            wire.write(it);
        }),
    ];
    for (what, kind, bend) in rows {
        let standin = StandIn::new(&[], SHUTDOWN, 1, bend);
        let host = standin.host();
        host.preflight(&pins()).unwrap();
        let outcome = host.close().map_err(|failure| failure.kind);
        assert_eq!(outcome.err(), kind, "{what}");
    }
}
