// SPDX-License-Identifier: Apache-2.0
//! A suite in memory and ports that answer from the recorded golden run.

use crate::{Actions, Ports, ReusePolicy, Runner, SuiteBytes};
use edict_codec::{
    bounded::ByteLimit,
    cbor::{Value, decode, encode},
    hex,
    json::{JsonLimits, Node, parse},
};
use edict_test_model::{
    ContextNonce, Failure, FailureKind, Locator, Stage,
    built::{Artifact, ArtifactRole, Body, Built, VerificationOutcome, Verified, blob},
    evidence::{CaseEvidence, ExecutionFailure, ExecutionStep},
    plan::{CasePlan, HostPins},
    ports::{
        BuildRequest, Compiler, ExecutionPort, FileBytes, ReadError, SnapshotPort, Verifier,
        VerifyRequest,
    },
    run::HostReport,
    suite::{LockDocument, SuiteDocument},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/golden-report")
}

/// What the twins count and are told.
#[derive(Debug, Default)]
struct Counters {
    builds: AtomicU64,
    verifications: AtomicU64,
    submissions: AtomicU64,
    refused: Mutex<BTreeSet<String>>,
}

/// A suite that can be edited, and a runner over twins.
pub(crate) struct Space {
    pub(crate) runner: Runner,
    files: Files,
    counters: Arc<Counters>,
    nonce: Arc<AtomicU64>,
}

impl Space {
    pub(crate) fn new() -> Self {
        let counters = Arc::new(Counters::default());
        let twin = Arc::new(Twin {
            counters: Arc::clone(&counters),
            programs: programs(),
        });
        let ports = Ports {
            compiler: Arc::clone(&twin) as Arc<dyn Compiler>,
            verifier: Arc::clone(&twin) as Arc<dyn Verifier>,
            host: twin,
            actions: Arc::new(Actions::new(None, ReusePolicy::default())),
        };
        let mut files = BTreeMap::new();
        let suite = golden().join("suite");
        collect(&suite, &suite, &mut files);
        let mut space = Self {
            runner: Runner::new(ports),
            files: Files(files),
            counters,
            nonce: Arc::default(),
        };
        space.load();
        space
    }

    /// Reads the suite as it is now.
    pub(crate) fn load(&mut self) {
        let manifest = self.files.0["edict.test-suite.json"].clone();
        let lock = self.files.0["edict.test-toolchain-lock.json"].clone();
        let suite = SuiteBytes {
            document: Arc::new(SuiteDocument::decode(&manifest).unwrap()),
            manifest: blob(&manifest),
            lock: Arc::new(LockDocument::decode(&lock).unwrap()),
            lock_file: blob(&lock),
        };
        self.runner.load(&self.files, suite).unwrap();
    }

    pub(crate) fn write(&mut self, path: &str, bytes: &[u8]) {
        assert!(
            self.files
                .0
                .insert(path.to_owned(), bytes.to_vec())
                .is_some(),
            "{path}"
        );
    }

    pub(crate) fn replace(&mut self, path: &str, old: &str, new: &str) {
        let text = String::from_utf8(self.files.0[path].clone()).unwrap();
        assert!(text.contains(old), "{path}");
        self.write(path, text.replace(old, new).as_bytes());
    }

    /// Lets the compiler refuse an application.
    pub(crate) fn refuse(&self, coordinate: &str) {
        self.counters
            .refused
            .lock()
            .unwrap()
            .insert(coordinate.to_owned());
    }

    /// Nonces that never repeat in this space.
    pub(crate) fn nonces(&self) -> impl FnMut() -> ContextNonce + use<> {
        let next = Arc::clone(&self.nonce);
        move || {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&next.fetch_add(1, Ordering::SeqCst).to_be_bytes());
            ContextNonce::new(bytes)
        }
    }

    pub(crate) fn builds(&self) -> u64 {
        self.counters.builds.load(Ordering::SeqCst)
    }

    pub(crate) fn verifications(&self) -> u64 {
        self.counters.verifications.load(Ordering::SeqCst)
    }

    pub(crate) fn submissions(&self) -> u64 {
        self.counters.submissions.load(Ordering::SeqCst)
    }
}

