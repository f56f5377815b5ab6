// SPDX-License-Identifier: Apache-2.0
//! The four artifacts of a compiled application.

use crate::{
    core::tree::{Facts, Intent},
    core_artifact::{self, Reach},
    lawpack::{assemble::Lawpack, context::Profile},
    lower::{self, lower},
    output::Artifact,
    package::{self, Contents, package},
    projection::{self, ProjectionError, project},
    types::{Compiled, ty::Type},
};
use edict_codec::{
    cbor::{Value, encode},
    digest::frame,
};
use std::collections::{BTreeMap, BTreeSet};

/// A compiled application and what surrounds it.
pub(super) struct Program<'a> {
    pub(super) source: &'a [u8],
    pub(super) compiled: &'a Compiled,
    pub(super) closure: &'a [Lawpack],
    pub(super) intent: &'a str,
}

impl Program<'_> {
    /// Core, Target IR, projection and package, and the first three as values.
    pub(super) fn assemble(&self) -> Result<([Artifact; 4], [Value; 3]), ProjectionError> {
        let module = &self.compiled.module;
        let intents = (
            module.intents.get(self.intent),
            self.compiled.facts.get(self.intent),
        );
        let (Some(intent), Some(facts)) = intents else {
            return Err(ProjectionError::Unbound);
        };
        let closure: Vec<&Lawpack> = self.closure.iter().collect();
        let operation = format!("{}.{}", module.coordinate, self.intent);

        let types = self.module_types();
        let core_value = core_artifact::module(module, &types, &self.core_profiles());
        let core = artifact("core.cbor", core_artifact::DOMAIN, &core_value);
        let lowered = lower(module, self.intent, intent, &core.digest(), &closure);
        let target_ir = artifact("target-ir.cbor", lower::DOMAIN, &lowered.value);
        let projected = project(&operation, intent, &lowered.ids)?;
        let projection = artifact("result-projection.cbor", projection::DOMAIN, &projected);
        let package = self.package(&operation, intent, facts, [&core, &target_ir, &projection]);
        let package = artifact(
            "executable-operation-package.cbor",
            package::DOMAIN,
            &package,
        );
        Ok((
            [core, target_ir, projection, package],
            [core_value, lowered.value, projected],
        ))
    }

    fn package(
        &self,
        operation: &str,
        intent: &Intent,
        facts: &Facts,
        [core, target_ir, projection]: [&Artifact; 3],
    ) -> Value {
        let closure: Vec<&Lawpack> = self.closure.iter().collect();
        let source = encode(&Value::bytes(self.source.to_vec()));
        package(&Contents {
            operation,
            source: frame(package::SOURCE_DOMAIN, &source),
            core,
            target_ir,
            projection,
            closure: &closure,
            intent,
            facts,
            reach: &self.program_reach(intent),
        })
    }

    fn core_profiles(&self) -> BTreeMap<String, String> {
        let profiles = self
            .closure
            .iter()
            .flat_map(|it| it.context.profiles.values());
        profiles
            .map(
                |Profile {
                     coordinate, core, ..
                 }| (coordinate.clone(), core.clone()),
            )
            .collect()
    }

    /// Named types of the module: all of its functions, used or not, and its intents.
    fn module_types(&self) -> BTreeMap<String, Value> {
        let mut reach = Reach::default();
        for function in self.compiled.module.functions.values() {
            reach.function(function);
        }
        for intent in self.compiled.module.intents.values() {
            reach.intent(intent);
        }
        self.settle(&mut reach);
        reach.types().clone()
    }

    /// What the intent meets, through every function and helper that it calls.
    fn program_reach(&self, intent: &Intent) -> Reach {
        let module = &self.compiled.module;
        let own = format!("{}.", module.coordinate);
        let mut reach = Reach::default();
        reach.intent(intent);
        let mut done = BTreeSet::new();
        while let Some(callee) = reach.callees.pop_first() {
            if !done.insert(callee.clone()) {
                continue;
            }
            let function = match callee.strip_prefix(&own) {
                Some(name) => module.functions.get(name),
                None => self.closure.iter().find_map(|lawpack| {
                    let context = &lawpack.context;
                    let name = callee
                        .strip_prefix(&context.coordinate)?
                        .strip_prefix('.')?;
                    context.helpers.get(name)
                }),
            };
            if let Some(function) = function {
                reach.function(function);
            }
        }
        self.settle(&mut reach);
        reach
    }

    /// Adds the types behind variants, effects and payloads that are named by coordinate.
    fn settle(&self, reach: &mut Reach) {
        for variant in std::mem::take(&mut reach.variants) {
            if let Some(ty) = self.variant(&variant) {
                reach.ty(&ty);
            }
        }
        for lawpack in self.closure {
            let context = &lawpack.context;
            for effect in context.effects.values() {
                if reach.effects.contains(&effect.coordinate) {
                    let types = [&effect.input, &effect.output, &effect.atom, &effect.key];
                    for ty in types.into_iter().chain(effect.failures.values()) {
                        reach.ty(ty);
                    }
                }
            }
            for obstruction in context.obstructions.values() {
                if reach.payloads.contains(&obstruction.coordinate) {
                    reach.ty(&obstruction.payload);
                }
            }
        }
    }

    fn variant(&self, coordinate: &str) -> Option<Type> {
        let own = self.compiled.variants.get(coordinate).cloned();
        own.or_else(|| {
            self.closure.iter().find_map(|lawpack| {
                let context = &lawpack.context;
                let name = coordinate
                    .strip_prefix(&context.coordinate)?
                    .strip_prefix('.')?;
                context.types.get(name).cloned()
            })
        })
    }
}

fn artifact(name: &str, domain: &str, value: &Value) -> Artifact {
    Artifact::new(name, domain, encode(value))
}
