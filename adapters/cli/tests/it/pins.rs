// SPDX-License-Identifier: Apache-2.0
//! The pinned toolchain: nothing that differs from its pin is started, and nothing is pinned anew.

use crate::{
    standin::refused,
    support::{Run, Space, program},
};
use serde_json::{Value, json};
use std::fs;

const LOCK: &str = "edict.test-toolchain-lock.json";

/// The run, and the role that its primary failure names.
fn run(space: &Space) -> (Run, Value, Value) {
    let lock = fs::read(space.path(LOCK)).unwrap();
    let (run, report) = space.run(&["--no-state"]);
    assert_eq!(
        fs::read(space.path(LOCK)).unwrap(),
        lock,
        "a run writes no pins"
    );
    let primary = run.records().into_iter().find(|it| it["primary"] == true);
    let role = primary.map_or(Value::Null, |it| it["role"].clone());
    (run, report, role)
}

/// A copy of a real program inside the suite, pinned.
fn with_own(role: &str, name: &str) -> Space {
    let space = Space::of("tour");
    fs::create_dir_all(space.path("tools")).unwrap();
    let path = space.path("tools").join(name);
    fs::copy(program(name), &path).unwrap();
    let tool = path.to_str().unwrap().to_owned();
    space.pin(&[&format!("--{role}"), &tool]);
    space
}

#[test]
fn bt_003_a_changed_program_is_not_started() {
    for (role, name) in [
        ("compiler", "edict"),
        ("verifier", "edict-verifier"),
        ("host", "echo-host"),
    ] {
        let space = with_own(role, name);
        let (fine, _, _) = run(&space);
        assert_eq!(fine.code, 0, "{}", fine.stderr);
        let path = space.path("tools").join(name);
        let mut bytes = fs::read(&path).unwrap();
        // The same length, one bit in a place that nothing executes.
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        let (ran, report, named) = run(&space);
        refused(&ran, &report, "toolchain/ToolMismatch");
        assert_eq!(named, role);
        let primary = ran
            .records()
            .into_iter()
            .find(|it| it["primary"] == true)
            .unwrap();
        assert_eq!(primary["expected"]["domain"], "edict.test/executable/v1");
        assert_ne!(primary["expected"], primary["actual"]);
        bytes.push(0);
        fs::write(&path, &bytes).unwrap();
        let (ran, report, _) = run(&space);
        refused(&ran, &report, "toolchain/ToolMismatch");
        fs::remove_file(&path).unwrap();
        let (ran, report, _) = run(&space);
        refused(&ran, &report, "toolchain/ToolMissing");
    }
}

#[test]
fn bt_003_another_program_under_a_role_is_a_mismatch_of_that_role() {
    let roles = ["compiler", "lowerer", "verifier", "host"];
    for role in roles {
        let space = Space::of("tour");
        space.json(LOCK, |lock| {
            let other = if role == "host" { "verifier" } else { "host" };
            lock["roles"][role]["locator"] = lock["roles"][other]["locator"].clone();
        });
        let (ran, report, named) = run(&space);
        refused(&ran, &report, "toolchain/ToolMismatch");
        assert_eq!(named, role);
    }
}

#[test]
fn bt_003_another_runner_than_the_running_one_is_refused() {
    let space = Space::of("tour");
    space.json(LOCK, |lock| {
        let host = lock["roles"]["host"].clone();
        lock["roles"]["runner"] = host;
    });
    let (ran, report, named) = run(&space);
    refused(&ran, &report, "toolchain/ToolMismatch");
    assert_eq!(named, "runner");
}

#[test]
fn bt_003_a_verifier_that_is_the_compiler_is_not_independent() {
    let space = Space::of("tour");
    space.json(LOCK, |lock| {
        let compiler = lock["roles"]["compiler"].clone();
        lock["roles"]["verifier"] = compiler;
    });
    let (ran, report, _) = run(&space);
    refused(&ran, &report, "lock/VerifierNotIndependent");
}

