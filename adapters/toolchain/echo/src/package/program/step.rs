// SPDX-License-Identifier: Apache-2.0
//! Reads the steps of Target IR: effects on atoms.

use super::{Reader, broken};
use crate::{
    eval::value::Symbol,
    package::tree::{Configuration, Effect, Failure, FailureArm, Output, Statement},
    state::view::Intrinsic,
};
use edict_codec::cbor::Value as Cbor;
use std::collections::BTreeMap;

impl<'a> Reader<'a, '_> {
    /// A step: an effect with its configuration, failures and arms.
    pub(super) fn step(&mut self, value: &'a Cbor) -> Statement {
        let path = self.path.text();
        let keys = [
            "binding",
            "configuration",
            "effect",
            "id",
            "input",
            "obstructionArms",
            "obstructionFailures",
            "targetIntrinsic",
        ];
        let Some(
            [
                binding,
                configuration,
                effect,
                _,
                input,
                arms,
                failures,
                intrinsic,
            ],
        ) = self.map(value, keys)
        else {
            return broken();
        };
        let coordinate = self.text("effect", effect).unwrap_or_default().to_owned();
        let intrinsic = self.text("targetIntrinsic", intrinsic).unwrap_or_default();
        let input = self.expr("input", input);
        let configuration = self.at("configuration", |it| it.configuration(configuration));
        let failures = self.named("obstructionFailures", failures, Self::failure);
        let arms = self.named("obstructionArms", arms, |it, arm| {
            let [binding, raise] = it.map(arm, ["binding", "raise"])?;
            Some(FailureArm {
                binding: it.binder("binding", binding),
                raise: it.raise("raise", raise),
            })
        });
        let binding = self.binder("binding", binding);
        let Some(configuration) = configuration else {
            return broken();
        };
        Statement::Effect(Box::new(Effect {
            binding,
            coordinate,
            intrinsic: Intrinsic::from_coordinate(intrinsic),
            configuration,
            input,
            failures,
            arms,
            path,
        }))
    }

    fn failure(&mut self, value: &'a Cbor) -> Option<Failure> {
        let [payload, target] = self.map(value, ["payloadType", "target"])?;
        Some(Failure {
            target: self.text("target", target)?.to_owned(),
            payload: self.ty("payloadType", payload)?,
        })
    }

    fn named<T>(
        &mut self,
        key: &'static str,
        value: &'a Cbor,
        mut read: impl FnMut(&mut Self, &'a Cbor) -> Option<T>,
    ) -> BTreeMap<String, T> {
        let mut results = BTreeMap::new();
        self.path.key(key);
        match value.as_map() {
            None => self.malformed("a map must stand here"),
            Some(entries) => {
                for (name, value) in entries {
                    let Some(name) = name.as_text() else {
                        self.malformed("a key is no text");
                        continue;
                    };
                    self.path.key(name);
                    if let Some(result) = read(self, value) {
                        results.insert(name.to_owned(), result);
                    }
                    self.path.up();
                }
            }
        }
        self.path.up();
        results
    }

    fn configuration(&mut self, value: &'a Cbor) -> Option<Configuration> {
        let mut required = vec!["atomType", "key", "keyType", "output", "space"];
        required.extend(
            ["expected", "value"]
                .into_iter()
                .filter(|key| value.get(key).is_some()),
        );
        let entries = value.as_map().unwrap_or_default();
        let complete = required.iter().all(|key| value.get(key).is_some());
        if entries.len() != required.len() || !complete {
            self.malformed(
                "a configuration has space, atomType, keyType, key, output, and value or expected",
            );
            return None;
        }
        let [atom_type, key_type, key, output, space] =
            ["atomType", "keyType", "key", "output", "space"].map(|key| value.get(key));
        let atom_text = self.text("atomType", atom_type?)?.to_owned();
        let key_text = self.text("keyType", key_type?)?.to_owned();
        let atom_type = self.ty("atomType", atom_type?)?;
        let key_type = self.ty("keyType", key_type?)?;
        Some(Configuration {
            space: self.text("space", space?)?.to_owned(),
            atom_type: (atom_text, atom_type),
            key_type: (key_text, key_type),
            key: self.field_path("key", key?),
            value: value.get("value").map(|it| self.field_path("value", it)),
            expected: value
                .get("expected")
                .map(|it| self.field_path("expected", it)),
            output: self.output(output?)?,
        })
    }

    fn field_path(&mut self, key: &'static str, value: &'a Cbor) -> Vec<Symbol> {
        self.each(key, value, |it, field| {
            let Some(text) = field.as_text() else {
                it.malformed("a field name must stand here");
                return 0;
            };
            it.names.symbol(text)
        })
    }

    fn output(&mut self, value: &'a Cbor) -> Option<Output> {
        match value {
            Cbor::Text(role) if role == "value" => Some(Output::Value),
            Cbor::Text(role) if role == "version" => Some(Output::Version),
            Cbor::Map(entries) => {
                let known = ["value", "version"].map(|key| value.get(key));
                if known.iter().flatten().count() != entries.len() {
                    self.at("output", |it| {
                        it.malformed("the roles are value and version");
                    });
                    return None;
                }
                let [value, version] = known;
                let value = value.map(|it| self.symbol("output", it));
                let version = version.map(|it| self.symbol("output", it));
                let fields: Vec<Symbol> = value.into_iter().chain(version).collect();
                if self.names.shape(&fields).is_none() {
                    self.at("output", |it| it.malformed("a field stands twice"));
                    return None;
                }
                Some(Output::Record { value, version })
            }
            _ => {
                self.at("output", |it| it.malformed("roles must stand here"));
                None
            }
        }
    }
}
