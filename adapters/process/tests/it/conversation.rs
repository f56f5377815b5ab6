// SPDX-License-Identifier: Apache-2.0
//! Talking to a child, and every way in which that ends.

use crate::{
    child::ORPHAN,
    support::{Space, is_alive, patient, trials, within},
};
use edict_test_process::{Outcome, TEARDOWN_MS, TalkError};
use std::fs;

pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
    trials![
        a_conversation_goes_back_and_forth,
        a_large_message_passes_both_ways,
        a_silent_program_times_out,
        an_early_exit_ends_the_stream,
        a_descendant_that_holds_the_pipe_cannot_hold_the_conversation,
        a_program_that_reads_nothing_times_out_a_send,
        a_dropped_child_is_gone,
        a_sweep_spares_the_children_that_live,
        orderly_teardown_lets_the_program_end_by_itself,
        a_teardown_overrun_is_killed,
    ]
}

fn a_conversation_goes_back_and_forth() {
    let space = Space::new("#!/bin/sh\nwhile read line; do echo \"got $line\"; done; echo bye\n");
    let mut child = space.spawn();
    for word in ["one", "two"] {
        child
            .send(format!("{word}\n").as_bytes(), patient())
            .unwrap();
        let answer = child.receive(8, patient()).unwrap();
        assert_eq!(answer, format!("got {word}\n").as_bytes());
    }
    assert!(!child.has_output());
    let ended = child.finish(30_000);
    assert_eq!(ended.outcome, Outcome::Exited(0));
    assert_eq!(ended.stdout.complete().unwrap(), b"bye\n");
}

fn a_large_message_passes_both_ways() {
    let space = Space::new(
        "#!/usr/bin/python3\nimport sys\ndata = sys.stdin.buffer.read(16777216)\nsys.stderr.write('e' * 1000000)\nsys.stdout.buffer.write(data)\nsys.stdout.flush()\nsys.stdin.read()\n",
    );
    let mut child = space.spawn();
    let message = vec![0xa5; 16 * 1024 * 1024];
    child.send(&message, patient()).unwrap();
    assert!(child.receive(message.len(), patient()).unwrap() == message);
    let ended = child.finish(30_000);
    assert_eq!(ended.outcome, Outcome::Exited(0));
    assert_eq!(ended.stderr.total(), 1_000_000);
}

fn a_silent_program_times_out() {
    let space = Space::new("#!/bin/sh\nread line; read line\n");
    let mut child = space.spawn();
    child.send(b"request\n", patient()).unwrap();
    assert_eq!(child.receive(1, within(50)), Err(TalkError::TimedOut));
    assert_eq!(child.kill().outcome, Outcome::Killed);
}

fn an_early_exit_ends_the_stream() {
    let space = Space::new("#!/bin/sh\nprintf abc; exit 3\n");
    let mut child = space.spawn();
    assert_eq!(child.receive(10, patient()).unwrap(), b"abc");
    assert_eq!(child.receive(10, patient()).unwrap(), b"");
    let sent = (0..).find_map(|_| child.send(b"x", patient()).err());
    assert_eq!(sent, Some(TalkError::Closed));
    assert_eq!(child.finish(30_000).outcome, Outcome::Exited(3));
}

fn a_descendant_that_holds_the_pipe_cannot_hold_the_conversation() {
    let space = Space::new(&format!("{ORPHAN}print('x', end='', flush=True)\n"));
    let mut child = space.spawn();
    assert_eq!(child.receive(2, patient()).unwrap(), b"x");
    let ended = child.finish(30_000);
    assert_eq!(ended.outcome, Outcome::Exited(0));
    assert_eq!(ended.survivors, 0);
}

fn a_program_that_reads_nothing_times_out_a_send() {
    let space = Space::new("#!/bin/sh\nwhile :; do :; done\n");
    let mut child = space.spawn();
    let message = vec![0; 1_048_576];
    assert_eq!(child.send(&message, within(50)), Err(TalkError::TimedOut));
    assert_eq!(child.kill().outcome, Outcome::Killed);
}

fn a_dropped_child_is_gone() {
    let space = Space::new("#!/bin/sh\necho $$; while :; do :; done\n");
    let mut child = space.spawn();
    let pid = child.pid();
    child.receive(1, patient()).unwrap();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    assert!(is_alive(&stat));
    drop(child);
    assert!(!is_alive(&stat));
}

fn orderly_teardown_lets_the_program_end_by_itself() {
    let space = Space::new("#!/bin/sh\nread line; exit 5\n");
    assert_eq!(space.spawn().finish(30_000).outcome, Outcome::Exited(5));
}

fn a_teardown_overrun_is_killed() {
    let space = Space::new("#!/bin/sh\necho up; while :; do :; done\n");
    let mut child = space.spawn();
    assert_eq!(child.receive(3, patient()).unwrap(), b"up\n");
    let ended = child.finish(TEARDOWN_MS);
    assert_eq!(ended.outcome, Outcome::Killed);
}

fn a_sweep_spares_the_children_that_live() {
    let space = Space::new("#!/bin/sh\nwhile read line; do echo \"got $line\"; done\n");
    let mut child = space.spawn();
    let other = Space::new(&format!("{ORPHAN}print('over', flush=True)\n"));
    let ended = other.run(b"");
    assert_eq!(ended.outcome, Outcome::Exited(0));
    assert_eq!(ended.survivors, 0);
    let pid = other.read("started");
    let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    assert!(!command.contains(&*other.program().to_string_lossy()));
    child.send(b"word\n", patient()).unwrap();
    assert_eq!(child.receive(9, patient()).unwrap(), b"got word\n");
    let ended = child.finish(30_000);
    assert_eq!(ended.outcome, Outcome::Exited(0));
}
