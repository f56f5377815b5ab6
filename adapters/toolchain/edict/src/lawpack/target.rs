// SPDX-License-Identifier: Apache-2.0
//! The bundled target: its profile, its Target IR and its four intrinsics on atoms.

use edict_codec::{
    cbor::{Value, encode},
    digest::frame,
};

/// Coordinate of the target profile.
pub const PROFILE: &str = "echo.dpo@1";
/// Digest domain of target profiles.
pub const PROFILE_DOMAIN: &str = "edict.target-profile/v1";
/// Coordinate and digest domain of the Target IR.
pub const TARGET_IR: &str = "echo.atoms-ir/v1";
/// Coordinate of the cost law.
pub const COST_LAW: &str = "echo.cost/v1";
/// Coordinate of the interpreter that packages name.
pub const INTERPRETER: &str = "echo.interpreter/v1";
/// Coordinate of the codec.
pub const CODEC: &str = "edict.canonical-cbor/v1";
/// Coordinate of the Core that adapters accept.
pub const CORE_ABI: &str = "edict.core/v1";
/// Coordinate of configurations of the bundled profile.
pub const CONFIGURATION: &str = "echo.atoms.configuration/v1";

/// Target failures that may be mapped for every intrinsic but never occur here.
const NEVER: [&str; 2] = ["echo.atom-required/v1", "echo.atom-byte-bound-exceeded/v1"];

/// An intrinsic of the bundled profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intrinsic {
    /// Reads an atom.
    Read,
    /// Creates an atom that does not exist.
    Create,
    /// Replaces an atom of a known version.
    Replace,
    /// Deletes an atom of a known version.
    Delete,
}

impl Intrinsic {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Read, Self::Create, Self::Replace, Self::Delete];

    /// The write class, also the last word of the coordinate.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Delete => "delete",
        }
    }

    /// The full coordinate.
    pub fn coordinate(self) -> String {
        format!("{PROFILE}.atom.{}", self.class())
    }

    /// The intrinsic of a coordinate.
    pub fn find(coordinate: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|intrinsic| intrinsic.coordinate() == coordinate)
    }

    /// Whether the effect input has a value.
    pub const fn takes_value(self) -> bool {
        matches!(self, Self::Create | Self::Replace)
    }

    /// Whether the effect input has an expected version.
    pub const fn takes_expected(self) -> bool {
        matches!(self, Self::Replace | Self::Delete)
    }

    /// Whether the result has a value.
    pub const fn gives_value(self) -> bool {
        !matches!(self, Self::Delete)
    }

    /// For a target failure that may be mapped: whether its payload may be the version.
    pub fn failure(self, target: &str) -> Option<bool> {
        let own: &[(&str, bool)] = match self {
            Self::Read => &[
                ("echo.atom-missing/v1", false),
                ("echo.atom-type-mismatch/v1", true),
            ],
            Self::Create => &[("echo.atom-exists/v1", true)],
            Self::Replace | Self::Delete => &[
                ("echo.atom-missing/v1", false),
                ("echo.atom-version-mismatch/v1", true),
            ],
        };
        own.iter()
            .find(|(name, _)| *name == target)
            .map(|(_, version)| *version)
            .or_else(|| NEVER.contains(&target).then_some(false))
    }
}

/// The target profile artifact.
pub fn profile() -> Value {
    let text = |text: &str| Value::text(text);
    let intrinsics = Intrinsic::ALL.map(|it| (it.coordinate(), text(it.class())));
    let failures = [
        ("missing", text("echo.atom-missing/v1")),
        ("malformed", text("echo.atom-type-mismatch/v1")),
        ("exists", text("echo.atom-exists/v1")),
        ("conflict", text("echo.atom-version-mismatch/v1")),
    ];
    let obstructions = vec![
        text("echo.obstruction.budget-exhausted/v1"),
        text("echo.obstruction.input-constraint/v1"),
    ];
    Value::text_map([
        ("apiVersion", text("edict.reference-target-profile/v1")),
        ("id", text(PROFILE)),
        ("coreAbi", Value::Array(vec![text(CORE_ABI)])),
        ("targetIr", text(TARGET_IR)),
        ("costLaw", text(COST_LAW)),
        ("intrinsics", Value::text_map(intrinsics)),
        ("failures", Value::text_map(failures)),
        ("obstructions", Value::Array(obstructions)),
    ])
}

/// Digest of [`profile`].
pub fn profile_digest() -> [u8; 32] {
    frame(PROFILE_DOMAIN, &encode(&profile()))
}

/// Digest of the reference to the Target IR.
pub fn target_ir_digest() -> [u8; 32] {
    let reference = Value::text_map([
        ("apiVersion", Value::text(TARGET_IR)),
        ("core", Value::text(CORE_ABI)),
        ("order", Value::text("source")),
    ]);
    frame(TARGET_IR, &encode(&reference))
}
