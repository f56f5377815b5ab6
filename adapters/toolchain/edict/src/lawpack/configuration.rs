// SPDX-License-Identifier: Apache-2.0
//! The configuration of effects on atoms: spaces, and where key, value and versions stand.

use super::target::CONFIGURATION;
use crate::shape::{At, ShapeError};
use std::collections::BTreeMap;

/// Where the result of an intrinsic stands in the result of the effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The result is the value.
    Value,
    /// The result is the version.
    Version,
    /// The result is a record with these fields.
    Fields {
        /// Field of the value.
        value: Option<String>,
        /// Field of the version.
        version: Option<String>,
    },
}

/// One effect, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectConfiguration {
    /// Space of the atoms.
    pub space: String,
    /// Type text of the stored value.
    pub atom: String,
    /// Path of the key into the effect input.
    pub key: Vec<String>,
    /// Path of the value.
    pub value: Option<Vec<String>>,
    /// Path of the expected version.
    pub expected: Option<Vec<String>>,
    /// Form of the result.
    pub output: Output,
}

/// Reads a configuration of the bundled profile.
///
/// # Errors
/// The first member that is not of its form.
pub fn read(at: &At<'_>) -> Result<BTreeMap<String, EffectConfiguration>, ShapeError> {
    let at = at.closed();
    at.object(&["apiVersion", "effects"], &[])?;
    at.member("apiVersion")?.exactly(CONFIGURATION)?;
    at.member("effects")?
        .entries()?
        .iter()
        .map(|(name, value)| Ok(((*name).to_owned(), effect(value)?)))
        .collect()
}

fn effect(at: &At<'_>) -> Result<EffectConfiguration, ShapeError> {
    at.object(
        &["space", "atomType", "key", "output"],
        &["value", "expected"],
    )?;
    let space = at.member("space")?;
    if !(1..=256).contains(&space.text()?.len()) {
        return Err(space.fail("a space has 1 to 256 bytes"));
    }
    let path = |name| at.optional(name).map(|it| it.texts()).transpose();
    Ok(EffectConfiguration {
        space: space.text()?.to_owned(),
        atom: at.text_of("atomType")?.to_owned(),
        key: at.member("key")?.texts()?,
        value: path("value")?,
        expected: path("expected")?,
        output: output(&at.member("output")?)?,
    })
}

fn output(at: &At<'_>) -> Result<Output, ShapeError> {
    match at.value().as_text() {
        Some("value") => return Ok(Output::Value),
        Some("version") => return Ok(Output::Version),
        Some(_) => return Err(at.fail("expected `value`, `version` or an object")),
        None => {}
    }
    at.object(&[], &["value", "version"])?;
    let field = |name| {
        let text = at.optional(name).map(|it| it.text().map(str::to_owned));
        text.transpose()
    };
    Ok(Output::Fields {
        value: field("value")?,
        version: field("version")?,
    })
}
