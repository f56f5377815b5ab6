// SPDX-License-Identifier: Apache-2.0
//! Bodies of requests and replies (`docs/host.md` 2). `open-context` and `hello` replies are decoded
//! by the model, which judges them again as evidence.

use edict_codec::cbor::{self, DecodeLimits, Value};
use edict_codec::digest::TypedDigest;
use edict_test_model::built::Body;
use edict_test_model::evidence::{Basis, OperationEvidence, OutcomeFrame, OutcomeKind, Program};
use edict_test_model::package::ANCHORED_PROFILE;
use edict_test_model::run::StorageKind;

/// The transport protocol.
pub(crate) const PROTOCOL: &str = "echo.host-transport/v1";
/// The program profile that the runner executes.
pub(crate) const PROFILE: &str = "echo.program/v1";
/// The evidence versions that the runner can judge, ascending.
pub(crate) const EVIDENCE: [&str; 3] = [
    "echo.effectful-execution/v1",
    "echo.pure-execution/v1",
    "echo.receipt/v1",
];

/// The same with that of packages of shape `upstream`.
pub(crate) const ANCHORED_AND_EVIDENCE: [&str; 4] = [
    "echo.anchored-execution/v1",
    "echo.effectful-execution/v1",
    "echo.pure-execution/v1",
    "echo.receipt/v1",
];

/// Items in one message at most.
const MAX_NODES: usize = 65_536;

/// A reply that is not the map of its table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadReply(pub(crate) String);

/// A `refused` reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The host's kind.
    pub(crate) kind: String,
    /// Its message; never parsed.
    pub(crate) message: String,
    /// Whether the context is poisoned.
    pub(crate) poisoned: bool,
}

/// The reply to `install`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Installed {
    pub(crate) installation: TypedDigest,
    operation: String,
    kind: String,
    budget: Value,
    static_bound: Value,
    input_type: String,
    output_type: String,
}

/// The reply to `close-context`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    pub(crate) worldline: TypedDigest,
    pub(crate) basis: Value,
    pub(crate) decided: u64,
    pub(crate) last_receipt: Option<TypedDigest>,
}

/// `hello`; a client of packages of shape `upstream` asks for their profile and evidence too.
pub(crate) fn hello(max_frame_bytes: u64, is_anchored: bool) -> Value {
    let (profiles, evidence): (&[&str], &[&str]) = if is_anchored {
        (&[ANCHORED_PROFILE, PROFILE], &ANCHORED_AND_EVIDENCE)
    } else {
        (&[PROFILE], &EVIDENCE)
    };
    let texts = |names: &[&str]| Value::Array(names.iter().map(|it| Value::text(*it)).collect());
    Value::text_map([
        ("protocol", Value::text(PROTOCOL)),
        ("client", Value::text("edict-test")),
        ("profiles", texts(profiles)),
        ("evidence", texts(evidence)),
        ("maxFrameBytes", Value::unsigned(max_frame_bytes)),
    ])
}

/// `install` under the policy of P15.
pub(crate) fn install(program: &Program) -> Value {
    let bytes = |body: &Body| Value::bytes(body.bytes.to_vec());
    let package = &program.package;
    Value::text_map([
        ("package", bytes(&program.package_file)),
        ("packageDigest", package.digest.to_value()),
        ("report", bytes(&program.report_file)),
        ("reportDigest", program.report.digest.to_value()),
        (
            "policy",
            Value::text_map([
                ("operation", Value::text(package.operation.as_str())),
                ("authority", Value::text(package.kind.authority())),
                ("maxBudget", package.budget.to_value()),
            ]),
        ),
    ])
}

pub(crate) fn uninstall(installation: &TypedDigest) -> Value {
    Value::text_map([("installation", installation.to_value())])
}

/// `open-context` of a new context; the name of durable storage is the nonce.
pub(crate) fn open_context(
    nonce: &[u8; 32],
    subject: &TypedDigest,
    storage: StorageKind,
    grants: &[TypedDigest],
) -> Value {
    let name = match storage {
        StorageKind::Volatile => Value::Null,
        StorageKind::Durable => Value::text(edict_codec::hex::encode(nonce)),
    };
    Value::text_map([
        ("nonce", Value::bytes(nonce.to_vec())),
        ("subject", subject.to_value()),
        ("mode", Value::text("create")),
        (
            "storage",
            Value::text_map([("kind", Value::text(storage.name())), ("name", name)]),
        ),
        (
            "grants",
            Value::Array(grants.iter().map(TypedDigest::to_value).collect()),
        ),
        ("expect", Value::Null),
    ])
}

