// SPDX-License-Identifier: Apache-2.0
//! The additive set hash behind a state root: a change costs what it changes (section 5.5).

use edict_codec::digest::{TypedDigest, derive_extended, derive_typed};

const LANES: usize = 1_024;
const ELEMENT_BYTES: usize = 2 * LANES;

/// Lane-wise wrapping sum over the elements of all atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accumulator {
    lanes: Vec<u16>,
}

impl Default for Accumulator {
    fn default() -> Self {
        Self {
            lanes: vec![0; LANES],
        }
    }
}

impl Accumulator {
    /// Adds the atom with that version.
    pub fn add(&mut self, atom: &[u8; 32], version: &[u8; 32]) {
        self.combine(atom, version, u16::wrapping_add);
    }

    /// Takes the atom with that version out.
    pub fn subtract(&mut self, atom: &[u8; 32], version: &[u8; 32]) {
        self.combine(atom, version, u16::wrapping_sub);
    }

    /// The root of `atoms` atoms whose value lengths sum to `value_bytes`.
    pub fn root(&self, atoms: u64, value_bytes: u64) -> TypedDigest {
        // Whole arrays at a time, so that the lanes are converted many at once.
        let mut preimage = vec![0; ELEMENT_BYTES];
        for (pair, lane) in preimage.as_chunks_mut::<2>().0.iter_mut().zip(&self.lanes) {
            *pair = lane.to_be_bytes();
        }
        preimage.extend_from_slice(&atoms.to_be_bytes());
        preimage.extend_from_slice(&value_bytes.to_be_bytes());
        derive_typed("echo/state-root/v1", &preimage)
    }

    fn combine(
        &mut self,
        atom: &[u8; 32],
        version: &[u8; 32],
        operation: impl Fn(u16, u16) -> u16,
    ) {
        let element = element(atom, version);
        for (lane, pair) in self.lanes.iter_mut().zip(element.as_chunks::<2>().0) {
            *lane = operation(*lane, u16::from_be_bytes(*pair));
        }
    }
}

/// The 2,048 bytes of one atom with that version.
pub fn element(atom: &[u8; 32], version: &[u8; 32]) -> Vec<u8> {
    let mut element = vec![0; ELEMENT_BYTES];
    let preimage = [atom.as_slice(), version.as_slice()].concat();
    derive_extended("echo/state-element/v1", &preimage, &mut element);
    element
}

/// The root of no atoms at all.
pub fn empty_root() -> TypedDigest {
    Accumulator::default().root(0, 0)
}
