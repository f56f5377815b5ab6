// SPDX-License-Identifier: Apache-2.0
//! Body bytes to `Request`: canonical form first, then fields, types, bounds and order.

use super::{
    fields::{self, Fields, malformed},
    frame::{RequestFrame, RequestType},
    request::{
        Basis, Hello, Install, Invoke, Mode, Observe, Open, Position, Recall, Request, Select,
        Storage,
    },
};
use crate::{
    context::identity::WORLDLINE,
    limits,
    pin::{Authority, Policy},
    receipt::INVOCATION,
    refusal::Refusal,
    state::accumulator::STATE_ROOT,
    wal::format::RECORD_DOMAIN,
};
use edict_codec::{
    cbor::{DecodeLimits, Value, decode_with},
    digest::{TypedDigest, derive_typed},
};
use std::collections::BTreeSet;

const INSTALLATION: &str = "echo/installation/v1";
const MAX_GRANTS: usize = 256;
const MAX_OBSERVED: u64 = 1_024;
const MAX_OBSERVED_BYTES: u64 = 8_388_608;

/// Decodes the body of `frame`.
///
/// # Errors
/// `malformed-body`, without path for a codec error.
pub fn decode(frame: &RequestFrame) -> Result<Request, Refusal> {
    let allowed = DecodeLimits {
        depth: usize::try_from(limits::MAX_CBOR_DEPTH).unwrap_or(usize::MAX),
        nodes: usize::try_from(limits::MAX_CBOR_NODES).unwrap_or(usize::MAX),
    };
    let value = decode_with(&frame.body, allowed)
        .map_err(|error| Refusal::new("malformed-body", error.to_string()))?;
    match frame.request_type {
        RequestType::Hello => hello(value),
        RequestType::Install => install(value),
        RequestType::Uninstall => Fields::open(value, "", &["installation"])?
            .digest("installation", INSTALLATION)
            .map(Request::Uninstall),
        RequestType::OpenContext => open(value),
        RequestType::Invoke => invoke(value, &frame.body),
        RequestType::Recall => recall(value),
        RequestType::Observe => observe(value),
        RequestType::CloseContext => Fields::open(value, "", &["worldline"])?
            .digest("worldline", WORLDLINE)
            .map(Request::Close),
        RequestType::Shutdown => Fields::open(value, "", &[]).map(|_| Request::Shutdown),
    }
}

fn hello(value: Value) -> Result<Request, Refusal> {
    let keys = [
        "protocol",
        "client",
        "profiles",
        "evidence",
        "maxFrameBytes",
    ];
    let mut fields = Fields::open(value, "", &keys)?;
    let protocol = fields.text("protocol", usize::MAX)?;
    // `client` is diagnostic only and has no further use.
    fields.text("client", 256)?;
    Ok(Request::Hello(Hello {
        protocol,
        profiles: fields.coordinates("profiles", 16)?,
        evidence: fields.coordinates("evidence", 16)?,
        max_frame_bytes: fields.unsigned("maxFrameBytes", 4_096, limits::MAX_FRAME_BYTES)?,
    }))
}

fn install(value: Value) -> Result<Request, Refusal> {
    let keys = [
        "package",
        "packageDigest",
        "report",
        "reportDigest",
        "policy",
    ];
    let mut fields = Fields::open(value, "", &keys)?;
    let package = fields.bytes("package")?;
    let package_pin = fields.pin("packageDigest")?;
    let report = fields.bytes("report")?;
    let report_pin = fields.pin("reportDigest")?;
    let (policy, path) = fields.take("policy");
    let mut policy = Fields::open(policy, &path, &["operation", "authority", "maxBudget"])?;
    let operation = policy.coordinate("operation")?;
    let authority = match policy.choice("authority", &["pure", "atoms"])? {
        0 => Authority::Pure,
        _ => Authority::Atoms,
    };
    Ok(Request::Install(Box::new(Install {
        package,
        package_pin,
        report,
        report_pin,
        policy: Policy {
            operation,
            authority,
            max_budget: policy.budget("maxBudget")?,
        },
    })))
}

fn open(value: Value) -> Result<Request, Refusal> {
    let keys = ["nonce", "subject", "mode", "storage", "grants", "expect"];
    let mut fields = Fields::open(value, "", &keys)?;
    let nonce = fields.bytes_32("nonce")?;
    let subject = fields.any_digest("subject")?;
    let recover = fields.choice("mode", &["create", "recover"])? == 1;
    let (storage, path) = fields.take("storage");
    let storage = decode_storage(storage, &path)?;
    if recover && storage == Storage::Volatile {
        return Err(malformed(".mode", "a volatile context has no log"));
    }
    let (items, path) = fields.array("grants", MAX_GRANTS)?;
    let mut grants: Vec<TypedDigest> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let grant = fields::digest(item, &path, INSTALLATION)?;
        if grants
            .last()
            .is_some_and(|last| last.bytes() >= grant.bytes())
        {
            return Err(malformed(&path, "the grants do not ascend"));
        }
        grants.push(grant);
    }
    let expect = match fields.optional("expect") {
        Some((_, path)) if !recover => {
            return Err(malformed(&path, "nothing can be expected of a new context"));
        }
        Some((value, path)) => Some(position(value, &path)?),
        None => None,
    };
    Ok(Request::Open(Box::new(Open {
        nonce,
        subject,
        mode: if recover {
            Mode::Recover { expect }
        } else {
            Mode::Create
        },
        storage,
        grants,
    })))
}

