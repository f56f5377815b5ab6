// SPDX-License-Identifier: Apache-2.0
//! The golden run rebuilt from its suite and bodies: documents to plans, bodies to evidence.

use crate::golden::file;
use crate::reader::{Reader, build_recipe};
use edict_codec::{
    cbor::{Value, encode},
    digest::{Algorithm, TypedDigest},
    hex,
    json::{JsonLimits, Node, parse},
};
use edict_test_model::{
    ContextNonce, Failure,
    binding::{self, Subject},
    built::{Artifact, ArtifactRole, Body, Built, VerificationOutcome, Verified},
    evidence::{
        CaseEvidence, ContextEvidence, LogReplica, OperationEvidence, OutcomeFrame, storage_for,
    },
    plan::{CasePlan, Expectation, Operation, OperationRole, Program},
    recipe::key,
    run::{self, HostReport, StorageKind},
    suite::{
        CaseDocument, LockDocument, Role,
        identity::{ExpectationSubject, FixtureUse},
    },
    verdict::{Judged, judge},
};
use std::sync::Arc;

pub(crate) struct GoldenRun {
    pub(crate) report: Node,
    pub(crate) lock: LockDocument,
    pub(crate) programs: Vec<Arc<Program>>,
    pub(crate) hello: HostReport,
}

pub(crate) fn suite_file(path: &str) -> Vec<u8> {
    file(&format!("golden-report/suite/{path}"))
}

pub(crate) fn reader() -> Reader<'static> {
    Reader {
        read: Box::new(suite_file),
    }
}

pub(crate) fn digest(node: &Node) -> TypedDigest {
    let text = |name: &str| node.get(name).unwrap().as_text().unwrap();
    let algorithm = Algorithm::from_name(text("algorithm")).unwrap();
    TypedDigest::new(
        text("domain"),
        algorithm,
        hex::decode_32(text("bytes")).unwrap(),
    )
}

fn body(node: &Node) -> Body {
    let hex = digest(node.get("blob").unwrap()).hex();
    let (head, tail) = hex.split_at(2);
    Body::new(file(&format!(
        "golden-report/report.json.artifacts/blake3/{head}/{tail}"
    )))
}

fn artifacts(program: &Node) -> Vec<Artifact> {
    let rows = program.get("artifacts").unwrap().as_array().unwrap();
    let artifact = |row: &Node| {
        let role = row.get("role").unwrap().as_text().unwrap();
        let identity = digest(row.get("identity").unwrap());
        let bytes = body(row).bytes;
        let artifact = match ArtifactRole::from_name(role).unwrap() {
            ArtifactRole::Source => Artifact::source(bytes),
            role => Artifact::item(role, identity.domain(), bytes).unwrap(),
        };
        assert_eq!(artifact.identity, identity);
        artifact
    };
    rows.iter().map(artifact).collect()
}

pub(crate) fn built(program: &Node) -> (Built, Verified) {
    let mut rows = artifacts(program);
    let report = rows.pop().unwrap();
    let [core, target_ir, projection, package, source, exports] = rows.try_into().unwrap();
    let built = Built {
        core: Some(core),
        target_ir: Some(target_ir),
        projection: Some(projection),
        package,
        source,
        lawpack_exports: vec![exports],
        report: None,
    };
    let verified = Verified {
        report,
        outcome: VerificationOutcome::Accepted,
        disagreement: None,
    };
    (built, verified)
}

pub(crate) fn manifests(name: &str) -> Vec<TypedDigest> {
    let manifest = suite_file(&format!("cases/{name}/pack/manifest.cbor"));
    vec![binding::manifest_identity(&manifest).unwrap()]
}

impl GoldenRun {
    pub(crate) fn load() -> Self {
        let limits = JsonLimits {
            bytes: 1 << 26,
            depth: 64,
        };
        let report = parse(&file("golden-report/report.json"), limits).unwrap();
        let lock = reader().lock();
        let at = |path: &[&str]| {
            path.iter()
                .fold(&report, |node, name| node.get(name).unwrap())
        };
        let programs = ["choose", "bump"]
            .iter()
            .zip(at(&["semantic", "programs"]).as_array().unwrap());
        let programs = programs
            .map(|(name, node)| Arc::new(program(&lock, name, node)))
            .collect();
        let host = &at(&["evidence", "hosts"]).as_array().unwrap()[0];
        let hello = HostReport {
            executable: digest(host.get("executable").unwrap()),
            hello: body(host.get("hello").unwrap()),
            process: 0,
        };
        Self {
            report: report.clone(),
            lock,
            programs,
            hello,
        }
    }

    fn program(&self, application: &TypedDigest) -> &Arc<Program> {
        self.programs
            .iter()
            .find(|it| it.application == *application)
            .unwrap()
    }

    /// The plan of the case at `position`.
    pub(crate) fn plan(&self, position: usize) -> CasePlan {
        let reader = reader();
        let document = reader.document();
        let case = &document.cases[position];
        let subject = reader.case(case);
        let operation = |role, application: &TypedDigest, locator, fixture| Operation {
            role,
            program: Arc::clone(self.program(application)),
            fixture,
            input: Body::new(reader.bytes(locator)),
        };
        let setup =
            case.setup
                .iter()
                .zip(&subject.setup)
                .enumerate()
                .map(|(index, (entry, it))| {
                    let role = OperationRole::Setup(u32::try_from(index).unwrap());
                    operation(
                        role,
                        &it.application.identity(),
                        &entry.input,
                        it.input.identity(),
                    )
                });
        let application = subject.application.identity();
        let own = operation(
            OperationRole::Case,
            &application,
            &case.input,
            subject.input.identity(),
        );
        CasePlan {
            id: case.id.clone(),
            case: subject.identity(),
            operations: setup.chain([own]).collect(),
            expectation_identity: subject.expectation.identity(),
            expectation: expectation(&reader, case, &subject.expectation),
            limits: document.limits,
            host: run::host_pins(&self.lock).unwrap(),
        }
    }

