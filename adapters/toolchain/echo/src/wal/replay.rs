// SPDX-License-Identifier: Apache-2.0
//! Replay: the history a log holds, every root and receipt recomputed (section 7.3).

use super::{
    directory::system,
    format::{self, FILE_HEADER_BYTES, Head, HeaderError},
    payload::{Commit, Decided, Epoch, Genesis, Payload, Purpose},
    scan::{Scanner, Step},
    transaction::Tip,
};
use crate::{
    context::identity::Identity,
    receipt::{LogPosition, Receipt, receipt_digest, semantic_digest},
    refusal::Refusal,
    state::{
        accumulator::empty_root,
        patch::{self, PatchEntry},
        store::Store,
    },
    wire::request::Basis,
};
use edict_codec::digest::TypedDigest;
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Read},
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
    /// Tick and root.
    pub basis: Basis,
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
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let mut header = Vec::new();
    let header_bytes = u64::try_from(FILE_HEADER_BYTES).unwrap_or(u64::MAX);
    Read::by_ref(&mut reader)
        .take(header_bytes)
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
    let mut scanner = Scanner::new(reader, length, tip);
    let mut replayer = Replayer::new(worldline, watch);
    loop {
        match scanner.next().map_err(failed)? {
            Step::Record {
                head,
                payload,
                offset,
            } => replayer
                .accept(&head, *payload, offset, &scanner)
                .map_err(|reason| corrupt(offset, reason))?,
            Step::End | Step::Torn => return replayer.finish(scanner.offset(), length),
            Step::Corrupt(reason) => return Err(corrupt(scanner.offset(), reason)),
        }
    }
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
    Decision(Box<Decided>, u64),
    Patched(Box<Decided>, u64, Vec<PatchEntry>),
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

    fn accept(
        &mut self,
        head: &Head,
        payload: Payload,
        offset: u64,
        scanner: &Scanner<'_>,
    ) -> Result<(), &'static str> {
        if matches!(self.open, Open::Nothing) {
            self.first_lsn = head.lsn;
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
                decided
                    .executed()
                    .ok_or("a record in the log is malformed")?;
                Open::Decision(Box::new(decided), offset)
            }
            (Open::Decision(decided, offset), Payload::Patch(body)) => {
                if !decided.is_result || decided.footprint.is_none() {
                    return Err("a patch follows what cannot have one");
                }
                Open::Patched(decided, offset, patch::from_body(&body)?)
            }
            (open, Payload::Commit(commit)) => {
                if commit.first_lsn != self.first_lsn || commit.records != self.records {
                    return Err("a commit names another transaction");
                }
                self.commit(open, &commit, head, scanner)?;
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
        head: &Head,
        scanner: &Scanner<'_>,
    ) -> Result<(), &'static str> {
        let tip = scanner.tip();
        let purpose = match open {
            Open::GenesisEpoch(genesis, epoch) => {
                self.history = Some(begin(&self.worldline, genesis, epoch, head)?);
                Purpose::Genesis
            }
            Open::Epoch(epoch) => {
                self.history()?.reopen(epoch, head)?;
                Purpose::Epoch
            }
            Open::Decision(decided, offset) => {
                let first_lsn = self.first_lsn;
                self.history()?
                    .decide(&decided, offset, Vec::new(), (first_lsn, head, tip))?;
                Purpose::Decision
            }
            Open::Patched(decided, offset, patch) => {
                if patch.is_empty() {
                    return Err("a patch changes nothing");
                }
                let first_lsn = self.first_lsn;
                self.history()?
                    .decide(&decided, offset, patch, (first_lsn, head, tip))?;
                Purpose::Decision
            }
            Open::Nothing | Open::Genesis(_) => return Err("a commit ends no transaction"),
        };
        let watch = self.watch;
        let history = self.history()?;
        if commit.purpose != purpose
            || commit.basis != history.basis
            || u64::try_from(history.decided.len()) != Ok(commit.decided)
        {
            return Err("the replayed state is not that of the commit");
        }
        history.tip = tip;
        history.length = scanner.offset();
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

