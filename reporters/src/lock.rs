// SPDX-License-Identifier: Apache-2.0
//! A toolchain lock as a document, as lines for people, and as a comparison.

use crate::json_parts::digest;
use edict_codec::json::{Json, write_document};
use edict_test_model::suite::{
    GitSource, LockDocument, Pinned, RoleEntry, RoleLocator, RolePin, ToolLocator, lock,
};
use std::fmt::Write as _;

/// The document that decodes to `lock`.
pub fn write(lock: &LockDocument) -> String {
    let mut members = vec![
        ("schema".to_owned(), Json::text(lock::SCHEMA)),
        ("shape".to_owned(), Json::text(lock.shape.name())),
    ];
    if let Some(package) = &lock.provider_package {
        members.push((
            "providerPackage".to_owned(),
            Json::object([
                ("coordinate", Json::text(&package.coordinate)),
                ("identity", digest(&package.identity)),
                ("locator", tool(&package.locator)),
            ]),
        ));
    }
    let roles = lock
        .roles
        .iter()
        .map(|entry| (entry.role.name(), role(entry)));
    members.push(("roles".to_owned(), Json::object(roles)));
    write_document(&Json::object(members))
}

/// The identity of the lock, then one line a role.
pub fn lines(lock: &LockDocument) -> String {
    let mut text = format!("lock {}\n", lock.identity());
    for entry in &lock.roles {
        // Writing into a string cannot fail.
        _ = write!(text, "{} {}", entry.role.name(), entry.identity);
        if let Some(coordinate) = entry.coordinate() {
            _ = write!(text, " {coordinate}");
        }
        text.push('\n');
    }
    text
}

/// One line for another provider package, and one a role whose identity, length or checkout differs; empty when none does.
pub fn differences(pinned: &LockDocument, found: &LockDocument) -> String {
    let mut text = String::new();
    if let (Some(old), Some(new)) = (&pinned.provider_package, &found.provider_package)
        && old.identity != new.identity
    {
        // Writing into a string cannot fail.
        _ = writeln!(
            text,
            "providerPackage: {} -> {}",
            old.identity, new.identity
        );
    }
    for (old, new) in pinned.roles.iter().zip(&found.roles) {
        if old.identity != new.identity {
            _ = writeln!(
                text,
                "{}: {} -> {}",
                old.role.name(),
                old.identity,
                new.identity
            );
        } else if old.pin != new.pin {
            _ = writeln!(
                text,
                "{}: the checkout or the length differs",
                old.role.name()
            );
        }
    }
    text
}

fn role(entry: &RoleEntry) -> Json {
    let mut members = vec![("kind".to_owned(), Json::text(entry.kind().name()))];
    if let Some(coordinate) = entry.coordinate() {
        members.push(("coordinate".to_owned(), Json::text(coordinate)));
    }
    members.push(("identity".to_owned(), digest(&entry.identity)));
    if let Some(length) = entry.byte_length() {
        members.push(("byteLength".to_owned(), Json::unsigned(length)));
    }
    members.push(("locator".to_owned(), locator(&entry.locator)));
    match &entry.pin {
        RolePin::Executable {
            source: Some(git), ..
        } => {
            members.push(("source".to_owned(), source(git)));
        }
        RolePin::Component { manifest_role, .. } => {
            members.push(("manifestRole".to_owned(), Json::text(manifest_role)));
        }
        RolePin::Executable { source: None, .. }
        | RolePin::Profile { .. }
        | RolePin::Abi { .. } => {}
    }
    Json::object(members)
}

fn source(git: &GitSource) -> Json {
    let paths = git
        .paths
        .iter()
        .map(|path| Json::text(path.as_str()))
        .collect();
    Json::object([
        ("kind", Json::text("git")),
        ("revision", Json::text(&git.revision)),
        ("tree", digest(&git.tree)),
        ("worktree", tool(&git.worktree)),
        ("paths", Json::Array(paths)),
    ])
}

fn tool(locator: &ToolLocator) -> Json {
    let (scope, path) = match locator {
        ToolLocator::Suite(path) => ("suite", path.as_str()),
        ToolLocator::Outside(path) => ("outside", path.as_str()),
    };
    Json::object([("scope", Json::text(scope)), ("path", Json::text(path))])
}

fn locator(locator: &RoleLocator) -> Json {
    match locator {
        RoleLocator::Tool(place) => tool(place),
        RoleLocator::Package(path) => Json::object([
            ("scope", Json::text("package")),
            ("path", Json::text(path.as_str())),
        ]),
        RoleLocator::Embedded(program) => {
            let name = match program {
                Pinned::Runner => "runner",
                Pinned::Compiler => "compiler",
                Pinned::Verifier => "verifier",
                Pinned::Host => "host",
            };
            Json::object([("scope", Json::text("embedded")), ("in", Json::text(name))])
        }
    }
}
