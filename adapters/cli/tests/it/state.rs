// SPDX-License-Identifier: Apache-2.0
//! State makes reruns quick and changes nothing else: no verdict, no identity, no line of TAP.

use crate::{
    project::{SOURCE, SUITE, change_suite, contexts, decisions, many, project, record, run},
    support::{Run, Space, verdicts},
};
use edict_codec::{
    digest::derive,
    hex,
    json::{Json, JsonLimits, canonical, parse, write_document},
};
use std::{borrow::Cow, fs, path::Path, process::Stdio};

#[test]
fn a_second_run_builds_nothing_and_executes_everything_in_new_contexts() {
    let space = many(3);
    let first = run(&space, 0);
    let second = run(&space, 0);
    assert_eq!(decisions(&first, "buildDecision"), "built 3");
    assert_eq!(decisions(&first, "verifyDecision"), "verified 3");
    assert_eq!(decisions(&second, "buildDecision"), "reused 3");
    assert_eq!(decisions(&second, "verifyDecision"), "reused 3");
    assert_eq!(first["semanticDigest"], second["semanticDigest"]);
    assert_eq!(second["semantic"]["counts"]["executed"], 3);
    let (old, new) = (contexts(&first), contexts(&second));
    assert_eq!((old.len(), new.len()), (3, 3));
    assert!(
        new.iter().all(|context| !old.contains(context)),
        "{old:?} {new:?}"
    );
}

#[test]
fn editing_one_source_of_many_builds_one() {
    let space = many(30);
    let first = run(&space, 0);
    assert_eq!(decisions(&first, "buildDecision"), "built 30");
    space.edit(
        "cases/src/case-17.edict",
        "input.sum, sum)",
        "input.sum, 4u32)",
    );
    let second = run(&space, 1);
    assert_eq!(decisions(&second, "buildDecision"), "built 1, reused 29");
    assert_eq!(
        decisions(&second, "verifyDecision"),
        "reused 29, verified 1"
    );
    assert_eq!(second["semantic"]["counts"]["executed"], 30);
    let failed: Vec<String> = verdicts(&second)
        .into_iter()
        .filter(|(_, verdict)| verdict != "passed/Passed")
        .map(|(case, _)| case)
        .collect();
    assert_eq!(failed, ["case-17"]);
}

#[test]
fn fresh_builds_and_fresh_verifications_run_whatever_is_kept() {
    let space = project();
    run(&space, 0);
    for (option, build, verify) in [
        ("--fresh-build", "built 1", "reused 1"),
        ("--fresh-verify", "reused 1", "verified 1"),
        ("--verify-cache", "reused 1", "reused 1"),
    ] {
        let (fresh, report) = space.run(&[option]);
        assert_eq!(fresh.code, 0, "{}", fresh.stderr);
        assert_eq!(decisions(&report, "buildDecision"), build, "{option}");
        assert_eq!(decisions(&report, "verifyDecision"), verify, "{option}");
    }
}

