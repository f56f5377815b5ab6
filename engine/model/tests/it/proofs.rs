// SPDX-License-Identifier: Apache-2.0
//! The search for the changes that are needed: exact, bounded, and honest about what does not
//! reproduce.

use edict_test_model::why::{Proof, TrialOutcome, prove};
use proptest::prelude::*;

/// Whether `set` holds all of `needed`.
fn holds(set: &[usize], needed: &[usize]) -> bool {
    needed.iter().all(|it| set.contains(it))
}

proptest! {
    #[test]
    fn a_proof_finds_exactly_the_changes_that_are_needed(
        count in 1usize..12,
        picks in prop::collection::btree_set(0usize..12, 1..4),
    ) {
        let needed: Vec<usize> = picks.into_iter().filter(|it| *it < count).collect();
        prop_assume!(!needed.is_empty());
        let mut executions = 0;
        let proof = prove(count, 64, &mut |set| {
            executions += 1;
            if holds(set, &needed) { TrialOutcome::New } else { TrialOutcome::Old }
        });
        prop_assert_eq!(proof, Proof::Found { changes: needed, necessary: Some(true), executions });
    }

    #[test]
    fn a_proof_never_executes_more_than_it_may(count in 1usize..12, limit in 0u32..20) {
        let mut executions = 0;
        let proof = prove(count, limit, &mut |set| {
            executions += 1;
            if set.len() == count { TrialOutcome::New } else { TrialOutcome::Old }
        });
        prop_assert!(executions <= limit.max(1));
        match proof {
            Proof::Found { changes, .. } => prop_assert_eq!(changes.len(), count),
            // What was never executed is not called enough.
            Proof::LimitReached { changes, executions } => {
                prop_assert_eq!(changes.len(), if executions == 1 { 0 } else { count });
            }
            Proof::Nondeterministic { .. } => prop_assert!(false, "both ends behave"),
            Proof::Held { .. } => prop_assert!(false, "all changes together change the verdict"),
        }
    }
}

#[test]
fn ends_that_do_not_reproduce_are_nondeterministic() {
    let always = |outcome| prove(3, 16, &mut |_| outcome);
    assert_eq!(
        always(TrialOutcome::Old),
        Proof::Nondeterministic { executions: 2 }
    );
    assert_eq!(
        always(TrialOutcome::New),
        Proof::Nondeterministic { executions: 2 }
    );
    assert_eq!(
        always(TrialOutcome::Other),
        Proof::Nondeterministic { executions: 2 }
    );
    let nothing = prove(0, 16, &mut |_| TrialOutcome::Old);
    assert_eq!(nothing, Proof::Nondeterministic { executions: 1 });
}

#[test]
fn two_sufficient_changes_are_found_one_at_a_time() {
    let proof = prove(4, 64, &mut |set| {
        if set.contains(&0) || set.contains(&3) {
            TrialOutcome::New
        } else {
            TrialOutcome::Old
        }
    });
    assert_eq!(
        proof,
        Proof::Found {
            changes: vec![0],
            necessary: Some(false),
            executions: 5
        }
    );
}

#[test]
fn what_could_not_be_executed_is_not_called_necessary() {
    let proof = prove(4, 4, &mut |set| {
        if set.contains(&0) {
            TrialOutcome::New
        } else {
            TrialOutcome::Old
        }
    });
    assert_eq!(
        proof,
        Proof::Found {
            changes: vec![0],
            necessary: None,
            executions: 4
        }
    );
}
