// SPDX-License-Identifier: Apache-2.0
//! V12 to V15 and V17: what an effectful record says of atoms, against the replica.

use super::super::body::{Footprint, PatchRow, decode_footprint, decode_patch};
use super::super::checks::{Fault, ensure, same};
use super::super::identity::{FOOTPRINT, PATCH};
use super::super::{
    Basis, ExecutionRecord, InvokeRequest, OperationEvidence, Program, RecordEffects, Replica,
    atom, atom_version,
};
use crate::failure::FailureKind;
use crate::package::{Malformed, ProgramKind, ProgramPackage};
use edict_codec::digest::derive_typed;
use std::collections::{BTreeMap, BTreeSet};

/// V12.
pub(super) fn settlement(
    last: &Basis,
    selected: Option<&Basis>,
    record: &ExecutionRecord,
    effects: &RecordEffects,
) -> Result<(), Box<Fault>> {
    let kind = FailureKind::BasisMismatch;
    ensure(
        selected == Some(last),
        kind,
        "another basis was selected than the last one",
    )?;
    ensure(
        effects.before == *last,
        kind,
        "the record starts at another basis than selected",
    )?;
    let (before, after) = (&effects.before, &effects.after);
    let settled = effects.settled;
    let moved = before.tick.checked_add(1) == Some(after.tick);
    let coherent = settled == effects.patch.is_some()
        && (moved || before.tick == after.tick)
        && settled == moved
        && settled == (before.state_root != after.state_root)
        && !(settled && record.obstruction.is_some());
    ensure(coherent, kind, "posture, patch, Tick and root do not agree")
}

/// What the patch of an operation says.
pub(super) enum Patch {
    /// Frame and record disagree whether there is one: V17's to judge.
    Absent,
    /// V13 does not hold.
    Broken(Box<Fault>),
    /// V13 holds; no rows when the record is unchanged.
    Rows(Vec<PatchRow>),
}

/// V13. `writes` are the atoms that the footprint calls written, if it is readable.
pub(super) fn patch(
    replica: &Replica,
    operation: &OperationEvidence,
    effects: &RecordEffects,
    writes: Option<&BTreeSet<[u8; 32]>>,
) -> Patch {
    let (body, stated) = match (&operation.patch, &effects.patch) {
        (None, None) => return Patch::Rows(Vec::new()),
        (Some(body), Some(stated)) => (body, stated),
        _ => return Patch::Absent,
    };
    let kind = FailureKind::SettlementMismatch;
    let judged = same("the patch", stated, &derive_typed(PATCH, &body.bytes), kind)
        .and_then(|()| {
            decode_patch(&body.bytes)
                .map_err(|error| Fault::new(kind, format!("the patch is malformed at {error}")))
        })
        .and_then(|rows| {
            for row in &rows {
                row_holds(replica, row, writes)?;
            }
            Ok(rows)
        });
    match judged {
        Ok(rows) => Patch::Rows(rows),
        Err(fault) => Patch::Broken(fault),
    }
}

fn row_holds(
    replica: &Replica,
    row: &PatchRow,
    writes: Option<&BTreeSet<[u8; 32]>>,
) -> Result<(), Box<Fault>> {
    let kind = FailureKind::SettlementMismatch;
    ensure(
        row.atom == atom(&row.space, &row.key),
        kind,
        "an atom of the patch is not that of its space and key",
    )?;
    ensure(
        row.before == replica.version(&row.atom),
        kind,
        "an atom of the patch had another version before",
    )?;
    let after = row
        .value
        .as_ref()
        .map(|value| atom_version(&row.atom, value));
    ensure(
        row.after == after,
        kind,
        "a version after is not that of its value",
    )?;
    ensure(
        writes.is_none_or(|writes| writes.contains(&row.atom)),
        kind,
        "the patch changes an atom that the footprint does not call written",
    )
}

/// V14.
pub(super) fn root(
    replica: &Replica,
    rows: &[PatchRow],
    effects: &RecordEffects,
) -> Result<(), Box<Fault>> {
    let mut after = replica.clone();
    for row in rows {
        apply(&mut after, row);
    }
    same(
        "the state root after",
        &after.root(),
        &effects.after.state_root,
        FailureKind::SettlementMismatch,
    )
}

/// Applies one row whose version was recomputed.
pub(super) fn apply(replica: &mut Replica, row: &PatchRow) {
    let length = row.value.as_ref().map_or(0, Vec::len);
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    replica.set(row.atom, row.after.map(|version| (version, length)));
}

/// The rows of a patch that was judged before.
pub(super) fn rows(operation: &OperationEvidence) -> Vec<PatchRow> {
    operation
        .patch
        .as_ref()
        .and_then(|patch| decode_patch(&patch.bytes).ok())
        .unwrap_or_default()
}

