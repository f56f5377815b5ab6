// SPDX-License-Identifier: Apache-2.0
//! Reports: published whole or not at all, never over another one, and before the last point.

use crate::{
    standin::alive_below,
    support::{Run, Space},
};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::symlink,
    path::PathBuf,
    process::Stdio,
};

const SUITE: [&str; 2] = ["--suite", "suite/edict.test-suite.json"];

fn small() -> Space {
    let space = Space::of("tour");
    space.only(&["choose-left", "branch-loud"]);
    space
}

fn run(space: &Space, more: &[&str]) -> Run {
    space.edict_test(&[&SUITE, more].concat())
}

fn at(space: &Space, name: &str) -> PathBuf {
    space.directory.path().join(name)
}

/// A refusal before the manifest is read: version and bail-out.
fn no_plan(run: &Run, kind: &str) {
    assert_eq!(run.code, 2);
    assert_eq!(
        run.primary(),
        Some(format!("arguments/{kind}")),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout
            .starts_with(&format!("TAP version 14\nBail out! {kind}: ")),
        "{}",
        run.stdout
    );
    assert_eq!(run.stdout.lines().count(), 2);
}

#[test]
fn b20_a_report_is_never_replaced_unless_asked() {
    let space = small();
    assert_eq!(run(&space, &["--report-json", "run.json"]).code, 0);
    let first = fs::read(at(&space, "run.json")).unwrap();
    no_plan(&run(&space, &["--report-json", "run.json"]), "ReportExists");
    assert_eq!(fs::read(at(&space, "run.json")).unwrap(), first);
    let again = run(
        &space,
        &["--report-json", "run.json", "--report-existing", "replace"],
    );
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_ne!(fs::read(at(&space, "run.json")).unwrap(), first);
    assert!(!at(&space, "run.json.journal").exists());
}

#[test]
fn b20_links_and_foreign_files_are_not_replaced() {
    let space = small();
    symlink(at(&space, "nowhere"), at(&space, "dangling.json")).unwrap();
    fs::write(at(&space, "foreign.json"), "{\"schema\":\"mine\"}").unwrap();
    fs::create_dir(at(&space, "directory.json")).unwrap();
    for existing in ["refuse", "replace"] {
        for name in ["dangling.json", "foreign.json", "directory.json"] {
            let run = run(
                &space,
                &["--report-json", name, "--report-existing", existing],
            );
            assert_eq!(run.code, 2, "{name} {existing}");
            let primary = run.primary().unwrap();
            assert!(
                ["arguments/ReportExists", "arguments/ReportPathUnusable"]
                    .contains(&primary.as_str()),
                "{primary}"
            );
            assert_eq!(run.stdout.lines().count(), 2);
        }
    }
    assert_eq!(
        fs::read(at(&space, "foreign.json")).unwrap(),
        b"{\"schema\":\"mine\"}"
    );
    assert!(!at(&space, "nowhere").exists());
}

