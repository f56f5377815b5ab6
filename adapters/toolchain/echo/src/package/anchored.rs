// SPDX-License-Identifier: Apache-2.0
//! Admission of the foreign packages `echo.operation-package/v1` whose program creates one
//! attachment if there is none. A client has to ask for this profile in `hello`.
//!
//! The rules are those of `docs/anchored-operations.md`; their order is that of section 3.3.

mod envelope;
mod program;
mod report;

use super::{at, identify};
use crate::{
    executable::{Facts, Kind},
    limits,
    meter::amount,
    pin::{Authority, Budget, Consumed, Pin, Policy},
    refusal::Refusal,
    state::view::{FootprintRow, Intrinsic},
};
use edict_codec::{
    cbor::{Value, encode},
    digest::{TypedDigest, derive_typed},
};
use envelope::Envelope;
pub use program::AnchoredOperation;

/// The profile that a client asks for, and the interpreter that its records name.
pub const PROFILE: &str = "echo.anchored-operation/v1";

/// What an invocation is charged.
pub const COST_LAW: &str = "echo.anchored-cost/v1";

/// Schema of the packages, and the domain of their digests.
pub const PACKAGE: &str = "echo.operation-package/v1";

/// Schema of the reports, and the domain of their digests.
pub const REPORT: &str = "echo.operation-package-verifier-report/v1";

/// The one kind of program.
pub const PROGRAM_KIND: &str = "anchored-node-attachment-create-if-absent/v1";

/// Admits a package with the report that its compiler wrote, under a client's policy.
///
/// # Errors
/// The refusal of the first check that fails, with the path of what is at fault.
pub fn admit(
    package: &[u8],
    package_pin: &Pin,
    report: &[u8],
    report_pin: &Pin,
    policy: &Policy,
) -> Result<AnchoredOperation, Refusal> {
    let (package_digest, report_digest) = identify(
        (package, package_pin),
        (report, report_pin),
        [PACKAGE, REPORT],
    )?;
    let package_value = super::artifacts::decode(package)
        .map_err(|error| Refusal::new("package-noncanonical", error.to_string()))?;
    let report_value = super::artifacts::decode(report)
        .map_err(|error| Refusal::new("report-noncanonical", error.to_string()))?;
    envelope::schema(&package_value)?;
    let envelope = envelope::read(&package_value).map_err(|it| at("package-malformed", it))?;
    let stated = report::read(&report_value).map_err(|it| at("report-malformed", it))?;
    let program = envelope::program(&envelope)?;
    let projection = envelope::projection(&envelope)?;
    stated.judge(&package_digest, &envelope)?;
    judge_policy(&envelope, policy)?;
    let space = program.space();
    let footprint = vec![FootprintRow {
        space: space.clone(),
        intrinsic: Intrinsic::Create,
        max_calls: 1,
    }];
    let facts = Facts {
        installation: identity(&package_digest, &report_digest, policy),
        package: package_digest,
        report: report_digest,
        operation: envelope.operation.to_owned(),
        kind: Kind::Anchored,
        budget: envelope.budget,
        static_bound: Consumed {
            steps: program::MOST_STEPS,
            allocated_bytes: 0,
            output_bytes: program.max_replacement_bytes,
        },
        input_type: schema_name(envelope.input_schema),
        output_type: schema_name(envelope.result_schema),
        footprint_bytes: declared(&space),
        footprint,
        size: amount(package.len()).saturating_add(amount(report.len())),
    };
    Ok(AnchoredOperation::new(
        facts, &envelope, &program, projection,
    ))
}

fn judge_policy(envelope: &Envelope<'_>, policy: &Policy) -> Result<(), Refusal> {
    if envelope.operation != policy.operation {
        return Err(Refusal::at(
            "operation-mismatch",
            ".operation_coordinate",
            "the policy means another operation",
        ));
    }
    if policy.authority != Authority::Atoms {
        return Err(Refusal::at(
            "authority-mismatch",
            ".program",
            "the policy allows pure packages only",
        ));
    }
    let most = Budget {
        max_steps: limits::MAX_STEPS,
        max_allocated_bytes: limits::MAX_ALLOCATED_BYTES,
        max_output_bytes: limits::MAX_OUTPUT_BYTES,
    };
    for (kind, ceiling, message) in [
        (
            "budget-above-policy",
            policy.max_budget,
            "the policy allows less",
        ),
        ("budget-above-host", most, "this host allows less"),
    ] {
        if envelope.budget.excess(ceiling).is_some() {
            return Err(Refusal::at(kind, ".budget_ceiling", message));
        }
    }
    Ok(())
}

/// dig(echo/installation/v1), as for every installation; interpreter and cost law are its own.
fn identity(package: &TypedDigest, report: &TypedDigest, policy: &Policy) -> TypedDigest {
    let content = Value::text_map([
        ("package", package.to_value()),
        ("report", report.to_value()),
        ("policy", policy.to_value()),
        ("interpreter", Value::text(PROFILE)),
        ("costLaw", Value::text(COST_LAW)),
    ]);
    derive_typed("echo/installation/v1", &encode(&content))
}

/// The package has no type texts, only identities of schemas.
fn schema_name(identity: [u8; 32]) -> String {
    format!("echo.schema/{}", edict_codec::hex::encode(&identity))
}

/// The bytes of the footprint that such a package declares by its kind.
fn declared(space: &str) -> Vec<u8> {
    encode(&Value::Array(vec![Value::text_map([
        ("space", Value::text(space)),
        ("intrinsic", Value::text(Intrinsic::Create.coordinate())),
        ("maxCalls", Value::unsigned(1)),
    ])]))
}
