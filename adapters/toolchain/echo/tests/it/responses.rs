// SPDX-License-Identifier: Apache-2.0
//! H11, H55 and H73: inputs at their limits, and replies larger than the client reads.

use crate::support::{
    client::Host,
    messages::{map, open, open_durable, scan, select, with},
    notes,
    program::{Program, input, record},
    world::{Lane, granting, install, install_body},
};
use edict_codec::cbor::{Value, encode};

#[test]
fn h11_deep_and_large_inputs() {
    let mut host = Host::serve(&[]);
    let pick = install(&mut host, &notes::pick());
    let lane = Lane::open(&mut host, &granting(&open(1), &[&pick]));
    let nested = |depth: usize| {
        let mut bytes = vec![0x81; depth - 1];
        bytes.push(0x80);
        bytes
    };
    let wide = |nodes: usize| encode(&Value::Array(vec![Value::Null; nodes - 1]));
    for (input, kind) in [
        (nested(128), "input-type"),
        (nested(129), "input-noncanonical"),
        (nested(8_000_000), "input-noncanonical"),
        (wide(65_536), "input-type"),
        (wide(65_537), "input-noncanonical"),
        (vec![0; 8_388_608], "input-noncanonical"),
        (vec![0; 8_388_609], "input-too-large"),
    ] {
        let request = lane.request(&pick, 1, &Value::Null, true);
        let request = with(&request, "input", Value::bytes(input));
        assert_eq!(host.ask(5, &request).refused(), kind);
    }
}

#[test]
fn h55_an_outcome_larger_than_the_client_reads() {
    let space = tempfile::tempdir().unwrap();
    let mut host = Host::start(&["serve", "--state-root", space.path().to_str().unwrap()]);
    host.greet(4_096);
    let echo = install(&mut host, &notes::echo());
    let create = install(&mut host, &notes::steps(&["create"]).build().seal());
    let mut lane = Lane::open(
        &mut host,
        &granting(&open_durable(1, "a"), &[&echo, &create]),
    );
    let log = space.path().join("a").join("wal.log");
    let before = std::fs::read(&log).unwrap();
    let large = |bytes| map([("a", Value::bytes(vec![7; bytes]))]);
    let request = lane.request(&echo, 1, &large(4_000), true);
    assert_eq!(host.ask(5, &request).refused(), "response-too-large");
    let note = notes::note(b"k", &[7; 4_000], b"");
    let request = lane.request(&create, 1, &note, false);
    assert_eq!(host.ask(5, &request).refused(), "response-too-large");
    assert_eq!(std::fs::read(&log).unwrap(), before);
    // The id is free and the frame may be of exactly the size.
    lane.pure(&mut host, &echo, 1, &large(1));
    let outcome = lane.pure(&mut host, &echo, 2, &large(1_000));
    let exact = 1_000 + 4_096 - outcome.frame.bytes.len();
    let outcome = lane.pure(&mut host, &echo, 3, &large(exact));
    assert_eq!(outcome.frame.bytes.len(), 4_096);
    let request = lane.request(&echo, 4, &large(exact + 1), true);
    assert_eq!(host.ask(5, &request).refused(), "response-too-large");
}

#[test]
fn h73_replies_larger_than_the_client_reads_have_no_effect() {
    let space = tempfile::tempdir().unwrap();
    let mut host = Host::start(&["serve", "--state-root", space.path().to_str().unwrap()]);
    host.greet(4_096);
    let create = install(&mut host, &notes::steps(&["create"]).build().seal());
    let mut lane = Lane::open(&mut host, &granting(&open_durable(1, "a"), &[&create]));
    for id in 0..4 {
        lane.effect(
            &mut host,
            &create,
            id,
            &notes::note(&[0, u8::try_from(id).unwrap()], &[7; 900], b""),
        );
    }
    let two = lane.observe(scan(notes::SPACE, Value::Null, 2), 8_000);
    host.ask(7, &two).ok(0x8007);
    let four = lane.observe(scan(notes::SPACE, Value::Null, 4), 8_000);
    assert_eq!(host.ask(7, &four).refused(), "response-too-large");
    let none = lane.observe(select(Vec::new()), 1);
    host.ask(7, &none).ok(0x8007);

    let fields: Vec<String> = (10..99)
        .map(|n| format!("field{n}:Bytes<max=1000000>"))
        .collect();
    let wide = format!("Record<a:U64,{}>", fields.join(","));
    let sealed = Program::pure(&wide, "Record<r:U64>", &record(&[("r", input("a"))]));
    let sealed = sealed.build().seal();
    let body = install_body(&sealed);
    // Its input type alone fits; with as much again in the output type it does not.
    assert_eq!(
        host.ask(2, &body).ok(0x8002).get("repeated"),
        Some(&Value::Bool(false))
    );
    let fields: Vec<String> = (100..260)
        .map(|n| format!("field{n}:Bytes<max=1000000>"))
        .collect();
    let wide = format!("Record<a:U64,{}>", fields.join(","));
    let sealed = Program::pure(&wide, "Record<r:U64>", &record(&[("r", input("a"))]));
    let body = install_body(&sealed.build().seal());
    for _ in 0..2 {
        assert_eq!(host.ask(2, &body).refused(), "response-too-large");
    }
}
