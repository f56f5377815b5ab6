// SPDX-License-Identifier: Apache-2.0
//! Two runs of one case, link by link, in the order of the chain (A14).

use super::{
    classify::{Cause, causes},
    prove::Proof,
    record::{CaseRecord, Ending, RunRecord},
};
use crate::{
    ids::{CaseId, Locator},
    recipe::{Difference, Leaf, LeafValue, differing},
};
use edict_codec::digest::TypedDigest;

/// A link of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepName {
    /// Runner, limits, order and labels.
    Suite,
    /// Input, expectation, setup and skip.
    Case,
    /// Application and what builds it.
    Build,
    /// What verifies it.
    Verify,
    /// What executes it.
    Execute,
    /// The verdict.
    Verdict,
}

impl StepName {
    /// All links in order.
    pub const ALL: [Self; 6] = [
        Self::Suite,
        Self::Case,
        Self::Build,
        Self::Verify,
        Self::Execute,
        Self::Verdict,
    ];

    /// The name in explanations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Suite => "suite",
            Self::Case => "case",
            Self::Build => "build",
            Self::Verify => "verify",
            Self::Execute => "execute",
            Self::Verdict => "verdict",
        }
    }

    /// The link in which a leaf decides.
    pub fn of_label(label: &str) -> Self {
        let role = label
            .strip_prefix("toolchain.")
            .map(|rest| rest.split('.').next().unwrap_or_default());
        match role {
            Some("runner" | "runReportAbi") => Self::Suite,
            Some("verifier" | "verificationReportAbi") => Self::Verify,
            Some("host" | "transportAbi") => Self::Execute,
            Some(_) => Self::Build,
            None if label.starts_with("application.") => Self::Build,
            None => {
                let of_case = ["input", "expectation.", "setup[", "skip", "id"];
                if of_case.iter().any(|start| label.starts_with(start)) {
                    Self::Case
                } else {
                    Self::Suite
                }
            }
        }
    }
}

/// A differing leaf with the places its file had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingLeaf {
    /// Label and values.
    pub difference: Difference,
    /// Where the file was before and is after; for people.
    pub locators: [Option<Locator>; 2],
}

/// One link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which.
    pub name: StepName,
    /// What was decided: `built`, `reused`, `changed`, `unchanged` and so on.
    pub decision: &'static str,
    /// The leaves of this link that differ, in preimage order.
    pub differing: Vec<DifferingLeaf>,
    /// Number of leaves of this link, a role of the toolchain counted once.
    pub inputs: usize,
}

/// One side of an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Number of the run.
    pub run: u64,
    /// How the case ended.
    pub ending: Option<Ending>,
    /// What its program ended in, field by field.
    pub outcome: Vec<(String, String)>,
    /// Context of its execution.
    pub context: Option<String>,
    /// Identity of Core.
    pub core: Option<TypedDigest>,
}

/// Everything there is to say about a case between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The case.
    pub case: CaseId,
    /// The earlier run.
    pub from: Side,
    /// The later run.
    pub to: Side,
    /// The links in order.
    pub steps: Vec<Step>,
    /// Labels of every leaf compared as equal, in preimage order.
    pub unchanged: Vec<String>,
    /// The causes in preimage order.
    pub causes: Vec<Cause>,
    /// Result of `--prove`.
    pub proof: Option<Proof>,
    /// What could not be verified again.
    pub unverified: Vec<String>,
}

impl Explanation {
    /// Whether the case ended otherwise.
    pub fn verdict_changed(&self) -> bool {
        let verdict = |side: &Side| side.ending.map(|ending| ending.verdict);
        verdict(&self.from) != verdict(&self.to)
    }

    /// Whether order alone changed a verdict, which is a defect of runner or host (A13).
    pub fn is_defect(&self) -> bool {
        self.verdict_changed() && self.causes == [Cause::SuiteOrder]
    }

    /// Every differing leaf, in the order of the links: the positions of a proof.
    pub fn differing(&self) -> Vec<&DifferingLeaf> {
        self.steps.iter().flat_map(|it| &it.differing).collect()
    }

