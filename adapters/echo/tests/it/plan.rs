// SPDX-License-Identifier: Apache-2.0
//! Plans over the stand-in programs of the golden report.

use edict_codec::digest::{Algorithm, TypedDigest};
use edict_test_model::built::{Artifact, ArtifactRole, Body, Built, VerificationOutcome, Verified};
use edict_test_model::evidence::{self, HostHello};
use edict_test_model::plan::{CasePlan, Expectation, HostPins, Operation, OperationRole, Program};
use edict_test_model::{CaseId, Limits};
use std::sync::Arc;

macro_rules! golden {
    ($path:literal) => {
        include_bytes!(concat!(
            "../../../../testdata/golden-report/report.json.artifacts/blake3/",
            $path
        ))
    };
}

/// Body of an accepted `hello` reply.
pub(crate) const HELLO: &[u8] =
    golden!("67/0514d8996051aeaabc69c448f5568bbc5b06d23bd17f6c209eae65183e9064");
const PURE: &[u8] = golden!("56/2f14e6c8e128e98b4ba312e1a7dbe857fc6a6d5d9e06d17a4f8c3f8c68cdbd");
const PURE_REPORT: &[u8] =
    golden!("42/ceeadf180ee2fa64eec11011f8b15eaddd83f35097dec0e8f24c8543aa0f62");
const EFFECTFUL: &[u8] =
    golden!("b4/a21cd17febd943ab7b3fc228141b899fca5a185ea29b2fcf6b82c6fc9636fa");
const EFFECTFUL_REPORT: &[u8] =
    golden!("3c/65a5755b0cc6e11ce2cf741cb18cc6dc8d858a957a9f7688062103a1cebb77");

/// A digest of a name.
pub(crate) fn named(domain: &str) -> TypedDigest {
    TypedDigest::new(domain, Algorithm::Blake3, [7; 32])
}

pub(crate) fn pure() -> Arc<evidence::Program> {
    Arc::new(evidence::Program::decode(Body::new(PURE), Body::new(PURE_REPORT)).unwrap())
}

pub(crate) fn effectful() -> Arc<evidence::Program> {
    Arc::new(evidence::Program::decode(Body::new(EFFECTFUL), Body::new(EFFECTFUL_REPORT)).unwrap())
}

pub(crate) fn pins() -> HostPins {
    let hello = HostHello::decode(HELLO).unwrap();
    HostPins {
        executable: named("edict.test/executable/v1"),
        interpreter: hello.interpreter,
        interpreter_identity: hello.interpreter_identity,
        target_profile: named("edict.target-profile/v1"),
        transport: named("edict.test/abi/v1"),
    }
}

/// A case whose programs run in order, the last one as the case itself.
pub(crate) fn plan(programs: &[Arc<evidence::Program>]) -> CasePlan {
    let last = programs.len() - 1;
    let operations = programs
        .iter()
        .enumerate()
        .map(|(index, program)| Operation {
            role: if index == last {
                OperationRole::Case
            } else {
                OperationRole::Setup(u32::try_from(index).unwrap())
            },
            program: Arc::new(built(program)),
            fixture: named("edict.test/fixture/v1"),
            input: Body::new(*b"\xa2\x61l\x01\x61r\x01"),
        });
    CasePlan {
        id: CaseId::parse("case").unwrap(),
        case: named("edict.test/case/v1"),
        operations: operations.collect(),
        expectation_identity: named("edict.test/expectation/v1"),
        expectation: Expectation::CaseResult,
        limits: Limits::default(),
        host: pins(),
    }
}

/// A plan's program. The client looks at nothing but `executable`.
fn built(executable: &Arc<evidence::Program>) -> Program {
    let item = |role: ArtifactRole| Artifact::item(role, role.domain().unwrap(), *b"\xa0").unwrap();
    Program {
        application: named("edict.test/application/v1"),
        coordinate: "demo@1".to_owned(),
        build_key: named("edict.test/build/v1"),
        built: Arc::new(Built {
            core: Some(item(ArtifactRole::Core)),
            target_ir: Some(item(ArtifactRole::TargetIr)),
            projection: Some(item(ArtifactRole::ResultProjection)),
            package: item(ArtifactRole::Package),
            source: Artifact::source(*b""),
            lawpack_exports: Vec::new(),
            report: None,
        }),
        verified: Arc::new(Verified {
            report: item(ArtifactRole::VerificationReport),
            outcome: VerificationOutcome::Accepted,
            disagreement: None,
        }),
        verifier: named("edict.test/executable/v1"),
        executable: Arc::clone(executable),
    }
}
