// SPDX-License-Identifier: Apache-2.0
//! Replay: the history a log holds, every root and receipt recomputed (section 7.3).

use super::{
    decision::Executed,
    directory::system,
    format::{self, FILE_HEADER_BYTES, HeaderError},
    history::{History, Place, begin},
    payload::{Commit, Epoch, Genesis, Payload, Purpose},
    scan::{Batch, CHUNK_BYTES, End, Record, Scanner},
    transaction::Tip,
};
use crate::{
    refusal::Refusal,
    state::patch::{self, PatchEntry},
};
use std::{
    fs::File,
    io::{self, Read},
    sync::mpsc,
    thread,
};

/// Batches of records that are read before the ones in front of them were replayed.
const BATCHES_AHEAD: usize = 2;

/// Replays `file`. `watch` is the LSN of a commit the caller wants to know the digest of.
///
/// # Errors
/// `wal-version`, `wal-corrupt` with the offset in its message, `storage-failed`.
pub fn replay(file: &File, watch: Option<u64>) -> Result<History, Refusal> {
    let stat = rustix::fs::fstat(file).map_err(|error| system("look at the log", error))?;
    let length = u64::try_from(stat.st_size).unwrap_or(0);
    let mut header = Vec::new();
    let header_bytes = u64::try_from(FILE_HEADER_BYTES).unwrap_or(u64::MAX);
    file.take(header_bytes)
        .read_to_end(&mut header)
        .map_err(|error| failed(&error))?;
    let worldline = format::parse_file_header(&header).map_err(|error| match error {
        HeaderError::Version => Refusal::new("wal-version", "the log is of another version than 1"),
        HeaderError::Damaged => corrupt(0, "the file header is damaged"),
    })?;
    let tip = Tip {
        lsn: 0,
        digest: format::genesis_previous(&worldline),
    };
    let scanner = Scanner::new(file, length, tip);
    let replayer = Replayer::new(worldline, watch);
    if length <= u64::try_from(CHUNK_BYTES).unwrap_or(u64::MAX) {
        return replayer.replay(scanner, length);
    }
    // One thread reads and holds records against their digests and the chain, this one replays
    // what they say; the order of records, and with it the first fault, stays what it is.
    thread::scope(|scope| {
        let (sender, batches) = mpsc::sync_channel(BATCHES_AHEAD);
        thread::Builder::new()
            .spawn_scoped(scope, move || {
                for batch in scanner {
                    // Nobody waits for more once the replay has failed.
                    if sender.send(batch).is_err() {
                        return;
                    }
                }
            })
            .map_err(|error| failed(&error))?;
        replayer.replay(batches.into_iter(), length)
    })
}

fn failed(error: &io::Error) -> Refusal {
    Refusal::new("storage-failed", format!("cannot read the log: {error}"))
}

fn corrupt(offset: u64, reason: &str) -> Refusal {
    Refusal::new("wal-corrupt", format!("{reason}, at byte {offset}"))
}

/// The transaction that is being read.
#[derive(Debug)]
enum Open {
    Nothing,
    Genesis(Genesis),
    GenesisEpoch(Genesis, Epoch),
    Epoch(Epoch),
    Decision(Decision),
    Patched(Decision, Vec<PatchEntry>),
}

/// What replay keeps of a decision record until its commit.
#[derive(Debug)]
struct Decision {
    executed: Executed,
    offset: u64,
    /// Whether a patch may follow.
    may_settle: bool,
}

impl Decision {
    fn parts(&self) -> (&Executed, u64) {
        (&self.executed, self.offset)
    }
}

#[derive(Debug)]
struct Replayer {
    worldline: [u8; 32],
    watch: Option<u64>,
    history: Option<History>,
    open: Open,
    first_lsn: u64,
    records: u64,
}

impl Replayer {
    fn new(worldline: [u8; 32], watch: Option<u64>) -> Self {
        Self {
            worldline,
            watch,
            history: None,
            open: Open::Nothing,
            first_lsn: 0,
            records: 0,
        }
    }

    fn finish(self, offset: u64, length: u64) -> Result<History, Refusal> {
        let mut history = self
            .history
            .ok_or_else(|| corrupt(offset, "the log ends before its genesis is committed"))?;
        history.discarded = length.saturating_sub(history.length);
        Ok(history)
    }

