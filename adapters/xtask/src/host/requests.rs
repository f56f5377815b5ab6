// SPDX-License-Identifier: Apache-2.0
//! Bodies of requests to the host, and members of what it answers.

use super::HostError;
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::{TypedDigest, frame_typed},
};

/// Greatest whole frame that is read.
const MAX_FRAME_BYTES: u64 = 16_777_216;

/// A context to open.
#[derive(Clone, Debug)]
pub struct Opening<'a> {
    /// Freshness of its evidence.
    pub nonce: [u8; 32],
    /// What the client calls it.
    pub subject: TypedDigest,
    /// The directory below the state root, or nothing for a volatile one.
    pub name: Option<&'a str>,
    /// Whether it is recovered from its log.
    pub is_recovery: bool,
}

/// A member that the contract promises.
///
/// # Errors
/// It is not there.
pub fn member(value: &Value, key: &str) -> Result<Value, HostError> {
    let found = value.get(key).cloned();
    found.ok_or_else(|| HostError::new(format!("a reply or record without `{key}`: {value:?}")))
}

/// A byte string that the contract promises.
///
/// # Errors
/// It is not there or something else.
pub fn bytes(value: &Value, key: &str) -> Result<Vec<u8>, HostError> {
    let member = member(value, key)?;
    let bytes = member.as_bytes().map(<[u8]>::to_vec);
    bytes.ok_or_else(|| HostError::new(format!("`{key}` is no byte string")))
}

/// `hello` of a client that reads all there is.
pub fn hello() -> Value {
    let texts = |texts: &[&str]| Value::Array(texts.iter().map(|it| Value::text(*it)).collect());
    let evidence = [
        "echo.effectful-execution/v1",
        "echo.pure-execution/v1",
        "echo.receipt/v1",
    ];
    Value::text_map([
        ("protocol", Value::text("echo.host-transport/v1")),
        ("client", Value::text("xtask")),
        ("profiles", texts(&["echo.program/v1"])),
        ("evidence", texts(&evidence)),
        ("maxFrameBytes", Value::unsigned(MAX_FRAME_BYTES)),
    ])
}

/// `install` that allows what the package declares and pins what it is given.
///
/// # Errors
/// The package is none.
pub fn install(package: &[u8], report: &[u8]) -> Result<Value, HostError> {
    let content =
        decode(package).map_err(|error| HostError::new(format!("the package: {error}")))?;
    let authority = match member(&content, "kind")?.as_text() {
        Some("pure") => "pure",
        _ => "atoms",
    };
    let policy = Value::text_map([
        ("operation", member(&content, "operation")?),
        ("authority", Value::text(authority)),
        ("maxBudget", member(&content, "budget")?),
    ]);
    let pin = |domain: &str, bytes: &[u8]| frame_typed(domain, bytes).to_value();
    Ok(Value::text_map([
        ("package", Value::bytes(package)),
        ("packageDigest", pin("echo.program-package/v1", package)),
        ("report", Value::bytes(report)),
        ("reportDigest", pin("edict.verification-report/v1", report)),
        ("policy", policy),
    ]))
}

impl Opening<'_> {
    /// The body of `open-context` with these grants, in any order.
    pub fn body(&self, grants: impl IntoIterator<Item = Value>) -> Value {
        let mut grants: Vec<Value> = grants.into_iter().collect();
        grants.sort_by_key(encode);
        grants.dedup();
        let (kind, name) = match self.name {
            Some(name) => ("durable", Value::text(name)),
            None => ("volatile", Value::Null),
        };
        let mode = if self.is_recovery {
            "recover"
        } else {
            "create"
        };
        let storage = Value::text_map([("kind", Value::text(kind)), ("name", name)]);
        Value::text_map([
            ("nonce", Value::bytes(self.nonce)),
            ("subject", self.subject.to_value()),
            ("mode", Value::text(mode)),
            ("storage", storage),
            ("grants", Value::Array(grants)),
            ("expect", Value::Null),
        ])
    }
}

/// `invoke` under a budget; a null basis is that of a pure one, a null budget the declared one.
pub fn invoke(
    (worldline, installation): (&Value, &Value),
    invocation: [u8; 32],
    basis: &Value,
    input: &[u8],
    budget: Value,
) -> Value {
    Value::text_map([
        ("worldline", worldline.clone()),
        ("installation", installation.clone()),
        ("invocation", Value::bytes(invocation)),
        ("basis", basis.clone()),
        ("input", Value::bytes(input)),
        ("budget", budget),
    ])
}

/// `recall`.
pub fn recall(worldline: &Value, invocation: [u8; 32]) -> Value {
    Value::text_map([
        ("worldline", worldline.clone()),
        ("invocation", Value::bytes(invocation)),
    ])
}

/// `observe` of as many bytes as a reply can hold.
pub fn observe(worldline: &Value, basis: &Value, select: Value) -> Value {
    Value::text_map([
        ("worldline", worldline.clone()),
        ("basis", basis.clone()),
        ("select", select),
        ("maxBytes", Value::unsigned(8_388_608)),
    ])
}

/// `close-context`.
pub fn close(worldline: &Value) -> Value {
    Value::text_map([("worldline", worldline.clone())])
}
