// SPDX-License-Identifier: Apache-2.0
//! What a manifest names, in the order in which it is read.

use edict_test_model::{
    CaseId, Locator,
    suite::{Expect, SuiteDocument},
};

/// One file that a manifest names.
pub(super) struct Reference<'a> {
    pub(super) locator: &'a Locator,
    pub(super) case: &'a CaseId,
    pub(super) pointer: String,
    /// An application document, otherwise a fixture.
    pub(super) application: bool,
}

/// Everything that a manifest names, in the order in which it is read.
pub(super) fn references(document: &SuiteDocument) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    for (index, case) in document.cases.iter().enumerate() {
        let mut name = |locator, member: &str, application| {
            found.push(Reference {
                locator,
                case: &case.id,
                pointer: format!("/cases/{index}/{member}"),
                application,
            });
        };
        name(&case.application, "application", true);
        name(&case.input, "input", false);
        for (entry, setup) in case.setup.iter().enumerate() {
            name(
                &setup.application,
                &format!("setup/{entry}/application"),
                true,
            );
            name(&setup.input, &format!("setup/{entry}/input"), false);
        }
        if let Expect::Obstruction { payload, .. } = &case.expect {
            name(payload, "expect/payload", false);
        }
    }
    found
}
