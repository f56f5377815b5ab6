// SPDX-License-Identifier: Apache-2.0
//! A lock of shape `upstream`: real packages of the public compiler, checked and really executed.
//!
//! That compiler cannot be had where this is built, so a stand-in for it copies the package and the
//! report that it once wrote for the very same source. Everything behind the build is real: the
//! runner binds package, report and subject, and the host admits and executes.

use crate::support::{Run, copy, program, root};
use edict_codec::{
    cbor::{Value, encode},
    digest::{derive, sha256},
    hex,
};
use serde_json::{Value as Json, json};
use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf, process::Command};
use tempfile::TempDir;

/// The stand-in: it knows the sources it has recordings of, and refuses any other.
const STAND_IN: &str = r#"#!/bin/sh
# A stand-in for the public compiler: copies what that compiler wrote for the same source.
for recorded in ../provider/recorded/*; do
  if [ "$(cat ../src/m.edict)" = "$(cat "$recorded/m.edict")" ]; then
    mkdir output
    cp "$recorded/executable-operation-package.cbor" "$recorded/verification-report.cbor" output
    echo '{"schema":"edict.cli.build-result/v1","type":"buildResult"}'
    echo '{"command":"build","event":"completed","exitCode":0,"schema":"edict.cli.event/v1","type":"event"}'
    exit 0
  fi
done
echo '{"kind":"ApplicationCompilationFailed","message":"not recorded","schema":"edict.cli.diagnostic/v1","type":"diagnostic"}' >&2
echo '{"command":"build","event":"failed","exitCode":1,"schema":"edict.cli.event/v1","type":"event"}' >&2
exit 1
"#;

const NAMES: [&str; 2] = ["kv-put", "kv-two-effects"];

/// A suite with both applications, a provider package and the stand-in.
struct Upstream {
    directory: TempDir,
}

fn input(key: &str, value: &[u8]) -> Vec<u8> {
    encode(&Value::text_map([
        ("key", Value::text(key)),
        ("tag", Value::text("t")),
        ("value", Value::bytes(value)),
    ]))
}

fn taken(application: &str, setup: bool) -> Json {
    let application = format!("programs/{application}/edict.application.json");
    let prepared = json!({"application": application, "input": "fixtures/first.bin"});
    json!({
        "id": format!("{}-{}", if setup { "taken" } else { "free" }, application.split('/').nth(1).unwrap()),
        "application": application,
        "input": "fixtures/second.bin",
        "setup": if setup { vec![prepared] } else { Vec::new() },
        "expect": {
            "kind": "obstruction", "stage": "execution", "coordinate": "demo.kv@1.Taken",
            "payload": "fixtures/empty.bin",
        },
    })
}

impl Upstream {
    fn new(cases: &[Json]) -> Self {
        let space = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        let recorded = root().join("testdata/upstream-applications");
        for name in NAMES {
            let from = recorded.join(name);
            copy(&from, &space.path(&format!("programs/{name}")));
            let kept = space.path(&format!("provider-package/recorded/{name}"));
            copy(&from.join("out"), &kept);
            fs::copy(from.join("src/m.edict"), kept.join("m.edict")).unwrap();
        }
        fs::create_dir_all(space.path("fixtures")).unwrap();
        fs::write(space.path("fixtures/first.bin"), input("left", b"\x01")).unwrap();
        fs::write(space.path("fixtures/second.bin"), input("left", b"\x02")).unwrap();
        fs::write(space.path("fixtures/empty.bin"), b"\xa0").unwrap();
        let manifest = json!({
            "schema": "edict.test-suite/v1", "id": "upstream",
            "toolchainLock": "edict.test-toolchain-lock.json", "cases": cases,
        });
        fs::write(space.path("edict.test-suite.json"), manifest.to_string()).unwrap();
        fs::write(space.path("compiler"), STAND_IN).unwrap();
        fs::set_permissions(space.path("compiler"), fs::Permissions::from_mode(0o755)).unwrap();
        space.provider();
        space.lock(|_| {});
        space
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.directory.path().join("suite").join(relative)
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(program("edict-test"));
        command.args(arguments).current_dir(self.directory.path());
        Run::of(command.output().unwrap())
    }

    /// Two components and the manifest that states them.
    fn provider(&self) {
        let mut stated = Vec::new();
        for role in ["lowerer", "verifier"] {
            let bytes = format!("the {role} of a provider");
            fs::write(self.path(&format!("provider-package/{role}.wasm")), &bytes).unwrap();
            let digest = format!("sha256:{}", hex::encode(&sha256(bytes.as_bytes())));
            stated.push(json!({"role": role, "digest": digest}));
        }
        let manifest = json!({"components": stated}).to_string();
        fs::write(
            self.path("provider-package/provider-manifest.json"),
            manifest,
        )
        .unwrap();
    }

    /// The identity of the provider package (D4).
    fn tree(&self) -> String {
        let base = self.path("provider-package");
        let mut files = Vec::new();
        let mut pending = vec![base.clone()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    pending.push(path);
                    continue;
                }
                let bytes = fs::read(&path).unwrap();
                let name = path
                    .strip_prefix(&base)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                let blob = Value::Array(vec![
                    Value::text("edict.test/blob/v1"),
                    Value::text("blake3"),
                    Value::bytes(derive("edict.test/blob/v1", &bytes)),
                ]);
                files.push((name, blob));
            }
        }
        files.sort_by(|left, right| left.0.cmp(&right.0));
        let rows = files
            .into_iter()
            .map(|(name, blob)| Value::Array(vec![Value::text(name), blob]));
        let preimage = Value::Array(rows.collect());
        hex::encode(&derive("edict.test/tree/v1", &encode(&preimage)))
    }

    /// Writes the lock: a bundled one over the real host, turned into the other shape.
    fn lock(&self, change: impl FnOnce(&mut Json)) {
        let file = "edict.test-toolchain-lock.json";
        let suite = "suite/edict.test-suite.json";
        let pinned = self.run(&[
            "lock",
            "--suite",
            suite,
            "--existing",
            "replace",
            "--compiler",
            "suite/compiler",
        ]);
        assert_eq!(pinned.code, 0, "{}", pinned.stderr);
        let mut lock: Json = serde_json::from_slice(&fs::read(self.path(file)).unwrap()).unwrap();
        lock["shape"] = json!("upstream");
        lock["providerPackage"] = json!({
            "coordinate": "stand.in-provider@1",
            "identity": {
                "domain": "edict.test/tree/v1", "algorithm": "blake3", "bytes": self.tree(),
            },
            "locator": {"scope": "suite", "path": "provider-package"},
        });
        for role in ["lowerer", "verifier"] {
            let path = format!("{role}.wasm");
            let bytes = fs::read(self.path(&format!("provider-package/{path}"))).unwrap();
            lock["roles"][role] = json!({
                "kind": "component", "coordinate": format!("stand.in-{role}@1"),
                "identity": {
                    "domain": "edict.provider-component/v1", "algorithm": "sha256",
                    "bytes": hex::encode(&sha256(&bytes)),
                },
                "byteLength": bytes.len(),
                "locator": {"scope": "package", "path": path},
                "manifestRole": role,
            });
        }
        lock["roles"]["targetProfile"]["identity"]["bytes"] =
            json!("4175f3e6d41917bbbd68ec4a993baa069a1390b49ca880a97732c3ae083c5763");
        lock["roles"]["targetProfile"]["locator"] = json!({"scope": "embedded", "in": "compiler"});
        change(&mut lock);
        fs::write(self.path(file), lock.to_string()).unwrap();
    }

    fn suite(&self) -> Run {
        let suite = "suite/edict.test-suite.json";
        self.run(&[
            "--suite",
            suite,
            "--report-json",
            "run.json",
            "--report-existing",
            "replace",
        ])
    }

    fn report(&self) -> Json {
        serde_json::from_slice(&fs::read(self.directory.path().join("run.json")).unwrap()).unwrap()
    }
}

#[test]
fn real_upstream_packages_are_bound_and_executed() {
    let space = Upstream::new(&[taken("kv-put", true), taken("kv-two-effects", true)]);
    for _ in ["built", "reused"] {
        let run = space.suite();
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert!(
            run.stdout
                .contains("ok 1 - taken-kv-put\nok 2 - taken-kv-two-effects\n")
        );
    }
    let report = space.report();
    let operation = &report["evidence"]["cases"][0];
    assert!(!operation.is_null(), "{report}");
}

#[test]
fn a_free_key_is_an_unexpected_success_and_no_case_result() {
    let mut result = taken("kv-put", false);
    result["id"] = json!("as-result");
    result["expect"] = json!({"kind": "caseResult", "schema": "edict.test.case-result/v1"});
    let space = Upstream::new(&[taken("kv-put", false), result]);
    let run = space.suite();
    let kinds = run.kinds();
    assert!(kinds.contains(&"UnexpectedSuccess".to_owned()), "{kinds:?}");
    assert!(kinds.contains(&"InvalidCaseResult".to_owned()), "{kinds:?}");
    assert_ne!(run.code, 0);
}

#[test]
fn what_does_not_belong_together_is_named() {
    let recorded = "provider-package/recorded";
    let swap = |space: &Upstream, file: &str| {
        let from = space.path(&format!("{recorded}/kv-two-effects/{file}"));
        fs::copy(from, space.path(&format!("{recorded}/kv-put/{file}"))).unwrap();
        space.lock(|_| {});
        space.suite().primary()
    };
    let space = Upstream::new(&[taken("kv-put", true)]);
    let report = "verification-report.cbor";
    assert_eq!(
        swap(&space, report).as_deref(),
        Some("verify/VerificationReportMismatch")
    );
    let package = "executable-operation-package.cbor";
    assert_eq!(
        swap(&space, package).as_deref(),
        Some("verify/ClosureMismatch")
    );
    let space = Upstream::new(&[taken("kv-put", true)]);
    space.lock(|lock| {
        lock["roles"]["targetProfile"]["identity"]["bytes"] = json!("11".repeat(32));
    });
    assert_eq!(
        space.suite().primary().as_deref(),
        Some("verify/ProfileMismatch")
    );
}

#[test]
fn the_provider_package_is_staged_where_the_document_says() {
    let space = Upstream::new(&[taken("kv-put", true)]);
    fs::write(space.path("provider-package/lowerer.wasm"), "another").unwrap();
    let kind = space.suite().primary();
    assert_eq!(kind.as_deref(), Some("toolchain/ProviderPackageMismatch"));
    let space = Upstream::new(&[taken("kv-put", true)]);
    let document = space.path("programs/kv-put/edict.application.json");
    let text = fs::read_to_string(&document).unwrap();
    let without = text.replace(", \"providerPackage\": \"provider\"", "");
    assert_ne!(text, without);
    fs::write(document, without).unwrap();
    let kind = space.suite().primary();
    assert_eq!(kind.as_deref(), Some("snapshot/ApplicationInvalid"));
}

#[test]
fn a_lock_of_this_shape_is_compared_with_what_it_pins_and_with_nothing_else() {
    let space = Upstream::new(&[]);
    let check = ["lock", "--check", "suite/edict.test-toolchain-lock.json"];
    let same = space.run(&check);
    assert_eq!(
        (same.code, same.stderr.as_str()),
        (0, ""),
        "{}",
        same.stdout
    );
    // Another component is another package too.
    fs::write(space.path("provider-package/lowerer.wasm"), "changed").unwrap();
    let drift = space.run(&check);
    assert_eq!(drift.code, 1, "{}", drift.stderr);
    let names: Vec<&str> = drift
        .stdout
        .lines()
        .filter_map(|line| Some(line.split_once(':')?.0))
        .collect();
    assert_eq!(names, ["providerPackage", "lowerer"]);
    fs::remove_file(space.path("provider-package/lowerer.wasm")).unwrap();
    let gone = space.run(&check);
    assert_eq!((gone.code, gone.stdout.as_str()), (2, ""));
    assert_eq!(gone.primary().as_deref(), Some("toolchain/ToolMissing"));
}
