// SPDX-License-Identifier: Apache-2.0
//! The answer to `hello`: what this build speaks, limits and is (section 2.1).

use crate::{
    fault_point::FaultPoints,
    limits,
    receipt::{COST_LAW, EFFECTFUL_ABI, INTERPRETER, PURE_ABI, RECEIPT_ABI},
    refusal::Refusal,
    state::view::Intrinsic,
    wire::{frame::ReplyType, reply::Reply, request::Hello},
};
use edict_codec::{
    cbor::{Value, encode},
    digest::{TypedDigest, derive_typed},
};

/// Version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

const PROTOCOL: &str = "echo.host-transport/v1";
const PROFILES: &[&str] = &["echo.program/v1"];
const EVIDENCE: &[&str] = &[EFFECTFUL_ABI, PURE_ABI, RECEIPT_ABI];

/// What this process answers to `hello`.
#[derive(Clone, Debug)]
pub struct Greeting {
    build: TypedDigest,
    reply: Reply,
}

impl Greeting {
    /// The greeting of a process with so many workers, and with or without a state root.
    pub fn new(workers: usize, has_state_root: bool) -> Self {
        let members = build_members();
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
            build,
            reply: Reply::new(ReplyType::Hello, &value),
        }
    }

    /// dig(echo/host-build/v1).
    pub fn build(&self) -> &TypedDigest {
        &self.build
    }

    /// The reply, if everything the client needs is supported.
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
        supported(
            &hello.profiles,
            PROFILES,
            "profile-unsupported",
            ".profiles",
        )?;
        supported(
            &hello.evidence,
            EVIDENCE,
            "evidence-unsupported",
            ".evidence",
        )?;
        self.reply.clone().within(hello.max_frame_bytes)
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
fn build_members() -> Vec<(&'static str, Value)> {
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
        ("profiles", texts(PROFILES.iter().copied())),
        ("evidence", texts(EVIDENCE.iter().copied())),
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
