// SPDX-License-Identifier: Apache-2.0
//! What is said when there is no host: the trouble, and how the process ended if there was one.

use crate::client::Trouble;
use crate::transport::Ending;
use edict_test_model::diagnostic::{Child, Detail};
use edict_test_model::evidence::{ExecutionFailure, ExecutionStep};
use edict_test_model::suite::Role;
use edict_test_model::{Failure, FailureKind, Stage};

/// Why there is no process, and how it ended if there was one.
pub(crate) struct Stopped {
    pub(crate) trouble: Trouble,
    pub(crate) ending: Option<Box<Ending>>,
}

impl From<Trouble> for Stopped {
    fn from(trouble: Trouble) -> Self {
        Self {
            trouble,
            ending: None,
        }
    }
}

impl Stopped {
    /// As a failure outside of a case.
    pub(crate) fn outside(self, max_frame_bytes: u64) -> Failure {
        failure(self.trouble, self.ending.map(|it| *it), max_frame_bytes)
    }

    /// As a failure of the case that needed the process.
    pub(crate) fn of_case(self) -> ExecutionFailure {
        execution(
            ExecutionStep::Start,
            self.trouble,
            self.ending.map(|it| *it),
        )
    }
}

/// A failure of a case at a step of the exchange.
pub(crate) fn execution(
    step: ExecutionStep,
    trouble: Trouble,
    ending: Option<Ending>,
) -> ExecutionFailure {
    let (child, excerpt) = ending.map_or((None, None), |it| (it.child, it.excerpt));
    ExecutionFailure {
        step,
        kind: trouble.kind,
        host_code: trouble.host_code,
        child,
        excerpt,
        message: trouble.message,
    }
}

/// A failure outside of a case.
fn failure(trouble: Trouble, ending: Option<Ending>, max_frame_bytes: u64) -> Failure {
    let (child, excerpt) = ending.map_or((None, None), |it| (it.child, it.excerpt));
    let (stage, role) = match trouble.kind {
        FailureKind::ProfileUnsupported | FailureKind::ProfileMismatch => {
            (Stage::Toolchain, Some(Role::InterpreterProfile))
        }
        FailureKind::EvidenceVersionUnsupported | FailureKind::ToolMismatch => {
            (Stage::Toolchain, Some(Role::Host))
        }
        FailureKind::WallTimeout => (Stage::Execute, None),
        FailureKind::Interrupted => (Stage::Interrupt, None),
        FailureKind::ArtifactBytesExceeded => (Stage::Report, None),
        _ => (Stage::Host, None),
    };
    let detail = match (stage, trouble.kind) {
        (_, FailureKind::FrameTooLarge) => Some(Detail::Limit {
            limit: max_frame_bytes,
            actual: None,
        }),
        (Stage::Host, _) => Some(Detail::Host {
            child: child.unwrap_or_else(|| Child::not_started("host")),
            host_code: trouble.host_code,
        }),
        (Stage::Execute, _) => child.map(Detail::Child),
        _ => None,
    };
    let mut failure = Failure::new(stage, trouble.kind, trouble.message);
    failure.role = role;
    failure.excerpt = excerpt;
    failure.detail = detail;
    failure
}
