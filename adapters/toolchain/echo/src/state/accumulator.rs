// SPDX-License-Identifier: Apache-2.0
//! The additive set hash behind a state root: a change costs what it changes (section 5.5).

use edict_codec::digest::{Algorithm, TypedDigest, derive, derive_extended};

/// Domain of state roots.
pub const STATE_ROOT: &str = "echo/state-root/v1";

const LANES: usize = 1_024;
const ELEMENT_BYTES: usize = 2 * LANES;
/// The lanes, the number of atoms and the sum of value lengths.
const PREIMAGE_BYTES: usize = ELEMENT_BYTES + 16;

/// Lane-wise wrapping sum over the elements of all atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accumulator {
    lanes: Box<[u16; LANES]>,
}

impl Default for Accumulator {
    fn default() -> Self {
        Self {
            lanes: Box::new([0; LANES]),
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
    pub fn root(&self, atoms: u64, value_bytes: u64) -> [u8; 32] {
        let mut preimage = [0; PREIMAGE_BYTES];
        if let Some((lanes, totals)) = preimage.split_first_chunk_mut::<ELEMENT_BYTES>() {
            // Whole arrays at a time, so that the lanes are converted many at once.
            for (pair, lane) in lanes.as_chunks_mut::<2>().0.iter_mut().zip(&*self.lanes) {
                *pair = lane.to_be_bytes();
            }
            if let [first, second] = totals.as_chunks_mut::<8>().0 {
                *first = atoms.to_be_bytes();
                *second = value_bytes.to_be_bytes();
            }
        }
        derive(STATE_ROOT, &preimage)
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
pub fn element(atom: &[u8; 32], version: &[u8; 32]) -> [u8; ELEMENT_BYTES] {
    let mut preimage = [0; 64];
    if let [first, second] = preimage.as_chunks_mut::<32>().0 {
        (*first, *second) = (*atom, *version);
    }
    let mut element = [0; ELEMENT_BYTES];
    derive_extended("echo/state-element/v1", &preimage, &mut element);
    element
}

/// A root with its domain.
pub fn typed(root: [u8; 32]) -> TypedDigest {
    TypedDigest::new(STATE_ROOT, Algorithm::Blake3, root)
}

/// The root of no atoms at all.
pub fn empty_root() -> TypedDigest {
    typed(Accumulator::default().root(0, 0))
}
