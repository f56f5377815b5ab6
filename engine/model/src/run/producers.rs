// SPDX-License-Identifier: Apache-2.0
//! What a lock says in the report and to the host.

use super::{Producer, ProviderReport};
use crate::{
    plan::HostPins,
    suite::{LockDocument, Role},
};

/// `.producers`: the eleven roles in order.
pub fn producers(lock: &LockDocument) -> Vec<Producer> {
    let producer = |entry: &crate::suite::RoleEntry| Producer {
        role: entry.role,
        kind: entry.kind(),
        coordinate: entry.coordinate().map(str::to_owned),
        identity: entry.identity.clone(),
        revision: entry.source().map(|source| source.revision.clone()),
        tree: entry.source().map(|source| source.tree.clone()),
    };
    lock.roles.iter().map(producer).collect()
}

/// `.providerPackage`.
pub fn provider_package(lock: &LockDocument) -> Option<ProviderReport> {
    lock.provider_package
        .as_ref()
        .map(|package| ProviderReport {
            coordinate: package.coordinate.clone(),
            identity: package.identity.clone(),
        })
}

/// The pins of the host process; a decoded lock always has them.
pub fn host_pins(lock: &LockDocument) -> Option<HostPins> {
    let identity = |role| lock.entry(role).map(|entry| entry.identity.clone());
    Some(HostPins {
        executable: identity(Role::Host)?,
        interpreter: lock
            .entry(Role::InterpreterProfile)?
            .coordinate()?
            .to_owned(),
        interpreter_identity: identity(Role::InterpreterProfile)?,
        target_profile: identity(Role::TargetProfile)?,
        transport: identity(Role::TransportAbi)?,
    })
}
