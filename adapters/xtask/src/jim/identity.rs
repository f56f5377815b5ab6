// SPDX-License-Identifier: Apache-2.0
//! Addresses, versions and roots, computed from the written identity laws.

use super::model::State;
use edict_codec::{
    cbor::{Value, encode},
    digest::{Algorithm, TypedDigest, derive, derive_extended},
};

/// The space of all buffers.
pub const SPACE: &str = "jim.text.buffer/v1";

/// The id of the buffer with that key.
pub fn buffer_id(key: &str) -> [u8; 32] {
    derive("jim.text/buffer/v1", key.as_bytes())
}

/// The atom of a buffer.
pub fn atom(buffer: &[u8; 32]) -> [u8; 32] {
    let address = Value::Array(vec![Value::text(SPACE), Value::bytes(*buffer)]);
    derive("echo/atom/v1", &encode(&address))
}

/// The canonical bytes of a stored state.
pub fn stored(state: &State) -> Vec<u8> {
    encode(&state_value(state))
}

/// The record of a state.
pub fn state_value(state: &State) -> Value {
    Value::text_map([
        ("text", Value::bytes(state.text.clone())),
        ("utf16Length", Value::unsigned(state.utf16_length)),
        ("lineBreaks", Value::unsigned(state.line_breaks)),
        ("sequence", Value::unsigned(state.sequence)),
        ("version", Value::unsigned(state.version)),
    ])
}

/// The version of an atom with that value: the basis of a buffer.
pub fn version(atom: &[u8; 32], value: &[u8]) -> [u8; 32] {
    let mut bytes = atom.to_vec();
    bytes.extend_from_slice(value);
    derive("echo/atom-version/v1", &bytes)
}

/// The basis of a buffer in a state.
pub fn basis(buffer: &[u8; 32], state: &State) -> [u8; 32] {
    version(&atom(buffer), &stored(state))
}

/// The root of a state that holds exactly these atoms with these values.
pub fn state_root(atoms: &[([u8; 32], Vec<u8>)]) -> TypedDigest {
    let mut lanes = vec![0_u16; 1_024];
    let mut bytes = 0_u64;
    for (atom, value) in atoms {
        let mut element = [0_u8; 2_048];
        let name = [*atom, version(atom, value)].concat();
        derive_extended("echo/state-element/v1", &name, &mut element);
        for (lane, pair) in lanes.iter_mut().zip(element.as_chunks::<2>().0) {
            *lane = lane.wrapping_add(u16::from_be_bytes(*pair));
        }
        bytes += value.len() as u64;
    }
    let mut image: Vec<u8> = lanes.into_iter().flat_map(u16::to_be_bytes).collect();
    image.extend((atoms.len() as u64).to_be_bytes());
    image.extend(bytes.to_be_bytes());
    TypedDigest::new(
        "echo/state-root/v1",
        Algorithm::Blake3,
        derive("echo/state-root/v1", &image),
    )
}