#[expect(clippy::disallowed_methods, reason = "the tests read the recorded run")]
fn collect(root: &Path, directory: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

struct Files(BTreeMap<String, Vec<u8>>);

impl SnapshotPort for Files {
    fn read(&self, locator: &Locator, limit: ByteLimit) -> Result<FileBytes, ReadError> {
        let missing = |kind| ReadError {
            kind,
            message: format!("read `{locator}`"),
        };
        let bytes = self
            .0
            .get(locator.as_str())
            .ok_or_else(|| missing(Some(FailureKind::InputMissing)))?;
        if !limit.admits(bytes.len()) {
            return Err(missing(None));
        }
        Ok(FileBytes {
            bytes: Arc::from(bytes.as_slice()),
            blob: blob(bytes),
            hard_linked: false,
        })
    }
}

/// One recorded program: artifacts by role.
type Recorded = BTreeMap<ArtifactRole, (String, Vec<u8>)>;

/// Programs of the golden run by coordinate.
#[expect(clippy::disallowed_methods, reason = "the tests read the recorded run")]
fn programs() -> BTreeMap<String, Recorded> {
    let text = std::fs::read(golden().join("report.json")).unwrap();
    let report = parse(
        &text,
        JsonLimits {
            bytes: 1 << 26,
            depth: 64,
        },
    )
    .unwrap();
    let list = report.get("semantic").unwrap().get("programs").unwrap();
    let program = |node: &Node| {
        let artifacts = node
            .get("artifacts")
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let text =
                    |node: &Node, name: &str| node.get(name).unwrap().as_text().unwrap().to_owned();
                let hex = text(row.get("blob").unwrap(), "bytes");
                let path = format!("report.json.artifacts/blake3/{}/{}", &hex[..2], &hex[2..]);
                let role = ArtifactRole::from_name(&text(row, "role")).unwrap();
                let domain = text(row.get("identity").unwrap(), "domain");
                (role, (domain, std::fs::read(golden().join(path)).unwrap()))
            });
        (
            node.get("coordinate")
                .unwrap()
                .as_text()
                .unwrap()
                .to_owned(),
            artifacts.collect(),
        )
    };
    list.as_array().unwrap().iter().map(program).collect()
}

/// Compiler, verifier and host in one.
struct Twin {
    counters: Arc<Counters>,
    programs: BTreeMap<String, Recorded>,
}

impl Twin {
    fn artifact(&self, coordinate: &str, role: ArtifactRole) -> Artifact {
        let (domain, bytes) = &self.programs[coordinate][&role];
        Artifact::item(role, domain, bytes.clone()).unwrap()
    }
}

/// The item with some of its members replaced.
fn patched(artifact: &Artifact, members: &[(&str, Value)]) -> Artifact {
    let value = decode(&artifact.body.bytes).unwrap();
    let entries = value.as_map().unwrap().iter().map(|(key, value)| {
        let name = key.as_text().unwrap();
        let new = members
            .iter()
            .find(|(member, _)| *member == name)
            .map(|(_, new)| new.clone());
        (name.to_owned(), new.unwrap_or_else(|| value.clone()))
    });
    let bytes = encode(&Value::text_map(entries.collect::<Vec<_>>()));
    Artifact::item(artifact.role, artifact.identity.domain(), bytes).unwrap()
}

impl Compiler for Twin {
    fn build(&self, request: &BuildRequest) -> Result<Built, Failure> {
        self.counters.builds.fetch_add(1, Ordering::SeqCst);
        let coordinate = request.recipe.application.coordinate.as_str();
        if self.counters.refused.lock().unwrap().contains(coordinate) {
            let kind = FailureKind::CompilerRefused;
            return Err(Failure::new(Stage::Build, kind, "refused by the twin"));
        }
        let source = request
            .files
            .iter()
            .find(|file| file.path == request.source)
            .unwrap();
        let source = Artifact::source(Arc::clone(&source.bytes));
        let package = self.artifact(coordinate, ArtifactRole::Package);
        Ok(Built {
            core: Some(self.artifact(coordinate, ArtifactRole::Core)),
            target_ir: Some(self.artifact(coordinate, ArtifactRole::TargetIr)),
            projection: Some(self.artifact(coordinate, ArtifactRole::ResultProjection)),
            package: patched(&package, &[("source", source.identity.to_value())]),
            lawpack_exports: vec![self.artifact(coordinate, ArtifactRole::LawpackExports)],
            source,
            report: None,
        })
    }
}

impl Verifier for Twin {
    fn verify(&self, request: &VerifyRequest) -> Result<Verified, Failure> {
        self.counters.verifications.fetch_add(1, Ordering::SeqCst);
        let core = &request.built.core.as_ref().unwrap().identity;
        let coordinate = self
            .programs
            .keys()
            .find(|it| self.artifact(it, ArtifactRole::Core).identity == *core)
            .unwrap();
        let report = self.artifact(coordinate, ArtifactRole::VerificationReport);
        let members = [
            ("package", request.built.package.identity.to_value()),
            ("source", request.built.source.identity.to_value()),
        ];
        Ok(Verified {
            report: patched(&report, &members),
            outcome: VerificationOutcome::Accepted,
            disagreement: None,
        })
    }
}

impl ExecutionPort for Twin {
    fn preflight(&self, pins: &HostPins) -> Result<HostReport, Failure> {
        Ok(HostReport {
            executable: pins.executable.clone(),
            hello: Body::new(hex::decode("a0").unwrap()),
            process: 0,
        })
    }

    /// Every input is refused, which ends the case and not the run.
    fn run_case(&self, plan: &CasePlan, _: ContextNonce) -> CaseEvidence {
        self.counters.submissions.fetch_add(1, Ordering::SeqCst);
        CaseEvidence {
            host: None,
            context: None,
            operations: Vec::new(),
            failure: Some(ExecutionFailure {
                step: ExecutionStep::Invoke(plan.operations.len() - 1),
                kind: FailureKind::InputRefused,
                host_code: Some("input-type".to_owned()),
                child: None,
                excerpt: None,
                message: "refused by the twin".to_owned(),
            }),
        }
    }

    fn close(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn submissions(&self) -> u64 {
        self.counters.submissions.load(Ordering::SeqCst)
    }
}