fn begin(
    worldline: &[u8; 32],
    genesis: Genesis,
    epoch: Epoch,
    head: &Head,
) -> Result<History, &'static str> {
    let identity = Identity::new(genesis.nonce, genesis.subject, "durable");
    let sound = genesis.worldline == identity.worldline
        && genesis.worldline.bytes() == worldline
        && genesis.state_root == empty_root()
        && epoch.epoch == head.epoch
        && epoch.previous_lsn == 0
        && epoch.previous_commit.is_none();
    if !sound {
        return Err("the genesis contradicts itself");
    }
    Ok(History {
        identity,
        store: Store::default(),
        basis: Basis {
            tick: 0,
            state_root: genesis.state_root,
        },
        decided: BTreeMap::new(),
        last_receipt: None,
        builds: BTreeMap::from([(epoch.epoch, epoch.build)]),
        epoch: epoch.epoch,
        tip: Tip {
            lsn: 0,
            digest: [0; 32],
        },
        length: 0,
        discarded: 0,
        watched: None,
    })
}

impl History {
    fn reopen(&mut self, epoch: Epoch, head: &Head) -> Result<(), &'static str> {
        let sound = epoch.epoch == head.epoch
            && epoch.previous_lsn == self.tip.lsn
            && epoch.previous_commit == Some(self.tip.typed());
        if !sound {
            return Err("an epoch names another commit before it");
        }
        self.epoch = epoch.epoch;
        self.builds.insert(epoch.epoch, epoch.build);
        Ok(())
    }

    fn decide(
        &mut self,
        decided: &Decided,
        offset: u64,
        patch: Vec<PatchEntry>,
        (first_lsn, head, tip): (u64, &Head, Tip),
    ) -> Result<(), &'static str> {
        let fits = patch.iter().all(|entry| {
            let stored = self.store.get(&entry.space, &entry.key);
            stored.map(|it| it.version) == entry.before
        });
        if !fits {
            return Err("a patch does not continue the state");
        }
        if !patch.is_empty() {
            let staged = self
                .store
                .stage(&patch)
                .map_err(|_| "a patch exceeds the limits of a state")?;
            self.basis = Basis {
                tick: self.basis.tick.saturating_add(1),
                state_root: staged.root.clone(),
            };
            self.store.publish(patch, staged);
        }
        let ordinal = u64::try_from(self.decided.len()).unwrap_or(u64::MAX);
        let position = LogPosition {
            epoch: head.epoch,
            first_lsn,
            last_lsn: tip.lsn,
            commit: tip.typed(),
        };
        let receipt = self
            .receipt(decided, ordinal, self.last_receipt.as_ref(), &position)
            .ok_or("a record in the log is malformed")?;
        let logged = Logged {
            offset,
            ordinal,
            previous: self.last_receipt.as_ref().map(|it| *it.bytes()),
        };
        if self.decided.insert(decided.invocation, logged).is_some() {
            return Err("an invocation is decided twice");
        }
        self.last_receipt = Some(receipt_digest(&receipt));
        Ok(())
    }

    fn receipt(
        &self,
        decided: &Decided,
        ordinal: u64,
        previous: Option<&TypedDigest>,
        position: &LogPosition,
    ) -> Option<Vec<u8>> {
        rebuild_receipt(
            &self.identity,
            decided,
            (ordinal, previous),
            self.builds.get(&position.epoch)?,
            position,
        )
    }
}

/// The receipt of a logged decision; `None` if its record is malformed.
pub(super) fn rebuild_receipt(
    identity: &Identity,
    decided: &Decided,
    (ordinal, previous): (u64, Option<&TypedDigest>),
    build: &TypedDigest,
    position: &LogPosition,
) -> Option<Vec<u8>> {
    let execution = semantic_digest(decided.executed()?, &decided.record);
    Some(
        Receipt {
            execution: &execution,
            worldline: &identity.worldline,
            nonce: &identity.nonce,
            invocation: &decided.invocation,
            request: &decided.request,
            ordinal,
            previous,
            build,
            log: Some(position),
        }
        .to_bytes(),
    )
}
