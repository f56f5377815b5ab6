// SPDX-License-Identifier: Apache-2.0
//! Records of a log one after the other, and what a tail is that is none (section 7.3).

use super::{
    format::{DIGEST_BYTES, FILE_HEADER_BYTES, HEAD_BYTES, Head, RecordKind, record_digest},
    transaction::Tip,
};
use std::{
    fs::File,
    io::{self, Read},
    ops::Range,
};

/// Bytes that are read at once.
pub(super) const CHUNK_BYTES: usize = 1 << 18;

/// A chained record whose digest held; its payload was not looked at.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) head: Head,
    pub(super) payload: &'a [u8],
    /// Where it begins in the file.
    pub(super) offset: u64,
    /// Where it ends.
    pub(super) end: u64,
    /// Its LSN and digest.
    pub(super) tip: Tip,
}

/// How the records of a log end.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// With the file, or with the rest of a write that was cut short; where that is.
    Reached(u64),
    /// With anything else, which begins there.
    Corrupt(u64, &'static str),
}

/// Records that stand in one buffer, and the end if it was seen behind them.
#[derive(Debug)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    places: Vec<Place>,
    pub(super) end: Option<End>,
}

#[derive(Debug)]
struct Place {
    head: Head,
    payload: Range<usize>,
    offset: u64,
    end: u64,
    tip: Tip,
}

impl Batch {
    /// The records in order.
    pub(super) fn records(&self) -> impl Iterator<Item = Record<'_>> {
        self.places.iter().map(|place| Record {
            head: place.head,
            payload: self.bytes.get(place.payload.clone()).unwrap_or_default(),
            offset: place.offset,
            end: place.end,
            tip: place.tip,
        })
    }
}

/// What stands at a position of the log.
#[derive(Debug)]
enum Step {
    Record(Place),
    /// Nothing with the head of a record.
    Headless,
    End(End),
}

/// Reads records in order, each where it stands in one buffer; memory is bounded by one record and
/// what is read at once. An iterator over batches, the last of which has the end.
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
    is_done: bool,
}

impl Iterator for Scanner<'_> {
    type Item = io::Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let batch = self.batch();
        self.is_done = batch.as_ref().map_or(true, |batch| batch.end.is_some());
        Some(batch)
    }
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
            is_done: false,
        }
    }

    /// The next records, at least one or the end.
    fn batch(&mut self) -> io::Result<Batch> {
        let mut places = Vec::new();
        let end = loop {
            // Reading on would move what is in the batch already.
            if !places.is_empty() && !self.holds_one() {
                break None;
            }
            match self.step()? {
                Step::Record(place) => places.push(place),
                Step::Headless if places.is_empty() => break Some(self.zeros()?),
                Step::Headless => break None,
                Step::End(end) => break Some(end),
            }
        };
        let mut fresh = vec![0; CHUNK_BYTES.max(self.unread().len())];
        let left = self.unread().len();
        if let Some(target) = fresh.get_mut(..left) {
            target.copy_from_slice(self.unread());
        }
        (self.start, self.end) = (0, left);
        Ok(Batch {
            bytes: std::mem::replace(&mut self.buffer, fresh),
            places,
            end,
        })
    }

    /// Whether a step would read nothing more.
    fn holds_one(&self) -> bool {
        let unread = self.unread();
        let length = unread.get(24..28).and_then(|it| it.first_chunk());
        let whole = length.map(|length| {
            let payload = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
            payload.saturating_add(HEAD_BYTES + DIGEST_BYTES)
        });
        whole.is_some_and(|whole| whole <= unread.len()) || self.offset == self.length
    }

    /// The next step; a record moves the scanner behind it.
    fn step(&mut self) -> io::Result<Step> {
        let offset = self.offset;
        let left = self.length.saturating_sub(offset);
        if left < u64::try_from(HEAD_BYTES).unwrap_or(u64::MAX) {
            return Ok(Step::End(End::Reached(offset)));
        }
        self.fill(HEAD_BYTES)?;
        let head = self.unread().first_chunk().and_then(Head::from_bytes);
        let Some(head) = head else {
            return Ok(Step::Headless);
        };
        if let Err(reason) = self.judge_chain(&head) {
            return Ok(Step::End(End::Corrupt(offset, reason)));
        }
        let payload = usize::try_from(head.length).unwrap_or(usize::MAX);
        let covered = HEAD_BYTES.saturating_add(payload);
        let whole = covered.saturating_add(DIGEST_BYTES);
        let end = offset.saturating_add(u64::try_from(whole).unwrap_or(u64::MAX));
        if end > self.length {
            return Ok(Step::End(End::Reached(offset)));
        }
        self.fill(whole)?;
        let record = self.unread().get(..whole).unwrap_or_default();
        let (bytes, digest) = record.split_at_checked(covered).unwrap_or_default();
        let recomputed = record_digest(bytes);
        if digest != recomputed {
            return Ok(Step::End(End::Corrupt(offset, "a record digest is wrong")));
        }
        let start = self.start;
        self.start = start.saturating_add(whole);
        self.offset = end;
        self.epoch = head.epoch;
        self.tip = Tip {
            lsn: head.lsn,
            digest: recomputed,
        };
        Ok(Step::Record(Place {
            head,
            payload: start.saturating_add(HEAD_BYTES)..start.saturating_add(covered),
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
    fn zeros(&mut self) -> io::Result<End> {
        let offset = self.offset;
        loop {
            if self.unread().iter().any(|byte| *byte != 0) {
                return Ok(End::Corrupt(offset, "no record begins here"));
            }
            (self.start, self.end) = (0, read(self.file, &mut self.buffer)?);
            if self.end == 0 {
                return Ok(End::Reached(offset));
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
