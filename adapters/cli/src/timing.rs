// SPDX-License-Identifier: Apache-2.0
//! How long compiler, verifier and host took: telemetry, which nothing is decided by.

use edict_codec::digest::TypedDigest;
use edict_test_model::{
    CaseId, ContextNonce, Failure,
    built::{Built, Verified},
    evidence::CaseEvidence,
    plan::{CasePlan, HostPins},
    ports::{BuildRequest, Compiler, ExecutionPort, Verifier, VerifyRequest},
    recipe::key,
    run::HostReport,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// Milliseconds of what was done. What was reused or never reached has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations {
    /// By build key.
    pub(crate) builds: BTreeMap<TypedDigest, u64>,
    /// By identity of the verified package.
    pub(crate) verifications: BTreeMap<TypedDigest, u64>,
    /// By case.
    pub(crate) executions: BTreeMap<CaseId, u64>,
}

/// Where the measured ports of one run note their durations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock(Arc<Mutex<Durations>>);

impl Clock {
    /// What was measured so far.
    pub(crate) fn durations(&self) -> Durations {
        self.with(|durations| durations.clone())
    }

    fn with<T>(&self, change: impl FnOnce(&mut Durations) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Does some work; how long it took, in milliseconds, goes where `note` puts it.
    fn measure<T>(&self, work: impl FnOnce() -> T, note: impl FnOnce(&mut Durations, u64)) -> T {
        let begin = Instant::now();
        let done = work();
        let elapsed = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.with(|durations| note(durations, elapsed));
        done
    }
}

/// A port whose calls are measured.
pub(crate) struct Measured<Port: ?Sized> {
    port: Arc<Port>,
    clock: Clock,
}

impl<Port: ?Sized> Measured<Port> {
    /// Measures `port` with `clock`.
    pub(crate) fn new(port: Arc<Port>, clock: &Clock) -> Self {
        let clock = clock.clone();
        Self { port, clock }
    }
}

impl Compiler for Measured<dyn Compiler> {
    fn build(&self, request: &BuildRequest) -> Result<Built, Failure> {
        let build = || self.port.build(request);
        self.clock.measure(build, |durations, elapsed| {
            durations.builds.insert(key(&request.recipe), elapsed);
        })
    }
}

impl Verifier for Measured<dyn Verifier> {
    fn verify(&self, request: &VerifyRequest) -> Result<Verified, Failure> {
        let package = request.built.package.identity.clone();
        let verify = || self.port.verify(request);
        self.clock.measure(verify, |durations, elapsed| {
            durations.verifications.insert(package, elapsed);
        })
    }
}

impl ExecutionPort for Measured<dyn ExecutionPort> {
    fn preflight(&self, pins: &HostPins) -> Result<HostReport, Failure> {
        self.port.preflight(pins)
    }

    fn announce(&self, next: &Arc<CasePlan>) {
        self.port.announce(next);
    }

    fn run_case(&self, plan: &CasePlan, nonce: ContextNonce) -> CaseEvidence {
        let run = || self.port.run_case(plan, nonce);
        self.clock.measure(run, |durations, elapsed| {
            durations.executions.insert(plan.id.clone(), elapsed);
        })
    }

    fn close(&self) -> Result<(), Failure> {
        self.port.close()
    }

    fn submissions(&self) -> u64 {
        self.port.submissions()
    }
}
