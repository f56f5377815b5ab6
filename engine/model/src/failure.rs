// SPDX-License-Identifier: Apache-2.0
//! The closed set of failures: stage, kind, and what the table of section 4 makes of the pair.

mod advice;
mod kind;
mod rule;

pub use kind::FailureKind;
pub use rule::{Form, Rule, rule};

use crate::{
    diagnostic::{Detail, Excerpt, FileSpan},
    ids::CaseId,
    suite::Role,
    verdict::Verdict,
};
use edict_codec::digest::TypedDigest;
use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

/// Where a run or a case ended (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// The command line.
    Arguments,
    /// The suite manifest.
    Manifest,
    /// The toolchain lock.
    Lock,
    /// Reading the declared inputs.
    Snapshot,
    /// The pinned programs and profiles.
    Toolchain,
    /// The order of execution.
    Plan,
    /// Compiling a program.
    Build,
    /// Verifying a program independently.
    Verify,
    /// What the host admits.
    Admission,
    /// A setup operation.
    Setup,
    /// The host process and its transport.
    Host,
    /// Waiting for outcomes.
    Execute,
    /// Binding outcomes to what was submitted.
    Evidence,
    /// Reading the case result.
    Result,
    /// Comparing with the expectation.
    Compare,
    /// Report, journal and bodies.
    Report,
    /// Standard output.
    Output,
    /// Removing what the run owned.
    Cleanup,
    /// A signal.
    Interrupt,
    /// A defect of the runner.
    Internal,
}

impl Stage {
    /// All stages in the order of the table.
    pub const ALL: [Self; 20] = [
        Self::Arguments,
        Self::Manifest,
        Self::Lock,
        Self::Snapshot,
        Self::Toolchain,
        Self::Plan,
        Self::Build,
        Self::Verify,
        Self::Admission,
        Self::Setup,
        Self::Host,
        Self::Execute,
        Self::Evidence,
        Self::Result,
        Self::Compare,
        Self::Report,
        Self::Output,
        Self::Cleanup,
        Self::Interrupt,
        Self::Internal,
    ];

    /// The name in reports and diagnostics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Manifest => "manifest",
            Self::Lock => "lock",
            Self::Snapshot => "snapshot",
            Self::Toolchain => "toolchain",
            Self::Plan => "plan",
            Self::Build => "build",
            Self::Verify => "verify",
            Self::Admission => "admission",
            Self::Setup => "setup",
            Self::Host => "host",
            Self::Execute => "execute",
            Self::Evidence => "evidence",
            Self::Result => "result",
            Self::Compare => "compare",
            Self::Report => "report",
            Self::Output => "output",
            Self::Cleanup => "cleanup",
            Self::Interrupt => "interrupt",
            Self::Internal => "internal",
        }
    }

    /// The stage of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.name() == name)
    }
}

/// One failure: everything its diagnostic record says (section 6), read and set through
/// [`FailureRecord`]. It is one pointer wide, because it is the error of most functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(Box<FailureRecord>);

impl Deref for Failure {
    type Target = FailureRecord;

    fn deref(&self) -> &FailureRecord {
        &self.0
    }
}

impl DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut FailureRecord {
        &mut self.0
    }
}

/// The members of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureRecord {
    /// Where.
    pub stage: Stage,
    /// What.
    pub kind: FailureKind,
    /// The case it concerns.
    pub case: Option<CaseId>,
    /// Position of the setup entry it concerns, from 0.
    pub setup_index: Option<u32>,
    /// The role of the lock it concerns.
    pub role: Option<Role>,
    /// JSON Pointer of the member at fault; the root is the empty text.
    pub pointer: Option<String>,
    /// File and bytes at fault.
    pub span: Option<FileSpan>,
    /// What a mismatch should have been.
    pub expected: Option<TypedDigest>,
    /// What it was.
    pub actual: Option<TypedDigest>,
    /// One sentence for people, at most 1,024 bytes; not an interface.
    pub message: String,
    /// Output of a child or text of an application.
    pub excerpt: Option<Excerpt>,
    /// The members of its kind (J3).
    pub detail: Option<Detail>,
}

impl Failure {
    /// A failure that says nothing but where, what and one sentence.
    pub fn new(stage: Stage, kind: FailureKind, message: impl Into<String>) -> Self {
        Self(Box::new(FailureRecord {
            stage,
            kind,
            case: None,
            setup_index: None,
            role: None,
            pointer: None,
            span: None,
            expected: None,
            actual: None,
            message: message.into(),
            excerpt: None,
            detail: None,
        }))
    }

    /// A defect of the runner itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Stage::Internal, FailureKind::InternalError, message)
    }

    /// The end of a run that a signal of this number asked for.
    pub fn interrupted(signal: u8) -> Self {
        let name = match signal {
            1 => "HUP",
            2 => "INT",
            15 => "TERM",
            _ => "KILL",
        };
        let message = format!("stopped by signal {name}");
        Self::new(Stage::Interrupt, FailureKind::Interrupted, message)
            .with_detail(Detail::Signal(name.to_owned()))
    }

    /// Names the case.
    #[must_use]
    pub fn of_case(mut self, case: &CaseId) -> Self {
        self.case = Some(case.clone());
        self
    }

    /// Makes it a failure of the setup entry at `index`: the stage becomes `setup`, the kind stays
    /// (F6).
    #[must_use]
    pub fn in_setup(mut self, index: u32) -> Self {
        self.setup_index = Some(index);
        if rule(Stage::Setup, self.kind).is_some() {
            self.stage = Stage::Setup;
        }
        self
    }

    /// Names the role of the lock.
    #[must_use]
    pub fn of_role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// Adds both sides of a mismatch.
    #[must_use]
    pub fn mismatch(mut self, expected: &TypedDigest, actual: &TypedDigest) -> Self {
        self.expected = Some(expected.clone());
        self.actual = Some(actual.clone());
        self
    }

    /// Adds the members of its kind.
    #[must_use]
    pub fn with_detail(mut self, detail: Detail) -> Self {
        self.detail = Some(detail);
        self
    }

    /// Adds the file in which the span counts, as it was read.
    #[must_use]
    pub fn with_text(mut self, text: &Arc<[u8]>) -> Self {
        if let Some(at) = &mut self.span {
            at.text = Some(Arc::clone(text));
        }
        self
    }

    /// Adds an excerpt.
    #[must_use]
    pub fn with_excerpt(mut self, excerpt: Excerpt) -> Self {
        self.excerpt = Some(excerpt);
        self
    }

    /// What the table makes of it; a pair that is not in the table is a bail-out without verdict.
    pub fn rule(&self) -> Rule {
        rule(self.stage, self.kind).unwrap_or(Rule {
            verdict: None,
            form: Form::Bail,
        })
    }

    /// The verdict it gives to its case.
    pub fn verdict(&self) -> Option<Verdict> {
        self.rule().verdict
    }

    /// Its TAP form (F2).
    pub fn form(&self) -> Form {
        self.rule().form
    }
}