    /// What the golden host answered for the case at `position`, and the nonce it was asked with.
    pub(crate) fn evidence(&self, position: usize) -> (ContextNonce, CaseEvidence) {
        let plan = self.plan(position);
        let cases = self.report.get("evidence").unwrap().get("cases").unwrap();
        let case = &cases.as_array().unwrap()[position];
        let context = case.get("context").unwrap();
        let nonce = ContextNonce::new(hex32(context.get("nonce").unwrap()));
        let storage = storage_for(plan.operations.iter().map(|it| &*it.program.executable));
        let hello = edict_test_model::evidence::HostHello::decode(&self.hello.hello.bytes).unwrap();
        let log = LogReplica::genesis(&nonce, &plan.case, &hello.build);
        let opening = log.opening(digest(context.get("worldline").unwrap()));
        let wal = opening
            .wal
            .filter(|_| storage == StorageKind::Durable)
            .map_or(Value::Null, |wal| {
                Value::text_map([
                    ("epoch", Value::unsigned(wal.epoch)),
                    ("lastLsn", Value::unsigned(wal.last_lsn)),
                    ("commit", wal.commit.to_value()),
                ])
            });
        let opened = Value::text_map([
            ("worldline", opening.worldline.to_value()),
            ("basis", opening.basis.to_value()),
            ("decided", Value::unsigned(0)),
            ("lastReceipt", Value::Null),
            ("wal", wal),
            ("recovery", Value::Null),
        ]);
        let operations = case.get("operations").unwrap().as_array().unwrap();
        let worldline = opening.worldline.clone();
        let evidence = CaseEvidence {
            host: Some(self.hello.clone()),
            context: Some(ContextEvidence {
                nonce,
                subject: plan.case.clone(),
                storage,
                grants: edict_test_model::evidence::plan_grants(&plan),
                opened: Body::new(encode(&opened)),
            }),
            operations: operations
                .iter()
                .map(|it| operation(it, &worldline))
                .collect(),
            failure: None,
        };
        (nonce, evidence)
    }

    pub(crate) fn judged(&self, position: usize) -> Judged {
        let (nonce, evidence) = self.evidence(position);
        judge(&self.plan(position), nonce, &evidence)
    }
}

fn hex32(node: &Node) -> [u8; 32] {
    hex::decode_32(node.as_text().unwrap()).unwrap()
}

fn program(lock: &LockDocument, name: &str, node: &Node) -> Program {
    let (built, verified) = built(node);
    let coordinate = node.get("coordinate").unwrap().as_text().unwrap();
    let executable = check(lock, name, coordinate, &built, &verified).unwrap();
    let locator = reader()
        .document()
        .cases
        .iter()
        .map(|case| case.application.clone())
        .find(|locator| locator.as_str().contains(name))
        .unwrap();
    let application = reader().application(&locator);
    Program {
        application: application.identity(),
        coordinate: coordinate.to_owned(),
        build_key: key(&build_recipe(lock, application)),
        built: Arc::new(built),
        verified: Arc::new(verified),
        verifier: lock.entry(Role::Verifier).unwrap().identity.clone(),
        executable: Arc::new(executable),
    }
}

pub(crate) fn check(
    lock: &LockDocument,
    name: &str,
    coordinate: &str,
    built: &Built,
    verified: &Verified,
) -> Result<edict_test_model::evidence::Program, Failure> {
    let subject = Subject {
        coordinate,
        target_profile: &lock.entry(Role::TargetProfile).unwrap().identity,
        interpreter: lock
            .entry(Role::InterpreterProfile)
            .unwrap()
            .coordinate()
            .unwrap(),
        codec: lock.entry(Role::CodecAbi).unwrap().coordinate().unwrap(),
        lawpack_manifests: &manifests(name),
    };
    binding::check_report(built, verified, &subject)
}

fn expectation(
    reader: &Reader<'_>,
    case: &CaseDocument,
    subject: &ExpectationSubject,
) -> Expectation {
    match (&case.expect, subject) {
        (
            edict_test_model::suite::Expect::Obstruction {
                coordinate,
                payload,
            },
            ExpectationSubject::Obstruction {
                payload: fixture, ..
            },
        ) => {
            assert_eq!(fixture.usage, FixtureUse::Payload);
            Expectation::Obstruction {
                coordinate: coordinate.clone(),
                fixture: fixture.identity(),
                payload: Body::new(reader.bytes(payload)),
            }
        }
        _ => Expectation::CaseResult,
    }
}

fn operation(node: &Node, worldline: &TypedDigest) -> OperationEvidence {
    let get = |name: &str| node.get(name).unwrap();
    let optional = |name: &str| get(name).as_object().map(|_| body(get(name)));
    let record = body(get("record"));
    let kind = edict_test_model::evidence::ExecutionRecord::decode(&record.bytes)
        .unwrap()
        .outcome_kind();
    OperationEvidence {
        invocation: hex32(get("invocation")),
        request: body(get("request")),
        input: body(get("input")),
        frame: OutcomeFrame {
            worldline: worldline.clone(),
            invocation: hex32(get("invocation")),
            kind,
            recalled: false,
        },
        record,
        receipt: body(get("receipt")),
        body: body(get("result")),
        footprint: optional("footprint"),
        patch: optional("patch"),
    }
}