#[test]
fn bt_003_profiles_and_abis_are_pinned_by_coordinate_and_identity() {
    let zeros = "0".repeat(64);
    let rows: [(&str, &str, Value, &str); 5] = [
        (
            "codecAbi",
            "/identity/bytes",
            zeros.clone().into(),
            "AbiMismatch",
        ),
        (
            "transportAbi",
            "/coordinate",
            "echo.host-transport/v2".into(),
            "AbiMismatch",
        ),
        (
            "runReportAbi",
            "/identity/bytes",
            zeros.clone().into(),
            "AbiMismatch",
        ),
        (
            "verificationReportAbi",
            "/identity/bytes",
            zeros.clone().into(),
            "AbiMismatch",
        ),
        (
            "interpreterProfile",
            "/identity/bytes",
            zeros.clone().into(),
            "ProfileMismatch",
        ),
    ];
    for (role, pointer, value, kind) in rows {
        let space = Space::of("tour");
        space.json(LOCK, |lock| {
            *lock["roles"][role].pointer_mut(pointer).unwrap() = value;
        });
        let (ran, report, named) = run(&space);
        refused(&ran, &report, &format!("toolchain/{kind}"));
        assert_eq!(named, role);
    }
}

#[test]
fn bt_003_an_interpreter_that_no_package_is_for_is_refused_before_the_host() {
    let space = Space::of("tour");
    space.json(LOCK, |lock| {
        lock["roles"]["interpreterProfile"]["coordinate"] = "echo.interpreter/v2".into();
    });
    let (ran, report, _) = run(&space);
    refused(&ran, &report, "verify/ProfileMismatch");
}

#[test]
fn bt_003_the_target_profile_of_the_package_must_be_the_pinned_one() {
    let space = Space::of("tour");
    space.json(LOCK, |lock| {
        lock["roles"]["targetProfile"]["identity"]["bytes"] = "0".repeat(64).into();
    });
    let (ran, report, _) = run(&space);
    refused(&ran, &report, "verify/ProfileMismatch");
    let space = Space::of("tour");
    space.json(LOCK, |lock| {
        lock["roles"]["targetProfile"]["coordinate"] = "echo.dpo@2".into();
    });
    let (ran, report, _) = run(&space);
    refused(&ran, &report, "toolchain/LockDisagreesWithApplication");
}

#[test]
fn bt_003_identities_of_another_kind_are_no_pins() {
    let rows: [(&str, Value, &str); 4] = [
        (
            "/roles/host/identity/algorithm",
            "md5".into(),
            "UnsupportedAlgorithm",
        ),
        (
            "/roles/host/identity/domain",
            "edict.test/blob/v1".into(),
            "DomainMismatch",
        ),
        ("/roles/host/identity/bytes", "AB".into(), "InvalidDigest"),
        ("/roles/host/kind", "abi".into(), "RoleKindMismatch"),
    ];
    for (pointer, value, kind) in rows {
        let space = Space::of("tour");
        space.json(LOCK, |lock| *lock.pointer_mut(pointer).unwrap() = value);
        let (ran, report, _) = run(&space);
        refused(&ran, &report, &format!("lock/{kind}"));
        let primary = ran
            .records()
            .into_iter()
            .find(|it| it["primary"] == true)
            .unwrap();
        assert_eq!(primary["pointer"], pointer);
    }
}

#[test]
fn bt_003_a_program_that_replaces_itself_after_the_check_is_not_the_one_that_runs() {
    // The compiler that was verified overwrites the file that it came from; the second build runs
    // the same verified copy, and the next run refuses what is there now.
    let space = Space::of("tour");
    space.only(&["choose-left", "branch-loud"]);
    space.wrap("compiler", "exec \"$real\" \"$@\"");
    let (fine, _, _) = run(&space);
    assert_eq!(fine.code, 0, "{}", fine.stderr);
    fs::write(space.path("tools/compiler"), "#!/bin/sh\nexit 0\n").unwrap();
    let (ran, report, named) = run(&space);
    refused(&ran, &report, "toolchain/ToolMismatch");
    assert_eq!(named, "compiler");
    assert_eq!(report["semantic"]["programs"], json!([]));
}
