// SPDX-License-Identifier: Apache-2.0
//! The reply to `hello`: which host answered, and the build identity it must state.

use super::identity::{HOST_BUILD, decode_body};
use crate::package::fields::{Field, Malformed};
use edict_codec::cbor::{Value, encode};
use edict_codec::digest::{TypedDigest, derive_typed};
use std::collections::BTreeMap;

/// Why a `hello` reply is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HelloError {
    /// Not the map of its table.
    #[error("malformed hello reply at {0}")]
    Malformed(#[from] Malformed),
    /// The stated build is not that of the reply.
    #[error("the host states build {stated}, its reply is that of {actual}")]
    Build {
        /// As stated.
        stated: TypedDigest,
        /// Recomputed from the reply.
        actual: TypedDigest,
    },
}

/// A decoded `hello` reply (`docs/host.md` 2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostHello {
    /// The transport protocol.
    pub protocol: String,
    /// The version text of the host.
    pub version: String,
    /// `dig(echo/host-build/v1)`, recomputed.
    pub build: TypedDigest,
    /// Supported program profiles, ascending.
    pub profiles: Vec<String>,
    /// Supported evidence versions, ascending.
    pub evidence: Vec<String>,
    /// Coordinate of the interpreter.
    pub interpreter: String,
    /// Identity of the interpreter.
    pub interpreter_identity: TypedDigest,
    /// Coordinate of the cost law.
    pub cost_law: String,
    /// Coordinate of the codec.
    pub codec: String,
    /// Coordinate of the log format.
    pub wal: String,
    /// Supported intrinsics, ascending.
    pub intrinsics: Vec<String>,
    /// Limits by name.
    pub limits: BTreeMap<String, u64>,
    /// Workers of this process.
    pub workers: u64,
    /// Whether this process has a state root.
    pub state_root: bool,
    /// Whether this build can be told to fail.
    pub fault_points: bool,
}

const KEYS: [&str; 14] = [
    "protocol",
    "version",
    "build",
    "profiles",
    "evidence",
    "interpreter",
    "costLaw",
    "codec",
    "wal",
    "intrinsics",
    "limits",
    "workers",
    "stateRoot",
    "faultPoints",
];

/// Members of the reply that are no part of the build.
const NOT_BUILD: [&str; 3] = ["build", "workers", "stateRoot"];

/// Greatest length of the version text in bytes.
const MAX_VERSION_BYTES: usize = 64;

impl HostHello {
    /// Decodes the body of the reply and recomputes the build.
    ///
    /// # Errors
    /// `Malformed` at the first breach, or `Build`.
    pub fn decode(bytes: &[u8]) -> Result<Self, HelloError> {
        let value = decode_body(bytes)?;
        let hello = decode(&Field::root(&value))?;
        let preimage = value
            .as_map()
            .unwrap_or_default()
            .iter()
            .filter(|(key, _)| !key.as_text().is_some_and(|name| NOT_BUILD.contains(&name)))
            .cloned()
            .collect();
        let actual = derive_typed(HOST_BUILD, &encode(&Value::Map(preimage)));
        if hello.build == actual {
            Ok(hello)
        } else {
            Err(HelloError::Build {
                stated: hello.build,
                actual,
            })
        }
    }
}

fn decode(root: &Field<'_>) -> Result<HostHello, Malformed> {
    root.closed(&KEYS)?;
    let version = root.get("version")?;
    if version.text()?.len() > MAX_VERSION_BYTES {
        return Err(version.fail("longer than 64 bytes"));
    }
    let interpreter = root.get("interpreter")?;
    interpreter.closed(&["coordinate", "identity"])?;
    Ok(HostHello {
        protocol: root.get("protocol")?.text()?.to_owned(),
        version: version.text()?.to_owned(),
        build: root.get("build")?.blake3(HOST_BUILD)?,
        profiles: coordinates(&root.get("profiles")?)?,
        evidence: coordinates(&root.get("evidence")?)?,
        interpreter: interpreter.get("coordinate")?.coordinate()?,
        interpreter_identity: interpreter
            .get("identity")?
            .blake3("echo/interpreter-profile/v1")?,
        cost_law: root.get("costLaw")?.coordinate()?,
        codec: root.get("codec")?.coordinate()?,
        wal: root.get("wal")?.coordinate()?,
        intrinsics: coordinates(&root.get("intrinsics")?)?,
        limits: root
            .get("limits")?
            .entries()?
            .into_iter()
            .map(|(name, limit)| Ok((name.to_owned(), limit.unsigned()?)))
            .collect::<Result<_, Malformed>>()?,
        workers: root.get("workers")?.unsigned()?,
        state_root: root.get("stateRoot")?.bool()?,
        fault_points: root.get("faultPoints")?.bool()?,
    })
}

fn coordinates(field: &Field<'_>) -> Result<Vec<String>, Malformed> {
    let texts = field
        .items()?
        .iter()
        .map(Field::coordinate)
        .collect::<Result<Vec<_>, _>>()?;
    field.ascending(&texts, Clone::clone)?;
    Ok(texts)
}
