// SPDX-License-Identifier: Apache-2.0
//! `Access`: how one effect reaches atoms, with every type compared.

use super::{Lawpack, fit::Fit};
use crate::{
    lawpack::{
        adapter::{Adapter, Implementation},
        configuration::{EffectConfiguration, Output},
        context::Effect,
        error::{AdapterRule, LawpackError, Part},
        exports::{ExportedEffect, Exports},
        target::Intrinsic,
    },
    shape::At,
    type_text::TypeTable,
    types::ty::Type,
};
use std::collections::BTreeMap;

/// Intrinsics of lawpacks published for Echo's own profile that mean the bundled read.
const FOREIGN_READS: [&str; 2] = [
    "echo.dpo@1.node-atom-read",
    "echo.dpo@1.snapshot-read-probe",
];

/// How an effect reaches atoms.
#[derive(Clone, Debug)]
pub struct Access {
    /// The intrinsic.
    pub intrinsic: Intrinsic,
    /// Where its roles stand.
    pub configuration: EffectConfiguration,
    /// Type of the stored value.
    pub atom: Type,
    /// Type of the key.
    pub key: Type,
    /// By failure name.
    pub failures: BTreeMap<String, Failure>,
}

/// A declared failure on the target.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Target failure.
    pub target: String,
    /// Type of the payload.
    pub payload: Type,
}

/// Binds the effects of a lawpack to the target.
pub(super) struct Binder<'a> {
    pub(super) exports: &'a Exports,
    pub(super) adapter: &'a Adapter,
    /// `None` for adapters of another profile, whose configuration is carried, not interpreted.
    pub(super) configured: Option<&'a BTreeMap<String, EffectConfiguration>>,
    pub(super) adapter_at: &'a At<'a>,
    pub(super) configuration_at: &'a At<'a>,
    pub(super) table: TypeTable,
}

impl Binder<'_> {
    pub(super) fn bind(&self, lawpack: &mut Lawpack) -> Result<(), Box<LawpackError>> {
        let coordinate = lawpack.context.coordinate.clone();
        if let Some(configured) = self.configured {
            let superfluous = configured
                .keys()
                .find(|effect| !self.adapter.implementations.contains_key(*effect));
            if let Some(effect) = superfluous {
                let at = self.configuration_of(effect);
                return Err(LawpackError::configuration(
                    at.fail_name("no effect of this lawpack"),
                ));
            }
        }
        for (name, exported) in &self.exports.effects {
            let full = format!("{coordinate}.{name}");
            let Some(implementation) = self.adapter.implementations.get(&full) else {
                continue;
            };
            let access = match self.configured {
                Some(configured) => self.bundled(&full, exported, implementation, configured)?,
                None => match foreign(&full, exported, implementation) {
                    Ok(access) => access,
                    Err(reason) => {
                        lawpack.unsupported.insert(full, reason);
                        continue;
                    }
                },
            };
            let effect = Effect {
                coordinate: full,
                input: exported.input.clone(),
                output: exported.output.clone(),
                failures: exported.failures.clone(),
                write_class: access.intrinsic.class().to_owned(),
                intrinsic: access.intrinsic.coordinate(),
                space: access.configuration.space.clone(),
                atom: access.atom.clone(),
                key: access.key.clone(),
            };
            lawpack.admit(name, effect, access);
        }
        Ok(())
    }

    fn configuration_of(&self, effect: &str) -> At<'_> {
        let effects = self.configuration_at.optional("effects");
        effects
            .and_then(|effects| effects.optional(effect))
            .unwrap_or_else(|| self.configuration_at.clone())
    }

    fn implementation_of(&self, effect: &str, member: &str) -> At<'_> {
        let all = self.adapter_at.optional("effectImplementations");
        all.and_then(|all| all.optional(effect))
            .and_then(|effect| effect.optional(member))
            .unwrap_or_else(|| self.adapter_at.clone())
    }

    fn bundled(
        &self,
        full: &str,
        exported: &ExportedEffect,
        implementation: &Implementation,
        configured: &BTreeMap<String, EffectConfiguration>,
    ) -> Result<Access, Box<LawpackError>> {
        let fail = |rule, member, message: String| {
            let shape = self.implementation_of(full, member).fail(message);
            Err(LawpackError::rule(Part::Adapter, rule, shape))
        };
        let name = &implementation.intrinsic;
        let Some(intrinsic) = Intrinsic::find(name) else {
            let rule = AdapterRule::UnsupportedTargetIntrinsic;
            let message = format!("the bundled profile has no intrinsic `{name}`");
            return fail(rule, "targetIntrinsic", message);
        };
        if implementation.write_class != intrinsic.class() {
            let message = format!("`{name}` is of write class `{}`", intrinsic.class());
            return fail(AdapterRule::WriteClassMismatch, "writeClass", message);
        }
        let Some(configuration) = configured.get(full) else {
            let shape = self
                .configuration_at
                .fail(format!("`{full}` is not configured"));
            return Err(LawpackError::configuration(shape));
        };
        let at = self.configuration_of(full);
        let fit = Fit {
            at: &at,
            table: &self.table,
            intrinsic,
        };
        let (atom, key) = fit.check(exported, configuration)?;
        let mut failures = BTreeMap::new();
        for (failure, target) in &implementation.mappings {
            let payload = exported.failures.get(failure).unwrap_or(&Type::Error);
            if let Err(message) = check_failure(intrinsic, target, payload, &key) {
                let rule = AdapterRule::FailureMappingMismatch;
                return fail(rule, "failureMappings", format!("`{failure}`: {message}"));
            }
            let target = target.clone();
            let payload = payload.clone();
            failures.insert(failure.clone(), Failure { target, payload });
        }
        Ok(Access {
            intrinsic,
            configuration: configuration.clone(),
            atom,
            key,
            failures,
        })
    }
}

