// SPDX-License-Identifier: Apache-2.0
//! The identities of the host contract, recomputed by the runner.

use super::invocation::Basis;
use crate::package::{ProgramPackage, fields::Malformed};
use crate::run::StorageKind;
use edict_codec::cbor::{Encoder, Value, encode};
use edict_codec::digest::{DeriveHasher, TypedDigest, derive, derive_typed};

/// Context of installations.
pub(crate) const INSTALLATION: &str = "echo/installation/v1";
/// Context of worldlines.
pub(crate) const WORLDLINE: &str = "echo/worldline/v1";
/// Context of receipts.
pub(crate) const RECEIPT: &str = "echo/receipt/v1";
/// Context of the body of an `invoke` frame.
pub(crate) const REQUEST: &str = "echo/invocation/v1";
/// Context of inputs.
pub(crate) const INPUT: &str = "echo/input/v1";
/// Context of results and payloads.
pub(crate) const BODY: &str = "echo/body/v1";
/// Context of state roots.
pub(crate) const STATE_ROOT: &str = "echo/state-root/v1";
/// Context of host builds.
pub(crate) const HOST_BUILD: &str = "echo/host-build/v1";
/// Context of log records.
pub(crate) const WAL_RECORD: &str = "echo/wal-record/v1";
/// Context of footprint bodies.
pub(crate) const FOOTPRINT: &str = "echo/footprint/v1";
/// Context of declared footprints.
pub(crate) const DECLARED_FOOTPRINT: &str = "echo/footprint-declared/v1";
/// Context of patch bodies.
pub(crate) const PATCH: &str = "echo/patch/v1";
/// Context of the value of a basis expression.
pub(crate) const BASIS_VALUE: &str = "echo/basis-value/v1";

/// The worldline that a nonce, a subject and a storage kind name.
pub fn worldline(nonce: &[u8; 32], subject: &TypedDigest, storage: StorageKind) -> TypedDigest {
    let preimage = Value::text_map([
        ("nonce", Value::bytes(nonce.to_vec())),
        ("subject", subject.to_value()),
        ("storage", Value::text(storage.name())),
        ("genesis", Basis::genesis().state_root.to_value()),
    ]);
    derive_typed(WORLDLINE, &encode(&preimage))
}

/// The installation of a package with a report under the policy of P15.
pub fn installation(package: &ProgramPackage, report: &TypedDigest) -> TypedDigest {
    let preimage = Value::text_map([
        ("package", package.digest.to_value()),
        ("report", report.to_value()),
        ("policy", policy(package)),
        ("interpreter", Value::text(package.interpreter.as_str())),
        ("costLaw", Value::text(package.cost_law.as_str())),
    ]);
    derive_typed(INSTALLATION, &encode(&preimage))
}

/// The install policy of P15.
pub(crate) fn policy(package: &ProgramPackage) -> Value {
    Value::text_map([
        ("operation", Value::text(package.operation.as_str())),
        ("authority", Value::text(package.kind.authority())),
        ("maxBudget", package.budget.to_value()),
    ])
}

/// The digest of input bytes.
pub fn input_digest(input: &[u8]) -> TypedDigest {
    derive_typed(INPUT, input)
}

/// The digest of a result or payload.
pub fn body_digest(body: &[u8]) -> TypedDigest {
    derive_typed(BODY, body)
}

/// The digest of the body of an `invoke` frame.
pub fn request_digest(request: &[u8]) -> TypedDigest {
    derive_typed(REQUEST, request)
}

/// The digest of receipt bytes.
pub fn receipt_digest(receipt: &[u8]) -> TypedDigest {
    derive_typed(RECEIPT, receipt)
}

/// The atom at `key` in `space`.
pub fn atom(space: &str, key: &[u8]) -> [u8; 32] {
    let mut preimage = Encoder::new();
    preimage.array(2);
    preimage.text(space);
    preimage.bytes(key);
    derive("echo/atom/v1", &preimage.into_bytes())
}

/// The version of `atom` with `value`.
pub fn atom_version(atom: &[u8; 32], value: &[u8]) -> [u8; 32] {
    let mut hasher = DeriveHasher::new("echo/atom-version/v1");
    hasher.update(atom);
    hasher.update(value);
    hasher.finish()
}

/// The invocation id of the operation at `position` in the context `nonce`. A nonce is fresh, so
/// no id is ever used twice.
pub fn invocation_id(nonce: &[u8; 32], position: u64) -> [u8; 32] {
    let mut hasher = DeriveHasher::new("edict.test/invocation-id/v1");
    hasher.update(nonce);
    hasher.update(&position.to_be_bytes());
    hasher.finish()
}

/// Decodes one canonical item within the node bound of messages.
pub(crate) fn decode_body(bytes: &[u8]) -> Result<Value, Malformed> {
    let limits = edict_codec::cbor::DecodeLimits {
        nodes: 65_536,
        ..Default::default()
    };
    edict_codec::cbor::decode_with(bytes, limits)
        .map_err(|error| Malformed::new("", format!("not canonical: {error}")))
}
