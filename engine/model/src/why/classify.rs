// SPDX-License-Identifier: Apache-2.0
//! The closed set of causes, in preimage order (A12).

use super::record::{CaseRecord, RunRecord};
use crate::{
    failure::{FailureKind, Form, Stage, rule},
    ids::CaseId,
    recipe::{Difference, differing},
    run::Class,
    suite::Role,
};

/// Why a case may have another verdict than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A pinned role of the toolchain.
    Toolchain(Role),
    /// The provider package.
    ProviderPackage,
    /// A limit.
    Limits,
    /// The order of the suite.
    SuiteOrder,
    /// A label only.
    Presentation,
    /// The case is new.
    CaseAdded,
    /// The case is gone.
    CaseRemoved,
    /// The source, and Core with it.
    SourceSemantic,
    /// The source, and Core stayed equal.
    SourceNonsemantic,
    /// A lawpack.
    Lawpack,
    /// The input.
    Fixture,
    /// The expectation.
    Expectation,
    /// A setup entry.
    Setup,
    /// A skip.
    Skip,
    /// Equal inputs gave other artifacts.
    CacheIntegrity,
    /// One side ended with exit class 2.
    Infrastructure(Stage, FailureKind),
    /// Something could not be verified again.
    Unverified,
    /// Everything that is pinned is equal: a positive statement.
    None,
}

impl Cause {
    /// The name in explanations.
    pub fn name(self) -> String {
        match self {
            Self::Toolchain(role) => format!("toolchain.{}", role.name()),
            Self::ProviderPackage => "toolchain.providerPackage".to_owned(),
            Self::Limits => "limits".to_owned(),
            Self::SuiteOrder => "suite.order".to_owned(),
            Self::Presentation => "presentation".to_owned(),
            Self::CaseAdded => "case.added".to_owned(),
            Self::CaseRemoved => "case.removed".to_owned(),
            Self::SourceSemantic => "source.semantic".to_owned(),
            Self::SourceNonsemantic => "source.nonsemantic".to_owned(),
            Self::Lawpack => "lawpack".to_owned(),
            Self::Fixture => "fixture".to_owned(),
            Self::Expectation => "expectation".to_owned(),
            Self::Setup => "setup".to_owned(),
            Self::Skip => "skip".to_owned(),
            Self::CacheIntegrity => "cache.integrity".to_owned(),
            Self::Infrastructure(..) => "infrastructure".to_owned(),
            Self::Unverified => "unverified".to_owned(),
            Self::None => "none".to_owned(),
        }
    }
}

/// The causes between two runs of one case, each once, in preimage order. `unverified` says that
/// something printed could not be verified again.
pub fn causes(from: &RunRecord, to: &RunRecord, id: &CaseId, unverified: bool) -> Vec<Cause> {
    let mut causes = suite_causes(from, to);
    match (from.case(id), to.case(id)) {
        (Some(before), Some(after)) => {
            if order(from, to) != order(to, from) {
                causes.push(Cause::SuiteOrder);
            }
            if before.label != after.label {
                causes.push(Cause::Presentation);
            }
            causes.extend(case_causes(before, after));
        }
        (None, Some(_)) => causes.push(Cause::CaseAdded),
        (Some(_), None) => causes.push(Cause::CaseRemoved),
        (None, None) => {}
    }
    causes.extend(infrastructure(from, id).or_else(|| infrastructure(to, id)));
    if unverified {
        causes.push(Cause::Unverified);
    }
    if causes.is_empty() {
        causes.push(Cause::None);
    }
    let mut once: Vec<Cause> = Vec::new();
    for cause in causes {
        if !once.contains(&cause) {
            once.push(cause);
        }
    }
    once
}

/// Ids of the cases that both runs have, in the order of the first.
fn order<'a>(run: &'a RunRecord, other: &RunRecord) -> Vec<&'a CaseId> {
    let common = run
        .cases
        .iter()
        .filter(|case| other.case(&case.id).is_some());
    common.map(|case| &case.id).collect()
}

/// Causes from lock and limits, which the suite binds for every case.
fn suite_causes(from: &RunRecord, to: &RunRecord) -> Vec<Cause> {
    let differences = differing(&from.leaves, &to.leaves);
    let mut causes: Vec<Cause> = Role::ALL
        .into_iter()
        .filter(|role| differences.iter().any(|it| of_role(it, role.name())))
        .map(Cause::Toolchain)
        .collect();
    if differences.iter().any(|it| of_role(it, "providerPackage")) {
        causes.push(Cause::ProviderPackage);
    }
    if differences.iter().any(|it| it.label.starts_with("limits.")) {
        causes.push(Cause::Limits);
    }
    causes
}

fn of_role(difference: &Difference, role: &str) -> bool {
    difference
        .label
        .strip_prefix("toolchain.")
        .and_then(|label| label.strip_prefix(role))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Causes from the leaves of the case itself.
fn case_causes(before: &CaseRecord, after: &CaseRecord) -> Vec<Cause> {
    let core_kept = before.core.is_some() && before.core == after.core;
    let mut causes: Vec<Cause> = differing(&before.leaves, &after.leaves)
        .iter()
        .map(|difference| leaf_cause(&difference.label, core_kept))
        .collect();
    causes.sort_unstable();
    let rebuilt_otherwise = before.build_key.is_some()
        && before.build_key == after.build_key
        && before.core.is_some()
        && after.core.is_some()
        && !core_kept;
    if rebuilt_otherwise {
        causes.push(Cause::CacheIntegrity);
    }
    causes
}

fn leaf_cause(label: &str, core_kept: bool) -> Cause {
    if label.starts_with("application.lawpack") {
        Cause::Lawpack
    } else if label == "application.targetProfile" {
        Cause::Toolchain(Role::TargetProfile)
    } else if label.starts_with("application.") {
        if core_kept {
            Cause::SourceNonsemantic
        } else {
            Cause::SourceSemantic
        }
    } else if label == "input" {
        Cause::Fixture
    } else if label.starts_with("expectation.") {
        Cause::Expectation
    } else if label.starts_with("setup[") {
        Cause::Setup
    } else {
        Cause::Skip
    }
}

/// What kept the case, or its whole run, from a faithful end.
fn infrastructure(run: &RunRecord, id: &CaseId) -> Option<Cause> {
    let own = run.case(id).and_then(|case| case.ending).filter(|ending| {
        rule(ending.stage, ending.kind).is_none_or(|rule| rule.form != Form::Point)
    });
    let not_reached = run.case(id).is_some_and(|case| case.ending.is_none());
    own.map(|ending| (ending.stage, ending.kind))
        .or_else(|| {
            run.primary
                .filter(|_| run.class == Class::Infrastructure && not_reached)
        })
        .map(|(stage, kind)| Cause::Infrastructure(stage, kind))
}
