// SPDX-License-Identifier: Apache-2.0
//! Admission: from package and report bytes to an installation, or the refusal of the first check
//! that fails (section 3.3).

pub mod anchored;
mod artifacts;
mod builtins;
mod calls;
mod effects;
mod envelope;
mod fields;
pub(crate) mod findings;
mod functions;
mod header;
mod installation;
mod orders;
mod program;
mod projection;
mod read;
mod report;
pub(crate) mod tree;
mod type_text;
pub(crate) mod types;

pub use installation::Installation;

use crate::{
    executable::{Facts, Kind},
    limits::{self, admits},
    pin::{Authority, Budget, Pin, Policy},
    refusal::Refusal,
};
use edict_codec::{
    cbor::Value,
    digest::{Algorithm, TypedDigest, derive_typed, frame_typed},
};
use envelope::{Envelope, domain};
use fields::Wrong;

/// The coordinate of the interpreter profile; it freezes sections 4 and 5 and the cost law.
pub const INTERPRETER: &str = "echo.interpreter/v1";

/// The coordinate of the cost law.
pub const COST_LAW: &str = "echo.cost/v1";

/// The coordinate of the canonical encoding.
pub const CODEC: &str = "edict.canonical-cbor/v1";

/// The bundled target profile `echo.dpo@1`, domain `edict.target-profile/v1`.
pub const TARGET_PROFILE: [u8; 32] = [
    0xde, 0xba, 0xce, 0x37, 0x89, 0x73, 0xd1, 0xcb, 0xe6, 0x6e, 0xba, 0xeb, 0xc1, 0xa3, 0x26, 0xb1,
    0xff, 0xfc, 0x17, 0xe0, 0xc2, 0x62, 0x8d, 0x42, 0xf2, 0xb8, 0xca, 0x50, 0x98, 0xda, 0x82, 0x1b,
];

/// Admits a package with its report under a client's policy: checks A1 to A15. The host totals of
/// A16 are for the caller.
///
/// # Errors
/// The refusal of the first check that fails, with the path of what is at fault.
pub fn admit(
    package: &[u8],
    package_pin: &Pin,
    report: &[u8],
    report_pin: &Pin,
    policy: &Policy,
) -> Result<Installation, Refusal> {
    let (package_digest, report_digest) = identify(
        (package, package_pin),
        (report, report_pin),
        [domain::PACKAGE, domain::REPORT],
    )?;
    let package_value = artifacts::decode(package)
        .map_err(|error| Refusal::new("package-noncanonical", error.to_string()))?;
    let report_value = artifacts::decode(report)
        .map_err(|error| Refusal::new("report-noncanonical", error.to_string()))?;
    schema(&package_value)?;
    let envelope = envelope::read(&package_value).map_err(|it| at("package-malformed", it))?;
    let stated = report::read(&report_value).map_err(|it| at("report-malformed", it))?;
    profiles(&envelope)?;
    let artifacts = artifacts::read(&envelope)?;
    stated.judge(&package_digest, &envelope)?;
    let intent = operation(&envelope, &artifacts, policy)?;
    budgets(&envelope, &artifacts, intent, policy)?;
    let (code, footprint) = installation::load(&envelope, &artifacts, intent)?;
    let facts = Facts {
        installation: identity(&package_digest, &report_digest, policy),
        package: package_digest,
        report: report_digest,
        operation: envelope.operation.to_owned(),
        kind: envelope.kind,
        budget: envelope.budget,
        static_bound: envelope.static_bound,
        input_type: envelope.input_type.to_owned(),
        output_type: envelope.output_type.to_owned(),
        footprint,
        footprint_bytes: edict_codec::cbor::encode(envelope.footprint_value),
        size: crate::meter::amount(package.len())
            .saturating_add(crate::meter::amount(report.len())),
    };
    Ok(Installation::new(facts, code))
}

fn at(kind: &'static str, wrong: Wrong) -> Refusal {
    Refusal::at(kind, wrong.path, wrong.message)
}

/// A1.
fn admit_sizes(package: &[u8], report: &[u8]) -> Result<(), Refusal> {
    for (kind, path, limit, bytes) in [
        (
            "package-too-large",
            ".package",
            limits::MAX_PACKAGE_BYTES,
            package,
        ),
        (
            "report-too-large",
            ".report",
            limits::MAX_REPORT_BYTES,
            report,
        ),
    ] {
        if !admits(limit, bytes.len()) {
            let message = format!("more than {limit} bytes");
            return Err(Refusal::at(kind, path, message));
        }
    }
    Ok(())
}

/// A1 to A3: sizes, pins and identities in the domains of package and report, before anything is
/// decoded.
fn identify(
    (package, package_pin): (&[u8], &Pin),
    (report, report_pin): (&[u8], &Pin),
    [package_domain, report_domain]: [&str; 2],
) -> Result<(TypedDigest, TypedDigest), Refusal> {
    admit_sizes(package, report)?;
    for (path, pin, expected) in [
        (".packageDigest", package_pin, package_domain),
        (".reportDigest", report_pin, report_domain),
    ] {
        if pin.domain != expected || pin.algorithm != Algorithm::Sha256.name() {
            return Err(Refusal::at(
                "digest-domain",
                path,
                format!("a sha256 digest of domain `{expected}` must be pinned"),
            ));
        }
    }
    let package_digest = frame_typed(package_domain, package);
    let report_digest = frame_typed(report_domain, report);
    let wrong = |kind, path| Refusal::at(kind, path, "the pin is that of other bytes");
    if package_pin.bytes != *package_digest.bytes() {
        return Err(wrong("package-digest-mismatch", ".packageDigest"));
    }
    if report_pin.bytes != *report_digest.bytes() {
        return Err(wrong("report-digest-mismatch", ".reportDigest"));
    }
    Ok((package_digest, report_digest))
}

