// SPDX-License-Identifier: Apache-2.0
//! One execution of one frozen attempt. It can be neither re-run nor reused.

use crate::{db::Db, inputs::Attempt};
use edict_test_model::{ContextNonce, evidence::CaseEvidence, plan::CasePlan};
use salsa::Durability;
use std::sync::Arc;

/// Freezes one execution. The run loop calls this; a query never does.
pub(crate) fn mint(db: &dyn Db, plan: &Arc<CasePlan>, context: ContextNonce) -> Attempt {
    Attempt::builder(Arc::clone(plan), context)
        .durability(Durability::NEVER_CHANGE)
        .new(db)
}

/// Submits an attempt once. Total: a stop, a timeout and a lost host are evidence too, so a
/// consumed context always leaves a value here. No query is called after the port was entered.
#[salsa::tracked(returns(clone))]
pub(crate) fn execute(db: &dyn Db, attempt: Attempt) -> Arc<CaseEvidence> {
    Arc::new(
        db.ports()
            .host
            .run_case(attempt.plan(db), attempt.context(db)),
    )
}
