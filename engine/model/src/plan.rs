// SPDX-License-Identifier: Apache-2.0
//! Everything the execution of a case is held to, frozen before it starts.

use crate::{
    built::{Body, Built, Verified},
    evidence,
    ids::{CaseId, Coordinate},
    limits::Limits,
};
use edict_codec::digest::TypedDigest;
use std::sync::Arc;

/// One program that was built and verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Identity of the application.
    pub application: TypedDigest,
    /// Coordinate of the application document.
    pub coordinate: String,
    /// The build key.
    pub build_key: TypedDigest,
    /// Package, Core, Target IR, projection, source, exports.
    pub built: Arc<Built>,
    /// The accepted verification.
    pub verified: Arc<Verified>,
    /// Identity of the verifier's pin.
    pub verifier: TypedDigest,
    /// Package and report, decoded once, with the installation a host must answer with.
    pub executable: Arc<evidence::Program>,
}

/// What an operation is in its case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationRole {
    /// The setup entry at this position, from 0.
    Setup(u32),
    /// The operation of the case itself.
    Case,
}

impl OperationRole {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Setup(_) => "setup",
            Self::Case => "case",
        }
    }

    /// Position of a setup entry.
    pub const fn setup_index(self) -> Option<u32> {
        match self {
            Self::Setup(index) => Some(index),
            Self::Case => None,
        }
    }
}

/// One invocation to come: a verified program and its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Setup entry or case.
    pub role: OperationRole,
    /// The program.
    pub program: Arc<Program>,
    /// Identity of the input fixture.
    pub fixture: TypedDigest,
    /// The input bytes.
    pub input: Body,
}

/// What the case must end in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// A case result of schema `edict.test.case-result/v1`.
    CaseResult,
    /// One terminal obstruction of stage `execution`.
    Obstruction {
        /// Its exact coordinate.
        coordinate: Coordinate,
        /// Identity of the payload fixture.
        fixture: TypedDigest,
        /// The payload bytes in the declared codec.
        payload: Body,
    },
}

/// The pins of the host process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPins {
    /// Identity of the executable.
    pub executable: TypedDigest,
    /// Coordinate of the interpreter profile.
    pub interpreter: String,
    /// Identity of the interpreter profile.
    pub interpreter_identity: TypedDigest,
    /// Identity of the target profile.
    pub target_profile: TypedDigest,
    /// Identity of the transport ABI.
    pub transport: TypedDigest,
}

/// The frozen plan of one case, equal to another exactly when an execution would be held to the
/// same. Its position in the suite is no part of it: order changes the schedule, never a case (R7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CasePlan {
    /// The id.
    pub id: CaseId,
    /// The identity: the `subject` of the execution context.
    pub case: TypedDigest,
    /// Setup in order, then the case's own operation, which is always last.
    pub operations: Vec<Operation>,
    /// Identity of the expectation.
    pub expectation_identity: TypedDigest,
    /// The expectation.
    pub expectation: Expectation,
    /// The effective limits.
    pub limits: Limits,
    /// The host to execute on.
    pub host: HostPins,
}

impl CasePlan {
    /// The operation of the case itself.
    pub fn case_operation(&self) -> Option<&Operation> {
        self.operations.last()
    }
}
