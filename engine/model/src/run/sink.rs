// SPDX-License-Identifier: Apache-2.0
//! Who hears of a run while it goes on: journal, TAP and diagnostics stand behind this trait.

use super::{CaseEvidenceReport, CaseReport, RunPlan};
use crate::{
    diagnostic::Diagnostic,
    failure::Failure,
    ids::{CaseIndex, ContextNonce},
};

/// Hears the events of a run in order. An error is of stage `report` or `output` and ends the run.
pub trait RunSink {
    /// The plan is known; nothing has run.
    ///
    /// # Errors
    /// When the plan cannot be written.
    fn planned(&mut self, plan: &RunPlan) -> Result<(), Failure>;

    /// A context is about to be used (M6: before the nonce is).
    ///
    /// # Errors
    /// When the journal cannot be written; the nonce must not be used then.
    fn attempt(&mut self, index: CaseIndex, nonce: ContextNonce) -> Result<(), Failure>;

    /// A case has a verdict that asks for a point. It is durable before its point is printed.
    ///
    /// # Errors
    /// When journal or TAP cannot be written.
    fn finished(
        &mut self,
        case: &CaseReport,
        evidence: Option<&CaseEvidenceReport>,
    ) -> Result<(), Failure>;

    /// Something to tell on standard error. A loss changes no verdict (J1).
    fn diagnostic(&mut self, diagnostic: &Diagnostic);
}

/// The sink that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullSink;

impl RunSink for NullSink {
    fn planned(&mut self, _: &RunPlan) -> Result<(), Failure> {
        Ok(())
    }

    fn attempt(&mut self, _: CaseIndex, _: ContextNonce) -> Result<(), Failure> {
        Ok(())
    }

    fn finished(&mut self, _: &CaseReport, _: Option<&CaseEvidenceReport>) -> Result<(), Failure> {
        Ok(())
    }

    fn diagnostic(&mut self, _: &Diagnostic) {}
}
