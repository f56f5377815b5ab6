// SPDX-License-Identifier: Apache-2.0
//! H03 to H08, H12, H13 and H15: the stream.

use crate::support::{
    client::{Host, after_hello, frame, parse},
    messages::{hello, nothing, open_durable, recall, recover, worldline},
    notes,
    world::{Lane, granting, install},
};
use edict_codec::cbor::{Value, encode};

/// A whole second frame that is answered with a refusal.
fn second() -> Vec<u8> {
    frame(6, 2, &encode(&recall()))
}

fn with_byte(mut bytes: Vec<u8>, index: usize, byte: u8) -> Vec<u8> {
    bytes[index] = byte;
    bytes
}

#[test]
fn h03_an_end_between_frames_is_orderly() {
    assert_eq!(Host::start(&["serve"]).end().code, Some(0));
    let ended = after_hello(&[]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.frames.is_empty());
}

#[test]
fn h03_an_end_inside_a_frame_is_a_fault() {
    let whole = second();
    for cut in 1..20 {
        let ended = after_hello(&whole[..cut]);
        assert_eq!(ended.fault(), ("frame-truncated", 0), "{cut}");
    }
    for cut in [20, 21, whole.len() - 33, whole.len() - 32, whole.len() - 1] {
        let ended = after_hello(&whole[..cut]);
        assert_eq!(ended.fault(), ("frame-truncated", 2), "{cut}");
    }
}

#[test]
fn h04_magic_version_and_type() {
    for index in 0..4 {
        let bytes = with_byte(second(), index, 0);
        assert_eq!(after_hello(&bytes).fault().0, "frame-magic");
    }
    for version in [0, 2] {
        let bytes = with_byte(second(), 5, version);
        assert_eq!(after_hello(&bytes).fault().0, "frame-version");
    }
    for kind in [0u16, 10, 0x8006, 0x8001, 0x8FFF, 0xFFFF] {
        let bytes = frame(kind, 2, &encode(&recall()));
        assert_eq!(after_hello(&bytes).fault(), ("frame-type", 2), "{kind}");
    }
}

const CEILINGS: [(u16, usize); 9] = [
    (1, 65_536),
    (2, 4_718_592),
    (3, 65_536),
    (4, 131_072),
    (5, 8_454_144),
    (6, 65_536),
    (7, 1_048_576),
    (8, 65_536),
    (9, 65_536),
];

#[test]
fn h05_a_body_of_the_ceiling_is_judged_as_content() {
    let mut host = Host::start(&["serve"]);
    for (kind, ceiling) in CEILINGS {
        if kind == 2 {
            host.ask(1, &hello()).ok(0x8001);
        }
        let reply = host.ask_bytes(kind, &vec![0; ceiling]);
        assert_eq!(reply.refusal(), ("malformed-body", None), "{kind}");
    }
}

#[test]
fn h05_one_byte_more_is_refused_without_its_body() {
    for (kind, ceiling) in CEILINGS {
        let mut header = frame(kind, 2, &[]);
        header.truncate(16);
        header.extend(u32::try_from(ceiling + 1).unwrap().to_be_bytes());
        let mut host = Host::serve(&[]);
        host.write(&header);
        // The input is still open: the answer does not wait for a body.
        let reply = host.read();
        assert_eq!(
            (reply.kind, reply.text("kind")),
            (0xFFFF, Some("frame-oversized")),
            "{kind}"
        );
        assert_eq!(host.wait(), Some(3));
    }
}

/// `(resident, data)` in KiB and bytes read so far of the process.
fn memory(id: u32) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    (field("VmRSS:"), field("VmData:"))
}

