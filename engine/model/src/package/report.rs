// SPDX-License-Identifier: Apache-2.0
//! `edict.verification-report/v1`: what the independent verifier says about one package.

use super::fields::{Field, Malformed};
use super::program::ProgramPackage;
use super::{
    CORE_DOMAIN, Counters, ExecutionBudget, LAWPACK_DOMAIN, MAX_REPORT_BYTES, PACKAGE_SCHEMA,
    PROJECTION_DOMAIN, PackageError, REPORT_SCHEMA, SOURCE_DOMAIN, TARGET_IR_DOMAIN,
    TARGET_PROFILE_DOMAIN, decode_file,
};
use edict_codec::cbor::Value;
use edict_codec::digest::{Algorithm, TypedDigest, frame_typed};

/// Most diagnostics of one report.
const MAX_DIAGNOSTICS: usize = 64;

/// What a report binds of one lawpack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawpackDigests {
    /// `id@version`.
    pub coordinate: String,
    /// Digest of the manifest.
    pub manifest: TypedDigest,
    /// Digest of the exports.
    pub exports: TypedDigest,
}

/// One finding of the verifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportDiagnostic {
    /// Stable code.
    pub code: String,
    /// Prose.
    pub message: String,
    /// Where, in the artifact judged.
    pub path: Option<String>,
}

/// A decoded report. Being accepted is a claim of the verifier; the runner binds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationReport {
    /// Digest of the report file.
    pub digest: TypedDigest,
    /// `outcome` is `accepted`.
    pub accepted: bool,
    /// Name of the verifier as it states it.
    pub verifier_name: String,
    /// Version of the verifier as it states it.
    pub verifier_version: String,
    /// The operation judged.
    pub operation: String,
    /// The package judged.
    pub package: TypedDigest,
    /// The source that the package states.
    pub source: TypedDigest,
    /// Core.
    pub core: TypedDigest,
    /// Target IR.
    pub target_ir: TypedDigest,
    /// Result projection.
    pub projection: TypedDigest,
    /// Target profile.
    pub target_profile: TypedDigest,
    /// The closure in package order.
    pub lawpacks: Vec<LawpackDigests>,
    /// The declared budget.
    pub budget: ExecutionBudget,
    /// The bound re-derived.
    pub static_bound: Counters,
    /// What was judged, ascending.
    pub checked: Vec<String>,
    /// What was not judged, ascending.
    pub not_checked: Vec<String>,
    /// Findings; none when accepted.
    pub diagnostics: Vec<ReportDiagnostic>,
}

impl VerificationReport {
    /// Decodes the report file of `package`, in the schema that goes with it.
    ///
    /// # Errors
    /// The first breach of its form.
    pub fn of(package: &ProgramPackage, bytes: &[u8]) -> Result<Self, PackageError> {
        match &package.anchored {
            None => Self::decode(bytes),
            Some(_) => super::anchored::report(bytes, package),
        }
    }

    /// Decodes a report file of the bundled verifier.
    ///
    /// # Errors
    /// The first breach of `docs/host.md` 3.2.
    pub fn decode(bytes: &[u8]) -> Result<Self, PackageError> {
        let value = decode_file(bytes, MAX_REPORT_BYTES)?;
        if value.get("apiVersion").and_then(Value::as_text) != Some(REPORT_SCHEMA) {
            return Err(PackageError::UnsupportedSchema {
                expected: REPORT_SCHEMA,
            });
        }
        Ok(report(&Field::root(&value), bytes)?)
    }
}

const KEYS: [&str; 16] = [
    "apiVersion",
    "outcome",
    "verifier",
    "operation",
    "package",
    "source",
    "core",
    "targetIr",
    "projection",
    "targetProfile",
    "lawpacks",
    "budget",
    "staticBound",
    "checked",
    "notChecked",
    "diagnostics",
];

fn report(root: &Field<'_>, bytes: &[u8]) -> Result<VerificationReport, Malformed> {
    root.closed(&KEYS)?;
    let outcome = root.get("outcome")?;
    let accepted = match outcome.text()? {
        "accepted" => true,
        "rejected" => false,
        _ => return Err(outcome.fail("neither `accepted` nor `rejected`")),
    };
    let verifier = root.get("verifier")?;
    verifier.closed(&["name", "version"])?;
    let diagnostics = root.get("diagnostics")?;
    let not_checked = root.get("notChecked")?;
    let report = VerificationReport {
        digest: frame_typed(REPORT_SCHEMA, bytes),
        accepted,
        verifier_name: verifier.get("name")?.text()?.to_owned(),
        verifier_version: verifier.get("version")?.text()?.to_owned(),
        operation: root.get("operation")?.coordinate()?,
        package: root.get("package")?.sha256(PACKAGE_SCHEMA)?,
        source: root.get("source")?.sha256(SOURCE_DOMAIN)?,
        core: root.get("core")?.sha256(CORE_DOMAIN)?,
        target_ir: root.get("targetIr")?.sha256(TARGET_IR_DOMAIN)?,
        projection: root.get("projection")?.sha256(PROJECTION_DOMAIN)?,
        target_profile: root.get("targetProfile")?.sha256(TARGET_PROFILE_DOMAIN)?,
        lawpacks: lawpacks(&root.get("lawpacks")?)?,
        budget: ExecutionBudget::decode(&root.get("budget")?)?,
        static_bound: Counters::decode(&root.get("staticBound")?)?,
        checked: ascending_texts(&root.get("checked")?)?,
        not_checked: ascending_texts(&not_checked)?,
        diagnostics: self::diagnostics(&diagnostics)?,
    };
    if !report.not_checked.iter().any(|name| name == "source-text") {
        return Err(not_checked.fail("does not name `source-text`"));
    }
    if accepted && !report.diagnostics.is_empty() {
        return Err(diagnostics.fail("an accepted report has no diagnostics"));
    }
    Ok(report)
}

fn lawpacks(field: &Field<'_>) -> Result<Vec<LawpackDigests>, Malformed> {
    field
        .items()?
        .iter()
        .map(|row| {
            row.closed(&["coordinate", "manifest", "exports"])?;
            let exports = row.get("exports")?;
            let digest = exports.any_digest()?;
            if digest.algorithm() != Algorithm::Sha256 {
                return Err(exports.fail("not a sha256 digest"));
            }
            Ok(LawpackDigests {
                coordinate: row.get("coordinate")?.coordinate()?,
                manifest: row.get("manifest")?.sha256(LAWPACK_DOMAIN)?,
                exports: digest,
            })
        })
        .collect()
}

fn ascending_texts(field: &Field<'_>) -> Result<Vec<String>, Malformed> {
    let texts = field
        .items()?
        .iter()
        .map(|item| Ok(item.text()?.to_owned()))
        .collect::<Result<Vec<_>, Malformed>>()?;
    field.ascending(&texts, Clone::clone)?;
    Ok(texts)
}

fn diagnostics(field: &Field<'_>) -> Result<Vec<ReportDiagnostic>, Malformed> {
    let items = field.items()?;
    if items.len() > MAX_DIAGNOSTICS {
        return Err(field.fail(format!("more than {MAX_DIAGNOSTICS} diagnostics")));
    }
    items
        .iter()
        .map(|row| {
            row.closed(&["code", "message", "path"])?;
            Ok(ReportDiagnostic {
                code: row.get("code")?.text()?.to_owned(),
                message: row.get("message")?.text()?.to_owned(),
                path: match row.get("path")?.non_null() {
                    Some(path) => Some(path.text()?.to_owned()),
                    None => None,
                },
            })
        })
        .collect()
}
