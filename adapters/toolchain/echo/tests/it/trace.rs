// SPDX-License-Identifier: Apache-2.0
//! The recorded session of `testdata/contracts/host-trace.txt`, replayed byte for byte.

use crate::support::client::Host;
use edict_codec::{cbor::decode, hex};
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Digits on one line of the trace.
const WIDTH: usize = 128;

/// One frame of the trace.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    /// `>` to the host, `<` from it, and the name of the message.
    title: String,
    frame: Vec<u8>,
}

impl Step {
    fn is_request(&self) -> bool {
        self.title.starts_with('>')
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn trace() -> String {
    std::fs::read_to_string(root().join("testdata/contracts/host-trace.txt")).unwrap()
}

fn steps(trace: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in trace.lines() {
        if line.starts_with('>') || line.starts_with('<') {
            steps.push(Step {
                title: line.to_owned(),
                frame: Vec::new(),
            });
        } else if !line.starts_with('#') {
            let bytes = hex::decode(line).unwrap();
            steps.last_mut().unwrap().frame.extend(bytes);
        }
    }
    steps
}

/// The trace with these frames, and its comments as they were.
fn written(trace: &str, steps: &[Step]) -> String {
    let mut text = String::new();
    for line in trace.lines().filter(|line| line.starts_with('#')) {
        writeln!(text, "{line}").unwrap();
    }
    for step in steps {
        writeln!(text, "{}", step.title).unwrap();
        for line in hex::encode(&step.frame).as_bytes().chunks(WIDTH) {
            writeln!(text, "{}", str::from_utf8(line).unwrap()).unwrap();
        }
    }
    text
}

/// What a host answers to the requests of the trace.
fn replayed(recorded: &[Step]) -> Vec<Step> {
    let space = tempfile::tempdir().unwrap();
    let mut host = Host::start(&["serve", "--state-root", space.path().to_str().unwrap()]);
    let mut steps = Vec::new();
    for step in recorded {
        let frame = if step.is_request() {
            host.write(&step.frame);
            step.frame.clone()
        } else {
            host.read().bytes
        };
        steps.push(Step {
            title: step.title.clone(),
            frame,
        });
    }
    let ended = host.end();
    assert_eq!((ended.code, ended.rest.len()), (Some(0), 0));
    assert_eq!(ended.frames, []);
    steps
}

#[test]
fn the_recorded_session_gives_the_same_bytes_again() {
    let trace = trace();
    let recorded = steps(&trace);
    let replayed = replayed(&recorded);
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("host-trace.txt");
    std::fs::write(&fresh, written(&trace, &replayed)).unwrap();
    for (recorded, replayed) in recorded.iter().zip(&replayed) {
        assert!(
            recorded == replayed,
            "{}: other bytes; if that is meant, compare {} with testdata/contracts/host-trace.txt \
             and take it:\n{:?}\n{:?}",
            recorded.title,
            fresh.display(),
            body(&recorded.frame),
            body(&replayed.frame),
        );
    }
}

fn body(frame: &[u8]) -> edict_codec::cbor::Value {
    decode(&frame[20..frame.len() - 32]).unwrap()
}

#[test]
fn the_trace_has_a_request_before_each_reply() {
    let steps = steps(&trace());
    assert_eq!(steps.len(), 24);
    for (index, step) in steps.iter().enumerate() {
        assert_eq!(step.is_request(), index % 2 == 0, "{}", step.title);
    }
}

#[test]
fn the_page_shows_frames_of_the_trace() {
    let page = std::fs::read_to_string(root().join("docs/host-trace.md")).unwrap();
    let frames: Vec<String> = steps(&trace())
        .iter()
        .map(|step| hex::encode(&step.frame))
        .collect();
    let shown: Vec<String> = page
        .split("```hex\n")
        .skip(1)
        .map(|rest| {
            let block = rest.split("```").next().unwrap();
            block.split_whitespace().collect()
        })
        .collect();
    assert!(!shown.is_empty());
    for frame in shown {
        assert!(frames.contains(&frame), "not in the trace: {frame}");
    }
}
