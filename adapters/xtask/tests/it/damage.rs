// SPDX-License-Identifier: Apache-2.0
//! Some hundred damaged inputs for each program: every one is answered, and enough of them come
//! through the first reading.

use crate::support::programs;
use xtask::damage::{Executions, cores, packages, sources};

/// Goes on until so many were answered.
fn until(answered: u64) -> impl FnMut(Executions) -> bool {
    move |done| done.answered < answered
}

#[test]
fn damaged_sources_are_answered_and_what_is_built_verifies() {
    let done = sources(&programs(), &mut until(1_200)).unwrap();
    assert!(done.answered >= 1_200, "{done:?}");
    assert!(done.deeper > 60, "{done:?}");
}

#[test]
fn damaged_core_is_judged_and_never_accepted() {
    let done = cores(&programs(), &mut until(300)).unwrap();
    assert!(done.deeper > 25, "{done:?}");
}

#[test]
fn damaged_packages_are_answered() {
    let done = packages(&programs(), &mut until(500)).unwrap();
    assert!(done.answered >= 500, "{done:?}");
}
