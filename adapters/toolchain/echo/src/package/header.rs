// SPDX-License-Identifier: Apache-2.0
//! What Target IR says of itself (check A12): its form, its target and the Core it comes from.

use super::fields::{Item, Wrong};
use edict_codec::cbor::Value;

/// Judges everything of Target IR but its closure and its intents, which have checks of their own.
pub(crate) fn judge(target_ir: &Value, core: &Value) -> Result<(), Wrong> {
    let [kind, domain, profile, source, _closure, _intents] = Item::root(target_ir).map([
        "kind",
        "domain",
        "targetProfile",
        "sourceCoreCoordinate",
        "semanticClosure",
        "intents",
    ])?;
    stands(&kind, "orderedTargetIrArtifact")?;
    stands(&domain, "echo.atoms-ir/v1")?;
    let [id, _digest] = profile.map(["id", "digest"])?;
    stands(&id, "echo.dpo@1")?;
    if Some(source.value()) == core.get("coordinate") {
        Ok(())
    } else {
        Err(source.wrong("the coordinate of the embedded Core must stand here"))
    }
}

fn stands(item: &Item<'_>, expected: &str) -> Result<(), Wrong> {
    if item.text()? == expected {
        Ok(())
    } else {
        Err(item.wrong(format!("`{expected}` must stand here")))
    }
}
