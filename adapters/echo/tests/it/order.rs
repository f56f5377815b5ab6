// SPDX-License-Identifier: Apache-2.0
//! What the client sends, in which order, and what it never sends.

use crate::plan::{effectful, named, pins, plan, pure};
use crate::standin::{Bend, StandIn, refused};
use edict_codec::cbor::Value;
use edict_test_model::diagnostic::{Child, Detail};
use edict_test_model::evidence::{ExecutionStep, invocation_id};
use edict_test_model::ports::ExecutionPort;
use edict_test_model::{ContextNonce, FailureKind};
use std::sync::Arc;

pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
    crate::trials![
        one_process_serves_case_after_case,
        a_spent_context_is_never_sent_again,
        a_context_spent_by_a_failed_case_stays_spent,
        after_a_failure_no_host_is_used_or_started,
        a_refused_input_leaves_the_host_for_the_next_case,
        durable_storage_is_asked_for_exactly_with_an_effectful_grant,
        an_invocation_asks_for_the_declared_budget_and_no_basis_when_pure,
        a_frame_limit_below_what_a_host_needs_starts_nothing,
        a_host_that_is_lost_between_two_cases_shows_how_it_ended,
        a_request_above_the_frame_limit_is_not_sent,
        another_executable_than_pinned_is_not_started,
        the_program_of_an_announced_case_is_sent_before_that_case_runs,
        a_refusal_of_what_was_sent_ahead_is_that_of_the_case_that_needs_it,
        a_case_that_was_announced_and_never_run_leaves_the_host_in_order,
    ]
}

fn kinds(standin: &StandIn) -> Vec<u16> {
    standin
        .seen()
        .requests
        .iter()
        .map(|(kind, _)| *kind)
        .collect()
}

fn one_process_serves_case_after_case() {
    let standin = StandIn::honest(&[pure()]);
    let host = standin.host();
    host.preflight(&pins()).unwrap();
    let plan = plan(&[pure(), pure()]);
    for nonce in [1, 2] {
        let evidence = host.run_case(&plan, ContextNonce::new([nonce; 32]));
        assert_eq!(evidence.failure, None);
    }
    host.close().unwrap();
    // hello; install once; per case open, two invocations, close; shutdown.
    assert_eq!(kinds(&standin), [1, 2, 4, 5, 5, 8, 4, 5, 5, 8, 9]);
    assert_eq!(host.submissions(), 4);
    assert_eq!(standin.seen().started, 1);
    assert_eq!(standin.seen().ended, [true]);
}

fn a_spent_context_is_never_sent_again() {
    let standin = StandIn::honest(&[pure()]);
    let host = standin.host();
    host.preflight(&pins()).unwrap();
    let nonce = ContextNonce::new([1; 32]);
    let plan = plan(&[pure()]);
    assert_eq!(host.run_case(&plan, nonce).failure, None);
    let sent = kinds(&standin).len();
    let again = host.run_case(&plan, nonce);
    assert_eq!(again.failure.unwrap().kind, FailureKind::ReplayedContext);
    assert_eq!(again.context, None);
    assert_eq!(kinds(&standin).len(), sent);
    assert_eq!(host.submissions(), 1);
}

fn a_context_spent_by_a_failed_case_stays_spent() {
    let standin = StandIn::new(&[pure()], 4, 1, |wire, it| {
        wire.write(&refused(it, "context-limit", "request"));
    });
    let host = standin.host();
    host.preflight(&pins()).unwrap();
    let nonce = ContextNonce::new([1; 32]);
    let plan = plan(&[pure()]);
    let first = host.run_case(&plan, nonce).failure.unwrap();
    assert_eq!(first.kind, FailureKind::ContextRefused);
    assert_eq!(first.host_code.as_deref(), Some("context-limit"));
    let again = host.run_case(&plan, nonce).failure.unwrap();
    assert_eq!(again.kind, FailureKind::ReplayedContext);
    assert_eq!(host.submissions(), 0);
}

fn after_a_failure_no_host_is_used_or_started() {
    let standin = StandIn::new(&[pure()], 5, 1, |wire, _| wire.end());
    let host = standin.host();
    host.preflight(&pins()).unwrap();
    let plan = plan(&[pure()]);
    let first = host.run_case(&plan, ContextNonce::new([1; 32]));
    assert_eq!(first.failure.unwrap().kind, FailureKind::HostLost);
    let second = host.run_case(&plan, ContextNonce::new([2; 32]));
    assert_eq!(second.failure.unwrap().kind, FailureKind::HostLost);
    assert_eq!((second.host, second.context), (None, None));
    assert_eq!(standin.seen().started, 1);
    assert_eq!(host.submissions(), 1);
    host.close().unwrap();
}

