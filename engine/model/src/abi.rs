// SPDX-License-Identifier: Apache-2.0
//! The ABI documents embedded in the runner, and the lock entries that must name them (S16).

use crate::{
    failure::{Failure, FailureKind, Stage},
    suite::{ApplicationDocument, LockDocument, Role, identity},
};
use edict_codec::digest::TypedDigest;

/// One document that the runner carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbiDocument {
    /// The role that pins it.
    pub role: Role,
    /// Its coordinate.
    pub coordinate: &'static str,
    /// Its exact bytes, which its identity covers.
    pub definition: &'static [u8],
}

impl AbiDocument {
    /// Its identity.
    pub fn identity(&self) -> TypedDigest {
        identity::abi(self.coordinate, self.definition)
    }
}

/// The documents in the order of their roles.
pub const DOCUMENTS: [AbiDocument; 4] = [
    AbiDocument {
        role: Role::CodecAbi,
        coordinate: "edict.canonical-cbor/v1",
        definition: include_bytes!("abi/canonical-cbor.txt"),
    },
    AbiDocument {
        role: Role::TransportAbi,
        coordinate: "echo.host-transport/v1",
        definition: include_bytes!("abi/host-transport.txt"),
    },
    AbiDocument {
        role: Role::VerificationReportAbi,
        coordinate: "edict.verification-report/v1",
        definition: include_bytes!("abi/verification-report.txt"),
    },
    AbiDocument {
        role: Role::RunReportAbi,
        coordinate: "edict.test.run/v1",
        definition: include_bytes!("abi/run-report.txt"),
    },
];

/// Compares the ABI entries of a lock with the documents of this runner. There is no fallback.
///
/// # Errors
/// `AbiMismatch`, with the role and both identities.
pub fn check(lock: &LockDocument) -> Result<(), Failure> {
    for document in DOCUMENTS {
        let entry = lock.entry(document.role);
        let stated = entry.map(|entry| (entry.coordinate(), &entry.identity));
        let identity = document.identity();
        if stated != Some((Some(document.coordinate), &identity)) {
            let name = document.role.name();
            let message = format!(
                "the lock pins another {name} than this runner carries as `{}`; run `edict-test lock`",
                document.coordinate
            );
            let mut failure = Failure::new(Stage::Toolchain, FailureKind::AbiMismatch, message)
                .of_role(document.role);
            failure.expected = entry.map(|entry| entry.identity.clone());
            failure.actual = Some(identity);
            return Err(failure);
        }
    }
    Ok(())
}

/// Compares the target profile that an application names with that of the lock (S17).
///
/// # Errors
/// `LockDisagreesWithApplication`.
pub fn check_application(
    lock: &LockDocument,
    application: &ApplicationDocument,
) -> Result<(), Failure> {
    let pinned = lock
        .entry(Role::TargetProfile)
        .and_then(|entry| entry.coordinate());
    if pinned == Some(application.target_profile.as_str()) {
        return Ok(());
    }
    let message = format!(
        "application `{}` is for the target profile `{}`, the lock pins `{}`",
        application.coordinate,
        application.target_profile,
        pinned.unwrap_or_default()
    );
    let kind = FailureKind::LockDisagreesWithApplication;
    Err(Failure::new(Stage::Toolchain, kind, message).of_role(Role::TargetProfile))
}