/// The atoms written, if the footprint is readable, and the result of V15.
pub(super) type JudgedFootprint = (Option<BTreeSet<[u8; 32]>>, Result<(), Box<Fault>>);

/// V15, and the atoms written if the footprint is readable; `None` when the frame has none, which
/// is V17's to judge.
pub(super) fn footprint(
    program: &Program,
    replica: &Replica,
    operation: &OperationEvidence,
    effects: &RecordEffects,
) -> Option<JudgedFootprint> {
    let body = operation.footprint.as_ref()?;
    let kind = FailureKind::FootprintMismatch;
    let decoded = decode_footprint(&body.bytes)
        .map_err(|error| Fault::new(kind, format!("the footprint is malformed at {error}")));
    let writes = decoded
        .as_ref()
        .ok()
        .map(|footprint| footprint.writes.iter().map(|row| row.atom).collect());
    let actual = derive_typed(FOOTPRINT, &body.bytes);
    let declared = &program.package.declared_footprint;
    let outcome = same("the footprint", &effects.footprint, &actual, kind)
        .and_then(|()| {
            let stated = &effects.declared_footprint;
            same("the declared footprint", declared, stated, kind)
        })
        .and(decoded)
        .and_then(|footprint| within(&program.package, replica, &footprint));
    Some((writes, outcome))
}

/// Whether a footprint agrees with the replica and lies within the declared one.
///
/// A footprint counts no calls and names no intrinsic of a read: each intrinsic of a written atom
/// stands for at least one call of its pair, each atom only read for at least one call in its space.
fn within(
    package: &ProgramPackage,
    replica: &Replica,
    footprint: &Footprint,
) -> Result<(), Box<Fault>> {
    let kind = FailureKind::FootprintMismatch;
    let mut declared: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut left_in_space: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &package.footprint {
        declared.insert((&row.space, &row.intrinsic), row.max_calls);
        let left = left_in_space.entry(&row.space).or_default();
        *left = left.saturating_add(row.max_calls);
    }
    let written: BTreeMap<_, _> = footprint
        .writes
        .iter()
        .map(|row| (row.atom, &row.intrinsics))
        .collect();
    let mut touched = BTreeSet::new();
    for read in &footprint.reads {
        ensure(
            read.atom == atom(&read.space, &read.key),
            kind,
            "an atom of the footprint is not that of its space and key",
        )?;
        ensure(
            read.seen == replica.version(&read.atom),
            kind,
            "an atom of the footprint had another version in the basis",
        )?;
        touched.insert(read.atom);
        let names = written
            .get(&read.atom)
            .map_or(&[][..], |names| names.as_slice());
        for name in names {
            take(declared.get_mut(&(read.space.as_str(), name.as_str())), 1)?;
        }
        let calls = u64::try_from(names.len().max(1)).unwrap_or(u64::MAX);
        take(left_in_space.get_mut(read.space.as_str()), calls)?;
    }
    ensure(
        written.keys().all(|atom| touched.contains(atom)),
        kind,
        "an atom was written that was not touched",
    )
}

/// Takes calls from what is declared.
fn take(left: Option<&mut u64>, calls: u64) -> Result<(), Box<Fault>> {
    let rest = left.as_ref().and_then(|left| left.checked_sub(calls));
    match (left, rest) {
        (Some(left), Some(rest)) => {
            *left = rest;
            Ok(())
        }
        _ => Err(Fault::new(
            FailureKind::FootprintMismatch,
            "the footprint leaves what the package declares",
        )),
    }
}

/// V17.
pub(super) fn presence(
    program: &Program,
    operation: &OperationEvidence,
    record: &ExecutionRecord,
    request: Result<&InvokeRequest, &Malformed>,
) -> Result<(), Box<Fault>> {
    let kind = FailureKind::SettlementMismatch;
    ensure(
        record.kind == program.package.kind,
        kind,
        "the record is of another kind than the program",
    )?;
    match (program.package.kind, &record.effects) {
        (ProgramKind::Pure, _) => {
            ensure(
                operation.footprint.is_none() && operation.patch.is_none(),
                kind,
                "a pure outcome carries a footprint or a patch",
            )?;
            ensure(
                request.is_ok_and(|request| request.basis.is_none()),
                kind,
                "a pure program was invoked on a basis",
            )
        }
        (ProgramKind::Effectful | ProgramKind::Anchored, Some(effects)) => ensure(
            operation.footprint.is_some() && operation.patch.is_some() == effects.patch.is_some(),
            kind,
            "footprint or patch are not there as the record says",
        ),
        (ProgramKind::Effectful | ProgramKind::Anchored, None) => {
            Err(Fault::new(kind, "an effectful record has no effects"))
        }
    }
}
