// SPDX-License-Identifier: Apache-2.0
//! The exports: types, constants, helpers, effects, obstructions and profiles of a lawpack.

mod calls;

use super::context::Obstruction;
use crate::{
    core::tree::Function,
    core_artifact::decode_function,
    shape::{At, ShapeError},
    type_text::TypeTable,
    types::ty::{NominalType, Type},
};
use edict_codec::cbor::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// An exported effect, before the target is known.
#[derive(Clone, Debug)]
pub struct ExportedEffect {
    /// Type of the argument.
    pub input: Type,
    /// Type of the result.
    pub output: Type,
    /// Payload type by failure name.
    pub failures: BTreeMap<String, Type>,
    /// Footprint obligation.
    pub footprint: String,
    /// Budget that it obliges to.
    pub cost: String,
    /// The first type that the lawpack names but does not define.
    pub undefined: Option<String>,
}

/// Exports with resolved types, by bare name.
#[derive(Clone, Debug, Default)]
pub struct Exports {
    /// Types.
    pub types: BTreeMap<String, Type>,
    /// Constants.
    pub constants: BTreeMap<String, (Type, Value)>,
    /// Helpers.
    pub helpers: BTreeMap<String, Function>,
    /// Obstructions.
    pub obstructions: BTreeMap<String, Obstruction>,
    /// Effects.
    pub effects: BTreeMap<String, ExportedEffect>,
    /// Coordinates of operation profiles.
    pub profiles: BTreeSet<String>,
}

/// What the reader knows before it reads.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// `id@version` of the lawpack.
    pub coordinate: &'a str,
    /// Types of its dependencies.
    pub types: &'a TypeTable,
    /// Helpers of its dependencies by full coordinate.
    pub helpers: &'a BTreeMap<String, Function>,
    /// Whether type names may be undefined, as in lawpacks published for another target profile.
    pub foreign: bool,
}

impl Exports {
    /// Reads exports.
    ///
    /// # Errors
    /// The first member that is not of its form or breaks a rule.
    pub fn read(at: &At<'_>, around: &Surroundings<'_>) -> Result<Self, ShapeError> {
        let members = [
            "types",
            "constants",
            "pureFunctions",
            "effects",
            "obstructions",
            "operationProfiles",
        ];
        at.object(&members, &[])?;
        let table = types(&at.member("types")?, around)?;
        let reader = Reader { around, table };
        let exports = Self {
            types: reader.own_types(&at.member("types")?)?,
            constants: reader.list(&at.member("constants")?, Reader::constant)?,
            helpers: reader.list(&at.member("pureFunctions")?, Reader::helper)?,
            obstructions: reader.list(&at.member("obstructions")?, Reader::obstruction)?,
            effects: reader.list(&at.member("effects")?, Reader::effect)?,
            profiles: reader.profiles(&at.member("operationProfiles")?)?,
        };
        exports.check_names(at)?;
        calls::check(&exports.helpers, around).map_err(|message| {
            at.optional("pureFunctions")
                .map_or_else(|| at.fail(message.clone()), |it| it.fail(message.clone()))
        })?;
        Ok(exports)
    }

    /// Names in call and value position must differ.
    fn check_names(&self, at: &At<'_>) -> Result<(), ShapeError> {
        let twice = self
            .effects
            .keys()
            .find(|name| self.helpers.contains_key(*name));
        match twice {
            Some(name) => Err(at.fail(format!("`{name}` is both an effect and a helper"))),
            None => Ok(()),
        }
    }
}

fn types(at: &At<'_>, around: &Surroundings<'_>) -> Result<TypeTable, ShapeError> {
    let mut definitions = BTreeMap::new();
    let items = at.items()?;
    for item in &items {
        item.object(&["coordinate", "definition"], &[])?;
        let coordinate = item.member("coordinate")?;
        own_name(&coordinate, around.coordinate)?;
        let definition = item.text_of("definition")?.to_owned();
        let before = definitions.insert(coordinate.text()?.to_owned(), definition);
        if before.is_some() {
            return Err(coordinate.fail("this coordinate stands twice"));
        }
    }
    let mut table = around.types.clone();
    table.define(&definitions).map_err(|(coordinate, error)| {
        let named = items.iter().find_map(|item| {
            let found = item.optional("coordinate")?.value().as_text()? == coordinate;
            found.then(|| item.optional("definition")).flatten()
        });
        named.as_ref().unwrap_or(at).fail(error.to_string())
    })?;
    Ok(table)
}

