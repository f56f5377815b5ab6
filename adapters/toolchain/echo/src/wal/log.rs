// SPDX-License-Identifier: Apache-2.0
//! `Log`: the open log of one context, its write order and its errors (sections 7.2 and 7.4).

use super::{
    decision::Decided,
    directory::{ContextDirectory, StateRoot, system},
    format::{self, DIGEST_BYTES, HEAD_BYTES, Head, RecordKind},
    history::{History, Logged, rebuild_receipt},
    payload::{Commit, Epoch, Genesis, Payload, Purpose},
    transaction::{Sealed, Tip, Transaction},
};
use crate::{
    context::identity::Identity,
    fault_point::{Cut, FaultPoints},
    receipt::{LogPosition, RECEIPT},
    refusal::Refusal,
    state::accumulator::empty_root,
    wire::request::Basis,
};
use edict_codec::digest::{Algorithm, TypedDigest};
use rustix::io::Errno;
use std::{collections::BTreeMap, fs::File, os::unix::fs::FileExt};

/// An open log and its lock, which ends with it.
#[derive(Debug)]
pub struct Log {
    _lock: File,
    file: File,
    length: u64,
    tip: Tip,
    epoch: u64,
    builds: BTreeMap<u64, TypedDigest>,
}

/// Whose transaction is appended; only those of invocations reach fault points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appending {
    /// An opening.
    Epoch,
    /// A decided result.
    Result,
    /// A decided obstruction.
    Obstruction,
}

/// A decided outcome read back from the log.
#[derive(Debug)]
pub struct Recalled<'a> {
    /// The decision.
    pub decided: Decided<'a>,
    /// The patch body, if it settled.
    pub patch: Option<&'a [u8]>,
    /// The receipt, rebuilt.
    pub receipt: Vec<u8>,
}

impl Log {
    /// Writes the log of a new context.
    ///
    /// # Errors
    /// `storage-failed`.
    pub fn create(
        root: &StateRoot,
        directory: &ContextDirectory,
        lock: File,
        identity: &Identity,
        build: &TypedDigest,
        fault_points: &FaultPoints,
    ) -> Result<Self, Refusal> {
        let worldline = identity.worldline.bytes();
        let start = Tip {
            lsn: 0,
            digest: format::genesis_previous(worldline),
        };
        let mut transaction = Transaction::begin(start, 1);
        transaction.push(&Payload::Genesis(Genesis {
            worldline: *worldline,
            nonce: identity.nonce,
            subject: identity.subject.clone(),
            state_root: *empty_root().bytes(),
        }));
        transaction.push(&Payload::Epoch(Epoch {
            epoch: 1,
            build: *build.bytes(),
            previous_lsn: 0,
            previous_commit: None,
        }));
        let empty = Basis {
            tick: 0,
            state_root: empty_root(),
        };
        let sealed = seal(transaction, Purpose::Genesis, &empty, 0);
        let bytes = [format::file_header(worldline), sealed.bytes].concat();
        let file = directory.create_log(root, &bytes, fault_points)?;
        Ok(Self {
            _lock: lock,
            file,
            length: length(&bytes),
            tip: sealed.tip,
            epoch: 1,
            builds: BTreeMap::from([(1, build.clone())]),
        })
    }

    /// Reopens a replayed log: cuts a torn tail, then appends the next epoch.
    ///
    /// # Errors
    /// `storage-failed`.
    pub fn reopen(
        lock: File,
        file: File,
        history: &History,
        build: &TypedDigest,
        fault_points: &FaultPoints,
    ) -> Result<Self, Refusal> {
        if history.discarded > 0 {
            rustix::fs::ftruncate(&file, history.length)
                .and_then(|()| rustix::fs::fdatasync(&file))
                .map_err(|error| system("cut the torn tail", error))?;
            fault_points.reach("recover-cut");
        }
        let epoch = history.epoch.saturating_add(1);
        let mut transaction = Transaction::begin(history.tip, epoch);
        transaction.push(&Payload::Epoch(Epoch {
            epoch,
            build: *build.bytes(),
            previous_lsn: history.tip.lsn,
            previous_commit: Some(history.tip.digest),
        }));
        let decided = u64::try_from(history.decided.len()).unwrap_or(u64::MAX);
        let sealed = seal(transaction, Purpose::Epoch, &history.basis(), decided);
        let mut builds = history.builds.clone();
        builds.insert(epoch, build.clone());
        let mut log = Self {
            _lock: lock,
            file,
            length: history.length,
            tip: history.tip,
            epoch,
            builds,
        };
        log.append(&sealed, Appending::Epoch, fault_points)
            .map_err(|refusal| Refusal::new("storage-failed", refusal.message))?;
        fault_points.reach("recover-synced");
        Ok(log)
    }

