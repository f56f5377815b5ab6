// SPDX-License-Identifier: Apache-2.0
//! Stand-ins that are real processes: shell scripts behind the launcher, none of which is a host.

use crate::plan::{named, pins};
use edict_test_echo::{EchoHost, HostSettings, ProcessLaunch, ProcessSettings};
use edict_test_model::ports::{ExecutionPort, StopFlag};
use edict_test_model::{Failure, FailureKind, diagnostic::Detail};
use edict_test_process::{Isolation, ToolDir};

pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
    crate::trials![
        each_broken_process_has_its_kind,
        a_lost_host_shows_how_it_ended,
        a_stop_ends_the_wait,
        nothing_is_left_behind,
    ]
}

/// Says `hello` to a script and gives the failure.
fn greet(script: &[u8], wall_timeout_ms: u64, stop: &StopFlag) -> (Failure, bool) {
    let root = tempfile::tempdir().unwrap();
    let tools = ToolDir::create(root.path(), [("host", script)]).unwrap();
    let work = edict_test_process::PrivateDir::create(root.path()).unwrap();
    let launch = ProcessLaunch::new(ProcessSettings {
        program: tools.program("host"),
        directory: work.path().to_owned(),
        isolation: Isolation::BestEffort,
        file_bytes: 1 << 20,
        wall_timeout_ms,
        stop: stop.clone(),
    });
    let settings = HostSettings {
        executable: named("edict.test/executable/v1"),
        max_frame_bytes: 16_777_216,
        process_per_case: false,
    };
    let host = EchoHost::new(settings, Box::new(launch));
    let failure = host.preflight(&pins()).unwrap_err();
    assert_eq!(host.submissions(), 0);
    host.close().unwrap();
    let empty = work.path().read_dir().unwrap().next().is_none();
    (failure, empty)
}

fn kind(script: &[u8]) -> FailureKind {
    greet(script, 20_000, &StopFlag::new()).0.kind
}

fn each_broken_process_has_its_kind() {
    let rows: [(&[u8], FailureKind); 6] = [
        (b"#!/bin/sh\nexit 0\n", FailureKind::HostLost),
        (b"#!/bin/sh\nkill -KILL $$\n", FailureKind::HostLost),
        (
            b"#!/bin/sh\nexec 0<&- 1>&-\nexec sleep 60\n",
            FailureKind::HostLost,
        ),
        (
            b"#!/bin/sh\necho 'ok 1 - everything is fine, really'\nexec sleep 60\n",
            FailureKind::FrameMalformed,
        ),
        (
            b"#!/bin/sh\nprintf '\\211ECH\\0\\001'\n",
            FailureKind::FrameTruncated,
        ),
        (b"#!/no/such/interpreter\n", FailureKind::HostSpawnFailed),
    ];
    for (script, expected) in rows {
        assert_eq!(kind(script), expected, "{}", script.escape_ascii());
    }
    let silent = b"#!/bin/sh\nexec sleep 60\n";
    let (failure, _) = greet(silent, 100, &StopFlag::new());
    assert_eq!(failure.kind, FailureKind::WallTimeout);
}

fn a_lost_host_shows_how_it_ended() {
    let rows: [(&[u8], Option<u8>, Option<u8>); 2] = [
        (b"#!/bin/sh\necho trouble >&2\nexit 7\n", Some(7), None),
        (
            b"#!/bin/sh\necho trouble >&2\nkill -TERM $$\n",
            None,
            Some(15),
        ),
    ];
    for (script, code, signal) in rows {
        let (failure, _) = greet(script, 20_000, &StopFlag::new());
        let Some(Detail::Host { child, host_code }) = &failure.detail else {
            panic!("a failure of the host says how it ended")
        };
        assert_eq!((child.exit_code, child.signal), (code, signal));
        assert_eq!((child.role.as_str(), host_code.as_ref()), ("host", None));
        assert_eq!(failure.excerpt.as_ref().unwrap().text, "trouble\n");
    }
}

fn a_stop_ends_the_wait() {
    let stop = StopFlag::new();
    stop.stop(15);
    let (failure, _) = greet(b"#!/bin/sh\nexec sleep 60\n", 20_000, &stop);
    assert_eq!(failure.kind, FailureKind::Interrupted);
}

fn nothing_is_left_behind() {
    let script = b"#!/bin/sh\necho left > left\necho left > \"$3/left\" && echo \"$1 $2\" >&2\n";
    let (failure, empty) = greet(script, 20_000, &StopFlag::new());
    // The state root is there while the host lives, and gone with everything else afterwards.
    assert_eq!(
        failure.excerpt.as_ref().unwrap().text,
        "serve --state-root\n"
    );
    assert!(empty);
}
