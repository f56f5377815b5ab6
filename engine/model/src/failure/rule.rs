// SPDX-License-Identifier: Apache-2.0
//! The table of section 4: which kinds a stage has, the verdict and the TAP form of each.

use super::{FailureKind, FailureKind as K, Stage};
use crate::verdict::Verdict;

/// How TAP shows an outcome (F2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// P: a point; the run goes on.
    Point,
    /// PB: a `not ok` point, the run goes on and ends in a bail-out after the last point.
    PointThenBail,
    /// B: an immediate bail-out without a point; no further case runs.
    Bail,
}

/// What the table says about a stage and a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The verdict of the case concerned; for stage `host` none before the first case.
    pub verdict: Option<Verdict>,
    /// The TAP form.
    pub form: Form,
}

/// The rule of a pair; `None` when the table has no such row.
pub fn rule(stage: Stage, kind: FailureKind) -> Option<Rule> {
    let bail = |verdict| Rule {
        verdict,
        form: Form::Bail,
    };
    let confined = |verdict| Rule {
        verdict: Some(verdict),
        form: Form::PointThenBail,
    };
    let point = |verdict| Rule {
        verdict: Some(verdict),
        form: Form::Point,
    };
    if stage == Stage::Setup {
        return setup_rule(kind);
    }
    if !stands_in(stage, kind) {
        return None;
    }
    Some(match stage {
        Stage::Arguments
        | Stage::Manifest
        | Stage::Lock
        | Stage::Snapshot
        | Stage::Toolchain
        | Stage::Plan
        | Stage::Report
        | Stage::Output
        | Stage::Cleanup
        | Stage::Interrupt
        | Stage::Internal => bail(None),
        Stage::Build if kind == K::CompilerRefused => confined(Verdict::BuildFailed),
        Stage::Build | Stage::Verify => bail(Some(Verdict::BuildFailed)),
        Stage::Admission if matches!(kind, K::InputRefused | K::ExpectedPayloadInvalid) => {
            confined(Verdict::RuntimeFailed)
        }
        Stage::Admission | Stage::Host => bail(Some(Verdict::RuntimeFailed)),
        Stage::Execute if kind == K::WallTimeout => bail(Some(Verdict::RuntimeFailed)),
        Stage::Execute | Stage::Evidence => bail(Some(Verdict::InvalidEvidence)),
        Stage::Result => confined(Verdict::InvalidResult),
        Stage::Compare => match kind {
            K::Passed => point(Verdict::Passed),
            K::Skipped => point(Verdict::Skipped),
            K::AssertionFailed | K::UnexpectedSuccess => point(Verdict::AssertionFailed),
            _ => point(Verdict::UnexpectedObstruction),
        },
        Stage::Setup => return None,
    })
}

fn setup_rule(kind: FailureKind) -> Option<Rule> {
    // Only the case itself is evaluated twice.
    if kind == K::EvaluatorDisagreement {
        return None;
    }
    let form = if matches!(
        kind,
        K::SetupObstructed | K::SetupBuildRefused | K::InputRefused
    ) {
        Form::PointThenBail
    } else {
        [
            Stage::Admission,
            Stage::Host,
            Stage::Execute,
            Stage::Evidence,
        ]
        .into_iter()
        .filter_map(|stage| rule(stage, kind))
        .find(|rule| rule.form == Form::Bail)?
        .form
    };
    Some(Rule {
        verdict: Some(Verdict::SetupFailed),
        form,
    })
}

/// Whether the table lists the kind in the row of the stage. `setup` borrows from other rows.
fn stands_in(stage: Stage, kind: FailureKind) -> bool {
    match stage {
        Stage::Arguments => within(kind, K::UsageError, K::StateUnusable),
        Stage::Manifest => {
            document(kind) || matches!(kind, K::ManifestUnreadable | K::ManifestTooLarge)
        }
        Stage::Lock => document(kind) || matches!(kind, K::LockUnreadable | K::LockTooLarge),
        Stage::Snapshot => {
            kind == K::PathEscape || within(kind, K::InputMissing, K::PlatformUnsupported)
        }
        Stage::Toolchain => within(kind, K::ToolMissing, K::IsolationUnavailable),
        Stage::Plan => kind == K::NoExecutableCases,
        Stage::Build => within(kind, K::CompilerRefused, K::ArtifactInvalid),
        Stage::Verify => {
            kind == K::ProfileMismatch || within(kind, K::VerifierRejected, K::PackageMismatch)
        }
        Stage::Admission => within(kind, K::InputRefused, K::ContextRefused),
        Stage::Setup => false,
        Stage::Host => within(kind, K::HostSpawnFailed, K::HostFault),
        Stage::Execute => within(kind, K::WallTimeout, K::OutcomeReordered),
        Stage::Evidence => {
            kind == K::EvidenceVersionUnsupported
                || within(kind, K::EvidenceMissing, K::EvaluatorDisagreement)
        }
        Stage::Result => within(kind, K::InvalidCaseResult, K::CaseResultTooLarge),
        Stage::Compare => within(kind, K::Passed, K::Skipped),
        Stage::Report => {
            kind == K::ReportExists || within(kind, K::ReportTooLarge, K::ArtifactBodyMismatch)
        }
        Stage::Output => matches!(kind, K::StdoutClosed | K::StdoutWriteFailed),
        Stage::Cleanup => kind == K::CleanupIncomplete,
        Stage::Interrupt => kind == K::Interrupted,
        Stage::Internal => kind == K::InternalError,
    }
}

/// JSON and DOC: the kinds of the strict reader and of typed documents.
fn document(kind: FailureKind) -> bool {
    within(kind, K::EmptyDocument, K::VerifierNotIndependent)
}

/// Kinds are declared in table order, so a row is a range.
fn within(kind: FailureKind, first: FailureKind, last: FailureKind) -> bool {
    first <= kind && kind <= last
}
