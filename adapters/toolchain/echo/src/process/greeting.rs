// SPDX-License-Identifier: Apache-2.0
//! The answer to `hello`: what this build speaks, limits and is (section 2.1).

use crate::{
    fault_point::FaultPoints,
    limits,
    package::anchored,
    receipt::{ANCHORED_ABI, COST_LAW, EFFECTFUL_ABI, INTERPRETER, PURE_ABI, RECEIPT_ABI},
    refusal::Refusal,
    state::view::Intrinsic,
    wire::{frame::ReplyType, reply::Reply, request::Hello},
};
use edict_codec::{
    cbor::{Value, encode},
    digest::{TypedDigest, derive_typed},
};
use std::sync::atomic::{AtomicBool, Ordering};

/// Version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

const PROTOCOL: &str = "echo.host-transport/v1";
const PROFILES: &[&str] = &["echo.program/v1"];
const EVIDENCE: &[&str] = &[EFFECTFUL_ABI, PURE_ABI, RECEIPT_ABI];

/// What is spoken once a client has asked for the foreign profile.
const ANCHORED_PROFILES: &[&str] = &[anchored::PROFILE, "echo.program/v1"];
const ANCHORED_EVIDENCE: &[&str] = &[ANCHORED_ABI, EFFECTFUL_ABI, PURE_ABI, RECEIPT_ABI];

/// What this process answers to `hello`.
#[derive(Debug)]
pub struct Greeting {
    plain: Spoken,
    anchored: Spoken,
    is_anchored: AtomicBool,
}

/// One of the two answers.
#[derive(Debug)]
struct Spoken {
    profiles: &'static [&'static str],
    evidence: &'static [&'static str],
    build: TypedDigest,
    reply: Reply,
}

impl Spoken {
    fn new(
        profiles: &'static [&'static str],
        evidence: &'static [&'static str],
        workers: usize,
        has_state_root: bool,
    ) -> Self {
        let members = build_members(profiles, evidence);
        let build = derive_typed(
            "echo/host-build/v1",
            &encode(&Value::text_map(members.clone())),
        );
        let workers = u64::try_from(workers).unwrap_or(u64::MAX);
        let value = Value::text_map(members.into_iter().chain([
            ("build", build.to_value()),
            ("workers", Value::unsigned(workers)),
            ("stateRoot", Value::Bool(has_state_root)),
        ]));
        Self {
            profiles,
            evidence,
            build,
            reply: Reply::new(ReplyType::Hello, &value),
        }
    }
}

impl Greeting {
    /// The greeting of a process with so many workers, and with or without a state root.
    pub fn new(workers: usize, has_state_root: bool) -> Self {
        Self {
            plain: Spoken::new(PROFILES, EVIDENCE, workers, has_state_root),
            anchored: Spoken::new(
                ANCHORED_PROFILES,
                ANCHORED_EVIDENCE,
                workers,
                has_state_root,
            ),
            is_anchored: AtomicBool::new(false),
        }
    }

    /// Whether the accepted `hello` asked for the foreign profile.
    pub fn is_anchored(&self) -> bool {
        self.is_anchored.load(Ordering::SeqCst)
    }

    /// dig(echo/host-build/v1) of what was answered.
    pub fn build(&self) -> &TypedDigest {
        if self.is_anchored() {
            &self.anchored.build
        } else {
            &self.plain.build
        }
    }

    /// The reply, if everything the client needs is supported. The foreign profile is offered to
    /// those only who ask for it.
    ///
    /// # Errors
    /// `protocol-unsupported`, `profile-unsupported`, `evidence-unsupported`,
    /// `response-too-large`.
    pub fn answer(&self, hello: &Hello) -> Result<Reply, Refusal> {
        if hello.protocol != PROTOCOL {
            return Err(Refusal::at(
                "protocol-unsupported",
                ".protocol",
                format!("only {PROTOCOL} is spoken"),
            ));
        }
        let is_anchored = hello.profiles.iter().any(|it| it == anchored::PROFILE);
        let spoken = if is_anchored {
            &self.anchored
        } else {
            &self.plain
        };
        supported(
            &hello.profiles,
            spoken.profiles,
            "profile-unsupported",
            ".profiles",
        )?;
        supported(
            &hello.evidence,
            spoken.evidence,
            "evidence-unsupported",
            ".evidence",
        )?;
        let reply = spoken.reply.clone().within(hello.max_frame_bytes)?;
        self.is_anchored.store(is_anchored, Ordering::SeqCst);
        Ok(reply)
    }
}

fn supported(
    asked: &[String],
    known: &[&str],
    kind: &'static str,
    path: &str,
) -> Result<(), Refusal> {
    match asked.iter().position(|it| !known.contains(&it.as_str())) {
        None => Ok(()),
        Some(index) => Err(Refusal::at(
            kind,
            format!("{path}[{index}]"),
            format!("only {} is supported", known.join(", ")),
        )),
    }
}

/// Everything of the reply that tells one build from another.
fn build_members(
    profiles: &'static [&'static str],
    evidence: &'static [&'static str],
) -> Vec<(&'static str, Value)> {
    let coordinate = Value::Array(vec![Value::text(INTERPRETER)]);
    let identity = derive_typed("echo/interpreter-profile/v1", &encode(&coordinate));
    let interpreter = Value::text_map([
        ("coordinate", Value::text(INTERPRETER)),
        ("identity", identity.to_value()),
    ]);
    let named = limits::NAMED
        .iter()
        .map(|(name, limit)| (*name, Value::unsigned(*limit)));
    vec![
        ("protocol", Value::text(PROTOCOL)),
        ("version", Value::text(VERSION)),
        ("profiles", texts(profiles.iter().copied())),
        ("evidence", texts(evidence.iter().copied())),
        ("interpreter", interpreter),
        ("costLaw", Value::text(COST_LAW)),
        ("codec", Value::text("edict.canonical-cbor/v1")),
        ("wal", Value::text("echo.wal/v1")),
        (
            "intrinsics",
            texts(Intrinsic::ALL.into_iter().map(Intrinsic::coordinate)),
        ),
        ("limits", Value::text_map(named)),
        ("faultPoints", Value::Bool(FaultPoints::AVAILABLE)),
    ]
}

fn texts(items: impl Iterator<Item = &'static str>) -> Value {
    Value::Array(items.map(Value::text).collect())
}