    /// The transaction that logs a decision, before it is written.
    pub fn decision(
        &self,
        decided: Decided<'_>,
        patch: Option<&[u8]>,
        basis: &Basis,
        decided_after: u64,
    ) -> Sealed {
        let mut transaction = Transaction::begin(self.tip, self.epoch);
        transaction.push(&Payload::Decision(decided));
        if let Some(patch) = patch {
            transaction.push(&Payload::Patch(patch));
        }
        seal(transaction, Purpose::Decision, basis, decided_after)
    }

    /// Bytes of the log so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The current epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The last commit.
    pub fn tip(&self) -> Tip {
        self.tip
    }

    /// Appends a transaction and syncs it; after a refusal of scope context the state of the file
    /// is unknown or foreign.
    ///
    /// # Errors
    /// `fenced`, `storage-full`, `durability-unknown`.
    pub fn append(
        &mut self,
        sealed: &Sealed,
        appending: Appending,
        fault_points: &FaultPoints,
    ) -> Result<(), Refusal> {
        let stat = rustix::fs::fstat(&self.file).map_err(unknown)?;
        if u64::try_from(stat.st_size) != Ok(self.length) {
            return Err(Refusal::poisoning(
                "fenced",
                "the log has another length than this writer left it with",
            ));
        }
        let is_decision = appending != Appending::Epoch;
        match self.write(&sealed.bytes, is_decision, fault_points) {
            Ok(count) if count == sealed.bytes.len() => {}
            Ok(_) | Err(Errno::NOSPC | Errno::FBIG | Errno::DQUOT) => return Err(self.cut_back()),
            Err(error) => return Err(unknown(error)),
        }
        if is_decision {
            fault_points.reach("append-written");
            if fault_points.fails("sync-error") {
                return Err(unknown(Errno::IO));
            }
        }
        rustix::fs::fdatasync(&self.file).map_err(unknown)?;
        if is_decision {
            fault_points.reach("append-synced");
        }
        if appending == Appending::Obstruction {
            fault_points.reach("obstruction-synced");
        }
        self.length = self.length.saturating_add(length(&sealed.bytes));
        self.tip = sealed.tip;
        Ok(())
    }

    /// One positioned write; fewer bytes than given mean that no space is left.
    fn write(
        &self,
        bytes: &[u8],
        is_decision: bool,
        fault_points: &FaultPoints,
    ) -> Result<usize, Errno> {
        let cut = if is_decision {
            fault_points.cut("append-partial", "append-full", bytes.len())
        } else {
            None
        };
        let kept = match cut {
            Some(Cut::Die(kept) | Cut::Full(kept)) => kept,
            None => bytes.len(),
        };
        let count = rustix::io::pwrite(
            &self.file,
            bytes.get(..kept).unwrap_or_default(),
            self.length,
        )?;
        match cut {
            Some(Cut::Die(_)) => fault_points.die(),
            Some(Cut::Full(_)) => return Err(Errno::NOSPC),
            None => {}
        }
        Ok(count)
    }

    /// Undoes a write that did not fit, as if it had never been tried.
    fn cut_back(&self) -> Refusal {
        let cut = rustix::fs::ftruncate(&self.file, self.length)
            .and_then(|()| rustix::fs::fdatasync(&self.file));
        match cut {
            Ok(()) => Refusal::new("storage-full", "no space is left for the transaction"),
            Err(error) => unknown(error),
        }
    }

