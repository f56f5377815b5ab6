// SPDX-License-Identifier: Apache-2.0
//! `Overlay`: the private writes of one invocation over a basis that does not change meanwhile.

use super::{
    address, footprint,
    patch::PatchEntry,
    store::Store,
    view::{Atom, AtomAnswer, AtomRequest, AtomView, FootprintRow, Intrinsic},
};
use crate::{fault_point::FaultPoints, limits, refusal::Refusal};
use edict_codec::cbor::encode;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// An atom that some intrinsic touched.
#[derive(Debug)]
struct Touched {
    space: String,
    key: Vec<u8>,
    /// Version in the basis.
    seen: Option<[u8; 32]>,
    /// What this invocation sees now.
    current: Option<Atom>,
    /// Intrinsics that wrote it successfully.
    writers: BTreeSet<Intrinsic>,
}

/// The view of one invocation, and the record of what it touched.
#[derive(Debug)]
pub struct Overlay<'a> {
    base: &'a Store,
    declared: &'a [FootprintRow],
    /// Calls so far of each declared row.
    calls: Vec<u64>,
    touched: BTreeMap<[u8; 32], Touched>,
    /// Encoded bytes of the footprint rows so far.
    footprint_bytes: usize,
    fault_points: &'a FaultPoints,
}

impl<'a> Overlay<'a> {
    /// A view of `base` that allows the declared footprint and nothing else.
    pub fn new(
        base: &'a Store,
        declared: &'a [FootprintRow],
        fault_points: &'a FaultPoints,
    ) -> Self {
        Self {
            base,
            declared,
            calls: vec![0; declared.len()],
            touched: BTreeMap::new(),
            footprint_bytes: 0,
            fault_points,
        }
    }

    /// The footprint body, also of an obstructed invocation.
    ///
    /// # Errors
    /// `state-limit` above the bytes of a footprint.
    pub fn footprint(&self) -> Result<Vec<u8>, Refusal> {
        let reads = self
            .touched
            .iter()
            .map(|(atom, it)| footprint::read_row(atom, &it.space, &it.key, it.seen))
            .collect();
        let writes = self
            .touched
            .iter()
            .filter(|(_, it)| !it.writers.is_empty())
            .map(|(atom, it)| footprint::write_row(atom, &it.writers))
            .collect();
        let body = footprint::to_body(reads, writes);
        admit_footprint(body.len())?;
        Ok(body)
    }

    /// The net effect, ascending by atom; atoms that end as they began are left out.
    pub fn into_patch(self) -> Vec<PatchEntry> {
        self.touched
            .into_iter()
            .filter(|(_, it)| it.seen != it.current.as_ref().map(|atom| atom.version))
            .map(|(atom, it)| PatchEntry {
                atom,
                space: it.space,
                key: it.key,
                before: it.seen,
                after: it.current,
            })
            .collect()
    }

    /// Index of the declared row that allows one more call.
    fn allowed(&self, space: &str, intrinsic: Intrinsic) -> Result<usize, Refusal> {
        let row = self
            .declared
            .iter()
            .zip(&self.calls)
            .position(|(row, _)| row.space == space && row.intrinsic == intrinsic)
            .ok_or_else(|| {
                fault(format!(
                    "{} in `{space}` is outside the declared footprint",
                    intrinsic.coordinate()
                ))
            })?;
        let most = self.declared.get(row).map_or(0, |row| row.max_calls);
        if self.calls.get(row).is_none_or(|calls| *calls >= most) {
            return Err(fault(format!(
                "more than {most} calls of {} in `{space}`",
                intrinsic.coordinate()
            )));
        }
        Ok(row)
    }

    fn current(&self, atom: &[u8; 32], space: &str, key: &[u8]) -> Option<&Atom> {
        self.touched
            .get(atom)
            .map_or_else(|| self.base.get(space, key), |it| it.current.as_ref())
    }

    /// Records the atom as touched, once.
    fn touch(&mut self, atom: [u8; 32], space: &str, key: &[u8]) -> Result<(), Refusal> {
        if self.touched.contains_key(&atom) {
            return Ok(());
        }
        let current = self.base.get(space, key).cloned();
        let seen = current.as_ref().map(|it| it.version);
        self.grow(encode(&footprint::read_row(&atom, space, key, seen)).len())?;
        let touched = Touched {
            space: space.to_owned(),
            key: key.to_vec(),
            seen,
            current,
            writers: BTreeSet::new(),
        };
        self.touched.insert(atom, touched);
        Ok(())
    }

