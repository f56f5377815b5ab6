// SPDX-License-Identifier: Apache-2.0
//! The execution record: what one invocation did, equal wherever it ran (`docs/evidence.md` 6.1).

use super::OutcomeKind;
use super::identity::{
    BASIS_VALUE, BODY, DECLARED_FOOTPRINT, FOOTPRINT, INPUT, INSTALLATION, PATCH, decode_body,
};
use super::invocation::Basis;
use crate::package::fields::{Field, Malformed};
use crate::package::upstream::{OPERATION_PACKAGE_SCHEMA, OPERATION_REPORT_SCHEMA};
use crate::package::{Counters, ExecutionBudget, PACKAGE_SCHEMA, ProgramKind, REPORT_SCHEMA};
use edict_codec::cbor::Value;
use edict_codec::digest::{TypedDigest, derive_typed};

/// Why bytes are no evidence of a known version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// Not canonical, or not the map of its table.
    #[error("malformed at {0}")]
    Malformed(#[from] Malformed),
    /// The `abi` is none that the runner knows.
    #[error("evidence version `{0}` is not supported")]
    UnknownAbi(String),
}

/// A decoded execution record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionRecord {
    /// The semantic digest: of the record bytes, in the domain of its `abi`.
    pub semantic: TypedDigest,
    /// Pure or effectful, by its `abi`.
    pub kind: ProgramKind,
    /// The installation that ran.
    pub installation: TypedDigest,
    /// Its package.
    pub package: TypedDigest,
    /// Its report.
    pub report: TypedDigest,
    /// Its operation.
    pub operation: String,
    /// Coordinate of the interpreter.
    pub interpreter: String,
    /// Coordinate of the cost law.
    pub cost_law: String,
    /// Digest of the input.
    pub input: TypedDigest,
    /// Digest of the value of the basis expression.
    pub basis: Option<TypedDigest>,
    /// The effective budget.
    pub budget: ExecutionBudget,
    /// What was consumed.
    pub consumed: Counters,
    /// Digest of the result or payload.
    pub body: TypedDigest,
    /// Its length in bytes.
    pub length: u64,
    /// The obstruction, unless a value was returned.
    pub obstruction: Option<RecordObstruction>,
    /// What an effectful record says of atoms.
    pub effects: Option<RecordEffects>,
}

/// The obstruction a record names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordObstruction {
    /// Who raised it.
    pub origin: ObstructionOrigin,
    /// Its coordinate.
    pub coordinate: String,
}

/// Who raised an obstruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObstructionOrigin {
    /// The program.
    Authored,
    /// A false `where`.
    Constraint,
    /// An exhausted budget.
    Budget,
}

/// The members that only an effectful record has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordEffects {
    /// Basis before.
    pub before: Basis,
    /// Basis after.
    pub after: Basis,
    /// `posture` is `settled`.
    pub settled: bool,
    /// Digest of the declared footprint.
    pub declared_footprint: TypedDigest,
    /// Digest of the footprint body.
    pub footprint: TypedDigest,
    /// Digest of the patch body.
    pub patch: Option<TypedDigest>,
}

const PURE_ABI: &str = "echo.pure-execution/v1";
const EFFECTFUL_ABI: &str = "echo.effectful-execution/v1";
const ANCHORED_ABI: &str = "echo.anchored-execution/v1";

const PURE_KEYS: [&str; 12] = [
    "abi",
    "installation",
    "package",
    "report",
    "operation",
    "interpreter",
    "costLaw",
    "input",
    "basis",
    "budget",
    "consumed",
    "outcome",
];

const EFFECT_KEYS: [&str; 6] = [
    "before",
    "after",
    "posture",
    "declaredFootprint",
    "footprint",
    "patch",
];

impl ExecutionRecord {
    /// Decodes record bytes.
    ///
    /// # Errors
    /// `UnknownAbi` before anything else but the canonical form; `Malformed` at the first breach.
    pub fn decode(bytes: &[u8]) -> Result<Self, EvidenceError> {
        let value = decode_body(bytes)?;
        let root = Field::root(&value);
        let kind = match root.get("abi")?.text()? {
            PURE_ABI => ProgramKind::Pure,
            EFFECTFUL_ABI => ProgramKind::Effectful,
            ANCHORED_ABI => ProgramKind::Anchored,
            other => return Err(EvidenceError::UnknownAbi(shortened(other))),
        };
        Ok(Self::decode_known(&root, kind, bytes)?)
    }

