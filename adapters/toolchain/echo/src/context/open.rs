// SPDX-License-Identifier: Apache-2.0
//! Opening a context: created empty, or recovered from its log (section 2.3).

use super::{Context, Tail, identity::Identity, total::StateTotal};
use crate::{
    fault_point::FaultPoints,
    refusal::Refusal,
    state::{accumulator::empty_root, store::Store},
    wal::{
        directory::{ContextDirectory, StateRoot},
        log::Log,
        replay::replay,
    },
    wire::request::{Basis, Mode, Open, Position, Storage},
};
use edict_codec::digest::TypedDigest;
use std::collections::BTreeMap;

/// What opening needs of the host.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The state root, if the host has one.
    pub root: Option<&'a StateRoot>,
    /// Build of this process.
    pub build: &'a TypedDigest,
    /// Points of failure.
    pub fault_points: &'a FaultPoints,
    /// Whether the worldline is open in this process.
    pub is_open: bool,
    /// Whether one more context may be open.
    pub has_room: bool,
}

/// Opens the context `request` describes, of which `identity` is part. The value bytes of a recovered one are taken into
/// `total`, last of all checks and before anything is written.
///
/// # Errors
/// The refusals of section 2.3 from `storage-failed` on, in their order.
pub fn open(
    request: &Open,
    identity: Identity,
    opening: &Opening<'_>,
    total: &StateTotal,
) -> Result<(Context, Option<Tail>), Refusal> {
    match (&request.storage, opening.root, &request.mode) {
        (Storage::Volatile, _, _) => {
            if opening.is_open {
                return Err(writer_active());
            }
            room(opening)?;
            Ok((fresh(request, identity, None), None))
        }
        (Storage::Durable(_), None, _) => Err(root_absent()),
        (Storage::Durable(name), Some(root), Mode::Create) => {
            let log = create(root, name, &identity, opening)?;
            Ok((fresh(request, identity, Some(log)), None))
        }
        (Storage::Durable(name), Some(root), Mode::Recover { expect }) => {
            let directory = root.find(name)?.ok_or_else(context_absent)?;
            recover(
                request,
                &identity,
                &directory,
                expect.as_ref(),
                opening,
                total,
            )
        }
    }
}

/// `state-root-absent`.
pub fn root_absent() -> Refusal {
    Refusal::at(
        "state-root-absent",
        ".storage",
        "the host was started without a state root",
    )
}

fn create(
    root: &StateRoot,
    name: &str,
    identity: &Identity,
    opening: &Opening<'_>,
) -> Result<Log, Refusal> {
    let exists = |directory: &ContextDirectory| {
        if directory.has_log() {
            Err(Refusal::at(
                "context-exists",
                ".storage.name",
                "there is a log of that name",
            ))
        } else {
            Ok(())
        }
    };
    match root.find(name)? {
        Some(directory) => exists(&directory)?,
        // Nothing but the room is left to judge, and nothing is written for a refusal.
        None => room(opening)?,
    }
    let lock = root.make(name)?.lock()?;
    if opening.is_open {
        return Err(writer_active());
    }
    // Judged again under the lock: another writer may have been first.
    let directory = root.make(name)?;
    exists(&directory)?;
    room(opening)?;
    Log::create(
        root,
        &directory,
        lock,
        identity,
        opening.build,
        opening.fault_points,
    )
}

fn recover(
    request: &Open,
    identity: &Identity,
    directory: &ContextDirectory,
    expect: Option<&Position>,
    opening: &Opening<'_>,
    total: &StateTotal,
) -> Result<(Context, Option<Tail>), Refusal> {
    if !directory.has_log() {
        return Err(context_absent());
    }
    if opening.is_open {
        return Err(writer_active());
    }
    let lock = directory.lock()?;
    let file = directory.open_log()?.ok_or_else(context_absent)?;
    let history = replay(&file, expect.map(|it| it.last_lsn))?;
    judge_identity(&history.identity, identity)?;
    if let Some(expect) = expect {
        judge_history(history.watched.as_ref(), expect)?;
    }
    room(opening)?;
    let value_bytes = history.store.value_bytes();
    if !total.replace(0, value_bytes) {
        return Err(context_limit("the states of all contexts are too large"));
    }
    let log = Log::reopen(lock, file, &history, opening.build, opening.fault_points).inspect_err(
        |_| {
            total.replace(value_bytes, 0);
        },
    )?;
    let tail = Tail {
        discarded: history.discarded,
    };
    let basis = history.basis();
    let context = Context {
        identity: history.identity,
        grants: request.grants.iter().map(|it| *it.bytes()).collect(),
        basis,
        store: history.store,
        decided: history
            .decided
            .into_iter()
            .map(|(id, logged)| (id, Some(logged)))
            .collect(),
        last_receipt: history.last_receipt,
        log: Some(log),
        poisoned: false,
    };
    Ok((context, Some(tail)))
}

/// The log must be that of the nonce and the subject of the request.
fn judge_identity(logged: &Identity, asked: &Identity) -> Result<(), Refusal> {
    let (path, message) = if logged.nonce != asked.nonce {
        (".nonce", "the log is that of another nonce")
    } else if logged.subject != asked.subject {
        (".subject", "the log is that of another subject")
    } else {
        return Ok(());
    };
    Err(Refusal::at("context-identity-mismatch", path, message))
}

/// `found` is the digest of the commit with the expected LSN, if the log has one there.
fn judge_history(found: Option<&[u8; 32]>, expect: &Position) -> Result<(), Refusal> {
    let (path, message) = match found {
        Some(found) if found == expect.commit.bytes() => return Ok(()),
        Some(_) => (".expect.commit", "the log has another commit there"),
        None => (".expect.lastLsn", "the log has no commit there"),
    };
    Err(Refusal::at("history-lost", path, message))
}

fn fresh(request: &Open, identity: Identity, log: Option<Log>) -> Context {
    Context {
        identity,
        grants: request.grants.iter().map(|it| *it.bytes()).collect(),
        store: Store::default(),
        basis: Basis {
            tick: 0,
            state_root: empty_root(),
        },
        decided: BTreeMap::new(),
        last_receipt: None,
        log,
        poisoned: false,
    }
}

fn room(opening: &Opening<'_>) -> Result<(), Refusal> {
    if opening.has_room {
        Ok(())
    } else {
        Err(context_limit(
            "the host opens no further context, now or in its life",
        ))
    }
}

fn context_limit(message: &str) -> Refusal {
    Refusal::new("context-limit", message)
}

fn context_absent() -> Refusal {
    Refusal::at(
        "context-absent",
        ".storage.name",
        "there is no log of that name",
    )
}

fn writer_active() -> Refusal {
    Refusal::new("writer-active", "the worldline is open in this process")
}
