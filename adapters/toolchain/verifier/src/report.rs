// SPDX-License-Identifier: Apache-2.0
//! `edict.verification-report/v1`: what was found, what was checked, and what was not.

use crate::decode::reader::Defect;
use edict_codec::cbor::{Value, encode};
use edict_codec::digest::{TypedDigest, frame_typed};

/// The digest domain of a report.
pub const DOMAIN: &str = "edict.verification-report/v1";
/// What verification of artifacts never shows.
const NEVER_CHECKED: &str = "source-text";
/// Every check, in the order of judgement.
pub(crate) const CHECKS: [&str; 8] = [
    "core-binding",
    "closure",
    "core",
    "target-profile",
    "target-ir",
    "projection",
    "package",
    "source-digest",
];
const MAX_MESSAGE_BYTES: usize = 1_024;

/// Which artifact disagrees; the names of the runner's stage `verify`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Core is not well-typed, or not the Core of the other artifacts.
    CoreMismatch,
    /// Source or lawpacks are not those of the program.
    ClosureMismatch,
    /// The artifacts are made for another target profile.
    ProfileMismatch,
    /// Target IR is not the translation of Core.
    TargetIrMismatch,
    /// The projection does not rebuild the result of Core.
    ProjectionMismatch,
    /// A member of the package does not follow from the rest.
    PackageMismatch,
}

impl Kind {
    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::CoreMismatch => "CoreMismatch",
            Self::ClosureMismatch => "ClosureMismatch",
            Self::ProfileMismatch => "ProfileMismatch",
            Self::TargetIrMismatch => "TargetIrMismatch",
            Self::ProjectionMismatch => "ProjectionMismatch",
            Self::PackageMismatch => "PackageMismatch",
        }
    }
}

/// The first disagreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The artifact that owns it.
    pub kind: Kind,
    /// Where in that artifact, as a JSON Pointer; in the request for a closure.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl Rejection {
    pub(crate) fn new(kind: Kind, defect: &Defect) -> Self {
        let message = defect.message();
        let mut end = message.len().min(MAX_MESSAGE_BYTES);
        while !message.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        Self {
            kind,
            path: defect.path(),
            message: message.get(..end).unwrap_or_default().to_owned(),
        }
    }
}

/// A judged subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// `None` when everything agrees.
    pub rejection: Option<Rejection>,
    /// The canonical report.
    pub bytes: Vec<u8>,
}

impl Report {
    /// The typed digest of the report.
    pub fn digest(&self) -> TypedDigest {
        frame_typed(DOMAIN, &self.bytes)
    }
}

/// What a report names.
#[derive(Debug)]
pub(crate) struct Subject {
    /// `operation`, `budget` and `staticBound` of a package.
    pub(crate) statement: [Value; 3],
    pub(crate) package: TypedDigest,
    pub(crate) source: TypedDigest,
    pub(crate) core: TypedDigest,
    pub(crate) target_ir: TypedDigest,
    pub(crate) projection: TypedDigest,
    pub(crate) target_profile: TypedDigest,
    pub(crate) lawpacks: Vec<Value>,
}

/// Writes a report; the first `passed` checks held.
pub(crate) fn write(subject: Subject, passed: usize, rejection: Option<Rejection>) -> Report {
    let ascending = |texts: &[&str]| {
        let mut texts = texts.to_vec();
        texts.sort_unstable();
        Value::Array(texts.into_iter().map(Value::text).collect())
    };
    let checked: Vec<&str> = CHECKS.iter().copied().take(passed).collect();
    let mut unchecked: Vec<&str> = CHECKS.iter().copied().skip(passed).collect();
    unchecked.push(NEVER_CHECKED);
    let outcome = if rejection.is_none() {
        "accepted"
    } else {
        "rejected"
    };
    let diagnostics = rejection.iter().map(|rejection| {
        Value::text_map([
            ("code", Value::text(rejection.kind.name())),
            ("message", Value::text(&*rejection.message)),
            ("path", Value::text(&*rejection.path)),
        ])
    });
    let [operation, budget, static_bound] = subject.statement;
    let report = Value::text_map([
        ("apiVersion", Value::text(DOMAIN)),
        ("outcome", Value::text(outcome)),
        (
            "verifier",
            Value::text_map([
                ("name", Value::text("edict-verifier")),
                ("version", Value::text(env!("CARGO_PKG_VERSION"))),
            ]),
        ),
        ("operation", operation),
        ("package", subject.package.to_value()),
        ("source", subject.source.to_value()),
        ("core", subject.core.to_value()),
        ("targetIr", subject.target_ir.to_value()),
        ("projection", subject.projection.to_value()),
        ("targetProfile", subject.target_profile.to_value()),
        ("lawpacks", Value::Array(subject.lawpacks)),
        ("budget", budget),
        ("staticBound", static_bound),
        ("checked", ascending(&checked)),
        ("notChecked", ascending(&unchecked)),
        ("diagnostics", Value::Array(diagnostics.collect())),
    ]);
    Report {
        rejection,
        bytes: encode(&report),
    }
}
