// SPDX-License-Identifier: Apache-2.0
//! The configuration of one effect against its exported types.

use crate::{
    lawpack::{
        configuration::{EffectConfiguration, Output},
        error::LawpackError,
        exports::ExportedEffect,
        target::Intrinsic,
    },
    shape::At,
    type_text::TypeTable,
    types::{size::Sizes, ty::Type},
};

/// Greatest key of an atom in bytes.
const MAX_KEY: u64 = 256;
/// Greatest value of an atom in bytes.
const MAX_VALUE: u64 = 1_048_576;

/// Comparison of one configured effect with its exported types.
pub(super) struct Fit<'a> {
    pub(super) at: &'a At<'a>,
    pub(super) table: &'a TypeTable,
    pub(super) intrinsic: Intrinsic,
}

impl Fit<'_> {
    /// Types of the stored value and of the key, if everything fits.
    pub(super) fn check(
        &self,
        exported: &ExportedEffect,
        configuration: &EffectConfiguration,
    ) -> Result<(Type, Type), Box<LawpackError>> {
        let at_atom = self.member("atomType");
        let atom = self
            .table
            .resolve(&configuration.atom)
            .map_err(|error| LawpackError::configuration(at_atom.fail(error.to_string())))?;
        if Sizes::default().encoded(&atom) > MAX_VALUE {
            let message = format!("values of `{atom}` may exceed {MAX_VALUE} bytes");
            return Err(LawpackError::configuration(at_atom.fail(message)));
        }
        let key = self.path("key", &exported.input, &configuration.key)?;
        if Sizes::default().key(&key) > MAX_KEY {
            let message = format!("keys of `{key}` may exceed {MAX_KEY} bytes");
            return Err(LawpackError::configuration(
                self.member("key").fail(message),
            ));
        }
        self.role(
            "value",
            self.intrinsic.takes_value(),
            configuration.value.is_some(),
        )?;
        if let Some(path) = &configuration.value {
            let value = self.path("value", &exported.input, path)?;
            self.equal("value", &value, &atom)?;
        }
        let takes_expected = self.intrinsic.takes_expected();
        self.role("expected", takes_expected, configuration.expected.is_some())?;
        if let Some(path) = &configuration.expected {
            let expected = self.path("expected", &exported.input, path)?;
            self.version("expected", &expected)?;
        }
        self.output(exported, configuration, &atom)?;
        Ok((atom, key))
    }

    fn member(&self, name: &str) -> At<'_> {
        self.at.optional(name).unwrap_or_else(|| self.at.clone())
    }

    fn role(&self, name: &str, wanted: bool, given: bool) -> Result<(), Box<LawpackError>> {
        if wanted == given {
            return Ok(());
        }
        let class = self.intrinsic.class();
        let message = if wanted {
            format!("atom {class} needs `{name}`")
        } else {
            format!("atom {class} has no `{name}`")
        };
        Err(LawpackError::configuration(self.member(name).fail(message)))
    }

    fn path(&self, role: &str, input: &Type, path: &[String]) -> Result<Type, Box<LawpackError>> {
        let mut ty = input;
        for field in path {
            let below = match ty {
                Type::Record(record) => record.fields.get(field),
                _ => None,
            };
            let Some(below) = below else {
                let message = format!("`{ty}` has no field `{field}`");
                return Err(LawpackError::configuration(self.member(role).fail(message)));
            };
            ty = below;
        }
        Ok(ty.clone())
    }

    fn equal(&self, role: &str, found: &Type, wanted: &Type) -> Result<(), Box<LawpackError>> {
        if found == wanted {
            return Ok(());
        }
        let message = format!("`{role}` is `{found}`, but the atom is `{wanted}`");
        Err(LawpackError::configuration(self.member(role).fail(message)))
    }

    fn version(&self, role: &str, found: &Type) -> Result<(), Box<LawpackError>> {
        let mut ty = found;
        while let Type::Nominal(nominal) = ty {
            ty = &nominal.representation;
        }
        if *ty == (Type::Bytes { min: 32, max: 32 }) {
            return Ok(());
        }
        let message = format!("a version is `Bytes<exact=32>` or nominal over it, not `{found}`");
        Err(LawpackError::configuration(self.member(role).fail(message)))
    }

    fn output(
        &self,
        exported: &ExportedEffect,
        configuration: &EffectConfiguration,
        atom: &Type,
    ) -> Result<(), Box<LawpackError>> {
        let output = &exported.output;
        let has_value = match &configuration.output {
            Output::Value => {
                self.equal("output", output, atom)?;
                true
            }
            Output::Version => {
                self.version("output", output)?;
                false
            }
            Output::Fields { value, version } => {
                self.fields(output, value.as_ref(), version.as_ref(), atom)?;
                value.is_some()
            }
        };
        if has_value && !self.intrinsic.gives_value() {
            let message = "atom delete gives no value";
            return Err(LawpackError::configuration(
                self.member("output").fail(message),
            ));
        }
        Ok(())
    }

    fn fields(
        &self,
        output: &Type,
        value: Option<&String>,
        version: Option<&String>,
        atom: &Type,
    ) -> Result<(), Box<LawpackError>> {
        let fail = |message: String| {
            Err(LawpackError::configuration(
                self.member("output").fail(message),
            ))
        };
        let Type::Record(record) = output else {
            return fail(format!("`{output}` is no record"));
        };
        if value.is_some() && value == version {
            return fail("value and version stand in one field".to_owned());
        }
        let named: Vec<&String> = value.into_iter().chain(version).collect();
        if let Some(field) = record.fields.keys().find(|field| !named.contains(field)) {
            return fail(format!("field `{field}` of `{output}` is not given"));
        }
        for (field, is_value) in [(value, true), (version, false)] {
            let Some(field) = field else { continue };
            let Some(ty) = record.fields.get(field) else {
                return fail(format!("`{output}` has no field `{field}`"));
            };
            if is_value {
                self.equal("output", ty, atom)?;
            } else {
                self.version("output", ty)?;
            }
        }
        Ok(())
    }
}
