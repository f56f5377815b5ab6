// SPDX-License-Identifier: Apache-2.0
//! Replay: the history a log holds, every root and receipt recomputed (section 7.3).

use super::{
    directory::system,
    format::{self, FILE_HEADER_BYTES, HeaderError},
    payload::{Commit, Epoch, Executed, Genesis, Payload, Purpose},
    scan::{Record, Scanner, Step},
    transaction::Tip,
};
use crate::{
    context::identity::Identity,
    receipt::{BUILD, LogPosition, Receipt, receipt_digest},
    refusal::Refusal,
    state::{
        accumulator::{self, empty_root},
        patch::{self, PatchEntry},
        store::Store,
    },
    wire::request::Basis,
};
use edict_codec::digest::{Algorithm, TypedDigest};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
};

/// Where the log has a decided invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Offset of the decision record in the file.
    pub offset: u64,
    /// Position among the decided invocations.
    pub ordinal: u64,
    /// Bytes of the digest of the receipt before.
    pub previous: Option<[u8; 32]>,
}

/// A log, replayed up to its last commit.
#[derive(Debug)]
pub struct History {
    /// Whose log it is.
    pub identity: Identity,
    /// The atoms.
    pub store: Store,
    /// Settled changes.
    tick: u64,
    /// Root after them.
    root: [u8; 32],
    /// Decided invocations by id.
    pub decided: BTreeMap<[u8; 32], Logged>,
    /// Digest of the last receipt.
    pub last_receipt: Option<TypedDigest>,
    /// Build of each epoch.
    pub builds: BTreeMap<u64, TypedDigest>,
    /// The last epoch.
    pub epoch: u64,
    /// The last commit.
    pub tip: Tip,
    /// Bytes up to its end.
    pub length: u64,
    /// Bytes after it, of a torn tail.
    pub discarded: u64,
    /// The commit with the LSN that was asked for, if there is one.
    pub watched: Option<[u8; 32]>,
}

