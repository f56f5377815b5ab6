// SPDX-License-Identifier: Apache-2.0
//! The documents of a suite, decoded strictly, and the identities made of their content.

pub mod application;
pub(crate) mod decode;
pub mod document;
pub mod identity;
mod locator;
pub mod lock;
mod role;

pub use application::{ApplicationDocument, LawpackPaths, TargetPaths};
pub use decode::DocumentError;
pub use document::{CaseDocument, Expect, SetupDocument, Skip, SuiteDocument};
pub use locator::{RoleLocator, ToolLocator};
pub use lock::{GitSource, LockDocument, ProviderPackage, RoleEntry, RolePin};
pub use role::{Pinned, Role, RoleKind, Shape};