    fn decode_known(root: &Field<'_>, kind: ProgramKind, bytes: &[u8]) -> Result<Self, Malformed> {
        let (domain, effects) = match kind {
            ProgramKind::Pure => {
                root.closed(&PURE_KEYS)?;
                ("echo/pure-execution/v1", None)
            }
            ProgramKind::Effectful | ProgramKind::Anchored => {
                root.closed(&[PURE_KEYS.as_slice(), EFFECT_KEYS.as_slice()].concat())?;
                let domain = match kind {
                    ProgramKind::Anchored => "echo/anchored-execution/v1",
                    _ => "echo/effectful-execution/v1",
                };
                (domain, Some(effects(root)?))
            }
        };
        let outcome = root.get("outcome")?;
        let (package, report) = match kind {
            ProgramKind::Anchored => (OPERATION_PACKAGE_SCHEMA, OPERATION_REPORT_SCHEMA),
            _ => (PACKAGE_SCHEMA, REPORT_SCHEMA),
        };
        let (budget, consumed) = (root.get("budget")?, root.get("consumed")?);
        let (budget, consumed) = match kind {
            ProgramKind::Anchored => (
                ExecutionBudget::decode_anchored(&budget)?,
                Counters::decode_anchored(&consumed)?,
            ),
            _ => (
                ExecutionBudget::decode(&budget)?,
                Counters::decode(&consumed)?,
            ),
        };
        Ok(Self {
            semantic: derive_typed(domain, bytes),
            kind,
            installation: root.get("installation")?.blake3(INSTALLATION)?,
            package: root.get("package")?.sha256(package)?,
            report: root.get("report")?.sha256(report)?,
            operation: root.get("operation")?.coordinate()?,
            interpreter: root.get("interpreter")?.coordinate()?,
            cost_law: root.get("costLaw")?.coordinate()?,
            input: root.get("input")?.blake3(INPUT)?,
            basis: optional_digest(&root.get("basis")?, BASIS_VALUE)?,
            budget,
            consumed,
            obstruction: obstruction(&outcome)?,
            body: outcome.get("body")?.blake3(BODY)?,
            length: outcome.get("length")?.unsigned()?,
            effects,
        })
    }

    /// Result or obstruction.
    pub fn outcome_kind(&self) -> OutcomeKind {
        match self.obstruction {
            None => OutcomeKind::Result,
            Some(_) => OutcomeKind::Obstruction,
        }
    }
}

/// Reads `outcome` as far as it tells result from obstruction, and its exact keys.
fn obstruction(outcome: &Field<'_>) -> Result<Option<RecordObstruction>, Malformed> {
    let kind = outcome.get("kind")?;
    match OutcomeKind::from_name(kind.text()?) {
        Some(OutcomeKind::Result) => {
            outcome.closed(&["kind", "body", "length"])?;
            Ok(None)
        }
        Some(OutcomeKind::Obstruction) => {
            outcome.closed(&["kind", "origin", "coordinate", "body", "length"])?;
            let origin = outcome.get("origin")?;
            Ok(Some(RecordObstruction {
                origin: match origin.text()? {
                    "authored" => ObstructionOrigin::Authored,
                    "constraint" => ObstructionOrigin::Constraint,
                    "budget" => ObstructionOrigin::Budget,
                    _ => return Err(origin.fail("no origin of an obstruction")),
                },
                coordinate: outcome.get("coordinate")?.coordinate()?,
            }))
        }
        None => Err(kind.fail("neither `result` nor `obstruction`")),
    }
}

fn effects(root: &Field<'_>) -> Result<RecordEffects, Malformed> {
    let posture = root.get("posture")?;
    Ok(RecordEffects {
        before: Basis::decode(&root.get("before")?)?,
        after: Basis::decode(&root.get("after")?)?,
        settled: match posture.text()? {
            "settled" => true,
            "unchanged" => false,
            _ => return Err(posture.fail("neither `settled` nor `unchanged`")),
        },
        declared_footprint: root.get("declaredFootprint")?.blake3(DECLARED_FOOTPRINT)?,
        footprint: root.get("footprint")?.blake3(FOOTPRINT)?,
        patch: optional_digest(&root.get("patch")?, PATCH)?,
    })
}

fn optional_digest(field: &Field<'_>, domain: &str) -> Result<Option<TypedDigest>, Malformed> {
    match field.value() {
        Value::Null => Ok(None),
        _ => field.blake3(domain).map(Some),
    }
}

/// At most 64 scalar values of a text that came from outside.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(64).collect()
}
