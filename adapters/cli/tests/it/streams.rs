// SPDX-License-Identifier: Apache-2.0
//! Standard output and standard error: who owns them, and what happens when they fail.

use crate::{
    standin::alive_below,
    support::{Run, Space, consumers},
};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
    process::Stdio,
};

const RUN: [&str; 4] = [
    "--suite",
    "suite/edict.test-suite.json",
    "--report-json",
    "run.json",
];

fn report(space: &Space) -> Value {
    let path = space.directory.path().join("run.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The runner in a shell that redirects its standard output.
fn redirected(space: &Space, redirection: &str) -> Run {
    let program = crate::support::program("edict-test");
    let line = format!("exec \"$0\" \"$@\" {redirection}");
    let output = std::process::Command::new("sh")
        .args(["-c", &line])
        .arg(program)
        .args(RUN)
        .current_dir(space.directory.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run::of(output)
}

#[test]
fn b17_a_closed_standard_output_starts_nothing() {
    let space = Space::of("tour");
    let run = redirected(&space, ">&-");
    assert_eq!(run.code, 2);
    assert_eq!(
        run.primary().as_deref(),
        Some("output/StdoutClosed"),
        "{}",
        run.stderr
    );
    // Nothing was read, so nothing is claimed.
    assert!(!space.directory.path().join("run.json.journal").exists());
    assert!(!space.suite.join(".edict-test").exists());
    // Discarding the output is another thing.
    let run = redirected(&space, ">/dev/null");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(report(&space)["complete"], true);
}

#[test]
fn the_answer_of_a_subcommand_may_be_discarded() {
    let space = Space::of("tour");
    // Opened for reading and writing, as Python's `subprocess.DEVNULL` is.
    let line = "exec \"$0\" check --suite suite/edict.test-suite.json 1<>/dev/null";
    let output = std::process::Command::new("sh")
        .args(["-c", line])
        .arg(crate::support::program("edict-test"))
        .current_dir(space.directory.path())
        .output()
        .unwrap();
    let run = Run::of(output);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn bt_015_b18_a_full_output_device_is_no_success() {
    let space = Space::of("tour");
    let run = redirected(&space, ">/dev/full");
    assert_eq!(run.code, 2);
    assert_eq!(
        run.primary().as_deref(),
        Some("output/StdoutWriteFailed"),
        "{}",
        run.stderr
    );
    let report = report(&space);
    assert_eq!(report["complete"], false);
    assert_eq!(report["semantic"]["counts"]["executed"], 0);
    assert_eq!(report["semantic"]["outcome"]["exitCode"], 2);
}

#[test]
fn bt_015_b18_a_reader_that_leaves_ends_the_run() {
    let space = Space::of("tour");
    let temporary = space.directory.path().join("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut child = space
        .command(&RUN)
        .arg("--temp-root")
        .arg(&temporary)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut first).unwrap();
    assert_eq!(first, "TAP version 14\n");
    drop(reader);
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 2);
    assert_eq!(
        run.primary().as_deref(),
        Some("output/StdoutWriteFailed"),
        "{}",
        run.stderr
    );
    assert_eq!(report(&space)["complete"], false);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    assert_eq!(alive_below(&temporary), Vec::<String>::new());
}

#[test]
fn a_lost_standard_error_changes_no_verdict() {
    let space = Space::of("failing");
    let run = redirected(&space, "2>/dev/full");
    assert_eq!(run.code, 1);
    assert_eq!(report(&space)["complete"], true);
    assert!(
        report(&space)["telemetry"]["cache"]["diagnosticsLost"]
            .as_u64()
            .unwrap()
            > 0
    );
    let closed = redirected(&Space::of("failing"), "2>&-");
    assert_eq!(closed.stdout, run.stdout);
    assert_eq!(closed.code, 1);
}

#[test]
fn b10_what_children_print_never_reaches_the_stream() {
    let quiet = Space::of("tour");
    quiet.only(&["choose-left", "branch-loud"]);
    let (wanted, _) = quiet.run(&["--no-state"]);
    let noise = "printf 'not ok 1\\n1..9\\n7\\nBail out! x\\n' >&2";
    for role in ["compiler", "verifier", "host"] {
        let space = Space::of("tour");
        space.only(&["choose-left", "branch-loud"]);
        space.wrap(role, &format!("{noise}\nexec \"$real\" \"$@\""));
        let (run, report) = space.run(&["--no-state"]);
        assert_eq!(run.stdout, wanted.stdout, "{role}: {}", run.stderr);
        assert_eq!(run.code, 0, "{role}");
        assert_eq!(report["complete"], true);
    }
    // On standard output it breaks the protocol, and still stays out of the stream.
    for (role, primary) in [
        ("compiler", "build/CompilerProtocol"),
        ("verifier", "verify/VerifierProtocol"),
        ("host", "host/FrameMalformed"),
    ] {
        let space = Space::of("tour");
        space.only(&["choose-left", "branch-loud"]);
        space.wrap(
            role,
            "printf 'not ok 1\\n1..9\\n7\\nBail out! forged\\n'\nexec \"$real\" \"$@\"",
        );
        let (run, _) = space.run(&["--no-state"]);
        assert_eq!(run.primary().as_deref(), Some(primary), "{}", run.stderr);
        assert!(!run.stdout.contains("forged") && !run.stdout.contains("1..9"));
        assert_eq!(run.stdout.lines().count(), 3, "{}", run.stdout);
        assert_eq!(consumers(run.stdout.as_bytes()).verdict, "failing");
    }
}

#[test]
fn b23_points_arrive_one_by_one_and_the_last_after_the_report() {
    let space = Space::of("tour");
    space.only(&["choose-left", "branch-loud"]);
    // The host answers the second case only when the test has seen the first point.
    let gate = space.directory.path().join("gate");
    space.relay(
        "relay(\\&unchanged, sub { my ($kind, $n, $sequence, $body, $bytes) = @_;
if ($kind == 0x8005 && $n == 2) { kill 'STOP', $$; } return $bytes; });",
    );
    let mut child = space
        .command(&RUN)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = || {
        let mut text = String::new();
        reader.read_line(&mut text).unwrap();
        text
    };
    assert_eq!(line(), "TAP version 14\n");
    assert_eq!(line(), "1..2\n");
    assert_eq!(line(), "ok 1 - equal inputs are equal\n");
    // The first point is here while the host is stopped: let it go on.
    assert!(!space.directory.path().join("run.json").exists());
    resume_children_of(child.id());
    let last = line();
    assert!(last.starts_with("ok 2 - "), "{last}");
    assert!(
        space.directory.path().join("run.json").exists(),
        "the report was not durable yet"
    );
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 0, "{}", run.stderr);
    drop(gate);
}

/// Continues every stopped descendant of a process, as soon as one is stopped.
fn resume_children_of(parent: u32) {
    loop {
        let mut resumed = false;
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let Some((_, rest)) = stat.rsplit_once(") ") else {
                continue;
            };
            let fields: Vec<&str> = rest.split(' ').collect();
            if fields[0] == "T" && fields[1] == parent.to_string() {
                let pid = entry.file_name().into_string().unwrap();
                let status = std::process::Command::new("kill")
                    .args(["-CONT", &pid])
                    .status();
                assert!(status.unwrap().success());
                resumed = true;
            }
        }
        if resumed {
            return;
        }
    }
}
