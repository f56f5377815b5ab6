// SPDX-License-Identifier: Apache-2.0
//! What an explanation prints is verified again; what cannot be is named (A11).

use super::sides::{Side, Sides};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    built::ArtifactRole,
    limits::Limit,
    ports::BlobStore as _,
    recipe::LeafValue,
    why::{Explanation, leaf_identity},
};
use edict_test_store::Store;
use std::sync::Arc;

/// Sentences about everything that could not be verified again.
pub(super) fn unverified(sides: &Sides, explanation: &Explanation) -> Vec<String> {
    let mut found = Vec::new();
    for side in [&sides.from, &sides.to] {
        if !side.holds {
            found.push(format!(
                "{}: its content is not what its identities say",
                side.name
            ));
        }
        if let Some(store) = &sides.store {
            of_record(store, side, explanation, &mut found);
        }
    }
    found
}

/// The bytes behind every differing leaf that is a file, and Core, which the build must have left.
fn of_record(store: &Store, side: &Side, explanation: &Explanation, found: &mut Vec<String>) {
    let Some(case) = side.record.case(&explanation.case) else {
        return;
    };
    for leaf in explanation.differing() {
        let label = &leaf.difference.label;
        if case.locator(label).is_some() && leaf_bytes(store, side, explanation, label).is_none() {
            found.push(format!(
                "{label} of {}: its bytes are not in the store",
                side.name
            ));
        }
    }
    if let Some(core) = &case.core {
        let outputs = case.build_key.as_ref().and_then(|key| store.outputs(key));
        let same = outputs.is_some_and(|artifacts| {
            let made = artifacts.iter().find(|it| it.role == ArtifactRole::Core);
            made.is_some_and(|it| it.identity == *core)
        });
        if !same {
            found.push(format!(
                "Core of {}: its build is not in the store",
                side.name
            ));
        }
    }
}

/// The bytes that a file leaf had in a run, when they are in the store and are what the leaf says.
pub(super) fn leaf_bytes(
    store: &Store,
    side: &Side,
    explanation: &Explanation,
    label: &str,
) -> Option<Arc<[u8]>> {
    let case = side.record.case(&explanation.case)?;
    let blob = side.record.file(case.locator(label)?)?;
    let bytes = store.get(blob, ByteLimit::new(Limit::FixtureBytes.ceiling()))?;
    let leaf = case.leaves.iter().find(|leaf| leaf.label == label)?;
    (leaf.value == LeafValue::Digest(leaf_identity(label, &bytes))).then_some(bytes)
}