fn decode_storage(value: Value, path: &str) -> Result<Storage, Refusal> {
    let mut fields = Fields::open(value, path, &["kind", "name"])?;
    let durable = fields.choice("kind", &["volatile", "durable"])? == 1;
    let (name, path) = fields.take("name");
    if !durable {
        return if name.is_null() {
            Ok(Storage::Volatile)
        } else {
            Err(malformed(&path, "a volatile context has no name"))
        };
    }
    let name = fields::text(name, &path, 64)?;
    let mut signs = name.bytes();
    let sound = signs
        .next()
        .is_some_and(|sign| sign.is_ascii_alphanumeric())
        && signs.all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, b'.' | b'_' | b'-'));
    if sound {
        Ok(Storage::Durable(name))
    } else {
        Err(malformed(
            &path,
            "a name is a letter or digit, then letters, digits, `.`, `_` and `-`",
        ))
    }
}

fn position(value: Value, path: &str) -> Result<Position, Refusal> {
    let mut fields = Fields::open(value, path, &["lastLsn", "commit"])?;
    Ok(Position {
        last_lsn: fields.unsigned("lastLsn", 0, u64::MAX)?,
        commit: fields.digest("commit", RECORD_DOMAIN)?,
    })
}

fn basis(value: Value, path: &str) -> Result<Basis, Refusal> {
    let mut fields = Fields::open(value, path, &["tick", "stateRoot"])?;
    Ok(Basis {
        tick: fields.unsigned("tick", 0, u64::MAX)?,
        state_root: fields.digest("stateRoot", STATE_ROOT)?,
    })
}

fn invoke(value: Value, body: &[u8]) -> Result<Request, Refusal> {
    let keys = [
        "worldline",
        "installation",
        "invocation",
        "basis",
        "input",
        "budget",
    ];
    let mut fields = Fields::open(value, "", &keys)?;
    let basis = match fields.optional("basis") {
        Some((value, path)) => Some(basis(value, &path)?),
        None => None,
    };
    let budget = match fields.optional("budget") {
        Some((value, path)) => Some(fields::budget(value, &path)?),
        None => None,
    };
    Ok(Request::Invoke(Box::new(Invoke {
        worldline: fields.digest("worldline", WORLDLINE)?,
        installation: fields.digest("installation", INSTALLATION)?,
        invocation: fields.bytes_32("invocation")?,
        basis,
        input: fields.bytes("input")?,
        budget,
        request: derive_typed(INVOCATION, body),
    })))
}

fn recall(value: Value) -> Result<Request, Refusal> {
    let mut fields = Fields::open(value, "", &["worldline", "invocation"])?;
    Ok(Request::Recall(Recall {
        worldline: fields.digest("worldline", WORLDLINE)?,
        invocation: fields.bytes_32("invocation")?,
    }))
}

fn observe(value: Value) -> Result<Request, Refusal> {
    let mut fields = Fields::open(value, "", &["worldline", "basis", "select", "maxBytes"])?;
    let worldline = fields.digest("worldline", WORLDLINE)?;
    let (value, path) = fields.take("basis");
    let basis = basis(value, &path)?;
    let (value, path) = fields.take("select");
    let select = decode_select(value, &path)?;
    Ok(Request::Observe(Box::new(Observe {
        worldline,
        basis,
        select,
        max_bytes: fields.unsigned("maxBytes", 1, MAX_OBSERVED_BYTES)?,
    })))
}

fn decode_select(value: Value, path: &str) -> Result<Select, Refusal> {
    match value.get("kind").and_then(Value::as_text) {
        Some("scan") => {
            let mut fields = Fields::open(value, path, &["kind", "space", "after", "limit"])?;
            let (space, space_path) = fields.take("space");
            let after = match fields.optional("after") {
                Some((value, path)) => Some(key(value, &path)?),
                None => None,
            };
            Ok(Select::Scan {
                space: decode_space(space, &space_path)?,
                after,
                limit: fields.unsigned("limit", 1, MAX_OBSERVED)?,
            })
        }
        Some("atoms") => {
            let mut fields = Fields::open(value, path, &["kind", "atoms"])?;
            let most = usize::try_from(MAX_OBSERVED).unwrap_or(usize::MAX);
            let (items, path) = fields.array("atoms", most)?;
            let mut seen = BTreeSet::new();
            let mut atoms = Vec::with_capacity(items.len());
            for (index, item) in items.into_iter().enumerate() {
                let path = format!("{path}[{index}]");
                let mut fields = Fields::open(item, &path, &["space", "key"])?;
                let (space, space_path) = fields.take("space");
                let (value, key_path) = fields.take("key");
                let pair = (decode_space(space, &space_path)?, key(value, &key_path)?);
                if !seen.insert(pair.clone()) {
                    return Err(malformed(&path, "the pair stands twice"));
                }
                atoms.push(pair);
            }
            Ok(Select::Atoms(atoms))
        }
        Some(_) => Err(malformed(&format!("{path}.kind"), "neither atoms nor scan")),
        None if value.as_map().is_none() => Err(malformed(path, "not a map")),
        None => Err(malformed(&format!("{path}.kind"), "no text under this key")),
    }
}

fn decode_space(value: Value, path: &str) -> Result<String, Refusal> {
    let most = usize::try_from(limits::MAX_SPACE_BYTES).unwrap_or(usize::MAX);
    let space = fields::text(value, path, most)?;
    if space.is_empty() {
        return Err(malformed(path, "an empty space"));
    }
    Ok(space)
}

fn key(value: Value, path: &str) -> Result<Vec<u8>, Refusal> {
    let key = fields::bytes(value, path)?;
    if limits::admits(limits::MAX_KEY_BYTES, key.len()) {
        Ok(key)
    } else {
        Err(malformed(
            path,
            format!("a key of more than {} bytes", limits::MAX_KEY_BYTES),
        ))
    }
}
