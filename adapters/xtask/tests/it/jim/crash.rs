// SPDX-License-Identifier: Apache-2.0
//! A host that dies around the judged edit: before or after, never between and never twice.

use super::support::{edit, programs, tools};
use edict_codec::cbor::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};
use xtask::host::Host;
use xtask::jim::{
    identity::{basis, state_value},
    model::{Edit, Fact, State, judge},
    random::Buffer,
    story::{self, Step},
};

/// A host with crash points, built into a target directory of its own.
fn mortal() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let target = tools().path("..").join("fault-points");
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--offline", "--package", "echo-host"])
            .args(["--features", "fault-points", "--target-dir"])
            .arg(&target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .unwrap();
        assert!(built.success());
        target.join("debug/echo-host")
    })
}

/// Two edits are there, the third is judged.
struct Scene {
    root: tempfile::TempDir,
    buffer: Buffer,
    before: State,
}

const THIRD: (u64, u64, &str) = (2, 4, "😀\n");

impl Scene {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let mut host = Host::start(&tools().path("echo-host"), Some(root.path()), None).unwrap();
        let mut buffer = Buffer::create(&mut host, programs(), 3, "three edits").unwrap();
        buffer
            .edit(&mut host, None, &edit(0, 0, "é"))
            .unwrap()
            .unwrap();
        buffer
            .edit(&mut host, None, &edit(2, 5, "\n"))
            .unwrap()
            .unwrap();
        let Fact::Buffer(before) = buffer.fact.clone() else {
            panic!("no buffer")
        };
        assert_eq!(host.end().unwrap(), Some(0));
        Self {
            root,
            buffer,
            before,
        }
    }

    /// Sends the step to a host that dies at `fault`; gives the invocation id and the request.
    fn die(&mut self, fault: &str, step: &Step) -> ([u8; 32], Value) {
        let mut host = Host::start(mortal(), Some(self.root.path()), Some(fault)).unwrap();
        self.buffer.lane.recover(&mut host, programs()).unwrap();
        let (invocation, request) = self.buffer.lane.request(step, Value::Null).unwrap();
        host.send(5, &request).unwrap();
        let (_, status) = host.perish().unwrap();
        assert_eq!(status, None, "{fault}");
        (invocation, request)
    }

    /// Restarts a whole host over the same state.
    fn restart(&mut self) -> Host {
        let mut host =
            Host::start(&tools().path("echo-host"), Some(self.root.path()), None).unwrap();
        self.buffer.lane.recover(&mut host, programs()).unwrap();
        host
    }

    fn observed(&self, host: &mut Host) -> Option<Value> {
        self.buffer.lane.observe(host, &self.buffer.id).unwrap()
    }

    fn step(&self, edit: &Edit) -> Step {
        story::replace(&self.buffer.id, &basis(&self.buffer.id, &self.before), edit)
    }
}

/// Runs the third edit into a crash and judges what is there afterwards.
fn judged_edit(fault: &str, applied: bool) {
    let mut scene = Scene::new();
    let (start, end, replacement) = THIRD;
    let third = edit(start, end, replacement);
    let after = judge(&scene.buffer.fact, true, &third).unwrap();
    let decided = scene.buffer.lane.decided;
    let step = scene.step(&third);
    let (invocation, request) = scene.die(fault, &step);
    let mut host = scene.restart();
    let expected = if applied { &after } else { &scene.before };
    assert_eq!(
        scene.observed(&mut host),
        Some(state_value(expected)),
        "{fault}"
    );
    assert_eq!(
        scene.buffer.lane.decided,
        decided + u64::from(applied),
        "{fault}"
    );
    let recalled = scene.buffer.lane.recall(&mut host, &invocation).unwrap();
    if applied {
        let ended = scene
            .buffer
            .lane
            .take(&recalled.ok(0x8005).unwrap(), &invocation, true);
        let ended = ended.unwrap();
        scene.buffer.compare(&ended, &Ok(after.clone())).unwrap();
        scene.buffer.lane.learn(&ended.patch).unwrap();
        scene.buffer.fact = Fact::Buffer(after.clone());
        let again = host.ask(5, &request).unwrap();
        assert_eq!(again.refused(), Some("invocation-replayed"), "{fault}");
        // The same edit under a fresh id is stale: nothing is doubled.
        let old = basis(&scene.buffer.id, &scene.before);
        let stale = scene
            .buffer
            .edit(&mut host, Some(old), &third)
            .unwrap()
            .unwrap_err();
        assert_eq!(stale.coordinate, "jim.text@1.BasisNotCanonical", "{fault}");
    } else {
        assert_eq!(recalled.refused(), Some("invocation-unknown"), "{fault}");
        scene.buffer.edit(&mut host, None, &third).unwrap().unwrap();
    }
    let Some(last) = scene.observed(&mut host) else {
        panic!("no buffer")
    };
    assert_eq!(last, state_value(&after), "{fault}");
    assert_eq!(last.get("sequence").and_then(Value::as_u64), Some(3));
    assert_eq!(host.end().unwrap(), Some(0));
}

#[test]
fn bt_023_a_crash_before_the_log_is_whole_leaves_the_text_before_the_edit() {
    for fault in [
        "invoke-read",
        "invoke-admitted",
        "atom-written",
        "evaluated",
    ] {
        judged_edit(fault, false);
    }
    for kept in [0, 1, 63, 64, 200, 900] {
        judged_edit(&format!("append-partial:{kept}"), false);
    }
}

#[test]
fn bt_023_a_crash_after_the_log_is_whole_leaves_the_text_after_the_edit() {
    for fault in ["append-written", "append-synced", "published", "replied"] {
        judged_edit(fault, true);
    }
    for kept in [0, 19, 300] {
        judged_edit(&format!("reply-partial:{kept}"), true);
    }
}

#[test]
fn bt_023_a_crash_around_an_obstruction_changes_nothing() {
    for (fault, decided) in [
        ("invoke-admitted", false),
        ("obstruction-evaluated", false),
        ("append-partial:70", false),
        ("obstruction-synced", true),
        ("published", true),
        ("replied", true),
    ] {
        let mut scene = Scene::new();
        let third = edit(9, 8, "x");
        let found = judge(&scene.buffer.fact, true, &third).unwrap_err();
        let known = (scene.buffer.lane.basis.clone(), scene.buffer.lane.decided);
        let step = scene.step(&third);
        let (invocation, request) = scene.die(fault, &step);
        let mut host = scene.restart();
        assert_eq!(scene.buffer.lane.basis, known.0, "{fault}");
        assert_eq!(
            scene.buffer.lane.decided,
            known.1 + u64::from(decided),
            "{fault}"
        );
        assert_eq!(
            scene.observed(&mut host),
            Some(state_value(&scene.before)),
            "{fault}"
        );
        let recalled = scene.buffer.lane.recall(&mut host, &invocation).unwrap();
        if decided {
            let ended = scene
                .buffer
                .lane
                .take(&recalled.ok(0x8005).unwrap(), &invocation, true);
            scene
                .buffer
                .compare(&ended.unwrap(), &Err(found.clone()))
                .unwrap();
            let again = host.ask(5, &request).unwrap();
            assert_eq!(again.refused(), Some("invocation-replayed"), "{fault}");
        } else {
            assert_eq!(recalled.refused(), Some("invocation-unknown"), "{fault}");
        }
        assert_eq!(
            scene.buffer.edit(&mut host, None, &third).unwrap(),
            Err(found),
            "{fault}"
        );
        assert_eq!(host.end().unwrap(), Some(0));
    }
}
