// SPDX-License-Identifier: Apache-2.0
//! Locators of a lock: where pinned things are now, and which scope is allowed for what (S11, S12).

use super::{
    decode::{At, DocumentError, Presence::Required},
    role::{Pinned, Role, RoleKind, Shape},
};
use crate::{
    failure::FailureKind,
    ids::{Locator, check_characters, check_components},
};

/// A place on this machine: the only locators that may leave the suite directory (S12).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolLocator {
    /// Below the suite directory; no links are followed.
    Suite(Locator),
    /// Absolute, or relative to the suite directory with `..`; links are followed.
    Outside(String),
}

/// Where what a role pins is now (S11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleLocator {
    /// A file on this machine.
    Tool(ToolLocator),
    /// Below the provider package.
    Package(Locator),
    /// Inside a pinned program.
    Embedded(Pinned),
}

/// Scope of a locator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Suite,
    Outside,
    Package,
    Embedded,
}

const TOOL_SCOPES: &[Scope] = &[Scope::Suite, Scope::Outside];

/// The scopes that the table of S11 allows. In shape `bundled` there is no provider package to be
/// below of.
pub(super) fn scopes(role: Role, kind: RoleKind, shape: Shape) -> &'static [Scope] {
    match kind {
        RoleKind::Executable => TOOL_SCOPES,
        RoleKind::Component => &[Scope::Package],
        RoleKind::Profile if role == Role::TargetProfile && shape == Shape::Upstream => {
            &[Scope::Package, Scope::Embedded]
        }
        RoleKind::Profile | RoleKind::Abi => &[Scope::Embedded],
    }
}

pub(super) fn locator(at: &At<'_>, allowed: &[Scope]) -> Result<RoleLocator, DocumentError> {
    let object = at.object()?;
    let scope_at = object.required("scope")?;
    let scope = scope_at.variant(|name| match name {
        "suite" => Some(Scope::Suite),
        "outside" => Some(Scope::Outside),
        "package" => Some(Scope::Package),
        "embedded" => Some(Scope::Embedded),
        _ => None,
    })?;
    if !allowed.contains(&scope) {
        return scope_at.fail(
            FailureKind::LocatorScopeNotAllowed,
            "this scope is not allowed here",
        );
    }
    let member = if scope == Scope::Embedded {
        "in"
    } else {
        "path"
    };
    object.closed(&[("scope", Required), (member, Required)])?;
    let at = object.required(member)?;
    Ok(match scope {
        Scope::Suite => RoleLocator::Tool(ToolLocator::Suite(at.path()?)),
        Scope::Outside => RoleLocator::Tool(ToolLocator::Outside(outside(&at)?)),
        Scope::Package => RoleLocator::Package(at.path()?),
        Scope::Embedded => RoleLocator::Embedded(embedded(&at)?),
    })
}

fn embedded(at: &At<'_>) -> Result<Pinned, DocumentError> {
    let name = at.text()?;
    Pinned::from_name(name).map_or_else(
        || {
            at.fail(
                FailureKind::UnsupportedValue,
                format!("{name:?} is not runner, compiler, verifier or host"),
            )
        },
        Ok,
    )
}

fn outside(at: &At<'_>) -> Result<String, DocumentError> {
    let text = at.text()?;
    let relative = text.strip_prefix('/').unwrap_or(text);
    at.named(check_characters(text).and_then(|()| check_components(relative)))?;
    Ok(text.to_owned())
}

pub(super) fn tool_locator(at: &At<'_>) -> Result<ToolLocator, DocumentError> {
    match locator(at, TOOL_SCOPES)? {
        RoleLocator::Tool(tool) => Ok(tool),
        RoleLocator::Package(_) | RoleLocator::Embedded(_) => at.fail(
            FailureKind::LocatorScopeNotAllowed,
            "this scope is not allowed here",
        ),
    }
}
