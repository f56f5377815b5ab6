// SPDX-License-Identifier: Apache-2.0
//! Calibration: a changed program flips exactly the listed cases, because it behaves otherwise.

use super::support::{table, tools};
use std::collections::BTreeSet;
use xtask::jim::{
    evidence::differences,
    home,
    lane::PROGRAMS,
    mutation::{Mutation, flips, run_suite},
    suite,
};

const CONTROLS: [&str; 3] = ["insert-in-middle", "delete-middle", "range-end-past-text"];

/// Runs a mutation with its listed cases and the controls.
fn calibrate(id: &str) {
    let all = Mutation::all().unwrap();
    let mutation = all.iter().find(|it| it.id == id).unwrap();
    let listed: BTreeSet<&str> = mutation
        .verdict
        .named
        .iter()
        .chain(&mutation.setup.named)
        .map(String::as_str)
        .collect();
    let ids: Vec<&str> = listed.iter().copied().chain(CONTROLS).collect();
    let table = table().only(&ids);
    let space = tempfile::tempdir().unwrap();
    let run = mutation.run(&tools(), &table, space.path()).unwrap();
    let found = flips(&run);
    assert_eq!(found.verdict, mutation.verdict.named, "{id}");
    assert_eq!(found.setup, mutation.setup.named, "{id}");
    assert_eq!(found.other, BTreeSet::new(), "{id}");
    // A flip is a change of executed behavior: retained evidence differs in exactly these cases.
    let differing: BTreeSet<String> = differences(&run, &table).into_keys().collect();
    assert_eq!(
        differing
            .iter()
            .map(String::as_str)
            .collect::<BTreeSet<_>>(),
        listed,
        "{id}"
    );
    let exit = if found.setup.is_empty() { 1 } else { 2 };
    assert_eq!(run.report["semantic"]["outcome"]["exitCode"], exit, "{id}");
}

#[test]
fn bt_022_m1_an_edit_without_its_basis_is_noticed() {
    calibrate("M1");
}

#[test]
fn bt_022_m2_narrow_coordinates_are_noticed() {
    calibrate("M2");
}

#[test]
fn bt_022_m3_bounds_before_order_are_noticed() {
    calibrate("M3");
}

#[test]
fn bt_022_m4_a_clipped_range_is_noticed() {
    calibrate("M4");
}

#[test]
fn bt_022_m6_an_unjudged_start_is_noticed() {
    calibrate("M6");
}

#[test]
fn bt_022_m7_an_unjudged_end_is_noticed() {
    calibrate("M7");
}

#[test]
fn bt_022_m8_an_edit_of_nothing_is_noticed() {
    calibrate("M8");
}

#[test]
fn bt_022_m9_equal_lengths_instead_of_bytes_are_noticed() {
    calibrate("M9");
}

#[test]
fn bt_022_m10_boundaries_before_counters_are_noticed() {
    calibrate("M10");
}

#[test]
fn bt_022_m11_counters_that_fall_back_are_noticed() {
    calibrate("M11");
}

#[test]
fn bt_022_m15_a_length_in_scalars_is_noticed() {
    calibrate("M15");
}

#[test]
fn bt_022_m16_a_carriage_return_as_a_break_is_noticed() {
    calibrate("M16");
}

#[test]
fn bt_022_a_mutation_restored_passes_again_and_a_renamed_one_is_refused() {
    let mut mutation = Mutation::all().unwrap().remove(2);
    mutation.edits.push([
        "src/replace-range.edict".into(),
        "no such text".into(),
        String::new(),
    ]);
    let space = tempfile::tempdir().unwrap();
    let error = mutation
        .run(&tools(), &table().only(&CONTROLS), space.path())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("is not once in src/replace-range.edict"),
        "{error}"
    );
    let programs = space.path().join("suite/programs");
    std::fs::remove_dir_all(&programs).unwrap();
    suite::copy(&home().join("programs"), &programs).unwrap();
    let run = run_suite(&tools(), space.path()).unwrap();
    assert_eq!(flips(&run), xtask::jim::mutation::Flips::default());
    assert_eq!(run.verdicts().len(), CONTROLS.len());
}

#[test]
fn bt_022_every_mutation_applies_and_compiles() {
    let all = Mutation::all().unwrap();
    assert_eq!(all.len(), 18);
    for (number, mutation) in all.iter().enumerate() {
        assert_eq!(mutation.id, format!("M{}", number + 1));
        let space = tempfile::tempdir().unwrap();
        suite::copy(&home().join("programs"), space.path()).unwrap();
        mutation.apply(&tools(), space.path()).unwrap();
        for name in PROGRAMS {
            tools().build(space.path(), name).unwrap();
        }
        for id in mutation.verdict.named.iter().chain(&mutation.setup.named) {
            assert!(
                table()
                    .cases
                    .iter()
                    .any(|case| case.required && case.id == *id),
                "{id}"
            );
        }
    }
}
