// SPDX-License-Identifier: Apache-2.0
//! Which leaves of two records differ, in preimage order.

use super::record::{Leaf, LeafValue};
use std::collections::BTreeMap;

/// A label whose values differ; `None` where a side has no such leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The label.
    pub label: String,
    /// Its value before.
    pub from: Option<LeafValue>,
    /// Its value after.
    pub to: Option<LeafValue>,
}

/// The differing leaves of two lists: those of `to` in its order, then those that only `from` has.
/// The answer is empty exactly when the lists are equal.
pub fn differing(from: &[Leaf], to: &[Leaf]) -> Vec<Difference> {
    let before: BTreeMap<&str, &LeafValue> = index(from);
    let after: BTreeMap<&str, &LeafValue> = index(to);
    let changed = to.iter().filter_map(|leaf| {
        let old = before.get(leaf.label.as_str()).copied();
        (old != Some(&leaf.value)).then(|| Difference {
            label: leaf.label.clone(),
            from: old.cloned(),
            to: Some(leaf.value.clone()),
        })
    });
    let gone = |leaf: &&Leaf| !after.contains_key(leaf.label.as_str());
    let removed = from.iter().filter(gone).map(|leaf| Difference {
        label: leaf.label.clone(),
        from: Some(leaf.value.clone()),
        to: None,
    });
    let mut differences: Vec<Difference> = changed.chain(removed).collect();
    if differences.is_empty() && from != to {
        // Equal as sets but not as lists: the order itself is the difference.
        differences.push(Difference {
            label: "order".to_owned(),
            from: None,
            to: None,
        });
    }
    differences
}

fn index(leaves: &[Leaf]) -> BTreeMap<&str, &LeafValue> {
    leaves
        .iter()
        .map(|leaf| (leaf.label.as_str(), &leaf.value))
        .collect()
}