/// Replays `file`. `watch` is the LSN of a commit the caller wants to know the digest of.
///
/// # Errors
/// `wal-version`, `wal-corrupt` with the offset in its message, `storage-failed`.
pub fn replay(file: &File, watch: Option<u64>) -> Result<History, Refusal> {
    let failed =
        |error: io::Error| Refusal::new("storage-failed", format!("cannot read the log: {error}"));
    let stat = rustix::fs::fstat(file).map_err(|error| system("look at the log", error))?;
    let length = u64::try_from(stat.st_size).unwrap_or(0);
    let mut header = Vec::new();
    let header_bytes = u64::try_from(FILE_HEADER_BYTES).unwrap_or(u64::MAX);
    file.take(header_bytes)
        .read_to_end(&mut header)
        .map_err(failed)?;
    let worldline = format::parse_file_header(&header).map_err(|error| match error {
        HeaderError::Version => Refusal::new("wal-version", "the log is of another version than 1"),
        HeaderError::Damaged => corrupt(0, "the file header is damaged"),
    })?;
    let tip = Tip {
        lsn: 0,
        digest: format::genesis_previous(&worldline),
    };
    let mut scanner = Scanner::new(file, length, tip);
    let mut replayer = Replayer::new(worldline, watch);
    loop {
        match scanner.next().map_err(failed)? {
            Step::Record(record) => {
                let offset = record.offset;
                replayer
                    .accept(record)
                    .map_err(|reason| corrupt(offset, reason))?;
            }
            Step::End | Step::Torn => break,
            Step::Corrupt(offset, reason) => return Err(corrupt(offset, reason)),
        }
    }
    replayer.finish(scanner.offset(), length)
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

    fn accept(&mut self, record: Record<'_>) -> Result<(), &'static str> {
        if matches!(self.open, Open::Nothing) {
            self.first_lsn = record.head.lsn;
            self.records = 0;
        }
        let open = std::mem::replace(&mut self.open, Open::Nothing);
        self.open = match (open, record.payload) {
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
                self.history()?.decide(&decision, &place)?;
                Purpose::Decision
            }
            Open::Patched(decision, patch) => {
                let history = self.history()?;
                history.settle(patch)?;
                history.decide(&decision, &place)?;
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

/// Where a transaction stands.
#[derive(Debug)]
struct Place {
    epoch: u64,
    first_lsn: u64,
    /// Its commit.
    tip: Tip,
}

fn begin(
    worldline: &[u8; 32],
    genesis: Genesis,
    opened: &Epoch,
    epoch: u64,
) -> Result<History, &'static str> {
    let identity = Identity::new(genesis.nonce, genesis.subject, "durable");
    let sound = genesis.worldline == *identity.worldline.bytes()
        && genesis.worldline == *worldline
        && genesis.state_root == *empty_root().bytes()
        && opened.epoch == epoch
        && opened.previous_lsn == 0
        && opened.previous_commit.is_none();
    if !sound {
        return Err("the genesis contradicts itself");
    }
    Ok(History {
        identity,
        store: Store::default(),
        tick: 0,
        root: genesis.state_root,
        decided: BTreeMap::new(),
        last_receipt: None,
        builds: BTreeMap::from([(opened.epoch, build(opened))]),
        epoch: opened.epoch,
        tip: Tip {
            lsn: 0,
            digest: [0; 32],
        },
        length: 0,
        discarded: 0,
        watched: None,
    })
}

fn build(opened: &Epoch) -> TypedDigest {
    TypedDigest::new(BUILD, Algorithm::Blake3, opened.build)
}

impl History {
    /// Tick and root.
    pub fn basis(&self) -> Basis {
        Basis {
            tick: self.tick,
            state_root: accumulator::typed(self.root),
        }
    }

    fn reopen(&mut self, opened: &Epoch, epoch: u64) -> Result<(), &'static str> {
        let sound = opened.epoch == epoch
            && opened.previous_lsn == self.tip.lsn
            && opened.previous_commit == Some(self.tip.digest);
        if !sound {
            return Err("an epoch names another commit before it");
        }
        self.epoch = opened.epoch;
        self.builds.insert(opened.epoch, build(opened));
        Ok(())
    }

    fn settle(&mut self, patch: Vec<PatchEntry>) -> Result<(), &'static str> {
        if patch.is_empty() {
            return Err("a patch changes nothing");
        }
        self.root = self.store.replay(patch)?;
        self.tick = self.tick.saturating_add(1);
        Ok(())
    }

    fn decide(&mut self, decision: &Decision, place: &Place) -> Result<(), &'static str> {
        let ordinal = u64::try_from(self.decided.len()).unwrap_or(u64::MAX);
        let position = LogPosition {
            epoch: place.epoch,
            first_lsn: place.first_lsn,
            last_lsn: place.tip.lsn,
            commit: place.tip.typed(),
        };
        let receipt = rebuild_receipt(
            &self.identity,
            &decision.executed,
            (ordinal, self.last_receipt.as_ref()),
            self.builds
                .get(&place.epoch)
                .ok_or("a decision stands in no epoch")?,
            &position,
        );
        let logged = Logged {
            offset: decision.offset,
            ordinal,
            previous: self.last_receipt.as_ref().map(|it| *it.bytes()),
        };
        let invocation = decision.executed.invocation;
        if self.decided.insert(invocation, logged).is_some() {
            return Err("an invocation is decided twice");
        }
        self.last_receipt = Some(receipt_digest(&receipt));
        Ok(())
    }
}

/// The receipt of a logged decision.
pub(super) fn rebuild_receipt(
    identity: &Identity,
    executed: &Executed,
    (ordinal, previous): (u64, Option<&TypedDigest>),
    build: &TypedDigest,
    position: &LogPosition,
) -> Vec<u8> {
    Receipt {
        execution: &executed.execution,
        worldline: &identity.worldline,
        nonce: &identity.nonce,
        invocation: &executed.invocation,
        request: &executed.request,
        ordinal,
        previous,
        build,
        log: Some(position),
    }
    .to_bytes()
}