pub(crate) fn close_context(worldline: &TypedDigest) -> Value {
    Value::text_map([("worldline", worldline.to_value())])
}

pub(crate) fn shutdown() -> Value {
    Value::Map(Vec::new())
}

/// Decodes one canonical body within the bound on items.
pub(crate) fn canonical(body: &[u8]) -> Result<Value, BadReply> {
    let limits = DecodeLimits {
        nodes: MAX_NODES,
        ..DecodeLimits::default()
    };
    cbor::decode_with(body, limits).map_err(|error| BadReply(format!("not canonical: {error}")))
}

pub(crate) fn refusal(body: &Value) -> Result<Refusal, BadReply> {
    closed(body, &["kind", "message", "path", "scope"])?;
    let path = member(body, "path")?;
    if !path.is_null() {
        bounded(body, "path", 256)?;
    }
    Ok(Refusal {
        kind: bounded(body, "kind", 64)?,
        message: bounded(body, "message", 512)?,
        poisoned: match text(body, "scope")? {
            "request" => false,
            "context" => true,
            _ => {
                return Err(BadReply(
                    "`scope` is neither request nor context".to_owned(),
                ));
            }
        },
    })
}

/// Kind and message of a `fault`.
pub(crate) fn fault(body: &Value) -> Result<(String, String), BadReply> {
    closed(body, &["kind", "message"])?;
    Ok((bounded(body, "kind", 64)?, bounded(body, "message", 512)?))
}

pub(crate) fn installed(body: &Value) -> Result<Installed, BadReply> {
    closed(
        body,
        &[
            "installation",
            "operation",
            "kind",
            "budget",
            "staticBound",
            "inputType",
            "outputType",
            "repeated",
        ],
    )?;
    if member(body, "repeated")?.as_bool().is_none() {
        return Err(BadReply("`repeated` is no boolean".to_owned()));
    }
    Ok(Installed {
        installation: digest(body, "installation")?,
        operation: text(body, "operation")?.to_owned(),
        kind: text(body, "kind")?.to_owned(),
        budget: member(body, "budget")?.clone(),
        static_bound: member(body, "staticBound")?.clone(),
        input_type: text(body, "inputType")?.to_owned(),
        output_type: text(body, "outputType")?.to_owned(),
    })
}

impl Installed {
    /// Whether the host admitted exactly `program`.
    pub(crate) fn is_of(&self, program: &Program) -> bool {
        let package = &program.package;
        let (budget, static_bound) = if package.anchored.is_some() {
            (
                package.budget.to_anchored(),
                package.static_bound.to_anchored(),
            )
        } else {
            (package.budget.to_value(), package.static_bound.to_value())
        };
        self.installation == program.installation
            && self.operation == package.operation
            && self.kind == package.kind.name()
            && self.budget == budget
            && self.static_bound == static_bound
            && self.input_type == package.input_type
            && self.output_type == package.output_type
    }
}

/// Decodes an `outcome` to the invocation that was asked.
pub(crate) fn outcome(
    body: &Value,
    invocation: [u8; 32],
    request: Body,
    input: Body,
) -> Result<OperationEvidence, BadReply> {
    closed(
        body,
        &[
            "worldline",
            "invocation",
            "kind",
            "record",
            "receipt",
            "body",
            "footprint",
            "patch",
            "recalled",
        ],
    )?;
    let (worldline, named) = outcome_pair(body)?;
    let kind = OutcomeKind::from_name(text(body, "kind")?)
        .ok_or_else(|| BadReply("`kind` is neither result nor obstruction".to_owned()))?;
    let recalled = member(body, "recalled")?
        .as_bool()
        .ok_or_else(|| BadReply("`recalled` is no boolean".to_owned()))?;
    Ok(OperationEvidence {
        invocation,
        request,
        input,
        frame: OutcomeFrame {
            worldline,
            invocation: named,
            kind,
            recalled,
        },
        record: bytes(body, "record")?,
        receipt: bytes(body, "receipt")?,
        body: bytes(body, "body")?,
        footprint: optional_bytes(body, "footprint")?,
        patch: optional_bytes(body, "patch")?,
    })
}

