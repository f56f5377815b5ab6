// SPDX-License-Identifier: Apache-2.0
//! Calls among the helpers of a lawpack.

use super::Surroundings;
use crate::{core::tree::Function, core_artifact::Reach};
use std::collections::BTreeMap;

/// Greatest chain of calls of helpers.
const MAX_CALLS: usize = 128;

/// Helpers call only helpers that exist, with the right number of arguments, in no cycle and at
/// most 128 deep.
pub(super) fn check(
    helpers: &BTreeMap<String, Function>,
    around: &Surroundings<'_>,
) -> Result<(), String> {
    let prefix = format!("{}.", around.coordinate);
    let mut callees = BTreeMap::new();
    for (name, helper) in helpers {
        let mut reach = Reach::default();
        reach.function(helper);
        let mut own = Vec::new();
        for callee in reach.callees {
            if around.helpers.contains_key(&callee) {
                continue;
            }
            match callee.strip_prefix(&prefix) {
                Some(name) if helpers.contains_key(name) => own.push(name.to_owned()),
                _ => {
                    return Err(format!(
                        "helper `{name}` calls `{callee}`, which is unknown"
                    ));
                }
            }
        }
        callees.insert(name.as_str(), own);
    }
    let mut depths = BTreeMap::new();
    for name in helpers.keys() {
        call_depth(name, &callees, &mut depths, 0)?;
    }
    Ok(())
}

/// The length of the longest chain of calls that starts at `name`.
fn call_depth(
    name: &str,
    callees: &BTreeMap<&str, Vec<String>>,
    depths: &mut BTreeMap<String, usize>,
    above: usize,
) -> Result<usize, String> {
    if let Some(known) = depths.get(name) {
        return Ok(*known);
    }
    if above >= MAX_CALLS {
        return Err(format!(
            "helper `{name}` calls itself, or calls nest deeper than {MAX_CALLS}"
        ));
    }
    let mut depth = 1;
    for callee in callees.get(name).into_iter().flatten() {
        let below = call_depth(callee, callees, depths, above.saturating_add(1))?;
        depth = depth.max(below.saturating_add(1));
    }
    if depth > MAX_CALLS {
        return Err(format!("calls of `{name}` nest deeper than {MAX_CALLS}"));
    }
    depths.insert(name.to_owned(), depth);
    Ok(depth)
}
