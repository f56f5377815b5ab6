// SPDX-License-Identifier: Apache-2.0
//! `Store`: the atoms of one context and the accumulator over them.

use super::{
    accumulator::{self, Accumulator},
    patch::PatchEntry,
    view::Atom,
};
use crate::{limits, refusal::Refusal};
use edict_codec::digest::TypedDigest;
use std::{collections::BTreeMap, ops::Bound};

/// All atoms of a context, by space and key.
#[derive(Clone, Debug, Default)]
pub struct Store {
    spaces: BTreeMap<String, BTreeMap<Vec<u8>, Atom>>,
    totals: Totals,
}

/// What the root is made of.
#[derive(Clone, Debug, Default)]
struct Totals {
    accumulator: Accumulator,
    atoms: u64,
    value_bytes: u64,
}

/// What a patch would make of the totals of a store; nothing is changed yet.
#[derive(Clone, Debug)]
pub struct Staged {
    totals: Totals,
    /// Root after the patch.
    pub root: TypedDigest,
}

impl Staged {
    /// Sum of value lengths after the patch.
    pub fn value_bytes(&self) -> u64 {
        self.totals.value_bytes
    }
}

impl Totals {
    /// Puts `after` in the place of `before`.
    fn replace(&mut self, atom: &[u8; 32], before: Option<&Atom>, after: Option<&Atom>) {
        if let Some(before) = before {
            self.accumulator.subtract(atom, &before.version);
            self.atoms = self.atoms.saturating_sub(1);
            self.value_bytes = self.value_bytes.saturating_sub(length(before));
        }
        if let Some(after) = after {
            self.accumulator.add(atom, &after.version);
            self.atoms = self.atoms.saturating_add(1);
            self.value_bytes = self.value_bytes.saturating_add(length(after));
        }
    }

    fn root(&self) -> [u8; 32] {
        self.accumulator.root(self.atoms, self.value_bytes)
    }

    fn within_limits(&self) -> Result<(), Refusal> {
        if self.atoms <= limits::MAX_ATOMS && self.value_bytes <= limits::MAX_STATE_BYTES {
            return Ok(());
        }
        Err(Refusal::new(
            "state-limit",
            format!(
                "{} atoms of {} value bytes, a context has at most {} of {}",
                self.atoms,
                self.value_bytes,
                limits::MAX_ATOMS,
                limits::MAX_STATE_BYTES
            ),
        ))
    }
}

impl Store {
    /// The atom, if there is one.
    pub fn get(&self, space: &str, key: &[u8]) -> Option<&Atom> {
        self.spaces.get(space)?.get(key)
    }

    /// The state root.
    pub fn root(&self) -> TypedDigest {
        accumulator::typed(self.totals.root())
    }

    /// Sum of value lengths.
    pub fn value_bytes(&self) -> u64 {
        self.totals.value_bytes
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
        let mut totals = self.totals.clone();
        for entry in patch {
            let before = self.get(&entry.space, &entry.key);
            totals.replace(&entry.atom, before, entry.after.as_ref());
        }
        totals.within_limits()?;
        Ok(Staged {
            root: accumulator::typed(totals.root()),
            totals,
        })
    }

    /// Makes the staged patch visible, at once and whole.
    pub fn publish(&mut self, patch: Vec<PatchEntry>, staged: Staged) {
        for entry in patch {
            self.put(entry.space, entry.key, entry.after);
        }
        self.totals = staged.totals;
    }

    /// Applies a patch of a history, entry by entry, and gives the root after it. A store that
    /// one of them does not fit is of no further use.
    ///
    /// # Errors
    /// Why the history is none, for people.
    pub fn replay(&mut self, patch: Vec<PatchEntry>) -> Result<[u8; 32], &'static str> {
        for entry in patch {
            let after = entry.after.clone();
            let before = self.put(entry.space, entry.key, entry.after);
            if before.as_ref().map(|it| it.version) != entry.before {
                return Err("a patch does not continue the state");
            }
            self.totals
                .replace(&entry.atom, before.as_ref(), after.as_ref());
        }
        self.totals
            .within_limits()
            .map_err(|_| "a patch exceeds the limits of a state")?;
        Ok(self.totals.root())
    }

    /// Puts an atom, or none, in the place of the one that is given back.
    fn put(&mut self, space: String, key: Vec<u8>, atom: Option<Atom>) -> Option<Atom> {
        match (atom, self.spaces.get_mut(&space)) {
            (Some(atom), Some(atoms)) => atoms.insert(key, atom),
            (Some(atom), None) => {
                self.spaces.insert(space, BTreeMap::from([(key, atom)]));
                None
            }
            (None, Some(atoms)) => {
                let before = atoms.remove(&key);
                if atoms.is_empty() {
                    self.spaces.remove(&space);
                }
                before
            }
            (None, None) => None,
        }
    }
}

fn length(atom: &Atom) -> u64 {
    u64::try_from(atom.value.len()).unwrap_or(u64::MAX)
}