/// The first half of A5.
fn schema(package: &Value) -> Result<(), Refusal> {
    match package.get("schema") {
        Some(Value::Text(schema)) if schema == envelope::SCHEMA => Ok(()),
        Some(Value::Text(_)) => Err(Refusal::at(
            "profile-unsupported",
            ".schema",
            format!("the one schema is `{}`", envelope::SCHEMA),
        )),
        _ if package.as_map().is_none() => Err(Refusal::at(
            "package-malformed",
            ".",
            "a map must stand here",
        )),
        _ => Err(Refusal::at(
            "package-malformed",
            ".schema",
            "a schema must stand here",
        )),
    }
}

/// A6.
fn profiles(envelope: &Envelope<'_>) -> Result<(), Refusal> {
    let profile = TypedDigest::new(domain::TARGET_PROFILE, Algorithm::Sha256, TARGET_PROFILE);
    for (path, supported) in [
        (".interpreter", envelope.interpreter == INTERPRETER),
        (".costLaw", envelope.cost_law == COST_LAW),
        (".codec", envelope.codec == CODEC),
        (".targetProfile", envelope.target_profile == profile),
    ] {
        if !supported {
            return Err(Refusal::at(
                "profile-unsupported",
                path,
                "this host has another one; `hello` says which",
            ));
        }
    }
    Ok(())
}

/// A9; gives the name of the intent, which Core and Target IR must have.
fn operation<'a>(
    envelope: &Envelope<'a>,
    artifacts: &artifacts::Artifacts,
    policy: &Policy,
) -> Result<&'a str, Refusal> {
    let mismatch = |message: &str| Refusal::at("operation-mismatch", ".operation", message);
    if envelope.operation != policy.operation {
        return Err(mismatch("the policy means another operation"));
    }
    let coordinate = artifacts.core.get("coordinate").and_then(Value::as_text);
    let intent = coordinate
        .and_then(|coordinate| envelope.operation.strip_prefix(coordinate))
        .and_then(|rest| rest.strip_prefix('.'))
        .ok_or_else(|| mismatch("the operation is none of the embedded Core"))?;
    for artifact in [&artifacts.core, &artifacts.target_ir] {
        let known = artifact.get("intents").and_then(|it| it.get(intent));
        if known.is_none() {
            return Err(mismatch("an embedded artifact has no such intent"));
        }
    }
    if envelope.kind == Kind::Effectful && policy.authority != Authority::Atoms {
        return Err(Refusal::at(
            "authority-mismatch",
            ".kind",
            "the policy allows pure packages only",
        ));
    }
    Ok(intent)
}

/// A10.
fn budgets(
    envelope: &Envelope<'_>,
    artifacts: &artifacts::Artifacts,
    intent: &str,
    policy: &Policy,
) -> Result<(), Refusal> {
    let in_artifact = |artifact: &Value, key: &str| {
        artifact
            .get("intents")
            .and_then(|it| it.get(intent))
            .and_then(|it| it.get(key))
            .and_then(stated_budget)
    };
    let equal = in_artifact(&artifacts.core, "budget") == Some(envelope.budget)
        && in_artifact(&artifacts.target_ir, "coreEvaluationBudget") == Some(envelope.budget);
    if !equal {
        return Err(Refusal::at(
            "budget-mismatch",
            ".budget",
            "Core, Target IR and package state different budgets",
        ));
    }
    let above = |kind, member, message: &str| {
        let path = format!(".budget.{member}");
        Err(Refusal::at(kind, path, message))
    };
    if let Some(member) = envelope.budget.excess(policy.max_budget) {
        return above("budget-above-policy", member, "the policy allows less");
    }
    let most = Budget {
        max_steps: limits::MAX_STEPS,
        max_allocated_bytes: limits::MAX_ALLOCATED_BYTES,
        max_output_bytes: limits::MAX_OUTPUT_BYTES,
    };
    match envelope.budget.excess(most) {
        Some(member) => above("budget-above-host", member, "this host allows less"),
        None => Ok(()),
    }
}

fn stated_budget(value: &Value) -> Option<Budget> {
    let member = |key: &str| value.get(key).and_then(Value::as_u64);
    Some(Budget {
        max_steps: member("maxSteps")?,
        max_allocated_bytes: member("maxAllocatedBytes")?,
        max_output_bytes: member("maxOutputBytes")?,
    })
}

/// dig(echo/installation/v1): the report is part of it, because nothing else binds one.
fn identity(package: &TypedDigest, report: &TypedDigest, policy: &Policy) -> TypedDigest {
    let content = Value::text_map([
        ("package", package.to_value()),
        ("report", report.to_value()),
        ("policy", policy.to_value()),
        ("interpreter", Value::text(INTERPRETER)),
        ("costLaw", Value::text(COST_LAW)),
    ]);
    derive_typed("echo/installation/v1", &edict_codec::cbor::encode(&content))
}
