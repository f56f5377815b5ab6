// SPDX-License-Identifier: Apache-2.0
//! Requests as values.

use edict_codec::{
    cbor::Value,
    digest::{Algorithm, TypedDigest},
};

/// A map.
pub(crate) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::text_map(entries)
}

/// A text.
pub(crate) fn text(text: &str) -> Value {
    Value::text(text)
}

/// A digest of `domain` whose bytes are all `byte`.
pub(crate) fn digest(domain: &str, byte: u8) -> Value {
    TypedDigest::new(domain, Algorithm::Blake3, [byte; 32]).to_value()
}

/// A sound hello.
pub(crate) fn hello() -> Value {
    hello_with_frames(16_777_216)
}

/// A hello of a client that reads frames of so many bytes.
pub(crate) fn hello_with_frames(max_frame_bytes: u64) -> Value {
    map([
        ("protocol", text("echo.host-transport/v1")),
        ("client", text("it")),
        ("profiles", Value::Array(vec![text("echo.program/v1")])),
        (
            "evidence",
            Value::Array(vec![
                text("echo.effectful-execution/v1"),
                text("echo.pure-execution/v1"),
                text("echo.receipt/v1"),
            ]),
        ),
        ("maxFrameBytes", Value::unsigned(max_frame_bytes)),
    ])
}

/// `value` with `key` replaced.
pub(crate) fn with(value: &Value, key: &str, new: Value) -> Value {
    let mut entries: Vec<(Value, Value)> = value.as_map().unwrap().to_vec();
    entries.retain(|(it, _)| it.as_text() != Some(key));
    entries.push((text(key), new));
    Value::map(entries)
}

/// `value` without `key`.
pub(crate) fn without(value: &Value, key: &str) -> Value {
    let mut entries: Vec<(Value, Value)> = value.as_map().unwrap().to_vec();
    entries.retain(|(it, _)| it.as_text() != Some(key));
    Value::map(entries)
}

/// A budget.
pub(crate) fn budget(steps: u64, allocated: u64, output: u64) -> Value {
    map([
        ("maxSteps", Value::unsigned(steps)),
        ("maxAllocatedBytes", Value::unsigned(allocated)),
        ("maxOutputBytes", Value::unsigned(output)),
    ])
}

/// A basis.
pub(crate) fn basis(tick: u64, root: Value) -> Value {
    map([("tick", Value::unsigned(tick)), ("stateRoot", root)])
}

/// A well-formed install of stand-in bytes.
pub(crate) fn install() -> Value {
    let pin = |domain| TypedDigest::new(domain, Algorithm::Sha256, [1; 32]).to_value();
    map([
        ("package", Value::bytes(vec![0xa0])),
        ("packageDigest", pin("echo.program-package/v1")),
        ("report", Value::bytes(vec![0xa0])),
        ("reportDigest", pin("edict.verification-report/v1")),
        (
            "policy",
            map([
                ("operation", text("demo.cell@1.pick")),
                ("authority", text("pure")),
                ("maxBudget", budget(1, 1, 1)),
            ]),
        ),
    ])
}

/// A volatile context of that nonce without grants.
pub(crate) fn open(nonce: u8) -> Value {
    map([
        ("nonce", Value::bytes([nonce; 32])),
        ("subject", digest("example/subject/v1", 0x22)),
        ("mode", text("create")),
        (
            "storage",
            map([("kind", text("volatile")), ("name", Value::Null)]),
        ),
        ("grants", Value::Array(Vec::new())),
        ("expect", Value::Null),
    ])
}

/// Storage of that name.
pub(crate) fn durable(name: &str) -> Value {
    map([("kind", text("durable")), ("name", text(name))])
}

/// A durable context of that nonce and name without grants.
pub(crate) fn open_durable(nonce: u8, name: &str) -> Value {
    with(&open(nonce), "storage", durable(name))
}

/// The same, recovered.
pub(crate) fn recover(nonce: u8, name: &str) -> Value {
    with(&open_durable(nonce, name), "mode", text("recover"))
}

/// A well-formed invocation of nothing that exists.
pub(crate) fn invoke() -> Value {
    map([
        ("worldline", digest("echo/worldline/v1", 1)),
        ("installation", digest("echo/installation/v1", 2)),
        ("invocation", Value::bytes([3; 32])),
        ("basis", Value::Null),
        ("input", Value::bytes(vec![0xa0])),
        ("budget", Value::Null),
    ])
}

/// A well-formed recall.
pub(crate) fn recall() -> Value {
    map([
        ("worldline", digest("echo/worldline/v1", 1)),
        ("invocation", Value::bytes([3; 32])),
    ])
}

/// A well-formed observation of one atom.
pub(crate) fn observe() -> Value {
    map([
        ("worldline", digest("echo/worldline/v1", 1)),
        ("basis", basis(0, digest("echo/state-root/v1", 0))),
        (
            "select",
            select(vec![map([
                ("space", text("demo.cell/v1")),
                ("key", Value::bytes(vec![0x6b])),
            ])]),
        ),
        ("maxBytes", Value::unsigned(8_388_608)),
    ])
}

/// A selection of atoms.
pub(crate) fn select(atoms: Vec<Value>) -> Value {
    map([("kind", text("atoms")), ("atoms", Value::Array(atoms))])
}

/// A selection of a scan.
pub(crate) fn scan(space: &str, after: Value, limit: u64) -> Value {
    map([
        ("kind", text("scan")),
        ("space", text(space)),
        ("after", after),
        ("limit", Value::unsigned(limit)),
    ])
}

/// A body of `{worldline}`.
pub(crate) fn worldline(worldline: &Value) -> Value {
    map([("worldline", worldline.clone())])
}

/// The empty body.
pub(crate) fn nothing() -> Value {
    Value::Map(Vec::new())
}

/// Every request type with a sound body of it.
pub(crate) fn sound() -> Vec<(u16, Value)> {
    vec![
        (1, hello()),
        (2, install()),
        (
            3,
            map([("installation", digest("echo/installation/v1", 2))]),
        ),
        (4, open(1)),
        (5, invoke()),
        (6, recall()),
        (7, observe()),
        (8, worldline(&digest("echo/worldline/v1", 1))),
        (9, nothing()),
    ]
}
