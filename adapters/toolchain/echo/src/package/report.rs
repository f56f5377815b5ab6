// SPDX-License-Identifier: Apache-2.0
//! The verification report (section 3.2): its form, and what it must agree with (check A8).

use super::{
    envelope::{Envelope, domain},
    fields::{Item, Wrong},
};
use crate::{
    pin::{Budget, Consumed},
    refusal::Refusal,
};
use edict_codec::{cbor::Value, digest::TypedDigest};

/// A report whose keys, types and orders are right.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    accepted: bool,
    operation: &'a str,
    package: TypedDigest,
    source: TypedDigest,
    core: TypedDigest,
    target_ir: TypedDigest,
    projection: TypedDigest,
    target_profile: TypedDigest,
    lawpacks: Vec<(&'a str, TypedDigest, TypedDigest)>,
    budget: Budget,
    static_bound: Consumed,
}

/// Reads the map of a report (check A5).
pub(crate) fn read(value: &Value) -> Result<Report<'_>, Wrong> {
    let [
        api_version,
        outcome,
        verifier,
        operation,
        package,
        source,
        core,
        target_ir,
        projection,
        target_profile,
        lawpacks,
        budget,
        static_bound,
        checked,
        not_checked,
        diagnostics,
    ] = Item::root(value).map([
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
    ])?;
    if api_version.text()? != domain::REPORT {
        return Err(api_version.wrong(format!("`{}` must stand here", domain::REPORT)));
    }
    let accepted = match outcome.text()? {
        "accepted" => true,
        "rejected" => false,
        _ => return Err(outcome.wrong("the outcomes are `accepted` and `rejected`")),
    };
    let [name, version] = verifier.map(["name", "version"])?;
    name.text()?;
    version.text()?;
    ascending(&checked)?;
    if !ascending(&not_checked)?.contains(&"source-text") {
        return Err(not_checked.wrong("`source-text` must stand here"));
    }
    read_diagnostics(&diagnostics, accepted)?;
    Ok(Report {
        accepted,
        operation: operation.coordinate()?,
        package: package.digest(domain::PACKAGE)?,
        source: source.digest(domain::SOURCE)?,
        core: core.digest(domain::CORE)?,
        target_ir: target_ir.digest(domain::TARGET_IR)?,
        projection: projection.digest(domain::PROJECTION)?,
        target_profile: target_profile.digest(domain::TARGET_PROFILE)?,
        lawpacks: lawpacks
            .array()?
            .iter()
            .map(lawpack)
            .collect::<Result<_, _>>()?,
        budget: budget.budget()?,
        static_bound: static_bound.bound()?,
    })
}

impl Report<'_> {
    /// Whether it accepts the package `package` and names all that the package is made of.
    pub(crate) fn judge(
        &self,
        package: &TypedDigest,
        envelope: &Envelope<'_>,
    ) -> Result<(), Refusal> {
        if !self.accepted {
            return Err(Refusal::at(
                "report-rejected",
                ".outcome",
                "the verifier did not accept the package",
            ));
        }
        if self.package != *package {
            return Err(Refusal::at(
                "report-package-mismatch",
                ".package",
                "the report is about another package",
            ));
        }
        let differs = |path: String| {
            Err(Refusal::at(
                "report-artifact-mismatch",
                path,
                "the report names another one than the package",
            ))
        };
        for (path, ours, theirs) in [
            (".core", &envelope.core.digest, &self.core),
            (".targetIr", &envelope.target_ir.digest, &self.target_ir),
            (".projection", &envelope.projection.digest, &self.projection),
        ] {
            if ours != theirs {
                return differs(path.to_owned());
            }
        }
        if self.lawpacks.len() != envelope.lawpacks.len() {
            return differs(".lawpacks".to_owned());
        }
        let pairs = || envelope.lawpacks.iter().zip(&self.lawpacks).enumerate();
        for (index, (ours, theirs)) in pairs() {
            if ours.exports.digest != theirs.2 {
                return differs(format!(".lawpacks[{index}].exports"));
            }
        }
        if envelope.source != self.source {
            return differs(".source".to_owned());
        }
        for (index, (ours, theirs)) in pairs() {
            if ours.coordinate != theirs.0 {
                return differs(format!(".lawpacks[{index}].coordinate"));
            }
            if ours.manifest != theirs.1 {
                return differs(format!(".lawpacks[{index}].manifest"));
            }
        }
        for (path, agrees) in [
            (
                ".targetProfile",
                envelope.target_profile == self.target_profile,
            ),
            (".budget", envelope.budget == self.budget),
            (".staticBound", envelope.static_bound == self.static_bound),
            (".operation", envelope.operation == self.operation),
        ] {
            if !agrees {
                return differs(path.to_owned());
            }
        }
        Ok(())
    }
}

fn lawpack<'a>(item: &Item<'a>) -> Result<(&'a str, TypedDigest, TypedDigest), Wrong> {
    let [coordinate, exports, manifest] = item.map(["coordinate", "exports", "manifest"])?;
    Ok((
        coordinate.coordinate()?,
        manifest.digest(domain::LAWPACK)?,
        exports.any_digest()?,
    ))
}

fn ascending<'a>(item: &Item<'a>) -> Result<Vec<&'a str>, Wrong> {
    let mut last = None;
    let mut texts = Vec::new();
    for row in item.array()? {
        let text = row.text()?;
        row.ascends(&mut last, text)?;
        texts.push(text);
    }
    Ok(texts)
}

fn read_diagnostics(item: &Item<'_>, accepted: bool) -> Result<(), Wrong> {
    let rows = item.array()?;
    if rows.len() > 64 {
        return Err(item.wrong("at most 64 diagnostics may stand here"));
    }
    if accepted && !rows.is_empty() {
        return Err(item.wrong("an accepted package has no diagnostics"));
    }
    for row in rows {
        let [code, message, path] = row.map(["code", "message", "path"])?;
        code.text()?;
        message.text()?;
        if !path.value().is_null() {
            path.text()?;
        }
    }
    Ok(())
}
