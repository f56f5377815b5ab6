// SPDX-License-Identifier: Apache-2.0
//! Whether an action runs or its outputs are taken from the store, and what was decided (A4, A5).

use crate::db::Ports;
use edict_codec::digest::TypedDigest;
use edict_test_model::{
    Failure, FailureKind, Stage,
    built::{Artifact, Built, VerificationOutcome, Verified},
    diagnostic::Notice,
    ports::{ActionStore, BuildRequest, VerifyRequest},
    recipe::key,
    run::{BuildDecision, VerifyDecision},
};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// What may be reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReusePolicy {
    /// Every build runs.
    pub fresh_build: bool,
    /// Every verification runs.
    pub fresh_verify: bool,
    /// Every reused action runs again, and its outputs must be the same bytes.
    pub check: bool,
}

/// The store of actions, if there is one, and the log of decisions.
pub struct Actions {
    store: OnceLock<Arc<dyn ActionStore>>,
    policy: ReusePolicy,
    decisions: Mutex<Decisions>,
}

/// How each action was come by, and what the store had to tell.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// Build key to decision.
    pub builds: BTreeMap<TypedDigest, BuildDecision>,
    /// Package identity to decision.
    pub verifications: BTreeMap<TypedDigest, VerifyDecision>,
    /// Warnings of the store.
    pub notices: Vec<Notice>,
}

impl fmt::Debug for Actions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Actions")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl Actions {
    /// Actions over `store`; without one everything runs.
    pub fn new(store: Option<Arc<dyn ActionStore>>, policy: ReusePolicy) -> Self {
        let actions = Self {
            store: OnceLock::new(),
            policy,
            decisions: Mutex::default(),
        };
        if let Some(store) = store {
            actions.attach(store);
        }
        actions
    }

    /// Uses `store` from now on, unless there is one already: a store that is only made once the
    /// inputs of a run are known to be good.
    pub fn attach(&self, store: Arc<dyn ActionStore>) {
        _ = self.store.set(store);
    }

    /// What was decided so far.
    pub fn decisions(&self) -> Decisions {
        self.with(|decisions| decisions.clone())
    }

    fn with<T>(&self, change: impl FnOnce(&mut Decisions) -> T) -> T {
        change(
            &mut self
                .decisions
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    fn note_build(&self, key: TypedDigest, decision: BuildDecision, notices: Vec<Notice>) {
        self.with(|decisions| {
            decisions.builds.insert(key, decision);
            decisions.notices.extend(notices);
        });
    }

    fn note_verification(&self, key: TypedDigest, decision: VerifyDecision, notices: Vec<Notice>) {
        self.with(|decisions| {
            decisions.verifications.insert(key, decision);
            decisions.notices.extend(notices);
        });
    }
}

/// The outputs of a build: from the store, or from the compiler.
pub(crate) fn build_or_reuse(ports: &Ports, request: &BuildRequest) -> Result<Built, Failure> {
    let actions = &ports.actions;
    let key = key(&request.recipe);
    let mut notices = Vec::new();
    if let Some(store) = actions.store.get().filter(|_| !actions.policy.fresh_build) {
        let lookup = store.built(&request.recipe);
        notices = lookup.notices;
        if let Some(built) = lookup.found {
            actions.note_build(key, BuildDecision::Reused, notices);
            if actions.policy.check {
                let again = ports.compiler.build(request)?;
                for (kept, made) in built.artifacts().into_iter().zip(again.artifacts()) {
                    same(Stage::Build, kept, made)?;
                }
            }
            return Ok(built);
        }
    }
    let built = ports.compiler.build(request);
    if let (Ok(built), Some(store)) = (&built, actions.store.get()) {
        notices.extend(store.keep_built(&request.recipe, built));
    }
    let decision = if built.is_ok() {
        BuildDecision::Built
    } else {
        BuildDecision::NotBuilt
    };
    actions.note_build(key, decision, notices);
    built
}

/// A judgement of the verifier: from the store, or from the verifier. Rejections are never kept.
pub(crate) fn verify_or_reuse(ports: &Ports, request: &VerifyRequest) -> Result<Verified, Failure> {
    let actions = &ports.actions;
    let key = request.built.package.identity.clone();
    let mut notices = Vec::new();
    if let Some(store) = actions.store.get().filter(|_| !actions.policy.fresh_verify) {
        let lookup = store.verified(&request.recipe);
        notices = lookup.notices;
        if let Some(verified) = lookup.found {
            actions.note_verification(key, VerifyDecision::Reused, notices);
            if actions.policy.check {
                let again = ports.verifier.verify(request)?;
                same(Stage::Verify, &verified.report, &again.report)?;
            }
            return Ok(verified);
        }
    }
    let verified = ports.verifier.verify(request);
    if let (Ok(verified), Some(store)) = (&verified, actions.store.get())
        && verified.outcome == VerificationOutcome::Accepted
    {
        notices.extend(store.keep_verified(&request.recipe, verified));
    }
    let decision = match verified {
        Ok(_) => VerifyDecision::Verified,
        Err(_) => VerifyDecision::NotVerified,
    };
    actions.note_verification(key, decision, notices);
    verified
}

/// A reused output must be what the action makes now (A5).
fn same(stage: Stage, kept: &Artifact, made: &Artifact) -> Result<(), Failure> {
    if kept == made {
        return Ok(());
    }
    let message = format!(
        "the cached `{}` of stage {} is not what the action makes; delete the state directory",
        kept.role.name(),
        stage.name(),
    );
    Err(
        Failure::new(Stage::Report, FailureKind::ArtifactBodyMismatch, message)
            .mismatch(&kept.identity, &made.identity),
    )
}