#[test]
fn bt_020_a_requested_report_that_cannot_be_written_fails_the_run() {
    let space = small();
    no_plan(
        &run(&space, &["--report-json", "absent/run.json"]),
        "ReportPathUnusable",
    );
    // A place that is there and takes no file: a pipe, or the full device.
    mknodat(
        CWD,
        at(&space, "pipe"),
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    let full = run(&space, &["--report-json", "pipe"]);
    assert_eq!(full.code, 2);
    assert_eq!(full.primary().as_deref(), Some("report/ReportWriteFailed"));
    let last = full.stdout.lines().next_back().unwrap();
    assert!(last.starts_with("Bail out! ReportWriteFailed: "), "{last}");
    assert!(!full.stdout.contains("ok 2 - "), "{}", full.stdout);
    // The run came to its end and said so: nothing of it is in the way of the next one.
    assert!(!at(&space, "pipe.journal").exists());
    let kept = run(&space, &["--report-json", "pipe", "--keep-journal"]);
    assert_eq!(kept.primary().as_deref(), Some("report/ReportWriteFailed"));
    assert!(at(&space, "pipe.journal").exists());
    assert_eq!(
        run(&space, &["--report-json", "pipe"]).primary().as_deref(),
        Some("arguments/ReportExists")
    );
}

#[test]
fn telemetry_says_how_long_each_phase_took() {
    let space = small();
    let phases = |report: &Value| -> Vec<Vec<String>> {
        let cases = report["telemetry"]["cases"].as_array().unwrap();
        let measured = |case: &Value| {
            let members = case.as_object().unwrap().iter();
            let measured = members.filter(|(name, _)| name.ends_with("Ms"));
            measured
                .map(|(name, duration)| {
                    assert!(duration.is_u64(), "{name}");
                    name.clone()
                })
                .collect()
        };
        cases.iter().map(measured).collect()
    };
    let (_, report) = space.run(&[]);
    let all = ["buildMs", "executeMs", "verifyMs"]
        .map(str::to_owned)
        .to_vec();
    assert_eq!(phases(&report), [all.clone(), all]);
    // What is reused is not measured, and everything is executed again.
    let (_, report) = space.run(&[]);
    let executed = vec!["executeMs".to_owned()];
    assert_eq!(phases(&report), [executed.clone(), executed]);
}

#[test]
fn bt_015_b19_a_disk_that_fills_up_leaves_no_half_report() {
    // Files that this process writes may have 6,000 bytes: the journal fits, the report does not.
    let space = small();
    let program = crate::support::program("edict-test");
    for (kilobytes, kind) in [("16", "ReportWriteFailed"), ("1", "JournalWriteFailed")] {
        let output = std::process::Command::new("bash")
            .args([
                "-c",
                &format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$0\" \"$@\""),
            ])
            .arg(&program)
            .args(SUITE)
            .args([
                "--no-state",
                "--report-json",
                "run.json",
                "--report-existing",
                "replace",
            ])
            .current_dir(space.directory.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let run = Run::of(output);
        assert_eq!(run.code, 2, "{kind}: {}\n{}", run.stdout, run.stderr);
        assert!(
            run.stdout
                .lines()
                .next_back()
                .unwrap()
                .starts_with("Bail out! "),
            "{}",
            run.stdout
        );
        assert!(!run.stdout.contains("ok 2 - "), "{}", run.stdout);
        if let Ok(bytes) = fs::read(at(&space, "run.json")) {
            let report: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(report["complete"], false);
            fs::remove_file(at(&space, "run.json")).unwrap();
        }
        drop(fs::remove_file(at(&space, "run.json.journal")));
    }
}

/// Starts a run whose host stops before it answers for the second case, and reads the first point.
fn stopped_in_the_second_case(space: &Space) -> std::process::Child {
    space.relay(
        "relay(\\&unchanged, sub { my ($kind, $n, $sequence, $body, $bytes) = @_;
if ($kind == 0x8005 && $n == 2) { select(undef, undef, undef, 600) while 1; } return $bytes; });",
    );
    let temporary = at(space, "temporary");
    fs::create_dir(&temporary).unwrap();
    let mut child = space
        .command(&[&SUITE[..], &["--report-json", "run.json", "--temp-root"]].concat())
        .arg(temporary)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    for wanted in [
        "TAP version 14\n",
        "1..2\n",
        "ok 1 - equal inputs are equal\n",
    ] {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, wanted);
    }
    child.stdout = Some(reader.into_inner());
    child
}

