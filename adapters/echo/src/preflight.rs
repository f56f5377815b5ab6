// SPDX-License-Identifier: Apache-2.0
//! `hello`: is this the host that the lock pins, and can it give the evidence the runner judges?

use crate::client::{Answer, Client, Trouble};
use crate::frame::{Direction, FrameKind};
use crate::ledger::Ledger;
use crate::message::{ANCHORED_AND_EVIDENCE, EVIDENCE, PROFILE, PROTOCOL, hello};
use edict_test_model::FailureKind;
use edict_test_model::built::Body;
use edict_test_model::evidence::HostHello;
use edict_test_model::package::ANCHORED_PROFILE;
use edict_test_model::plan::HostPins;

/// Least value of `maxFrameBytes` that a host accepts.
const MIN_FRAME_BYTES: u64 = 4096;

/// Whether a frame limit can be told to a host at all, before one is started.
pub(crate) fn frame_limit(max_frame_bytes: u64) -> Result<(), Trouble> {
    if max_frame_bytes >= MIN_FRAME_BYTES {
        Ok(())
    } else {
        let message = format!("maxFrameBytes is {max_frame_bytes}, a host needs at least 4096");
        Err(Trouble::new(FailureKind::HandshakeFailed, message))
    }
}

/// Says `hello` and judges the reply (F11, S16).
pub(crate) fn greet(
    client: &mut Client,
    ledger: &Ledger,
    max_frame_bytes: u64,
    pins: &HostPins,
    is_anchored: bool,
) -> Result<(HostHello, Body), Trouble> {
    let request = FrameKind::Hello(Direction::Request);
    let failed = |message: String| Err(Trouble::new(FailureKind::HandshakeFailed, message));
    let reply = match client.ask(request, &hello(max_frame_bytes, is_anchored), ledger)? {
        Answer::Done(reply) => reply,
        Answer::Refused(refusal) => {
            return Err(Trouble {
                kind: FailureKind::HandshakeFailed,
                message: format!("the host refused hello: {}", refusal.message),
                host_code: Some(refusal.kind),
            });
        }
    };
    let hello = match HostHello::decode(&reply.bytes) {
        Ok(hello) => hello,
        Err(error) => return failed(error.to_string()),
    };
    if hello.protocol != PROTOCOL {
        return failed(format!("the host speaks another protocol than {PROTOCOL}"));
    }
    if hello.fault_points {
        return failed("the host is a build that can be told to fail".to_owned());
    }
    check_pins(&hello, pins, is_anchored)?;
    Ok((hello, Body::new(reply.bytes)))
}

fn check_pins(hello: &HostHello, pins: &HostPins, is_anchored: bool) -> Result<(), Trouble> {
    let fail = |kind, message: String| Err(Trouble::new(kind, message));
    let (profile, evidence): (_, &[&str]) = if is_anchored {
        (ANCHORED_PROFILE, &ANCHORED_AND_EVIDENCE)
    } else {
        (PROFILE, &EVIDENCE)
    };
    if !hello.profiles.iter().any(|name| name == profile) {
        return fail(
            FailureKind::ProfileUnsupported,
            format!("the host does not support {profile}"),
        );
    }
    let missing = evidence
        .iter()
        .find(|name| !hello.evidence.iter().any(|it| it == *name));
    if let Some(name) = missing {
        return fail(
            FailureKind::EvidenceVersionUnsupported,
            format!("the host does not give {name}"),
        );
    }
    let same = hello.interpreter == pins.interpreter
        && hello.interpreter_identity == pins.interpreter_identity;
    if !same || hello.cost_law != "echo.cost/v1" || hello.codec != "edict.canonical-cbor/v1" {
        return fail(
            FailureKind::ProfileMismatch,
            "interpreter profile, cost law or codec of the host is not the one pinned".to_owned(),
        );
    }
    Ok(())
}
