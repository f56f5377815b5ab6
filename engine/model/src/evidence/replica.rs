// SPDX-License-Identifier: Apache-2.0
//! The client's replica of a worldline: atom versions and the state accumulator (`docs/host.md`
//! 5.5). Starting empty and applying every patch, it recomputes every state root.

use super::identity::STATE_ROOT;
use edict_codec::digest::{TypedDigest, derive_extended, derive_typed};
use std::collections::BTreeMap;

/// Lanes of the accumulator.
const LANES: usize = 1024;

/// What the replica knows of one atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stored {
    version: [u8; 32],
    length: u64,
}

/// Versions of all atoms present, and their additive accumulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    atoms: BTreeMap<[u8; 32], Stored>,
    lanes: Vec<u16>,
    value_bytes: u64,
}

impl Default for Replica {
    fn default() -> Self {
        Self::new()
    }
}

impl Replica {
    /// No atoms.
    pub fn new() -> Self {
        Self {
            atoms: BTreeMap::new(),
            lanes: vec![0; LANES],
            value_bytes: 0,
        }
    }

    /// The version of `atom`, if it is present.
    pub fn version(&self, atom: &[u8; 32]) -> Option<[u8; 32]> {
        self.atoms.get(atom).map(|stored| stored.version)
    }

    /// Number of atoms present.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Whether no atom is present.
    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// Makes `atom` have `version` and a value of `length` bytes, or removes it.
    pub fn set(&mut self, atom: [u8; 32], new: Option<([u8; 32], u64)>) {
        if let Some(old) = self.atoms.remove(&atom) {
            self.add(&atom, &old.version, u16::wrapping_sub);
            self.value_bytes = self.value_bytes.wrapping_sub(old.length);
        }
        if let Some((version, length)) = new {
            self.add(&atom, &version, u16::wrapping_add);
            self.value_bytes = self.value_bytes.wrapping_add(length);
            self.atoms.insert(atom, Stored { version, length });
        }
    }

    /// The state root.
    pub fn root(&self) -> TypedDigest {
        let mut preimage = Vec::with_capacity(LANES.saturating_mul(2).saturating_add(16));
        for lane in &self.lanes {
            preimage.extend_from_slice(&lane.to_be_bytes());
        }
        let count = u64::try_from(self.atoms.len()).unwrap_or(u64::MAX);
        preimage.extend_from_slice(&count.to_be_bytes());
        preimage.extend_from_slice(&self.value_bytes.to_be_bytes());
        derive_typed(STATE_ROOT, &preimage)
    }

    fn add(&mut self, atom: &[u8; 32], version: &[u8; 32], combine: fn(u16, u16) -> u16) {
        let mut element = vec![0; LANES.saturating_mul(2)];
        let preimage = [atom.as_slice(), version.as_slice()].concat();
        derive_extended("echo/state-element/v1", &preimage, &mut element);
        for (lane, pair) in self.lanes.iter_mut().zip(element.chunks_exact(2)) {
            if let [high, low] = pair {
                *lane = combine(*lane, u16::from_be_bytes([*high, *low]));
            }
        }
    }
}
