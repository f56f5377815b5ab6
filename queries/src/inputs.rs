// SPDX-License-Identifier: Apache-2.0
//! The inputs of the graph and how durable each is.

use edict_codec::digest::TypedDigest;
use edict_test_model::{
    ContextNonce, Limits, Locator,
    plan::{CasePlan, HostPins},
    suite::{ApplicationDocument, Shape, SuiteDocument},
};
use std::{collections::BTreeMap, sync::Arc};

/// One declared file: its bytes as read once. Digest and bytes are set together.
#[salsa::input(debug)]
pub(crate) struct FileSnapshot {
    /// Where it is; never changes.
    #[returns(ref)]
    pub(crate) locator: Locator,
    /// Blob digest of the bytes; low durability.
    #[returns(ref)]
    pub(crate) digest: TypedDigest,
    /// The bytes.
    #[returns(ref)]
    pub(crate) bytes: Arc<[u8]>,
}

/// The suite: its documents and which files exist, not their bytes. Medium durability.
#[salsa::input(debug, singleton)]
pub(crate) struct Suite {
    /// The manifest.
    #[returns(ref)]
    pub(crate) document: Arc<SuiteDocument>,
    /// Its effective limits, apart from it: a new label must not touch what only reads limits.
    #[returns(copy)]
    pub(crate) limits: Limits,
    /// Application documents by locator.
    #[returns(ref)]
    pub(crate) applications: Arc<BTreeMap<Locator, Arc<ApplicationDocument>>>,
    /// Every declared file by locator.
    #[returns(ref)]
    pub(crate) files: Arc<BTreeMap<Locator, FileSnapshot>>,
}

/// Pins that decide a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BuildRoles {
    pub(crate) shape: Shape,
    pub(crate) compiler: TypedDigest,
    pub(crate) lowerer: TypedDigest,
    pub(crate) provider_package: Option<TypedDigest>,
    pub(crate) target_profile: TypedDigest,
    pub(crate) interpreter_profile: TypedDigest,
    pub(crate) codec_abi: TypedDigest,
}

/// Pins that decide a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VerifyRoles {
    pub(crate) verifier: TypedDigest,
    pub(crate) verification_report_abi: TypedDigest,
    pub(crate) codec_abi: TypedDigest,
}

/// The toolchain, one field per consumer: a new host rebuilds nothing. High durability.
#[salsa::input(debug, singleton)]
pub(crate) struct Toolchain {
    #[returns(ref)]
    pub(crate) build_roles: BuildRoles,
    #[returns(ref)]
    pub(crate) verify_roles: VerifyRoles,
    #[returns(ref)]
    pub(crate) host_roles: HostPins,
}

/// One execution of one case. Both fields never change: an execution can be neither re-run nor
/// reused, because nothing it depends on can turn stale.
#[salsa::input(debug)]
pub(crate) struct Attempt {
    #[returns(ref)]
    pub(crate) plan: Arc<CasePlan>,
    #[returns(copy)]
    pub(crate) context: ContextNonce,
}
