// SPDX-License-Identifier: Apache-2.0
//! The independent consumers themselves: they must go on refusing what is no run.

use crate::support::{Reading, consumers, root};

#[test]
fn bt_018_the_consumers_give_the_verdict_of_every_stream_of_the_corpus() {
    let home = root().join("testdata/tap-streams");
    let table: serde_json::Value =
        serde_json::from_slice(&std::fs::read(home.join("verdicts.json")).unwrap()).unwrap();
    let streams = table["streams"].as_array().unwrap();
    assert_eq!(streams.len(), 45);
    for stream in streams {
        let name = stream["file"].as_str().unwrap();
        let reading = consumers(&std::fs::read(home.join(name)).unwrap());
        let wanted = Reading {
            verdict: stream["verdict"].as_str().unwrap().to_owned(),
            bailout: stream["bailout"].as_bool().unwrap(),
            exit: i32::try_from(stream["exit"].as_i64().unwrap()).unwrap(),
            points: reading.points,
        };
        // A malformed stream may or may not show a bail-out; only its refusal counts.
        let bailout = if wanted.verdict == "malformed" {
            reading.bailout
        } else {
            wanted.bailout
        };
        assert_eq!(reading, Reading { bailout, ..wanted }, "{name}");
    }
}
