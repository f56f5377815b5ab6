// SPDX-License-Identifier: Apache-2.0
//! Records of a log one after the other, and what a tail is that is none (section 7.3).

use super::{
    format::{DIGEST_BYTES, FILE_HEADER_BYTES, HEAD_BYTES, Head, RecordKind, record_digest},
    payload::Payload,
    transaction::Tip,
};
use std::{
    fs::File,
    io::{self, Read},
};

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 18;

/// A valid, chained record.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) head: Head,
    pub(super) payload: Payload<'a>,
    /// Where it begins.
    pub(super) offset: u64,
    /// Where it ends.
    pub(super) end: u64,
    /// Its LSN and digest.
    pub(super) tip: Tip,
}

/// What stands at a position of the log.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one lives at a time, and nearly all are records"
)]
pub(super) enum Step<'a> {
    /// A record.
    Record(Record<'a>),
    /// Nothing more.
    End,
    /// The rest of a write that was cut short.
    Torn,
    /// Anything else, where it begins.
    Corrupt(u64, &'static str),
}

/// Reads records in order, each where it stands in one buffer; memory is bounded by one record.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    file: &'a File,
    /// What was read and is not taken yet stands between `start` and `end`.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    length: u64,
    tip: Tip,
    epoch: u64,
}

impl<'a> Scanner<'a> {
    /// A scanner over a file of `length` bytes whose header was read already.
    pub(super) fn new(file: &'a File, length: u64, tip: Tip) -> Self {
        Self {
            file,
            buffer: vec![0; CHUNK_BYTES],
            start: 0,
            end: 0,
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

    /// The next step; a record moves the scanner behind it.
    pub(super) fn next(&mut self) -> io::Result<Step<'_>> {
        let offset = self.offset;
        let left = self.length.saturating_sub(offset);
        if left == 0 {
            return Ok(Step::End);
        }
        if left < u64::try_from(HEAD_BYTES).unwrap_or(u64::MAX) {
            return Ok(Step::Torn);
        }
        self.fill(HEAD_BYTES)?;
        let head = self.unread().first_chunk().and_then(Head::from_bytes);
        let Some(head) = head else {
            return self.zeros();
        };
        if let Err(reason) = self.judge_chain(&head) {
            return Ok(Step::Corrupt(offset, reason));
        }
        let payload = usize::try_from(head.length).unwrap_or(usize::MAX);
        let covered = HEAD_BYTES.saturating_add(payload);
        let whole = covered.saturating_add(DIGEST_BYTES);
        let end = offset.saturating_add(u64::try_from(whole).unwrap_or(u64::MAX));
        if end > self.length {
            return Ok(Step::Torn);
        }
        self.fill(whole)?;
        let start = self.start;
        self.start = start.saturating_add(whole);
        self.offset = end;
        let record = self.buffer.get(start..self.start).unwrap_or_default();
        let (covered, digest) = record.split_at_checked(covered).unwrap_or_default();
        let recomputed = record_digest(covered);
        if digest != recomputed {
            return Ok(Step::Corrupt(offset, "a record digest is wrong"));
        }
        let payload = covered.get(HEAD_BYTES..).unwrap_or_default();
        let Some(payload) = Payload::from_bytes(head.kind, payload) else {
            return Ok(Step::Corrupt(offset, "a payload is malformed"));
        };
        self.epoch = head.epoch;
        self.tip = Tip {
            lsn: head.lsn,
            digest: recomputed,
        };
        Ok(Step::Record(Record {
            head,
            payload,
            offset,
            end,
            tip: self.tip,
        }))
    }

    fn unread(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Reads until `count` bytes are not taken yet; the length of the file says that they come.
    fn fill(&mut self, count: usize) -> io::Result<()> {
        if self.unread().len() >= count {
            return Ok(());
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end = self.end.saturating_sub(self.start);
        self.start = 0;
        if self.buffer.len() < count {
            self.buffer.resize(count, 0);
        }
        while self.end < count {
            let target = self.buffer.get_mut(self.end..).unwrap_or_default();
            match read(self.file, target)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.end = self.end.saturating_add(count),
            }
        }
        Ok(())
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
    fn zeros(&mut self) -> io::Result<Step<'_>> {
        let offset = self.offset;
        loop {
            if self.unread().iter().any(|byte| *byte != 0) {
                return Ok(Step::Corrupt(offset, "no record begins here"));
            }
            (self.start, self.end) = (0, read(self.file, &mut self.buffer)?);
            if self.end == 0 {
                return Ok(Step::Torn);
            }
        }
    }
}

/// One read, begun again when a signal came first.
fn read(mut file: &File, target: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(target) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
