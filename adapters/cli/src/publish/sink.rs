// SPDX-License-Identifier: Apache-2.0
//! The publisher as the sink of the run loop: journal first, then the point (M7).

use super::{Held, Publisher};
use edict_test_model::{
    CaseIndex, ContextNonce, Diagnostic, Failure,
    run::{CaseEvidenceReport, CaseReport, RunPlan, RunSink},
};
use std::io::Write;

impl<Out: Write, Err: Write> RunSink for Publisher<Out, Err> {
    fn planned(&mut self, _: &RunPlan) -> Result<(), Failure> {
        Ok(())
    }

    fn attempt(&mut self, index: CaseIndex, nonce: ContextNonce) -> Result<(), Failure> {
        if let Some(document) = &self.known.document
            && let Some(case) = document.cases.get(index.0)
        {
            let (number, total) = (index.0 + 1, document.cases.len());
            self.progress
                .show(&format!("case {number} of {total}: {}", case.id));
        }
        match &mut self.place {
            Some(place) => place.attempt(index, nonce),
            None => Ok(()),
        }
    }

    /// Journal first, then the point; the last point waits for the report.
    fn finished(
        &mut self,
        case: &CaseReport,
        evidence: Option<&CaseEvidenceReport>,
    ) -> Result<(), Failure> {
        if let Some(place) = &mut self.place {
            place.case(case, evidence)?;
        }
        self.record_case(case);
        let Some(verdict) = case.verdict() else {
            return Err(Failure::internal("a point without a verdict"));
        };
        let held = Held {
            verdict,
            label: case.label.clone(),
            id: case.id.to_string(),
            skip: case.skip.clone(),
        };
        let total = self
            .known
            .document
            .as_ref()
            .map_or(0, |document| document.cases.len());
        if case.index.0 + 1 == total {
            self.held = Some(held);
            return Ok(());
        }
        self.print(&held)
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        match diagnostic {
            Diagnostic::Failure { failure, primary } => self.note(failure, *primary),
            Diagnostic::Notice(_) => self.diagnostics.write(diagnostic),
        }
    }
}
