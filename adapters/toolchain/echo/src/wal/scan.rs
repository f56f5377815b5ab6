// SPDX-License-Identifier: Apache-2.0
//! Records of a log one after the other, and what a tail is that is none (section 7.3).

use super::{
    format::{DIGEST_BYTES, FILE_HEADER_BYTES, HEAD_BYTES, Head, RecordKind, record_digest},
    payload::Payload,
    transaction::Tip,
};
use std::{
    fs::File,
    io::{self, BufReader, Read},
};

/// What stands at a position of the log.
#[derive(Debug)]
pub(super) enum Step {
    /// A valid, chained record that begins at `offset`.
    Record {
        head: Head,
        payload: Box<Payload>,
        offset: u64,
    },
    /// Nothing more.
    End,
    /// The rest of a write that was cut short.
    Torn,
    /// Anything else.
    Corrupt(&'static str),
}

/// Reads records in order; memory is bounded by one record.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    reader: BufReader<&'a File>,
    offset: u64,
    length: u64,
    tip: Tip,
    epoch: u64,
}

impl<'a> Scanner<'a> {
    /// A scanner over a file of `length` bytes whose header was read from `reader`.
    pub(super) fn new(reader: BufReader<&'a File>, length: u64, tip: Tip) -> Self {
        Self {
            reader,
            offset: u64::try_from(FILE_HEADER_BYTES).unwrap_or(u64::MAX),
            length,
            tip,
            epoch: 0,
        }
    }

    /// Where the next record begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// LSN and digest of the record before it.
    pub(super) fn tip(&self) -> Tip {
        self.tip
    }

    /// The next step; a record moves the scanner behind it.
    pub(super) fn next(&mut self) -> io::Result<Step> {
        let left = self.length.saturating_sub(self.offset);
        if left == 0 {
            return Ok(Step::End);
        }
        let overhead = u64::try_from(HEAD_BYTES.saturating_add(DIGEST_BYTES)).unwrap_or(u64::MAX);
        if left < u64::try_from(HEAD_BYTES).unwrap_or(u64::MAX) {
            return Ok(Step::Torn);
        }
        let mut bytes = [0u8; HEAD_BYTES];
        self.reader.read_exact(&mut bytes)?;
        let Some(head) = Head::from_bytes(&bytes) else {
            return self.zeros(&bytes);
        };
        if let Err(reason) = self.judge_chain(&head) {
            return Ok(Step::Corrupt(reason));
        }
        let whole = overhead.saturating_add(head.length.into());
        if whole > left {
            return Ok(Step::Torn);
        }
        let mut record = bytes.to_vec();
        let rest = u64::from(head.length).saturating_add(32);
        Read::by_ref(&mut self.reader)
            .take(rest)
            .read_to_end(&mut record)?;
        let covered = record.len().saturating_sub(DIGEST_BYTES);
        let (covered, digest) = record.split_at_checked(covered).unwrap_or_default();
        let recomputed = record_digest(covered);
        if digest != recomputed {
            return Ok(Step::Corrupt("a record digest is wrong"));
        }
        let payload = covered.get(HEAD_BYTES..).unwrap_or_default();
        let Some(payload) = Payload::from_bytes(head.kind, payload) else {
            return Ok(Step::Corrupt("a payload is malformed"));
        };
        let offset = self.offset;
        self.offset = offset.saturating_add(whole);
        self.epoch = head.epoch;
        self.tip = Tip {
            lsn: head.lsn,
            digest: recomputed,
        };
        Ok(Step::Record {
            head,
            payload: Box::new(payload),
            offset,
        })
    }

    fn judge_chain(&self, head: &Head) -> Result<(), &'static str> {
        let epoch = match head.kind {
            RecordKind::Genesis => 1,
            // The epoch record of genesis belongs to the epoch that genesis began.
            RecordKind::Epoch if self.tip.lsn == 1 => 1,
            RecordKind::Epoch => self.epoch.saturating_add(1),
            RecordKind::Decision | RecordKind::Patch | RecordKind::Commit => self.epoch,
        };
        if head.lsn != self.tip.lsn.saturating_add(1) {
            Err("an LSN is out of order")
        } else if head.previous != self.tip.digest {
            Err("a record does not continue the one before")
        } else if head.epoch != epoch {
            Err("an epoch is out of order")
        } else {
            Ok(())
        }
    }

    /// Only zero bytes to the end are a torn tail, anything else is damage.
    fn zeros(&mut self, head: &[u8]) -> io::Result<Step> {
        let corrupt = Step::Corrupt("no record begins here");
        if head.iter().any(|byte| *byte != 0) {
            return Ok(corrupt);
        }
        let mut chunk = vec![0u8; 65_536];
        loop {
            let count = self.reader.read(&mut chunk)?;
            let read = chunk.get(..count).unwrap_or_default();
            if read.is_empty() {
                return Ok(Step::Torn);
            }
            if read.iter().any(|byte| *byte != 0) {
                return Ok(corrupt);
            }
        }
    }
}
