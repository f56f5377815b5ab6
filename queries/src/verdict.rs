// SPDX-License-Identifier: Apache-2.0
//! The verdict of one attempt.

use crate::{db::Db, execute::execute, inputs::Attempt, plan::plan, snapshot::Case};
use edict_test_model::{
    evidence::CaseEvidence,
    verdict::{Judged, judge, stale_attempt, unsubmitted},
};
use std::sync::Arc;

/// What became of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    /// The judgement.
    pub(crate) judged: Judged,
    /// What the host said; `None` when nothing was submitted.
    pub(crate) evidence: Option<Arc<CaseEvidence>>,
}

/// Executes the attempt and judges what came back.
#[salsa::tracked(returns(clone))]
pub(crate) fn verdict<'db>(db: &'db dyn Db, case: Case<'db>, attempt: Attempt) -> Arc<Decided> {
    let frozen = attempt.plan(db);
    // Inputs edited since the attempt was minted make its evidence foreign to this case, and
    // nothing is submitted for it.
    if plan(db, case).as_ref() != Ok(frozen) {
        let judged = unsubmitted(frozen, stale_attempt(frozen));
        return Arc::new(Decided {
            judged,
            evidence: None,
        });
    }
    let evidence = execute(db, attempt);
    let judged = judge(frozen, attempt.context(db), &evidence);
    Arc::new(Decided {
        judged,
        evidence: Some(evidence),
    })
}
