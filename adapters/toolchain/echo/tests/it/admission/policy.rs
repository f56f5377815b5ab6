// SPDX-License-Identifier: Apache-2.0
//! Operation, authority and budgets.

use super::{copy, kind_of, refusal};
use echo_host::pin::Authority;
use serde_json::json;

const MEMBERS: [&str; 3] = ["maxSteps", "maxAllocatedBytes", "maxOutputBytes"];

#[test]
fn h20_the_policy_decides_operation_authority_and_budget() {
    let mut sealed = copy().build().seal();
    sealed.policy.operation = "m@1.other".to_owned();
    assert_eq!(refusal(&sealed).0, "operation-mismatch");
    let mut program = copy();
    program.kind = "effectful";
    let mut sealed = program.build().seal();
    sealed.policy.authority = Authority::Pure;
    assert_eq!(refusal(&sealed).0, "authority-mismatch");
    sealed.policy.authority = Authority::Atoms;
    assert_eq!(refusal(&sealed).0, "kind-mismatch");
    let mut sealed = copy().limited([9, 8, 7]).build().seal();
    let most = &mut sealed.policy.max_budget;
    (
        most.max_steps,
        most.max_allocated_bytes,
        most.max_output_bytes,
    ) = (9, 8, 7);
    sealed.admit().unwrap();
    for (member, name) in MEMBERS.into_iter().enumerate() {
        let mut short = sealed.clone();
        let most = &mut short.policy.max_budget;
        match member {
            0 => most.max_steps -= 1,
            1 => most.max_allocated_bytes -= 1,
            _ => most.max_output_bytes -= 1,
        }
        let place = format!(".budget.{name}");
        assert_eq!(refusal(&short), ("budget-above-policy", Some(place)));
    }
}

#[test]
fn h21_the_budget_is_one_and_within_the_host() {
    let mut program = copy();
    program.intent()["coreEvaluationBudget"]["maxSteps"] = json!(1);
    assert_eq!(kind_of(&program), "budget-mismatch");
    let mut program = copy();
    program.core["intents"]["run"]["budget"]["maxOutputBytes"] = json!(1);
    assert_eq!(kind_of(&program), "budget-mismatch");
    let most = [1_000_000_000, 268_435_456, 8_388_608];
    copy().limited(most).admit().unwrap();
    for (member, name) in MEMBERS.into_iter().enumerate() {
        let mut limits = most;
        limits[member] += 1;
        let place = format!(".budget.{name}");
        let found = refusal(&copy().limited(limits).build().seal());
        assert_eq!(found, ("budget-above-host", Some(place)));
    }
}