fn bytes_read(id: u32) -> u64 {
    let io = std::fs::read_to_string(format!("/proc/{id}/io")).unwrap();
    let line = io.lines().find(|line| line.starts_with("rchar:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn h06_a_claimed_length_allocates_nothing() {
    let mut bytes = frame(5, 2, &[]);
    bytes.truncate(16);
    bytes.extend(8_454_144u32.to_be_bytes());
    bytes.extend([0; 10]);
    let mut host = Host::serve(&[]);
    let (resident, data) = memory(host.id());
    let before = bytes_read(host.id());
    host.write(&bytes);
    while bytes_read(host.id()) < before + 30 {
        std::thread::yield_now();
    }
    let (resident_after, data_after) = memory(host.id());
    assert!(resident_after < resident + 1_024);
    assert!(data_after < data + 4_096);
    assert_eq!(host.end().fault(), ("frame-truncated", 2));

    let mut bytes = frame(5, 2, &[]);
    bytes.truncate(16);
    bytes.extend([0xff; 14]);
    assert_eq!(after_hello(&bytes).fault(), ("frame-oversized", 2));
}

#[test]
fn h07_sequences() {
    for first in [0, 2, u64::MAX] {
        let mut host = Host::start(&["serve"]);
        host.write(&frame(1, first, &encode(&hello())));
        assert_eq!(host.end().fault(), ("frame-sequence", first));
    }
    for second in [0, 1, 3] {
        let bytes = frame(6, second, &encode(&recall()));
        assert_eq!(after_hello(&bytes).fault(), ("frame-sequence", second));
    }
}

#[test]
fn h08_one_flipped_bit_is_never_answered_as_content() {
    let whole = second();
    // Every byte of the header and the digest, and some of the body; a longer claimed length
    // ends in the digest or behind it.
    let body = (20..whole.len() - 32).step_by(7);
    for index in (0..20).chain(body).chain(whole.len() - 32..whole.len()) {
        let bytes = with_byte(whole.clone(), index, whole[index] ^ (1 << (index % 8)));
        let ended = after_hello(&bytes);
        assert_eq!(ended.frames.len(), 1, "{index}");
        assert!(ended.fault().0.starts_with("frame-"), "{index}");
    }
}

#[test]
fn h12_pieces_and_batches_give_the_same_replies() {
    let mut stream = frame(1, 1, &encode(&hello()));
    for sequence in 2..11 {
        stream.extend(frame(6, sequence, &encode(&recall())));
    }
    let mut at_once = Host::start(&["serve"]);
    at_once.write(&stream);
    let at_once = at_once.end();
    assert_eq!(at_once.code, Some(0));
    assert_eq!(at_once.frames.len(), 10);
    let mut in_pieces = Host::start(&["serve"]);
    for byte in stream.chunks(1) {
        in_pieces.write(byte);
    }
    assert_eq!(in_pieces.end().frames, at_once.frames);
}

#[test]
fn h13_a_closed_output_ends_the_process() {
    let mut host = Host::serve_on_socket(&[]);
    host.close_output();
    host.send(6, &recall());
    // The input stays open.
    assert_eq!(host.wait(), Some(3));
}

#[test]
fn h13_no_further_invocation_is_decided() {
    for workers in ["1", "4"] {
        let space = tempfile::tempdir().unwrap();
        let root = space.path().to_str().unwrap();
        let options = ["--workers", workers, "--state-root", root];
        let mut host = Host::serve_on_socket(&options);
        let pick = install(&mut host, &notes::pick());
        let lane = Lane::open(&mut host, &granting(&open_durable(1, "a"), &[&pick]));
        host.close_output();
        let input = Value::text_map([("a", Value::unsigned(1))]);
        for id in 0..10 {
            host.send(5, &lane.request(&pick, id, &input, true));
        }
        assert_eq!(host.wait(), Some(3));
        let mut host = Host::serve(&options);
        assert_eq!(Lane::open(&mut host, &recover(1, "a")).decided, 1);
    }
}

#[test]
fn h15_a_client_may_send_ahead() {
    for workers in ["1", "4"] {
        let mut host = Host::serve(&["--workers", workers]);
        let unknown = worldline(recall().get("worldline").unwrap());
        let sent: Vec<u64> = (0..65).map(|_| host.send(8, &unknown)).collect();
        let mut answered: Vec<u64> = sent
            .iter()
            .map(|_| {
                let reply = host.read();
                assert_eq!(reply.refused(), "context-unknown");
                reply.sequence
            })
            .collect();
        answered.sort_unstable();
        assert_eq!(answered, sent);
        host.ask(9, &nothing()).ok(0x8009);
    }
}

#[test]
fn h15_bodies_beyond_what_may_be_in_flight_are_read_in_time() {
    let mut host = Host::serve(&["--workers", "2"]);
    // Ten times 8 MiB are more than the 32 MiB that may be unanswered.
    let body = vec![0; 8_454_144];
    for _ in 0..10 {
        host.send_bytes(5, &body);
    }
    for _ in 0..10 {
        assert_eq!(host.read().refused(), "malformed-body");
    }
}

#[test]
fn a_fault_comes_after_the_answers_to_what_was_read() {
    let mut bytes = second();
    bytes.extend(frame(6, 3, &encode(&recall())));
    bytes.extend([0; 20]);
    let ended = after_hello(&bytes);
    assert_eq!(ended.fault(), ("frame-magic", 0));
    let sequences: Vec<u64> = ended.frames.iter().map(|it| it.sequence).collect();
    assert_eq!(sequences, [2, 3, 0]);
}

#[test]
fn nothing_behind_a_shutdown_is_answered() {
    let mut bytes = frame(9, 2, &encode(&nothing()));
    bytes.extend(frame(6, 3, &encode(&recall())));
    let ended = after_hello(&bytes);
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.frames.len(), 1);
    assert_eq!(
        ended.frames[0].body,
        Value::text_map([("contexts", Value::unsigned(0))])
    );
}

#[test]
fn the_client_of_these_rows_judges_frames() {
    let whole = frame(6, 2, &encode(&recall()));
    let (frames, rest) = parse(&whole[..whole.len() - 1]);
    assert!(frames.is_empty());
    assert_eq!(rest.len(), whole.len() - 1);
}
