// SPDX-License-Identifier: Apache-2.0
//! Hosts and compilers that die, fall silent, or leave something behind.

use crate::{
    standin::alive_below,
    support::{Run, Space, consumers},
};
use serde_json::{Value, json};

/// Runs three cases on a relay that bends the second outcome with `lines`.
fn second(lines: &str) -> (Space, Run, Value) {
    let space = Space::of("tour");
    space.only(&["choose-left", "branch-loud", "branch-quiet"]);
    space.manifest(|manifest| manifest["limits"] = json!({"wallTimeoutMs": 5000}));
    space.relay(&format!(
        "relay(\\&unchanged, sub {{ my ($kind, $n, $sequence, $body, $bytes) = @_;
return $bytes unless $kind == 0x8005 && $n == 2;
{lines} }});"
    ));
    let temporary = space.directory.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let (run, report) = space.run(&["--temp-root", temporary.to_str().unwrap()]);
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    assert_eq!(alive_below(&temporary), Vec::<String>::new());
    (space, run, report)
}

/// The run must have kept the first case and failed at the second; the third is not run.
fn lost(lines: &str, verdict: &str, primary: &str) {
    let (_space, run, report) = second(lines);
    assert_eq!(run.primary().as_deref(), Some(primary), "{}", run.stderr);
    let kind = primary.split('/').next_back().unwrap();
    assert!(
        run.stdout.starts_with(&format!(
            "TAP version 14\n1..3\nok 1 - equal inputs are equal\nBail out! {kind}: "
        )),
        "{}",
        run.stdout
    );
    assert_eq!(run.stdout.lines().count(), 4);
    assert_eq!(run.code, 2);
    assert_eq!(report["complete"], false);
    let cases = &report["semantic"]["cases"];
    assert_eq!(cases[0]["verdict"], "passed");
    assert_eq!(cases[1]["verdict"], verdict);
    assert_eq!(cases[1]["kind"], kind);
    assert_eq!(cases[1]["executed"], false);
    assert_eq!(cases[2]["state"], "notRun");
    assert_eq!(cases[2]["verdict"], Value::Null);
    let counts = json!({"selected": 3, "executed": 1, "passed": 1, "failed": 0, "errored": 1, "skipped": 0, "notRun": 1});
    assert_eq!(report["semantic"]["counts"], counts);
    let reading = consumers(run.stdout.as_bytes());
    assert_eq!(
        (reading.verdict.as_str(), reading.bailout),
        ("failing", true)
    );
}

#[test]
fn bt_015_a_host_that_crashes_leaves_no_synthetic_remainder() {
    lost("exit 7;", "runtime_failed", "host/HostLost");
}

#[test]
fn b08_a_killed_host_ends_the_run_with_a_word() {
    lost("kill 9, $$; sleep 1;", "runtime_failed", "host/HostLost");
}

#[test]
fn bt_015_malformed_frames_end_the_run() {
    let flipped = "substr($bytes, 40, 1) ^= \"\\1\"; return $bytes;";
    lost(flipped, "runtime_failed", "host/FrameMalformed");
    let magic = "substr($bytes, 0, 1) = 'X'; return $bytes;";
    lost(magic, "runtime_failed", "host/FrameMalformed");
}

#[test]
fn bt_015_a_truncated_frame_ends_the_run() {
    let cut = "give(\\*STDOUT, substr($bytes, 0, length($bytes) - 5)); exit 0;";
    lost(cut, "runtime_failed", "host/FrameTruncated");
}

#[test]
fn bt_015_an_oversized_frame_is_refused_by_its_header() {
    let claim = "substr($bytes, 16, 4) = pack('N', 0xffffffff); return $bytes;";
    lost(claim, "runtime_failed", "host/FrameTooLarge");
}

#[test]
fn bt_014_a_silent_host_runs_into_the_wall_and_is_ended() {
    let silent = "close $_[5] if 0; 1 while select(undef, undef, undef, 600) || 1;";
    lost(silent, "runtime_failed", "execute/WallTimeout");
}