    fn replay(
        mut self,
        batches: impl Iterator<Item = io::Result<Batch>>,
        length: u64,
    ) -> Result<History, Refusal> {
        for batch in batches {
            let batch = batch.map_err(|error| failed(&error))?;
            for record in batch.records() {
                self.accept(&record)
                    .map_err(|reason| corrupt(record.offset, reason))?;
            }
            match batch.end {
                None => {}
                Some(End::Reached(offset)) => return self.finish(offset, length),
                Some(End::Corrupt(offset, reason)) => return Err(corrupt(offset, reason)),
            }
        }
        Err(failed(&io::ErrorKind::UnexpectedEof.into()))
    }

    fn accept(&mut self, record: &Record<'_>) -> Result<(), &'static str> {
        let payload = Payload::from_bytes(record.head.kind, record.payload);
        let payload = payload.ok_or("a payload is malformed")?;
        if matches!(self.open, Open::Nothing) {
            self.first_lsn = record.head.lsn;
            self.records = 0;
        }
        let open = std::mem::replace(&mut self.open, Open::Nothing);
        self.open = match (open, payload) {
            (Open::Nothing, Payload::Genesis(genesis)) if self.history.is_none() => {
                Open::Genesis(genesis)
            }
            (Open::Genesis(genesis), Payload::Epoch(epoch)) => Open::GenesisEpoch(genesis, epoch),
            (Open::Nothing, Payload::Epoch(epoch)) if self.history.is_some() => Open::Epoch(epoch),
            (Open::Nothing, Payload::Decision(decided)) if self.history.is_some() => {
                let executed = decided.executed_as();
                Open::Decision(Decision {
                    executed: executed.ok_or("a record in the log is malformed")?,
                    offset: record.offset,
                    may_settle: decided.is_result && decided.footprint.is_some(),
                })
            }
            (Open::Decision(decision), Payload::Patch(body)) => {
                if !decision.may_settle {
                    return Err("a patch follows what cannot have one");
                }
                Open::Patched(decision, patch::from_body(body)?)
            }
            (open, Payload::Commit(commit)) => {
                if commit.first_lsn != self.first_lsn || commit.records != self.records {
                    return Err("a commit names another transaction");
                }
                self.commit(open, &commit, record.head.epoch, record.tip)?;
                self.history()?.length = record.end;
                Open::Nothing
            }
            _ => return Err("a record is out of order"),
        };
        self.records = self.records.saturating_add(1);
        Ok(())
    }

    fn commit(
        &mut self,
        open: Open,
        commit: &Commit,
        epoch: u64,
        tip: Tip,
    ) -> Result<(), &'static str> {
        let place = Place {
            epoch,
            first_lsn: self.first_lsn,
            tip,
        };
        let purpose = match open {
            Open::GenesisEpoch(genesis, opened) => {
                self.history = Some(begin(&self.worldline, genesis, &opened, epoch)?);
                Purpose::Genesis
            }
            Open::Epoch(opened) => {
                self.history()?.reopen(&opened, epoch)?;
                Purpose::Epoch
            }
            Open::Decision(decision) => {
                self.history()?.decide(decision.parts(), &place)?;
                Purpose::Decision
            }
            Open::Patched(decision, patch) => {
                let history = self.history()?;
                history.settle(patch)?;
                history.decide(decision.parts(), &place)?;
                Purpose::Decision
            }
            Open::Nothing | Open::Genesis(_) => return Err("a commit ends no transaction"),
        };
        let watch = self.watch;
        let history = self.history()?;
        let stated = (commit.purpose, commit.tick, commit.state_root);
        if stated != (purpose, history.tick, history.root)
            || u64::try_from(history.decided.len()) != Ok(commit.decided)
        {
            return Err("the replayed state is not that of the commit");
        }
        history.tip = tip;
        if watch == Some(tip.lsn) {
            history.watched = Some(tip.digest);
        }
        Ok(())
    }

    fn history(&mut self) -> Result<&mut History, &'static str> {
        self.history
            .as_mut()
            .ok_or("a record stands before genesis")
    }
}