fn check_failure(
    intrinsic: Intrinsic,
    target: &str,
    payload: &Type,
    key: &Type,
) -> Result<(), String> {
    let Some(version) = intrinsic.failure(target) else {
        let class = intrinsic.class();
        return Err(format!("`{target}` is no failure of atom {class}"));
    };
    let fits = payload == key
        || matches!(payload, Type::Record(record) if record.fields.is_empty())
        || (version && is_version_record(payload));
    if fits {
        Ok(())
    } else {
        let or = if version {
            ", `Record<>` or `Record<version:Bytes<exact=32>>`"
        } else {
            " or `Record<>`"
        };
        Err(format!("payload `{payload}` must be the key `{key}`{or}"))
    }
}

fn is_version_record(payload: &Type) -> bool {
    let Type::Record(record) = payload else {
        return false;
    };
    let mut fields = record.fields.iter();
    let version = fields.next();
    fields.next().is_none()
        && version
            .is_some_and(|(name, ty)| name == "version" && *ty == Type::Bytes { min: 32, max: 32 })
}

/// What an effect of another profile means here, or why it means nothing.
fn foreign(
    full: &str,
    exported: &ExportedEffect,
    implementation: &Implementation,
) -> Result<Access, (AdapterRule, String)> {
    let name = &implementation.intrinsic;
    if !FOREIGN_READS.contains(&name.as_str()) {
        let message = format!("`{full}` uses `{name}`, which the bundled target has not");
        return Err((AdapterRule::UnsupportedTargetIntrinsic, message));
    }
    if implementation.write_class != "read" {
        let message = format!("`{full}`: `{name}` is of write class `read`");
        return Err((AdapterRule::WriteClassMismatch, message));
    }
    if let Some(undefined) = &exported.undefined {
        let message = format!("`{full}` names type `{undefined}`, which is not defined");
        return Err((AdapterRule::InvalidTargetConfiguration, message));
    }
    let mut failures = BTreeMap::new();
    for (failure, target) in &implementation.mappings {
        let target = match target.as_str() {
            "echo.fact-missing/v1" => "echo.atom-missing/v1",
            target => target,
        };
        let payload = exported.failures.get(failure).unwrap_or(&Type::Error);
        check_failure(Intrinsic::Read, target, payload, &exported.input).map_err(|message| {
            let message = format!("failure `{failure}` of `{full}`: {message}");
            (AdapterRule::FailureMappingMismatch, message)
        })?;
        let failed = Failure {
            target: target.to_owned(),
            payload: payload.clone(),
        };
        failures.insert(failure.clone(), failed);
    }
    Ok(Access {
        intrinsic: Intrinsic::Read,
        configuration: EffectConfiguration {
            space: full.to_owned(),
            atom: exported.output.to_string(),
            key: Vec::new(),
            value: None,
            expected: None,
            output: Output::Value,
        },
        atom: exported.output.clone(),
        key: exported.input.clone(),
        failures,
    })
}