    /// Reads a decided outcome back and gives what `answer` makes of it.
    ///
    /// # Errors
    /// `storage-failed`.
    pub fn recall<T>(
        &self,
        identity: &Identity,
        logged: &Logged,
        answer: impl FnOnce(Recalled<'_>) -> T,
    ) -> Result<T, Refusal> {
        self.transaction(logged.offset)
            .and_then(|records| Some(answer(self.recalled(identity, logged, &records)?)))
            .ok_or_else(|| Refusal::new("storage-failed", "the log cannot be read back"))
    }

    /// The records of the transaction that begins at `offset`, the commit last.
    fn transaction(&self, offset: u64) -> Option<Vec<Stored>> {
        let mut records = Vec::new();
        let mut next = offset;
        loop {
            let record = self.record(next)?;
            next = next.checked_add(record.whole)?;
            let is_commit = record.head.kind == RecordKind::Commit;
            records.push(record);
            if is_commit {
                return Some(records);
            }
        }
    }

    fn recalled<'a>(
        &self,
        identity: &Identity,
        logged: &Logged,
        records: &'a [Stored],
    ) -> Option<Recalled<'a>> {
        let (decision, patch, commit) = match records {
            [decision, commit] => (decision, None, commit),
            [decision, patch, commit] => (decision, Some(patch), commit),
            _ => return None,
        };
        let Payload::Decision(decided) = decision.payload()? else {
            return None;
        };
        let patch = match patch.map(Stored::payload) {
            None => None,
            Some(Some(Payload::Patch(patch))) => Some(patch),
            Some(_) => return None,
        };
        let position = LogPosition {
            epoch: commit.head.epoch,
            first_lsn: decision.head.lsn,
            last_lsn: commit.head.lsn,
            commit: format::typed(commit.digest),
        };
        let previous = logged
            .previous
            .map(|bytes| TypedDigest::new(RECEIPT, Algorithm::Blake3, bytes));
        let receipt = rebuild_receipt(
            identity,
            &decided.executed_as()?,
            (logged.ordinal, previous.as_ref()),
            self.builds.get(&commit.head.epoch)?,
            &position,
        );
        Some(Recalled {
            decided,
            patch,
            receipt,
        })
    }

    /// The record at `offset`, its digest compared.
    fn record(&self, offset: u64) -> Option<Stored> {
        let mut bytes = vec![0u8; HEAD_BYTES];
        self.file.read_exact_at(&mut bytes, offset).ok()?;
        let head = Head::from_bytes(bytes.first_chunk()?)?;
        let covered = HEAD_BYTES.checked_add(usize::try_from(head.length).ok()?)?;
        bytes.resize(covered.checked_add(DIGEST_BYTES)?, 0);
        self.file.read_exact_at(&mut bytes, offset).ok()?;
        let whole = length(&bytes);
        let digest: [u8; 32] = bytes.split_off(covered).try_into().ok()?;
        (format::record_digest(&bytes) == digest).then_some(Stored {
            head,
            bytes,
            digest,
            whole,
        })
    }
}

/// A record as it was read back.
struct Stored {
    head: Head,
    /// Head and payload.
    bytes: Vec<u8>,
    digest: [u8; 32],
    /// Bytes of all of it.
    whole: u64,
}

impl Stored {
    fn payload(&self) -> Option<Payload<'_>> {
        Payload::from_bytes(self.head.kind, self.bytes.get(HEAD_BYTES..)?)
    }
}

fn seal(mut transaction: Transaction, purpose: Purpose, basis: &Basis, decided: u64) -> Sealed {
    let commit = Commit {
        purpose,
        first_lsn: transaction.first_lsn(),
        records: transaction.records(),
        tick: basis.tick,
        state_root: *basis.state_root.bytes(),
        decided,
    };
    transaction.push(&Payload::Commit(commit));
    transaction.seal()
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn unknown(error: Errno) -> Refusal {
    Refusal::poisoning(
        "durability-unknown",
        format!("cannot write the log: {error}; close the context and recover it"),
    )
}
