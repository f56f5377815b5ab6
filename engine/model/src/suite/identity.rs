// SPDX-License-Identifier: Apache-2.0
//! The identities of fixtures, expectations, cases, locks and suites (D4).
//!
//! Each is the key of a recipe, so that what an identity is made of can always be told.

use super::{document::Skip, lock::LockDocument};
use crate::{
    built::blob,
    ids::{CaseId, Coordinate, SuiteId},
    limits::{Limit, Limits},
    recipe::{ApplicationSubject, ContentFile, Recipe, RecipeVisitor, Scalar, key},
    suite::{document, lock},
};
use edict_codec::{
    cbor::{Value, encode},
    digest::{TypedDigest, derive_typed},
};

/// Context of fixture identities.
pub const FIXTURE: &str = "edict.test/fixture/v1";
/// Context of expectation identities.
pub const EXPECTATION: &str = "edict.test/expectation/v1";
/// Context of case identities.
pub const CASE: &str = "edict.test/case/v1";
/// Context of lock identities.
pub const TOOLCHAIN_LOCK: &str = "edict.test/toolchain-lock/v1";
/// Context of suite identities.
pub const SUITE: &str = "edict.test/suite/v1";

/// What a fixture is used for: an input is not a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FixtureUse {
    /// Input of a case or a setup operation.
    Input,
    /// Expected payload of an obstruction.
    Payload,
}

impl FixtureUse {
    /// The name in the preimage.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Payload => "payload",
        }
    }
}

/// One fixture by content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixtureSubject {
    /// Input or payload.
    pub usage: FixtureUse,
    /// Length in bytes.
    pub byte_length: u64,
    /// Content and place.
    pub file: ContentFile,
}

impl FixtureSubject {
    /// Its identity.
    pub fn identity(&self) -> TypedDigest {
        fixture(self.usage, self.byte_length, &self.file.blob)
    }

    fn show(&self, label: &str, visitor: &mut dyn RecipeVisitor) {
        visitor.leaf(label, &self.identity(), Some(&self.file.locator));
    }
}

/// The identity of a fixture of `byte_length` bytes.
pub fn fixture(usage: FixtureUse, byte_length: u64, blob: &TypedDigest) -> TypedDigest {
    let preimage = Value::Array(vec![
        Value::text(usage.name()),
        Value::unsigned(byte_length),
        blob.to_value(),
    ]);
    derive_typed(FIXTURE, &encode(&preimage))
}

/// The identity of the fixture that `bytes` are.
pub fn fixture_of(usage: FixtureUse, bytes: &[u8]) -> TypedDigest {
    fixture(usage, bytes.len() as u64, &blob(bytes))
}

/// An expectation by content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectationSubject {
    /// A case result.
    CaseResult,
    /// An obstruction.
    Obstruction {
        /// Its coordinate.
        coordinate: Coordinate,
        /// Its payload.
        payload: FixtureSubject,
    },
}

impl ExpectationSubject {
    /// Its identity.
    pub fn identity(&self) -> TypedDigest {
        key(self)
    }
}

impl Recipe for ExpectationSubject {
    fn context(&self) -> &'static str {
        EXPECTATION
    }

    fn visit(&self, visitor: &mut dyn RecipeVisitor) {
        match self {
            Self::CaseResult => {
                visitor.scalar("expectation.kind", Scalar::Text("caseResult"));
                visitor.scalar("expectation.schema", Scalar::Text(document::CASE_RESULT));
            }
            Self::Obstruction {
                coordinate,
                payload,
            } => {
                visitor.scalar("expectation.kind", Scalar::Text("obstruction"));
                visitor.scalar("expectation.stage", Scalar::Text("execution"));
                visitor.scalar("expectation.coordinate", Scalar::Text(coordinate.as_str()));
                payload.show("expectation.payload", visitor);
            }
        }
    }
}

/// One setup entry by content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupSubject {
    /// The application.
    pub application: ApplicationSubject,
    /// The input.
    pub input: FixtureSubject,
}

/// One case by content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseSubject {
    /// The id.
    pub id: CaseId,
    /// The application.
    pub application: ApplicationSubject,
    /// The input.
    pub input: FixtureSubject,
    /// The expectation.
    pub expectation: ExpectationSubject,
    /// Setup in order.
    pub setup: Vec<SetupSubject>,
    /// A declared skip.
    pub skip: Option<Skip>,
}

impl CaseSubject {
    /// Its identity.
    pub fn identity(&self) -> TypedDigest {
        key(self)
    }
}

