// SPDX-License-Identifier: Apache-2.0
//! Which cases a file decides about, and which steps a change of it reaches.

use super::{
    compare::StepName,
    record::{CaseRecord, RunRecord},
};
use crate::{
    built::blob,
    ids::{CaseId, Locator},
    recipe::LeafValue,
    suite::identity::{FixtureUse, fixture_of},
};
use edict_codec::digest::TypedDigest;

/// A case that depends on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependent {
    /// The case.
    pub case: CaseId,
    /// The leaves that the file is, in preimage order.
    pub labels: Vec<String>,
    /// The steps that a change of the file reaches, in chain order. A changed source that leaves
    /// Core equal stops after the steps that name its digest; nothing here promises that.
    pub steps: Vec<StepName>,
}

/// The cases of a run that depend on the file at `path`, in suite order.
pub fn dependents(run: &RunRecord, path: &Locator) -> Vec<Dependent> {
    run.cases
        .iter()
        .filter_map(|case| dependent(case, path))
        .collect()
}

fn dependent(case: &CaseRecord, path: &Locator) -> Option<Dependent> {
    let rows = case.locators.iter().filter(|(_, locator)| locator == path);
    let labels: Vec<String> = rows.map(|(label, _)| label.clone()).collect();
    let builds = labels.iter().any(|label| label.contains("application."));
    let first = if builds {
        StepName::Build
    } else {
        StepName::Case
    };
    (!labels.is_empty()).then(|| Dependent {
        case: case.id.clone(),
        steps: StepName::ALL
            .into_iter()
            .filter(|step| match step {
                StepName::Build | StepName::Verify => builds,
                StepName::Case => !builds || labels.iter().any(|it| it.starts_with("setup[")),
                StepName::Suite => false,
                StepName::Execute | StepName::Verdict => *step >= first,
            })
            .collect(),
        labels,
    })
}

/// Why an edit of a file did not change a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotChanged {
    /// The case does not depend on the file.
    NotAnInput,
    /// The file has the digest it had in the run.
    SameContent,
    /// The file is another one now; the case has not been run since.
    NotRunSince,
}

/// Compares the file at `path`, which has `bytes` now, with what `case` was run with.
pub fn not_changed(case: &CaseRecord, path: &Locator, bytes: &[u8]) -> NotChanged {
    let Some(dependent) = dependent(case, path) else {
        return NotChanged::NotAnInput;
    };
    let same = dependent.labels.iter().all(|label| {
        let leaf = case.leaves.iter().find(|leaf| leaf.label == *label);
        leaf.is_some_and(|leaf| leaf.value == LeafValue::Digest(leaf_identity(label, bytes)))
    });
    if same {
        NotChanged::SameContent
    } else {
        NotChanged::NotRunSince
    }
}

/// The identity that `bytes` have as the leaf of that label: inputs and payloads are fixtures,
/// everything else is named by its blob.
pub fn leaf_identity(label: &str, bytes: &[u8]) -> TypedDigest {
    if label == "expectation.payload" {
        fixture_of(FixtureUse::Payload, bytes)
    } else if label == "input" || label.ends_with("].input") {
        fixture_of(FixtureUse::Input, bytes)
    } else {
        blob(bytes)
    }
}
