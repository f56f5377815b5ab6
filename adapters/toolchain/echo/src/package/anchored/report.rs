// SPDX-License-Identifier: Apache-2.0
//! The report that the foreign compiler writes beside its package.

use super::{REPORT, envelope::Envelope};
use crate::{
    package::fields::{Item, Wrong},
    refusal::Refusal,
};
use edict_codec::{
    cbor::Value,
    digest::{Algorithm, TypedDigest},
};

/// A report whose keys and types are right.
#[derive(Debug)]
pub(super) struct Report<'a> {
    accepted: bool,
    package: [u8; 32],
    target_ir: [u8; 32],
    operation: &'a str,
    projection: [u8; 32],
}

/// Reads the closed map of a report.
pub(super) fn read(value: &Value) -> Result<Report<'_>, Wrong> {
    let [
        version,
        outcome,
        package,
        target_ir,
        abi,
        diagnostics,
        projection,
    ] = Item::root(value).map([
        "apiVersion",
        "outcome",
        "package",
        "targetIr",
        "diagnosticAbi",
        "diagnosticBytes",
        "applicationResultProjection",
    ])?;
    if version.text()? != REPORT {
        return Err(version.wrong(format!("`{REPORT}` must stand here")));
    }
    let accepted = match outcome.text()? {
        "accepted" => true,
        "rejected" => false,
        _ => return Err(outcome.wrong("the outcomes are `accepted` and `rejected`")),
    };
    let package = reference(&package)?.1;
    let target_ir = reference(&target_ir)?.1;
    reference(&abi)?;
    diagnostics.bytes()?;
    let (operation, projection) = reference(&projection)?;
    Ok(Report {
        accepted,
        package,
        target_ir,
        operation,
        projection,
    })
}

/// `{id, digest: ["sha256", 32 bytes]}`.
fn reference<'a>(item: &Item<'a>) -> Result<(&'a str, [u8; 32]), Wrong> {
    let [id, digest] = item.map(["id", "digest"])?;
    let id = id.coordinate()?;
    match digest.array()?.as_slice() {
        [algorithm, bytes] if algorithm.text()? == Algorithm::Sha256.name() => {
            Ok((id, bytes_32(bytes)?))
        }
        _ => Err(digest.wrong("`[\"sha256\", 32 bytes]` must stand here")),
    }
}

/// A byte string of 32 bytes.
pub(super) fn bytes_32(item: &Item<'_>) -> Result<[u8; 32], Wrong> {
    let bytes = item.bytes()?.try_into();
    bytes.map_err(|_| item.wrong("32 bytes must stand here"))
}

impl Report<'_> {
    /// Whether it accepts exactly this package with these artifacts.
    pub(super) fn judge(
        &self,
        package: &TypedDigest,
        envelope: &Envelope<'_>,
    ) -> Result<(), Refusal> {
        let wrong = |kind, path, message| Err(Refusal::at(kind, path, message));
        let mismatch = "report-artifact-mismatch";
        if !self.accepted {
            return wrong(
                "report-rejected",
                ".outcome",
                "the report rejects its package",
            );
        }
        if self.package != *package.bytes() {
            let message = "the report is that of another package";
            return wrong("report-package-mismatch", ".package", message);
        }
        if self.target_ir != envelope.target_ir {
            return wrong(mismatch, ".targetIr", "the package names another Target IR");
        }
        if self.projection != envelope.projection_digest || self.operation != envelope.operation {
            let message = "the package has another result projection";
            return wrong(mismatch, ".applicationResultProjection", message);
        }
        Ok(())
    }
}