    /// Counts footprint bytes as they come, so that memory stays bounded too.
    fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.footprint_bytes = self.footprint_bytes.saturating_add(bytes);
        admit_footprint(self.footprint_bytes)
    }

    fn write(
        &mut self,
        atom: [u8; 32],
        intrinsic: Intrinsic,
        current: Option<Atom>,
    ) -> Result<(), Refusal> {
        let first = self
            .touched
            .get(&atom)
            .is_some_and(|it| it.writers.is_empty());
        if first {
            let row = footprint::write_row(&atom, &BTreeSet::from([intrinsic]));
            self.grow(encode(&row).len())?;
        }
        if let Some(touched) = self.touched.get_mut(&atom) {
            touched.writers.insert(intrinsic);
            touched.current = current;
        }
        self.fault_points.reach("atom-written");
        Ok(())
    }
}

impl AtomView for Overlay<'_> {
    fn judge(
        &self,
        space: &str,
        key: &[u8],
        request: &AtomRequest<'_>,
    ) -> Result<AtomAnswer, Refusal> {
        self.allowed(space, request.intrinsic())?;
        if space.is_empty()
            || !limits::admits(limits::MAX_SPACE_BYTES, space.len())
            || !limits::admits(limits::MAX_KEY_BYTES, key.len())
        {
            return Err(limit("a space or key", limits::MAX_KEY_BYTES));
        }
        let atom = address::atom(space, key);
        let current = self.current(&atom, space, key);
        Ok(match (*request, current) {
            (AtomRequest::Create { value }, None) => AtomAnswer::Done(written(&atom, value)?),
            (AtomRequest::Create { .. }, Some(stored)) => AtomAnswer::Exists(stored.version),
            (_, None) => AtomAnswer::Missing,
            (
                AtomRequest::Replace { expected, .. } | AtomRequest::Delete { expected },
                Some(stored),
            ) if *expected != stored.version => AtomAnswer::Conflict(stored.version),
            (AtomRequest::Replace { value, .. }, Some(_)) => {
                AtomAnswer::Done(written(&atom, value)?)
            }
            (AtomRequest::Read | AtomRequest::Delete { .. }, Some(stored)) => {
                AtomAnswer::Done(stored.clone())
            }
        })
    }

    fn perform(
        &mut self,
        space: &str,
        key: &[u8],
        request: &AtomRequest<'_>,
    ) -> Result<AtomAnswer, Refusal> {
        let intrinsic = request.intrinsic();
        let answer = self.judge(space, key, request)?;
        let row = self.allowed(space, intrinsic)?;
        if let Some(calls) = self.calls.get_mut(row) {
            *calls = calls.saturating_add(1);
        }
        let atom = address::atom(space, key);
        self.touch(atom, space, key)?;
        if let AtomAnswer::Done(done) = &answer {
            match request {
                AtomRequest::Read => {}
                AtomRequest::Create { .. } | AtomRequest::Replace { .. } => {
                    self.write(atom, intrinsic, Some(done.clone()))?;
                }
                AtomRequest::Delete { .. } => self.write(atom, intrinsic, None)?,
            }
        }
        Ok(answer)
    }
}

fn written(atom: &[u8; 32], value: &[u8]) -> Result<Atom, Refusal> {
    if value.is_empty() || !limits::admits(limits::MAX_ATOM_VALUE_BYTES, value.len()) {
        return Err(limit("a value", limits::MAX_ATOM_VALUE_BYTES));
    }
    Ok(Atom {
        value: Arc::from(value),
        version: address::version(atom, value),
    })
}

fn admit_footprint(bytes: usize) -> Result<(), Refusal> {
    if limits::admits(limits::MAX_FOOTPRINT_BYTES, bytes) {
        Ok(())
    } else {
        Err(limit("the footprint", limits::MAX_FOOTPRINT_BYTES))
    }
}

fn limit(what: &str, most: u64) -> Refusal {
    Refusal::new("state-limit", format!("{what} has more than {most} bytes"))
}

fn fault(message: String) -> Refusal {
    Refusal::poisoning("evaluation-fault", message)
}