#[test]
fn a_damaged_entry_is_quarantined_named_and_built_again() {
    let space = project();
    run(&space, 0);
    let core = record(&space, 1)["cases"][0]["buildKey"]["bytes"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = space.path(&format!(".edict-test/action/{}/{}", &core[..2], &core[2..]));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("result-projection", "result-projectioN"),
    )
    .unwrap();
    let (again, report) = space.run(&[]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(
        again.kinds().contains(&"CacheEntryQuarantined".to_owned()),
        "{}",
        again.stderr
    );
    assert_eq!(decisions(&report, "buildDecision"), "built 1");
    assert_eq!(
        fs::read_dir(space.path(".edict-test/quarantine"))
            .unwrap()
            .count(),
        1
    );
    assert_eq!(decisions(&run(&space, 0), "buildDecision"), "reused 1");
}

/// Gives the entry of one build the outputs of another, sound in itself: source and exports stay.
fn poison(space: &Space, victim: &str, donor: &str) {
    let path = |key: &str| space.path(&format!(".edict-test/action/{}/{}", &key[..2], &key[2..]));
    let read = |key: &str| {
        let bytes = fs::read(path(key)).unwrap();
        match Json::from(&parse(&bytes, JsonLimits::document(1 << 20)).unwrap()) {
            Json::Object(members) => members,
            other => panic!("{other:?}"),
        }
    };
    let outputs = |members: &[(Cow<'static, str>, Json)]| match &members[4] {
        (name, Json::Array(rows)) if name == "outputs" => rows.clone(),
        other => panic!("{other:?}"),
    };
    let mut forged = read(victim);
    let mut rows = outputs(&forged);
    rows.splice(..4, outputs(&read(donor)).into_iter().take(4));
    forged[4].1 = Json::Array(rows);
    forged.pop();
    let own = derive(
        "edict.test/action-record/v1",
        &canonical(&Json::object(forged.clone())).unwrap(),
    );
    forged.push(("self".into(), Json::text(hex::encode(&own))));
    fs::remove_file(path(victim)).unwrap();
    fs::write(path(victim), write_document(&Json::Object(forged))).unwrap();
}

#[test]
fn a_poisoned_but_sound_entry_is_found_when_the_cache_is_verified() {
    let space = project();
    run(&space, 0);
    space.edit(SOURCE, "input.sum, sum)", "input.sum, 4u32)");
    run(&space, 1);
    let key = |number: u64| {
        let record = record(&space, number);
        record["cases"][0]["buildKey"]["bytes"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    poison(&space, &key(2), &key(1));
    let (found, report) = space.run(&["--verify-cache"]);
    assert_eq!(found.code, 2, "{}", found.stdout);
    assert_eq!(found.primary().unwrap(), "report/ArtifactBodyMismatch");
    assert_eq!(report["semantic"]["counts"]["executed"], 0);
    // A fresh build does not look at it.
    let (fresh, _) = space.run(&["--fresh-build"]);
    assert_eq!(fresh.code, 1, "{}", fresh.stderr);
}

#[test]
fn a_record_names_every_file_of_the_snapshot_and_the_store_has_its_bytes() {
    let space = project();
    run(&space, 0);
    let record = record(&space, 1);
    assert_eq!(record["schema"], "edict.test.run-record/v1");
    let files = record["files"].as_array().unwrap();
    let paths: Vec<&str> = files
        .iter()
        .map(|it| it["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "edict.test-suite.json",
            "edict.test-toolchain-lock.json",
            "cases/adds-up.application.json",
            SOURCE,
            "cases/vendor/edict-test/exports.cbor",
            "cases/vendor/edict-test/manifest.cbor",
            "cases/vendor/starter/adapter.cbor",
            "cases/vendor/starter/configuration.cbor",
            "cases/vendor/starter/exports.cbor",
            "cases/vendor/starter/manifest.cbor",
            "fixtures/adds-up.input.bin",
        ]
    );
    for file in files {
        let blob = file["blob"]["bytes"].as_str().unwrap();
        let kept = space.path(&format!(".edict-test/blob/{}/{}", &blob[..2], &blob[2..]));
        let path = space.path(file["path"].as_str().unwrap());
        assert_eq!(fs::read(kept).unwrap(), fs::read(path).unwrap());
    }
    let lines = fs::read_to_string(space.path(".edict-test/runs/000000000001/record.jsonl"));
    assert_eq!(lines.unwrap().lines().count(), 2);
}

#[test]
fn a_run_that_ends_early_leaves_no_complete_record_or_one_that_says_so() {
    let space = project();
    run(&space, 0);
    fs::remove_file(space.path("fixtures/adds-up.input.bin")).unwrap();
    run(&space, 2);
    assert!(
        !space.path(".edict-test/runs/000000000002").exists(),
        "nothing was known of it"
    );
    fs::write(space.path("fixtures/adds-up.input.bin"), [0xff]).unwrap();
    run(&space, 2);
    let record = record(&space, 2);
    assert_eq!(record["class"], "infrastructure");
    assert_eq!(record["primary"]["kind"], "InputRefused");
}

#[test]
fn the_default_state_keeps_itself_out_of_version_control_and_may_be_deleted() {
    let space = project();
    let first = run(&space, 0);
    let state = space.path(".edict-test");
    assert_eq!(fs::read_to_string(state.join(".gitignore")).unwrap(), "*\n");
    assert_eq!(
        fs::read_to_string(state.join("VERSION")).unwrap(),
        "edict-test-store/1\n"
    );
    let tag = fs::read_to_string(state.join("CACHEDIR.TAG")).unwrap();
    assert!(tag.starts_with("Signature: 8a477f597d28d172789f06886806bc55\n"));
    fs::remove_dir_all(&state).unwrap();
    let second = run(&space, 0);
    assert_eq!(first["semanticDigest"], second["semanticDigest"]);
    assert_eq!(decisions(&second, "buildDecision"), "built 1");
}

#[test]
fn a_run_without_state_leaves_nothing() {
    let space = project();
    let (run, report) = space.run(&["--no-state"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(decisions(&report, "buildDecision"), "built 1");
    assert!(!space.path(".edict-test").exists());
}

#[test]
fn runs_share_a_state_at_the_same_time() {
    let space = many(4);
    let children: Vec<_> = (0..4)
        .map(|_| {
            let mut command = space.command(&["--suite", SUITE, "--state", "shared"]);
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let ended = Run::of(child.wait_with_output().unwrap());
        assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.stdout.lines().count(), 6);
        assert_eq!(
            ended.kinds(),
            Vec::<String>::new(),
            "no entry was torn or lost"
        );
    }
    let runs = space.directory.path().join("shared/runs");
    for number in 1..=4 {
        assert!(
            runs.join(format!("{number:012}/run.json")).is_file(),
            "run {number}"
        );
    }
    let stored = ["cache", "stats", "--state", "shared", "--json"];
    let stats = space.edict_test(&stored);
    let stats: serde_json::Value = serde_json::from_str(&stats.stdout).unwrap();
    assert_eq!(
        stats["kinds"]["action"]["count"], 8,
        "four builds, four verifications"
    );
    assert_eq!(stats["kinds"]["quarantined"]["count"], 0);
    assert_eq!(stats["kinds"]["temporary"]["count"], 0);
}

#[test]
fn a_place_that_cannot_be_a_state_is_a_warning_by_default_and_a_failure_when_named() {
    let space = project();
    fs::write(space.path(".edict-test"), "a file").unwrap();
    let (warned, report) = space.run(&[]);
    assert_eq!(warned.code, 0, "{}", warned.stderr);
    assert!(
        warned.kinds().contains(&"StateUnavailable".to_owned()),
        "{}",
        warned.stderr
    );
    assert_eq!(decisions(&report, "buildDecision"), "built 1");
    let (refused, _) = space.run(&["--state", "suite/.edict-test"]);
    assert_eq!(refused.code, 2);
    assert_eq!(refused.primary().unwrap(), "arguments/StateUnusable");
    let foreign = space.directory.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("VERSION"), "edict-test-store/9\n").unwrap();
    let (refused, _) = space.run(&["--state", "foreign"]);
    assert_eq!(refused.primary().unwrap(), "arguments/StateUnusable");
    assert_eq!(files(&foreign), ["VERSION"], "nothing in it was touched");
    // A state of another version is never passed over, wherever it is.
    fs::remove_file(space.path(".edict-test")).unwrap();
    fs::create_dir(space.path(".edict-test")).unwrap();
    fs::write(space.path(".edict-test/VERSION"), "edict-test-store/9\n").unwrap();
    let (refused, _) = space.run(&[]);
    assert_eq!(refused.primary().unwrap(), "arguments/StateUnusable");
    assert!(!refused.stdout.contains("1..1"), "{}", refused.stdout);
    assert_eq!(space.run(&["--no-state"]).0.code, 0);
    let (below, _) = space.run(&["--state", "suite/cases"]);
    assert_eq!(below.primary().unwrap(), "arguments/StateUnusable");
}

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn verdict_and_tap_are_the_same_with_and_without_state() {
    let space = many(3);
    space.edit(
        "cases/src/case-1.edict",
        "input.sum, sum)",
        "input.sum, 4u32)",
    );
    let (bare, without) = space.run(&["--no-state"]);
    let (cold, first) = space.run(&[]);
    let (warm, second) = space.run(&[]);
    assert_eq!((bare.code, cold.code, warm.code), (1, 1, 1));
    assert_eq!((&bare.stdout, &cold.stdout), (&cold.stdout, &warm.stdout));
    assert_eq!(without["semantic"], first["semantic"]);
    assert_eq!(first["semantic"], second["semantic"]);
}

#[test]
fn a_refused_build_is_never_kept() {
    let space = project();
    space.edit(SOURCE, "let sum", "let");
    for _ in 0..2 {
        let report = run(&space, 2);
        assert_eq!(decisions(&report, "buildDecision"), "notBuilt 1");
    }
    let stats = ["cache", "stats", "--state", "suite/.edict-test", "--json"];
    let stats: serde_json::Value = serde_json::from_str(&space.edict_test(&stats).stdout).unwrap();
    assert_eq!(stats["kinds"]["action"]["count"], 0);
}

#[test]
fn check_names_every_problem_of_a_suite_at_once() {
    let space = many(4);
    fs::remove_file(space.path("cases/src/case-0.edict")).unwrap();
    fs::write(space.path("cases/case-1.application.json"), "{}").unwrap();
    change_suite(&space, |suite| {
        suite["cases"][2]["input"] = "fixtures/none.bin".into();
    });
    fs::remove_file(space.path("edict.test-toolchain-lock.json")).unwrap();
    let checked = space.edict_test(&["check", "--suite", SUITE]);
    assert_eq!((checked.code, checked.stdout.as_str()), (2, ""));
    let told: Vec<String> = checked
        .records()
        .iter()
        .map(|it| format!("{} {}", it["kind"].as_str().unwrap(), it["caseId"]))
        .collect();
    assert_eq!(
        told,
        [
            "LockUnreadable null",
            "InputMissing \"case-0\"",
            "ApplicationInvalid \"case-1\"",
            "InputMissing \"case-2\"",
        ]
    );
}
