// SPDX-License-Identifier: Apache-2.0
//! Frames against the vectors of the host contract.

use edict_codec::hex;
use edict_codec::json::{JsonLimits, Node, parse};
use edict_test_echo::{Direction, FrameError, FrameKind, encode_frame};

pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
    crate::trials![
        the_hello_frame_is_that_of_the_vectors,
        request_ceilings_are_exact,
        the_suite_limit_counts_the_whole_frame,
    ]
}

fn vectors() -> Node {
    let text = include_str!("../../../../testdata/contracts/host-vectors.json");
    let limits = JsonLimits {
        bytes: 1 << 24,
        depth: 64,
    };
    parse(text.as_bytes(), limits).unwrap()
}

fn the_hello_frame_is_that_of_the_vectors() {
    let vectors = vectors();
    let frame = vectors.get("helloFrame").unwrap();
    let bytes = |name: &str| hex::decode(frame.get(name).unwrap().as_text().unwrap()).unwrap();
    let kind = FrameKind::Hello(Direction::Request);
    let encoded = encode_frame(kind, 1, &bytes("bodyHex"), 16_777_216).unwrap();
    assert_eq!(encoded, bytes("frameHex"));
}

fn request_ceilings_are_exact() {
    let request = Direction::Request;
    let rows = [
        (FrameKind::Hello(request), 65_536),
        (FrameKind::Install(request), 4_718_592),
        (FrameKind::Uninstall(request), 65_536),
        (FrameKind::OpenContext(request), 131_072),
        (FrameKind::Invoke(request), 8_454_144),
        (FrameKind::CloseContext(request), 65_536),
        (FrameKind::Shutdown(request), 65_536),
    ];
    for (kind, ceiling) in rows {
        let body = vec![0; ceiling + 1];
        assert!(encode_frame(kind, 1, &body[..ceiling], 16_777_216).is_ok());
        let error = encode_frame(kind, 1, &body, 16_777_216).unwrap_err();
        assert!(matches!(error, FrameError::Oversized { .. }), "{kind:?}");
    }
}

fn the_suite_limit_counts_the_whole_frame() {
    let kind = FrameKind::Invoke(Direction::Request);
    assert!(encode_frame(kind, 1, &[0; 4044], 4096).is_ok());
    assert!(encode_frame(kind, 1, &[0; 4045], 4096).is_err());
}