/// Sends a signal to a process.
fn signal(name: &str, process: u32) {
    let status = std::process::Command::new("kill")
        .args([&format!("-{name}"), &process.to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// The types of the records of a journal.
fn journal(space: &Space) -> Vec<String> {
    let text = fs::read_to_string(at(space, "run.json.journal")).unwrap();
    let kind = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        record["type"].as_str().unwrap().to_owned()
    };
    text.lines().map(kind).collect()
}

#[test]
fn b21_a_killed_run_leaves_its_journal_and_no_child() {
    let space = small();
    let child = stopped_in_the_second_case(&space);
    // The point of the first case comes before the attempt of the second is written down.
    let lines =
        || fs::read_to_string(at(&space, "run.json.journal")).map(|it| it.matches('\n').count());
    while lines().unwrap() < 4 {
        std::thread::yield_now();
    }
    signal("KILL", child.id());
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, -1);
    assert_eq!(run.stdout, "", "no point of a case that was not judged");
    assert!(!at(&space, "run.json").exists());
    // Begin, then attempt and judgement of the first case, then the attempt that was cut short.
    assert_eq!(journal(&space), ["begin", "attempt", "case", "attempt"]);
    // Children die with the runner; the kernel needs a moment to deliver that.
    let temporary = at(&space, "temporary");
    while !alive_below(&temporary).is_empty() {
        std::thread::yield_now();
    }
    // What was left is in the way of the next run until somebody looked at it.
    let again = space.edict_test(&[&SUITE[..], &["--report-json", "run.json"]].concat());
    no_plan(&again, "ReportExists");
}

#[test]
fn a_signal_publishes_what_is_known_and_says_interrupted() {
    for (name, number) in [("INT", 1), ("TERM", 2), ("HUP", 3)] {
        let space = small();
        let child = stopped_in_the_second_case(&space);
        signal(name, child.id());
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!(run.code, 2, "{name} {number}");
        assert_eq!(
            run.primary().as_deref(),
            Some("interrupt/Interrupted"),
            "{}",
            run.stderr
        );
        assert!(
            run.stdout.starts_with("Bail out! Interrupted: "),
            "{}",
            run.stdout
        );
        let report: Value =
            serde_json::from_slice(&fs::read(at(&space, "run.json")).unwrap()).unwrap();
        assert_eq!(report["complete"], false);
        assert_eq!(report["semantic"]["cases"][0]["verdict"], "passed");
        assert_eq!(report["semantic"]["cases"][1]["state"], "notRun");
        assert_eq!(report["semantic"]["counts"]["executed"], 1);
        assert_eq!(alive_below(&at(&space, "temporary")), Vec::<String>::new());
        assert!(!at(&space, "run.json.journal").exists());
        assert_eq!(fs::read_dir(at(&space, "temporary")).unwrap().count(), 0);
        let primary = run
            .records()
            .into_iter()
            .find(|it| it["primary"] == true)
            .unwrap();
        assert_eq!(primary["detail"]["signal"], name);
    }
}

#[test]
fn a_kept_journal_tells_the_whole_run_as_a_chain() {
    let space = small();
    let kept = run(&space, &["--report-json", "run.json", "--keep-journal"]);
    assert_eq!(kept.code, 0, "{}", kept.stderr);
    assert_eq!(
        journal(&space),
        ["begin", "attempt", "case", "attempt", "case", "end"]
    );
    let text = fs::read_to_string(at(&space, "run.json.journal")).unwrap();
    let records: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (number, record) in records.iter().enumerate() {
        assert_eq!(record["seq"], number as u64);
    }
    assert_eq!(records[0]["prev"], "0".repeat(64));
    assert_eq!(records[5]["complete"], true);
    let report: Value = serde_json::from_slice(&fs::read(at(&space, "run.json")).unwrap()).unwrap();
    assert_eq!(records[2]["case"], report["semantic"]["cases"][0]);
    assert_eq!(records[4]["evidence"], report["evidence"]["cases"][1]);
    assert_eq!(records[5]["semanticDigest"], report["semanticDigest"]);
    assert_eq!(records[0]["suite"], report["semantic"]["suite"]["identity"]);
}

#[test]
fn a_published_report_names_no_temporary_directory() {
    let space = small();
    let temporary = at(&space, "temporary-root");
    fs::create_dir(&temporary).unwrap();
    let (run, report) = space.run(&["--temp-root", temporary.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!report.to_string().contains("temporary-root"));
    for body in report["evidence"]["bodies"].as_array().unwrap() {
        let bytes = space.body(body);
        assert_eq!(body["byteLength"], bytes.len() as u64);
        let path = body["path"].as_str().unwrap();
        assert!(path.starts_with("blake3/"), "{path}");
    }
}