/// Worldline and invocation that an `outcome` names.
pub(crate) fn outcome_pair(body: &Value) -> Result<(TypedDigest, [u8; 32]), BadReply> {
    let invocation = member(body, "invocation")?
        .as_bytes()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| BadReply("`invocation` is no 32 bytes".to_owned()))?;
    Ok((digest(body, "worldline")?, invocation))
}

pub(crate) fn closed_context(body: &Value) -> Result<Closed, BadReply> {
    closed(body, &["worldline", "basis", "decided", "lastReceipt"])?;
    let last = member(body, "lastReceipt")?;
    Ok(Closed {
        worldline: digest(body, "worldline")?,
        basis: member(body, "basis")?.clone(),
        decided: unsigned(body, "decided")?,
        last_receipt: if last.is_null() {
            None
        } else {
            Some(digest(body, "lastReceipt")?)
        },
    })
}

impl Closed {
    /// Whether a context closed where the runner's own account of it stands.
    pub(crate) fn agrees(
        &self,
        worldline: &TypedDigest,
        basis: &Basis,
        decided: u64,
        last_receipt: Option<&TypedDigest>,
    ) -> bool {
        self.worldline == *worldline
            && self.basis == basis.to_value()
            && self.decided == decided
            && self.last_receipt.as_ref() == last_receipt
    }
}

pub(crate) fn uninstalled(body: &Value) -> Result<(), BadReply> {
    closed(body, &[])
}

/// Contexts that a `bye` says were closed by the shutdown.
pub(crate) fn bye(body: &Value) -> Result<u64, BadReply> {
    closed(body, &["contexts"])?;
    unsigned(body, "contexts")
}

fn closed(body: &Value, keys: &[&str]) -> Result<(), BadReply> {
    let entries = body
        .as_map()
        .ok_or_else(|| BadReply("not a map".to_owned()))?;
    let known = entries
        .iter()
        .all(|(key, _)| key.as_text().is_some_and(|name| keys.contains(&name)));
    // Keys are unique, so equal counts of known keys mean that none is missing.
    if known && entries.len() == keys.len() {
        Ok(())
    } else {
        Err(BadReply(format!("its keys are not exactly {keys:?}")))
    }
}

fn member<'a>(body: &'a Value, key: &str) -> Result<&'a Value, BadReply> {
    body.get(key)
        .ok_or_else(|| BadReply(format!("`{key}` is missing")))
}

fn text<'a>(body: &'a Value, key: &str) -> Result<&'a str, BadReply> {
    member(body, key)?
        .as_text()
        .ok_or_else(|| BadReply(format!("`{key}` is no text")))
}

fn bounded(body: &Value, key: &str, max: usize) -> Result<String, BadReply> {
    let text = text(body, key)?;
    if text.len() <= max {
        Ok(text.to_owned())
    } else {
        Err(BadReply(format!("`{key}` is longer than {max} bytes")))
    }
}

fn unsigned(body: &Value, key: &str) -> Result<u64, BadReply> {
    member(body, key)?
        .as_u64()
        .ok_or_else(|| BadReply(format!("`{key}` is no unsigned integer")))
}

fn digest(body: &Value, key: &str) -> Result<TypedDigest, BadReply> {
    TypedDigest::from_value(member(body, key)?)
        .ok_or_else(|| BadReply(format!("`{key}` is no typed digest")))
}

fn bytes(body: &Value, key: &str) -> Result<Body, BadReply> {
    member(body, key)?
        .as_bytes()
        .map(|bytes| Body::new(bytes.to_vec()))
        .ok_or_else(|| BadReply(format!("`{key}` is no byte string")))
}

fn optional_bytes(body: &Value, key: &str) -> Result<Option<Body>, BadReply> {
    if member(body, key)?.is_null() {
        Ok(None)
    } else {
        bytes(body, key).map(Some)
    }
}