    /// The first link in which something differs.
    pub fn first(&self) -> Option<&Step> {
        self.steps.iter().find(|step| !step.differing.is_empty())
    }
}

/// Explains `case` between two runs; `None` when neither has it. `unverified` names what the caller
/// could not verify again.
pub fn explain_case(
    from: &RunRecord,
    to: &RunRecord,
    case: &CaseId,
    unverified: Vec<String>,
) -> Option<Explanation> {
    let (before, after) = (from.case(case), to.case(case));
    before.or(after)?;
    let left = leaves(from, before);
    let right = leaves(to, after);
    let mut differences = differing(&left, &right);
    let unchanged: Vec<String> = right
        .iter()
        .filter(|leaf| !differences.iter().any(|it| it.label == leaf.label))
        .map(|leaf| leaf.label.clone())
        .collect();
    if !differences.iter().all(is_silent) {
        differences.retain(|it| !is_silent(it));
    }
    // A case that is gone is told by what it was.
    let counted = if after.is_some() { &right } else { &left };
    let step = |name| {
        let of_step = |label: &str| StepName::of_label(label) == name;
        let located = |difference: &Difference| DifferingLeaf {
            difference: difference.clone(),
            locators: [before, after]
                .map(|side| side.and_then(|it| it.locator(&difference.label)).cloned()),
        };
        let differing: Vec<DifferingLeaf> = differences
            .iter()
            .filter(|it| of_step(&it.label))
            .map(located)
            .collect();
        Step {
            name,
            decision: decision(name, before, after, !differing.is_empty()),
            differing,
            inputs: counted
                .iter()
                .filter(|it| of_step(&it.label) && is_input(&it.label))
                .count(),
        }
    };
    Some(Explanation {
        case: case.clone(),
        from: side(from, before),
        to: side(to, after),
        steps: StepName::ALL.into_iter().map(step).collect(),
        unchanged,
        causes: causes(from, to, case, !unverified.is_empty()),
        proof: None,
        unverified,
    })
}

/// Whether both sides have nothing there, of which only one says so: what stands instead of it on the
/// other side differs by itself.
fn is_silent(difference: &Difference) -> bool {
    let nothing = |value: &Option<LeafValue>| matches!(value, None | Some(LeafValue::Absent));
    nothing(&difference.from) && nothing(&difference.to)
}

/// Whether a leaf counts as an input of its own: kind, coordinate and source of a role belong to it.
fn is_input(label: &str) -> bool {
    label
        .strip_prefix("toolchain.")
        .is_none_or(|rest| !rest.contains('.'))
}

fn side(run: &RunRecord, case: Option<&CaseRecord>) -> Side {
    Side {
        run: run.number,
        ending: case.and_then(|case| case.ending),
        outcome: case.map(|case| case.outcome.clone()).unwrap_or_default(),
        context: case.and_then(|case| case.context.clone()),
        core: case.and_then(|case| case.core.clone()),
    }
}

/// The leaves that decide about a case: those of lock and limits, then its own.
fn leaves(run: &RunRecord, case: Option<&CaseRecord>) -> Vec<Leaf> {
    let bound =
        |leaf: &&Leaf| leaf.label.starts_with("toolchain.") || leaf.label.starts_with("limits.");
    let own = case.map(|case| case.leaves.as_slice()).unwrap_or_default();
    run.leaves
        .iter()
        .filter(bound)
        .chain(own)
        .cloned()
        .collect()
}

fn decision(
    name: StepName,
    before: Option<&CaseRecord>,
    after: Option<&CaseRecord>,
    differs: bool,
) -> &'static str {
    let changed = |changed| if changed { "changed" } else { "unchanged" };
    let Some(after) = after else {
        return "removed";
    };
    match name {
        StepName::Suite | StepName::Case => changed(differs),
        StepName::Build => after.build.name(),
        StepName::Verify => after.verify.name(),
        StepName::Execute if after.execution.is_some() => "executed",
        StepName::Execute => "notExecuted",
        StepName::Verdict => {
            let verdict = |case: &CaseRecord| case.ending.map(|ending| ending.verdict);
            changed(before.and_then(verdict) != verdict(after))
        }
    }
}
