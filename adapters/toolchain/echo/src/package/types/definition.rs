// SPDX-License-Identifier: Apache-2.0
//! Reads type values: the definitions of the map `types`.

use super::{Scope, Type, TypeError, TypeId, Types, Width, record, variant};
use crate::eval::names::Names;
use edict_codec::cbor::Value as Cbor;

impl Types {
    /// A type value, which stands at `path`.
    pub(super) fn definition(
        &mut self,
        value: &Cbor,
        path: &str,
        names: &mut Names,
    ) -> Result<Type, TypeError> {
        let fail = |path: String, message: &str| TypeError {
            path,
            message: message.to_owned(),
        };
        let kind = value.get("kind").and_then(Cbor::as_text);
        let Some(kind) = kind else {
            return Err(fail(format!("{path}.kind"), "a kind must stand here"));
        };
        let keys: &[&str] = match kind {
            "Record" => &["fields"],
            "Variant" => &["cases"],
            "Nominal" => &["representation"],
            "Bool" | "U32" | "U64" | "I32" | "I64" => &[],
            "String" => &["canonical", "max"],
            "Bytes" => &["max", "min"],
            "Option" => &["item"],
            "List" => &["item", "max"],
            _ => return Err(fail(format!("{path}.kind"), "no type has this kind")),
        };
        exact_keys(value, keys).map_err(|key| {
            fail(
                format!("{path}.{key}"),
                "a type of this kind has other keys",
            )
        })?;
        let number = |key: &str| {
            value
                .get(key)
                .and_then(Cbor::as_u64)
                .ok_or_else(|| fail(format!("{path}.{key}"), "a bound must stand here"))
        };
        Ok(match kind {
            "Bool" => Type::Bool,
            "U32" => Type::Integer(Width::U32),
            "U64" => Type::Integer(Width::U64),
            "I32" => Type::Integer(Width::I32),
            "I64" => Type::Integer(Width::I64),
            "String" if value.get("canonical").and_then(Cbor::as_text) != Some("raw-utf8") => {
                return Err(fail(
                    format!("{path}.canonical"),
                    "the one policy is `raw-utf8`",
                ));
            }
            "String" => Type::Text {
                max: number("max")?,
            },
            "Bytes" => {
                let (min, max) = (number("min")?, number("max")?);
                if min > max {
                    return Err(fail(
                        format!("{path}.min"),
                        "the least length is above the greatest",
                    ));
                }
                Type::Bytes { min, max }
            }
            "Option" => Type::Option(self.part(value, "item", path, names)?),
            "List" => Type::List {
                item: self.part(value, "item", path, names)?,
                max: number("max")?,
            },
            "Nominal" => Type::Named(self.part(value, "representation", path, names)?),
            "Record" => self.record_value(value, path, names)?,
            _ => self.variant_value(value, path, names)?,
        })
    }

    fn part(
        &mut self,
        value: &Cbor,
        key: &str,
        path: &str,
        names: &mut Names,
    ) -> Result<TypeId, TypeError> {
        let path = format!("{path}.{key}");
        match value.get(key).and_then(Cbor::as_text) {
            Some(text) => self.text(text, Scope::Package, &path, names),
            None => Err(TypeError {
                path,
                message: "a type text must stand here".to_owned(),
            }),
        }
    }

    fn record_value(
        &mut self,
        value: &Cbor,
        path: &str,
        names: &mut Names,
    ) -> Result<Type, TypeError> {
        let path = format!("{path}.fields");
        let fail = |message: String| TypeError {
            path: path.clone(),
            message,
        };
        let Some(entries) = value.get("fields").and_then(Cbor::as_map) else {
            return Err(fail("a map of fields must stand here".to_owned()));
        };
        let mut fields = Vec::with_capacity(entries.len());
        for (key, text) in entries {
            let (Some(name), Some(text)) = (key.as_text(), text.as_text()) else {
                return Err(fail("a field has a name and a type text".to_owned()));
            };
            let ty = self.text(text, Scope::Package, &format!("{path}.{name}"), names)?;
            fields.push((names.symbol(name), ty));
        }
        record(fields, names).map_err(fail)
    }

    fn variant_value(
        &mut self,
        value: &Cbor,
        path: &str,
        names: &mut Names,
    ) -> Result<Type, TypeError> {
        let path = format!("{path}.cases");
        let Some(rows) = value.get("cases").and_then(Cbor::as_array) else {
            return Err(TypeError {
                path,
                message: "a list of cases must stand here".to_owned(),
            });
        };
        let mut cases = Vec::with_capacity(rows.len());
        for (index, row) in rows.iter().enumerate() {
            let path = format!("{path}[{index}]");
            let fail = |message: &str| TypeError {
                path: path.clone(),
                message: message.to_owned(),
            };
            let known = row.as_map().is_some_and(|entries| entries.len() == 2);
            let (Some(name), Some(payload), true) = (
                row.get("name").and_then(Cbor::as_text),
                row.get("payload"),
                known,
            ) else {
                return Err(fail("a case has a name and a payload"));
            };
            let payload = match payload {
                Cbor::Null => None,
                Cbor::Text(text) => Some(self.text(text, Scope::Package, &path, names)?),
                _ => return Err(fail("a payload is a type text or null")),
            };
            cases.push((names.symbol(name), payload));
        }
        variant(cases).map_err(|message| TypeError { path, message })
    }
}

/// Whether `value` has `kind` and `keys`, and nothing else; otherwise a key at fault.
fn exact_keys(value: &Cbor, keys: &[&str]) -> Result<(), String> {
    for key in keys {
        if value.get(key).is_none() {
            return Err((*key).to_owned());
        }
    }
    for (key, _) in value.as_map().unwrap_or_default() {
        match key.as_text() {
            Some(key) if key == "kind" || keys.contains(&key) => {}
            Some(key) => return Err(key.to_owned()),
            None => return Err(String::new()),
        }
    }
    Ok(())
}