fn a_refused_input_leaves_the_host_for_the_next_case() {
    let standin = StandIn::new(&[pure()], 5, 1, |wire, it| {
        wire.write(&refused(it, "input-type", "request"));
    });
    let host = standin.host();
    host.preflight(&pins()).unwrap();
    let plan = plan(&[pure(), pure()]);
    let first = host.run_case(&plan, ContextNonce::new([1; 32]));
    assert!(first.operations.is_empty());
    let failure = first.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::InputRefused);
    assert_eq!(failure.host_code.as_deref(), Some("input-type"));
    // The second operation was not sent; the next case runs on the same process.
    assert_eq!(kinds(&standin), [1, 2, 4, 5, 8]);
    let second = host.run_case(&plan, ContextNonce::new([2; 32]));
    assert_eq!(second.failure, None);
    assert_eq!(second.operations.len(), 2);
}

fn durable_storage_is_asked_for_exactly_with_an_effectful_grant() {
    let programs = [effectful(), pure()];
    let standin = StandIn::new(&programs, 4, 1, |wire, it| {
        wire.write(&refused(it, "storage-failed", "request"));
    });
    let host = standin.host();
    host.preflight(&pins()).unwrap();
    let nonce = ContextNonce::new([5; 32]);
    host.run_case(&plan(&programs), nonce);
    let seen = standin.seen();
    let (_, open) = seen.requests.last().unwrap();
    let storage = open.get("storage").unwrap();
    assert_eq!(storage.get("kind").unwrap().as_text(), Some("durable"));
    assert_eq!(storage.get("name").unwrap().as_text(), Some(&*nonce.hex()));
    assert_eq!(*open.get("expect").unwrap(), Value::Null);
    assert_eq!(open.get("mode").unwrap().as_text(), Some("create"));
    assert_eq!(
        *open.get("subject").unwrap(),
        named("edict.test/case/v1").to_value()
    );
    let mut grants: Vec<_> = programs.iter().map(|it| it.installation.clone()).collect();
    grants.sort();
    let grants = grants
        .iter()
        .map(edict_codec::digest::TypedDigest::to_value);
    assert_eq!(*open.get("grants").unwrap(), Value::Array(grants.collect()));

    // P15: the policy follows from the package alone.
    let policy = |at: usize, member: &str| {
        let (_, install) = &seen.requests[at];
        install.get("policy").unwrap().get(member).unwrap().clone()
    };
    assert_eq!(policy(1, "authority").as_text(), Some("atoms"));
    assert_eq!(policy(2, "authority").as_text(), Some("pure"));
    assert_eq!(policy(2, "operation").as_text(), Some("demo.choose@1.pick"));
    assert_eq!(policy(2, "maxBudget"), pure().package.budget.to_value());
}

fn an_invocation_asks_for_the_declared_budget_and_no_basis_when_pure() {
    let standin = StandIn::honest(&[pure()]);
    let host = standin.host();
    host.preflight(&pins()).unwrap();
    let nonce = ContextNonce::new([1; 32]);
    host.run_case(&plan(&[pure()]), nonce);
    let seen = standin.seen();
    let (_, invoke) = seen.requests.iter().find(|(kind, _)| *kind == 5).unwrap();
    assert_eq!(*invoke.get("budget").unwrap(), Value::Null);
    assert_eq!(*invoke.get("basis").unwrap(), Value::Null);
    assert_eq!(
        invoke.get("invocation").unwrap().as_bytes(),
        Some(&invocation_id(nonce.bytes(), 0)[..])
    );
    let (_, open) = seen.requests.iter().find(|(kind, _)| *kind == 4).unwrap();
    let storage = open.get("storage").unwrap();
    assert_eq!(storage.get("kind").unwrap().as_text(), Some("volatile"));
    assert_eq!(*storage.get("name").unwrap(), Value::Null);
}

fn a_frame_limit_below_what_a_host_needs_starts_nothing() {
    for (limit, works) in [(1, false), (4095, false), (4096, true)] {
        let standin = StandIn::honest(&[]);
        let outcome = standin.host_with(limit).preflight(&pins());
        if works {
            assert!(outcome.is_ok());
        } else {
            let failure = outcome.unwrap_err();
            assert_eq!(failure.kind, FailureKind::HandshakeFailed);
            // Also a process that never was has its members.
            let child = Child::not_started("host");
            let host_code = None;
            assert_eq!(failure.detail, Some(Detail::Host { child, host_code }));
        }
        assert_eq!(standin.seen().started, usize::from(works));
    }
}