/// The name behind `coordinate.` of the lawpack.
fn own_name(at: &At<'_>, lawpack: &str) -> Result<String, ShapeError> {
    let text = at.text()?;
    let name = text
        .strip_prefix(lawpack)
        .and_then(|rest| rest.strip_prefix('.'))
        .filter(|name| {
            !name.is_empty()
                && !name.starts_with(|sign: char| sign.is_ascii_digit())
                && name
                    .chars()
                    .all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
        });
    name.map(str::to_owned)
        .ok_or_else(|| at.fail(format!("expected a coordinate `{lawpack}.name`")))
}

struct Reader<'a> {
    around: &'a Surroundings<'a>,
    table: TypeTable,
}

impl Reader<'_> {
    fn own_types(&self, at: &At<'_>) -> Result<BTreeMap<String, Type>, ShapeError> {
        let mut types = BTreeMap::new();
        for item in at.items()? {
            let coordinate = item.member("coordinate")?;
            let name = own_name(&coordinate, self.around.coordinate)?;
            if let Some(ty) = self.table.get(coordinate.text()?) {
                types.insert(name, ty.clone());
            }
        }
        Ok(types)
    }

    /// A list of objects with coordinates of this lawpack, each once.
    fn list<T>(
        &self,
        at: &At<'_>,
        read: fn(&Self, &At<'_>) -> Result<T, ShapeError>,
    ) -> Result<BTreeMap<String, T>, ShapeError> {
        let mut found = BTreeMap::new();
        for item in at.items()? {
            let value = read(self, &item)?;
            let coordinate = item.member("coordinate")?;
            let name = own_name(&coordinate, self.around.coordinate)?;
            if found.insert(name, value).is_some() {
                return Err(coordinate.fail("this coordinate stands twice"));
            }
        }
        Ok(found)
    }

    fn ty(&self, at: &At<'_>) -> Result<Type, ShapeError> {
        self.table
            .resolve(at.text()?)
            .map_err(|error| at.fail(error.to_string()))
    }

    /// A type, or an opaque one in its place where names may be undefined.
    fn lenient(&self, at: &At<'_>, undefined: &mut Option<String>) -> Result<Type, ShapeError> {
        let text = at.text()?;
        match self.table.resolve(text) {
            Ok(ty) => Ok(ty),
            Err(_) if self.around.foreign => {
                undefined.get_or_insert_with(|| text.to_owned());
                Ok(Type::Nominal(Arc::new(NominalType {
                    coordinate: text.to_owned(),
                    representation: Type::Bytes { min: 0, max: 0 },
                })))
            }
            Err(error) => Err(at.fail(error.to_string())),
        }
    }

    fn constant(&self, at: &At<'_>) -> Result<(Type, Value), ShapeError> {
        at.object(&["coordinate", "type", "value"], &[])?;
        let declared = at.member("type")?;
        let ty = self.ty(&declared)?;
        let value = at.member("value")?;
        let fits = match (&ty, value.value()) {
            (Type::Bool, Value::Bool(_)) => true,
            (Type::Integer(width), Value::Integer(integer)) => {
                let (least, greatest) = width.range();
                (least..=greatest).contains(&integer.get())
            }
            (Type::Text { max }, Value::Text(text)) => length(text.chars().count()) <= *max,
            (Type::Bytes { min, max }, Value::Bytes(bytes)) => {
                (*min..=*max).contains(&length(bytes.len()))
            }
            (Type::Bool | Type::Integer(_) | Type::Text { .. } | Type::Bytes { .. }, _) => false,
            _ => return Err(declared.fail("constants are integers, Bool, String or Bytes")),
        };
        if fits {
            Ok((ty, value.value().clone()))
        } else {
            Err(value.fail(format!("the value is no `{ty}`")))
        }
    }

    fn helper(&self, at: &At<'_>) -> Result<Function, ShapeError> {
        let members = [
            "coordinate",
            "typeParameters",
            "determinismClass",
            "source",
            "body",
        ];
        at.object(&members, &[])?;
        no_type_parameters(at)?;
        at.member("determinismClass")?.exactly("total")?;
        at.member("source")?.exactly("edict")?;
        decode_function(&at.member("body")?, &self.table)
    }

    fn obstruction(&self, at: &At<'_>) -> Result<Obstruction, ShapeError> {
        at.object(&["coordinate", "authorityClass", "payloadSchema"], &[])?;
        Ok(Obstruction {
            coordinate: at.text_of("coordinate")?.to_owned(),
            class: at.text_of("authorityClass")?.to_owned(),
            payload: self.lenient(&at.member("payloadSchema")?, &mut None)?,
        })
    }

    fn effect(&self, at: &At<'_>) -> Result<ExportedEffect, ShapeError> {
        let members = [
            "coordinate",
            "typeParameters",
            "inputType",
            "outputType",
            "executionClass",
            "footprintObligation",
            "costObligation",
            "effectFailures",
        ];
        at.object(&members, &["effectKindHint", "guardSupport"])?;
        no_type_parameters(at)?;
        at.member("executionClass")?.exactly("runtime")?;
        if let Some(guard) = at.optional("guardSupport")
            && guard.value().as_bool().is_none()
        {
            return Err(guard.fail("expected a truth value"));
        }
        if let Some(hint) = at.optional("effectKindHint") {
            hint.text()?;
        }
        let mut undefined = None;
        let mut failures = BTreeMap::new();
        for (name, failure) in at.member("effectFailures")?.entries()? {
            failure.object(&["authorityClass", "payloadType"], &[])?;
            failure.member("authorityClass")?.text()?;
            let payload = self.lenient(&failure.member("payloadType")?, &mut undefined)?;
            failures.insert(name.to_owned(), payload);
        }
        Ok(ExportedEffect {
            input: self.lenient(&at.member("inputType")?, &mut undefined)?,
            output: self.lenient(&at.member("outputType")?, &mut undefined)?,
            failures,
            footprint: at.text_of("footprintObligation")?.to_owned(),
            cost: at.text_of("costObligation")?.to_owned(),
            undefined,
        })
    }

    fn profiles(&self, at: &At<'_>) -> Result<BTreeSet<String>, ShapeError> {
        let mut profiles = BTreeSet::new();
        for (coordinate, profile) in at.entries()? {
            let prefix = format!("{}.", self.around.coordinate);
            if !coordinate.starts_with(&prefix) {
                return Err(profile.fail_name(format!("expected a coordinate `{prefix}name`")));
            }
            profile.object(&["opticTemplate", "effectPredicate"], &[])?;
            profile.member("effectPredicate")?.text()?;
            let optic = profile.member("opticTemplate")?;
            let texts = [
                "opticKind",
                "boundaryKind",
                "supportPolicy",
                "lossDisposition",
            ];
            optic.object(&texts, &["apertureRequirement"])?;
            for name in texts {
                optic.member(name)?.text()?;
            }
            if let Some(aperture) = optic.optional("apertureRequirement") {
                aperture.object(&["kind", "ref"], &[])?;
                aperture.member("kind")?.text()?;
                aperture.member("ref")?.text()?;
            }
            profiles.insert(coordinate.to_owned());
        }
        Ok(profiles)
    }
}

fn no_type_parameters(at: &At<'_>) -> Result<(), ShapeError> {
    let parameters = at.member("typeParameters")?;
    if parameters.items()?.is_empty() {
        Ok(())
    } else {
        Err(parameters.fail("type parameters are not supported"))
    }
}

fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