impl Recipe for CaseSubject {
    fn context(&self) -> &'static str {
        CASE
    }

    fn visit(&self, visitor: &mut dyn RecipeVisitor) {
        visitor.scalar("id", Scalar::Text(self.id.as_str()));
        self.application.visit_within("application", visitor);
        self.input.show("input", visitor);
        visitor.identity(EXPECTATION, &mut |visitor| self.expectation.visit(visitor));
        visitor.list(&mut |visitor| {
            for (index, entry) in self.setup.iter().enumerate() {
                visitor.list(&mut |visitor| {
                    let label = format!("setup[{index}]");
                    let application = format!("{label}.application");
                    entry.application.visit_within(&application, visitor);
                    entry.input.show(&format!("{label}.input"), visitor);
                });
            }
        });
        match &self.skip {
            None => visitor.scalar("skip", Scalar::Absent),
            Some(skip) => visitor.list(&mut |visitor| {
                visitor.scalar("skip.reason", Scalar::Text(&skip.reason));
                visitor.scalar(
                    "skip.trackingReference",
                    Scalar::Text(&skip.tracking_reference),
                );
            }),
        }
    }
}

impl LockDocument {
    /// Its identity.
    pub fn identity(&self) -> TypedDigest {
        key(self)
    }
}

impl Recipe for LockDocument {
    fn context(&self) -> &'static str {
        TOOLCHAIN_LOCK
    }

    fn visit(&self, visitor: &mut dyn RecipeVisitor) {
        visitor.constant(lock::SCHEMA);
        visitor.scalar("shape", Scalar::Text(self.shape.name()));
        match &self.provider_package {
            None => visitor.scalar("toolchain.providerPackage", Scalar::Absent),
            Some(package) => visitor.list(&mut |visitor| {
                visitor.scalar(
                    "toolchain.providerPackage.coordinate",
                    Scalar::Text(&package.coordinate),
                );
                visitor.leaf("toolchain.providerPackage", &package.identity, None);
            }),
        }
        visitor.list(&mut |visitor| {
            for entry in &self.roles {
                visitor.list(&mut |visitor| role(entry, visitor));
            }
        });
    }
}

fn role(entry: &lock::RoleEntry, visitor: &mut dyn RecipeVisitor) {
    let label = format!("toolchain.{}", entry.role.name());
    visitor.constant(entry.role.name());
    visitor.scalar(&format!("{label}.kind"), Scalar::Text(entry.kind().name()));
    visitor.scalar(
        &format!("{label}.coordinate"),
        entry.coordinate().map_or(Scalar::Absent, Scalar::Text),
    );
    visitor.leaf(&label, &entry.identity, None);
    let source = format!("{label}.source");
    match entry.source() {
        None => visitor.scalar(&source, Scalar::Absent),
        Some(git) => visitor.list(&mut |visitor| {
            visitor.scalar(&format!("{source}.revision"), Scalar::Text(&git.revision));
            visitor.leaf(&format!("{source}.tree"), &git.tree, None);
        }),
    }
}

/// A suite by content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteSubject {
    /// The suite id.
    pub id: SuiteId,
    /// Identity of the lock.
    pub lock: TypedDigest,
    /// The effective limits.
    pub limits: Limits,
    /// Label and identity of each case, in order.
    pub cases: Vec<(String, TypedDigest)>,
}

impl SuiteSubject {
    /// Its identity.
    pub fn identity(&self) -> TypedDigest {
        key(self)
    }
}

impl Recipe for SuiteSubject {
    fn context(&self) -> &'static str {
        SUITE
    }

    fn visit(&self, visitor: &mut dyn RecipeVisitor) {
        visitor.constant(document::SCHEMA);
        visitor.scalar("suite.id", Scalar::Text(self.id.as_str()));
        visitor.leaf("suite.lock", &self.lock, None);
        visitor.list(&mut |visitor| {
            for limit in Limit::ALL {
                let label = format!("limits.{}", limit.name());
                visitor.scalar(&label, Scalar::Number(self.limits.get(limit)));
            }
        });
        visitor.list(&mut |visitor| {
            for (index, (label, case)) in self.cases.iter().enumerate() {
                visitor.list(&mut |visitor| {
                    visitor.scalar(&format!("cases[{index}].label"), Scalar::Text(label));
                    visitor.leaf(&format!("cases[{index}].case"), case, None);
                });
            }
        });
    }
}

/// The identity of the regular files of a tree, given by path and blob in any order. `.git` at the
/// root is left out by the caller.
pub fn tree(mut files: Vec<(String, TypedDigest)>) -> TypedDigest {
    files.sort_by(|left, right| left.0.as_bytes().cmp(right.0.as_bytes()));
    let rows = files
        .into_iter()
        .map(|(path, blob)| Value::Array(vec![Value::text(path), blob.to_value()]))
        .collect();
    derive_typed(lock::TREE, &encode(&Value::Array(rows)))
}

/// The identity of an ABI document.
pub fn abi(coordinate: &str, definition: &[u8]) -> TypedDigest {
    let preimage = Value::Array(vec![
        Value::text(coordinate),
        Value::bytes(definition.to_vec()),
    ]);
    derive_typed(lock::ABI, &encode(&preimage))
}

/// The identity of a program file.
pub fn executable(bytes: &[u8]) -> TypedDigest {
    derive_typed(lock::EXECUTABLE, bytes)
}
