// SPDX-License-Identifier: Apache-2.0
//! Frames, derive-key digests and typed digests.

use crate::support::{cbor, contract};
use edict_codec::{
    cbor::{Value, encode},
    digest::{
        Algorithm, DeriveHasher, TypedDigest, derive, derive_extended, derive_typed, frame,
        frame_typed, sha256,
    },
    hex,
};

#[test]
fn the_edict_frame_vectors_hold() {
    let data = contract("identity-vectors.json");
    let vectors = data["edictFrame"].as_array().unwrap();
    assert_eq!(vectors.len(), 3);
    for vector in vectors {
        let item = encode(&cbor(&vector["value"]));
        assert_eq!(
            Some(hex::encode(&item).as_str()),
            vector["canonicalHex"].as_str()
        );
        let domain = vector["domain"].as_str().unwrap();
        let digest = frame(domain, &item);
        assert_eq!(
            Some(hex::encode(&digest).as_str()),
            vector["digest"].as_str()
        );
        let value = Value::Array(vec![
            Value::text("edict.digest/v1"),
            Value::text(domain),
            cbor(&vector["value"]),
        ]);
        assert_eq!(sha256(&encode(&value)), digest);
    }
}

#[test]
fn derive_key_vectors_hold_whole_and_in_pieces() {
    let data = contract("identity-vectors.json");
    for vector in data["positive"].as_array().unwrap() {
        let preimage = hex::decode(vector["preimageHex"].as_str().unwrap()).unwrap();
        let context = vector["context"].as_str().unwrap();
        let digest = derive(context, &preimage);
        assert_eq!(
            Some(hex::encode(&digest).as_str()),
            vector["digest"].as_str()
        );
        let mut hasher = DeriveHasher::new(context);
        for piece in preimage.chunks(7) {
            hasher.update(piece);
        }
        assert_eq!(hasher.finish(), digest);
        let mut output = [0; 80];
        derive_extended(context, &preimage, &mut output);
        assert_eq!(output[..32], digest);
    }
}

#[test]
fn typed_digests_are_equal_only_in_all_three_members() {
    let bytes = sha256(b"x");
    let digest = TypedDigest::new("a/v1", Algorithm::Sha256, bytes);
    assert_eq!(digest, TypedDigest::new("a/v1", Algorithm::Sha256, bytes));
    assert_ne!(digest, TypedDigest::new("b/v1", Algorithm::Sha256, bytes));
    assert_ne!(digest, TypedDigest::new("a/v1", Algorithm::Blake3, bytes));
    assert_ne!(
        digest,
        TypedDigest::new("a/v1", Algorithm::Sha256, sha256(b"y"))
    );
    assert_eq!(
        frame_typed("a/v1", b"\xf6").bytes(),
        &frame("a/v1", b"\xf6")
    );
    assert_eq!(derive_typed("a/v1", b"x").algorithm(), Algorithm::Blake3);
}

#[test]
fn a_typed_digest_is_read_only_from_its_own_form() {
    let digest = derive_typed("a/v1", b"x");
    let value = digest.to_value();
    assert_eq!(TypedDigest::from_value(&value), Some(digest.clone()));
    let row = |domain, algorithm, bytes| Value::Array(vec![domain, algorithm, bytes]);
    let bytes = || Value::bytes(digest.bytes().to_vec());
    for wrong in [
        row(Value::text("a/v1"), Value::text("md5"), bytes()),
        row(
            Value::text("a/v1"),
            Value::text("blake3"),
            Value::bytes(vec![0; 31]),
        ),
        row(
            Value::text("a/v1"),
            Value::text("blake3"),
            Value::text(digest.hex()),
        ),
        row(Value::Null, Value::text("blake3"), bytes()),
        Value::Array(vec![Value::text("a/v1"), bytes()]),
        Value::Null,
    ] {
        assert_eq!(TypedDigest::from_value(&wrong), None);
    }
}

#[test]
fn hex_is_lower_case_and_whole() {
    assert_eq!(hex::decode("00ff"), Some(vec![0, 255]));
    assert_eq!(hex::decode(""), Some(Vec::new()));
    for wrong in ["0", "0F", "0g", "é0", " 0"] {
        assert_eq!(hex::decode(wrong), None, "{wrong}");
    }
    assert_eq!(hex::decode_32(&"ab".repeat(32)), Some([0xab; 32]));
    assert_eq!(hex::decode_32(&"ab".repeat(31)), None);
    assert_eq!(hex::decode_32(&"ab".repeat(33)), None);
}
