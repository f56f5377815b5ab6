// SPDX-License-Identifier: Apache-2.0
//! H01, H02 and H72: command line, greeting, end.

use crate::support::{
    client::{Ended, Host},
    messages::{hello, hello_with_frames, nothing, text, with},
};
use edict_codec::{
    cbor::{Value, encode},
    digest::{TypedDigest, derive_typed},
};

fn run(arguments: &[&str]) -> Ended {
    Host::start(arguments).end()
}

#[test]
fn h01_version_is_one_line() {
    let mut host = Host::start(&["--version"]);
    host.close_input();
    let ended = host.end();
    let line = String::from_utf8(ended.rest).unwrap();
    assert_eq!(ended.code, Some(0));
    assert_eq!(line, format!("echo-host {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn h01_other_command_lines_are_refused() {
    let missing = "/proc/self/no-such-directory";
    let cases: &[&[&str]] = &[
        &[],
        &["--help"],
        &["--version", "now"],
        &["serve", "--verbose"],
        &["serve", "now"],
        &["serve", "--workers"],
        &["serve", "--workers", "0"],
        &["serve", "--workers", "17"],
        &["serve", "--workers", "01"],
        &["serve", "--workers", "+1"],
        &["serve", "--workers", "+1"],
        &["serve", "--workers", "1", "--workers", "1"],
        &["serve", "--state-root"],
        &["serve", "--state-root", missing],
        &["serve", "--state-root", "/proc/self/status"],
        &["serve", "--state-root", "/", "--state-root", "/"],
    ];
    for arguments in cases {
        let ended = run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}");
        assert!(ended.frames.is_empty() && ended.rest.is_empty());
        let line = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(line.lines().count(), 1, "{arguments:?}");
    }
}

#[test]
fn h01_the_line_about_an_endless_argument_is_short() {
    let ended = run(&["serve", &"x".repeat(100_000)]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.len() < 1_024);
}

#[cfg(not(feature = "fault-points"))]
#[test]
fn h72_a_release_build_knows_no_faults() {
    let ended = run(&["serve", "--fault", "invoke-read"]);
    assert_eq!(ended.code, Some(2));
    let mut host = Host::start(&["serve"]);
    let reply = host.ask(1, &hello());
    assert_eq!(
        reply.ok(0x8001).get("faultPoints"),
        Some(&Value::Bool(false))
    );
}

#[test]
fn h01_hello_then_shutdown() {
    let mut host = Host::serve(&["--workers", "16"]);
    let bye = host.ask(9, &nothing());
    assert_eq!(bye.ok(0x8009).get("contexts"), Some(&Value::unsigned(0)));
    let ended = host.end();
    assert_eq!(ended.code, Some(0));
    assert!(ended.frames.is_empty() && ended.rest.is_empty());
}

#[test]
fn h01_shutdown_ends_the_process_before_the_stream_does() {
    let mut host = Host::serve(&[]);
    host.send(9, &nothing());
    // The input stays open; the output ends because the process does.
    assert_eq!(host.read().kind, 0x8009);
    assert_eq!(host.wait(), Some(0));
}

#[test]
fn h02_hello_is_first_and_once() {
    let mut host = Host::start(&["serve"]);
    host.send(2, &nothing());
    assert_eq!(host.end().fault(), ("hello-required", 1));

    let mut host = Host::serve(&[]);
    host.send(1, &hello());
    assert_eq!(host.end().fault(), ("hello-repeated", 2));
}

#[test]
fn h02_after_a_refused_hello_another_may_follow() {
    let cases = [
        (
            "protocol",
            text("echo.host-transport/v2"),
            "protocol-unsupported",
        ),
        (
            "profiles",
            Value::Array(vec![text("echo.program/v2")]),
            "profile-unsupported",
        ),
        (
            "evidence",
            Value::Array(vec![text("echo.receipt/v9")]),
            "evidence-unsupported",
        ),
        ("maxFrameBytes", Value::unsigned(4_095), "malformed-body"),
        (
            "maxFrameBytes",
            Value::unsigned(16_777_217),
            "malformed-body",
        ),
        ("client", text(&"c".repeat(257)), "malformed-body"),
    ];
    let mut host = Host::start(&["serve"]);
    for (key, value, kind) in cases {
        let reply = host.ask(1, &with(&hello(), key, value));
        assert_eq!(reply.refused(), kind, "{key}");
    }
    host.ask(1, &hello_with_frames(4_096)).ok(0x8001);
    host.ask(9, &nothing()).ok(0x8009);
}

#[test]
fn h02_the_build_identity_leaves_out_what_the_command_line_chose() {
    let root = tempfile::tempdir().unwrap();
    let mut builds = Vec::new();
    for options in [
        vec!["serve"],
        vec!["serve", "--workers", "3"],
        vec!["serve", "--state-root", root.path().to_str().unwrap()],
    ] {
        let mut host = Host::start(&options);
        let reply = host.ask(1, &hello());
        let body = reply.ok(0x8001);
        assert_eq!(
            body.get("stateRoot"),
            Some(&Value::Bool(options.contains(&"--state-root")))
        );
        let mut entries = body.as_map().unwrap().to_vec();
        entries
            .retain(|(key, _)| !matches!(key.as_text(), Some("build" | "workers" | "stateRoot")));
        let recomputed = derive_typed("echo/host-build/v1", &encode(&Value::Map(entries)));
        let build = TypedDigest::from_value(body.get("build").unwrap()).unwrap();
        assert_eq!(build, recomputed);
        builds.push(build);
    }
    builds.dedup();
    assert_eq!(builds.len(), 1);
}
