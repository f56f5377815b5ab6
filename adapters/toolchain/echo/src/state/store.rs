// SPDX-License-Identifier: Apache-2.0
//! `Store`: the atoms of one context and the accumulator over them.

use super::{accumulator::Accumulator, patch::PatchEntry, view::Atom};
use crate::{limits, refusal::Refusal};
use edict_codec::digest::TypedDigest;
use std::{collections::BTreeMap, ops::Bound};

/// All atoms of a context, by space and key.
#[derive(Clone, Debug, Default)]
pub struct Store {
    spaces: BTreeMap<String, BTreeMap<Vec<u8>, Atom>>,
    accumulator: Accumulator,
    atoms: u64,
    value_bytes: u64,
}

/// What a patch would make of the totals of a store; nothing is changed yet.
#[derive(Clone, Debug)]
pub struct Staged {
    accumulator: Accumulator,
    atoms: u64,
    value_bytes: u64,
    /// Root after the patch.
    pub root: TypedDigest,
}

impl Staged {
    /// Sum of value lengths after the patch.
    pub fn value_bytes(&self) -> u64 {
        self.value_bytes
    }
}

impl Store {
    /// The atom, if there is one.
    pub fn get(&self, space: &str, key: &[u8]) -> Option<&Atom> {
        self.spaces.get(space)?.get(key)
    }

    /// The state root.
    pub fn root(&self) -> TypedDigest {
        self.accumulator.root(self.atoms, self.value_bytes)
    }

    /// Sum of value lengths.
    pub fn value_bytes(&self) -> u64 {
        self.value_bytes
    }

    /// The atoms of `space` with keys after `after`, ascending.
    pub fn scan<'a>(
        &'a self,
        space: &str,
        after: Option<&[u8]>,
    ) -> impl Iterator<Item = (&'a [u8], &'a Atom)> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.spaces
            .get(space)
            .into_iter()
            .flat_map(move |atoms| atoms.range::<[u8], _>((start, Bound::Unbounded)))
            .map(|(key, atom)| (key.as_slice(), atom))
    }

    /// Totals and root after `patch`, which must describe this store.
    ///
    /// # Errors
    /// `state-limit` above the atoms or value bytes of a context.
    pub fn stage(&self, patch: &[PatchEntry]) -> Result<Staged, Refusal> {
        let mut accumulator = self.accumulator.clone();
        let (mut atoms, mut value_bytes) = (self.atoms, self.value_bytes);
        for entry in patch {
            if let Some(old) = self.get(&entry.space, &entry.key) {
                accumulator.subtract(&entry.atom, &old.version);
                atoms = atoms.saturating_sub(1);
                value_bytes = value_bytes.saturating_sub(length(old));
            }
            if let Some(new) = &entry.after {
                accumulator.add(&entry.atom, &new.version);
                atoms = atoms.saturating_add(1);
                value_bytes = value_bytes.saturating_add(length(new));
            }
        }
        if atoms > limits::MAX_ATOMS || value_bytes > limits::MAX_STATE_BYTES {
            return Err(Refusal::new(
                "state-limit",
                format!(
                    "{atoms} atoms of {value_bytes} value bytes, a context has at most {} of {}",
                    limits::MAX_ATOMS,
                    limits::MAX_STATE_BYTES
                ),
            ));
        }
        Ok(Staged {
            root: accumulator.root(atoms, value_bytes),
            accumulator,
            atoms,
            value_bytes,
        })
    }

    /// Makes the staged patch visible, at once and whole.
    pub fn publish(&mut self, patch: Vec<PatchEntry>, staged: Staged) {
        for entry in patch {
            match entry.after {
                Some(atom) => {
                    self.spaces
                        .entry(entry.space)
                        .or_default()
                        .insert(entry.key, atom);
                }
                None => self.remove(&entry.space, &entry.key),
            }
        }
        self.accumulator = staged.accumulator;
        self.atoms = staged.atoms;
        self.value_bytes = staged.value_bytes;
    }

    fn remove(&mut self, space: &str, key: &[u8]) {
        if let Some(atoms) = self.spaces.get_mut(space) {
            atoms.remove(key);
            if atoms.is_empty() {
                self.spaces.remove(space);
            }
        }
    }
}

fn length(atom: &Atom) -> u64 {
    u64::try_from(atom.value.len()).unwrap_or(u64::MAX)
}