fn a_host_that_is_lost_between_two_cases_shows_how_it_ended() {
    let standin = StandIn::new(&[pure()], 9, 1, |wire, _| wire.end());
    let host = standin.host_per_case();
    host.preflight(&pins()).unwrap();
    let plan = plan(&[pure()]);
    let first = host.run_case(&plan, ContextNonce::new([1; 32]));
    assert_eq!(first.failure, None);
    let second = host.run_case(&plan, ContextNonce::new([2; 32]));
    let failure = second.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::HostLost);
    assert_eq!(failure.child, Some(Child::not_started("host")));
    assert_eq!(failure.excerpt.unwrap().text, "last words");
    assert_eq!(standin.seen().started, 1);
}

fn a_request_above_the_frame_limit_is_not_sent() {
    let standin = StandIn::honest(&[pure()]);
    let host = standin.host_with(4096);
    host.preflight(&pins()).unwrap();
    let mut plan = plan(&[pure()]);
    plan.operations[0].input = edict_test_model::built::Body::new(vec![0; 4096]);
    let evidence = host.run_case(&plan, ContextNonce::new([1; 32]));
    assert_eq!(evidence.failure.unwrap().kind, FailureKind::FrameTooLarge);
    assert_eq!(kinds(&standin), [1, 2, 4]);
}

fn another_executable_than_pinned_is_not_started() {
    let standin = StandIn::honest(&[]);
    let mut pins = pins();
    pins.executable = named("edict.test/blob/v1");
    let failure = standin.host().preflight(&pins).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ToolMismatch);
    assert_eq!(standin.seen().started, 0);
}

fn the_program_of_an_announced_case_is_sent_before_that_case_runs() {
    let standin = StandIn::honest(&[pure(), effectful()]);
    let host = standin.host();
    host.preflight(&pins()).unwrap();
    let next = Arc::new(plan(&[pure(), effectful()]));
    host.announce(&next);
    let first = host.run_case(&plan(&[pure()]), ContextNonce::new([1; 32]));
    assert_eq!(first.failure, None);
    assert_eq!(kinds(&standin), [1, 2, 4, 5, 8, 2]);
    host.run_case(&next, ContextNonce::new([2; 32]));
    // Nothing is installed twice, and an announcement holds for one case.
    assert_eq!(kinds(&standin)[6], 4);
    let installed = kinds(&standin).iter().filter(|kind| **kind == 2).count();
    assert_eq!(installed, 2);
}

fn a_refusal_of_what_was_sent_ahead_is_that_of_the_case_that_needs_it() {
    let standin = StandIn::new(&[pure(), effectful()], 2, 2, |wire, it| {
        wire.write(&refused(it, "package-mismatch", "request"));
    });
    let host = standin.host();
    host.preflight(&pins()).unwrap();
    let next = Arc::new(plan(&[pure(), effectful()]));
    host.announce(&next);
    let first = host.run_case(&plan(&[pure()]), ContextNonce::new([1; 32]));
    assert_eq!(first.failure, None);
    let second = host.run_case(&next, ContextNonce::new([2; 32]));
    let failure = second.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::InstallRefused);
    assert_eq!(failure.step, ExecutionStep::Install(1));
    assert_eq!(second.context, None);
}

fn a_case_that_was_announced_and_never_run_leaves_the_host_in_order() {
    let refuse: Bend = |wire, it| wire.write(&refused(it, "package-mismatch", "request"));
    for standin in [
        StandIn::honest(&[pure(), effectful()]),
        StandIn::new(&[pure(), effectful()], 2, 2, refuse),
    ] {
        let host = standin.host();
        host.preflight(&pins()).unwrap();
        host.announce(&Arc::new(plan(&[effectful()])));
        let nonces = [1, 2].map(|nonce| ContextNonce::new([nonce; 32]));
        let first = host.run_case(&plan(&[pure()]), nonces[0]);
        assert_eq!(first.failure, None);
        // Another case than the announced one: the answer is taken and concerns nobody.
        let other = host.run_case(&plan(&[pure()]), nonces[1]);
        assert_eq!(other.failure, None);
        assert_eq!(kinds(&standin), [1, 2, 4, 5, 8, 2, 4, 5, 8]);
        host.announce(&Arc::new(plan(&[effectful()])));
        host.close().unwrap();
        assert_eq!(standin.seen().ended, [true]);
    }
}
