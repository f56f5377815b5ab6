// SPDX-License-Identifier: Apache-2.0
//! Stand-ins for programs of the toolchain: scripts that are pinned like any other program and call
//! the real one, which is pinned beside them as the lowerer.

use crate::support::{Run, Space, program};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

const MANIFEST: &str = "suite/edict.test-suite.json";
const RELAY: &str = include_str!("../../testdata/stand-ins/relay.pl");

impl Space {
    /// Writes an executable script of the suite and gives its path from the directory of the tests.
    pub(crate) fn script(&self, name: &str, text: &str) -> String {
        let tools = self.path("tools");
        fs::create_dir_all(&tools).unwrap();
        let path = tools.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        format!("suite/tools/{name}")
    }

    /// Pins the toolchain again, with some programs replaced.
    pub(crate) fn pin(&self, programs: &[&str]) {
        let mut arguments = vec!["lock", "--suite", MANIFEST, "--existing", "replace"];
        arguments.extend(programs);
        let pinned = self.edict_test(&arguments);
        assert_eq!(pinned.code, 0, "{}", pinned.stderr);
    }

    /// Pins a shell script as one program, and the real one as the lowerer: `$real`.
    pub(crate) fn wrap(&self, role: &str, lines: &str) {
        let real = match role {
            "compiler" => "edict",
            "verifier" => "edict-verifier",
            _ => "echo-host",
        };
        let text = format!("#!/bin/sh\nreal=\"${{0%/*}}/lowerer\"\n{lines}\n");
        let script = self.script(role, &text);
        let real = program(real);
        let role = format!("--{role}");
        self.pin(&[&role, &script, "--lowerer", real.to_str().unwrap()]);
    }

    /// Pins a host that relays to the real one; `lines` of Perl end in a call of `relay`.
    pub(crate) fn relay(&self, lines: &str) {
        let library = RELAY.strip_suffix("1;\n").unwrap();
        let script = self.script("host", &format!("#!/usr/bin/perl\n{library}{lines}\n"));
        let real = program("echo-host");
        self.pin(&["--host", &script, "--lowerer", real.to_str().unwrap()]);
    }

    /// Keeps the first cases that `keep` names, in the order of the suite.
    pub(crate) fn only(&self, keep: &[&str]) {
        self.manifest(|manifest| {
            let cases = manifest["cases"].as_array_mut().unwrap();
            cases.retain(|case| keep.contains(&case["id"].as_str().unwrap()));
            assert_eq!(cases.len(), keep.len());
        });
    }

    /// Changes the manifest.
    pub(crate) fn manifest(&self, change: impl FnOnce(&mut Value)) {
        self.json("edict.test-suite.json", change);
    }

    /// Changes a JSON file of the suite.
    pub(crate) fn json(&self, relative: &str, change: impl FnOnce(&mut Value)) {
        let path = self.path(relative);
        let mut value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut value);
        fs::write(path, serde_json::to_vec_pretty(&value).unwrap()).unwrap();
    }

    /// The bytes of a body of the last report.
    pub(crate) fn body(&self, body: &Value) -> Vec<u8> {
        let name = body["blob"]["bytes"].as_str().unwrap();
        let (start, rest) = name.split_at(2);
        let store = self.directory.path().join("run.json.artifacts/blake3");
        fs::read(store.join(start).join(rest)).unwrap()
    }

    /// An artifact of a program of `report`, by role.
    pub(crate) fn artifact(&self, report: &Value, program: usize, role: &str) -> Vec<u8> {
        let artifacts = &report["semantic"]["programs"][program]["artifacts"];
        let found = artifacts.as_array().unwrap().iter();
        let artifact = found.into_iter().find(|it| it["role"] == role).unwrap();
        self.body(artifact)
    }

    /// Every file below the directory of the tests with its content.
    pub(crate) fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut pending = vec![self.directory.path().to_path_buf()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    pending.push(entry.path());
                }
                let content = kind.is_file().then(|| fs::read(entry.path()).unwrap());
                found.insert(entry.path(), content.unwrap_or_default());
            }
        }
        found
    }
}

/// A Perl expression for bytes.
pub(crate) fn perl_bytes(bytes: &[u8]) -> String {
    let mut text = String::from("pack('H*', '");
    for byte in bytes {
        write!(text, "{byte:02x}").unwrap();
    }
    text.push_str("')");
    text
}

/// What must hold of a run that was refused before anything executed: the primary failure as
/// `stage/kind`, exit 2, a bail-out that names it, an incomplete report that agrees, and neither a
/// host nor a context in it.
#[track_caller]
pub(crate) fn refused(run: &Run, report: &Value, primary: &str) {
    assert_eq!(run.primary().as_deref(), Some(primary), "{}", run.stderr);
    assert_eq!(run.code, 2, "{}", run.stdout);
    let kind = primary.split('/').next_back().unwrap();
    let last = run.stdout.lines().next_back().unwrap();
    assert!(
        last.starts_with(&format!("Bail out! {kind}: ")),
        "{}",
        run.stdout
    );
    assert!(
        !run.stdout
            .lines()
            .any(|line| line.starts_with("ok ") || line.starts_with("not ok ")),
        "{}",
        run.stdout
    );
    assert_eq!(report["complete"], false, "{report:#}");
    let outcome = &report["semantic"]["outcome"];
    assert_eq!(outcome["exitCode"], 2);
    assert_eq!(outcome["class"], "infrastructure");
    let stated = format!(
        "{}/{}",
        outcome["primary"]["stage"].as_str().unwrap(),
        outcome["primary"]["kind"].as_str().unwrap()
    );
    assert_eq!(stated, primary);
    assert_eq!(report["evidence"]["hosts"], serde_json::json!([]));
    assert_eq!(report["evidence"]["cases"], serde_json::json!([]));
    assert_eq!(report["semantic"]["counts"]["executed"], 0);
    assert_eq!(report["semantic"]["counts"]["passed"], 0);
}

/// The processes whose command line names `directory`.
pub(crate) fn alive_below(directory: &Path) -> Vec<String> {
    let needle = directory.to_str().unwrap();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        if let Ok(line) = fs::read(entry.path().join("cmdline")) {
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if line.contains(needle) {
                found.push(line);
            }
        }
    }
    found
}