#[test]
fn b31_descendants_of_a_silent_host_are_ended_with_it() {
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    space.manifest(|manifest| manifest["limits"] = json!({"wallTimeoutMs": 500}));
    // The names of the processes are those of this test: a number that nobody else sleeps.
    let unique = format!("86399.{}", std::process::id());
    space.wrap(
        "host",
        &format!("setsid sleep {unique} >/dev/null 2>&1 </dev/null &\nexec sleep {unique}"),
    );
    let (run, report) = space.run(&[]);
    assert_eq!(
        run.primary().as_deref(),
        Some("execute/WallTimeout"),
        "{}",
        run.stderr
    );
    assert_eq!(run.code, 2);
    assert_eq!(report["complete"], false);
    assert_eq!(
        alive_below(std::path::Path::new(&unique)),
        Vec::<String>::new()
    );
}

#[test]
fn b32_a_compiler_that_leaves_a_child_behind_is_not_waited_for() {
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    let unique = format!("86398.{}", std::process::id());
    space.wrap("compiler", &format!("sleep {unique} &\n\"$real\" \"$@\""));
    let (run, _) = space.run(&[]);
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    assert_eq!(
        alive_below(std::path::Path::new(&unique)),
        Vec::<String>::new()
    );
    let told = run.records();
    let stray = told.iter().find(|it| it["kind"] == "StrayOutput").unwrap();
    assert_eq!(
        (&stray["stage"], &stray["severity"]),
        (&"build".into(), &"warning".into())
    );
    let message = stray["message"].as_str().unwrap();
    assert!(message.contains("left 1 processes behind"), "{message}");
}

#[test]
fn what_a_program_says_beside_its_work_is_a_warning_with_the_start_of_it() {
    for (role, stage) in [
        ("compiler", "build"),
        ("verifier", "verify"),
        ("host", "host"),
    ] {
        let space = Space::of("tour");
        space.only(&["choose-left"]);
        space.wrap(role, "echo '# a word' >&2\nexec \"$real\" \"$@\"");
        let (run, report) = space.run(&["--no-state"]);
        assert_eq!(run.code, 0, "{role}: {}", run.stderr);
        let told = run.records();
        let strays: Vec<_> = told
            .iter()
            .filter(|it| it["kind"] == "StrayOutput")
            .collect();
        assert_eq!(strays.len(), 1, "{role}: {}", run.stderr);
        assert_eq!(strays[0]["stage"], stage);
        assert_eq!(strays[0]["excerpt"]["text"], "# a word\n");
        assert_eq!(report["diagnostics"][0], *strays[0]);
    }
}

#[test]
fn b14_a_case_that_never_ends_is_no_pass_and_neither_is_what_follows() {
    let (_space, run, report) = second("select(undef, undef, undef, 600) while 1;");
    assert_eq!(run.code, 2);
    assert_eq!(report["semantic"]["cases"][1]["verdict"], "runtime_failed");
    assert_eq!(report["semantic"]["cases"][1]["kind"], "WallTimeout");
    assert_eq!(report["semantic"]["cases"][2]["state"], "notRun");
    assert_eq!(
        report["semantic"]["outcome"]["primary"]["caseId"],
        "branch-loud"
    );
}

#[test]
fn b25_a_compiler_that_floods_standard_error_is_bounded() {
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    space.wrap(
        "compiler",
        "head -c 20000000 /dev/zero 2>/dev/null | tr '\\0' 'x' >&2\n\
         yes flood | head -c 20000000 >&2\nexit 9",
    );
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, 2);
    let primary = run
        .records()
        .into_iter()
        .find(|it| it["primary"] == true)
        .unwrap();
    let excerpt = &primary["excerpt"];
    assert_eq!(excerpt["truncated"], true, "{primary:#}");
    assert!(excerpt["byteLength"].as_u64().unwrap() >= 20_000_000);
    assert!(excerpt["text"].as_str().unwrap().len() <= 4096);
    assert_eq!(report["semantic"]["cases"][0]["verdict"], "build_failed");
}
