// SPDX-License-Identifier: Apache-2.0
//! Section 7.3 on a log that is longer than what is read at once: it is read ahead while it is
//! replayed, and what is found first in the file is found first.

use crate::support::{
    client::Host,
    messages::{open_durable, recover},
    notes,
    world::{Lane, granting, install},
};
use std::path::PathBuf;
use tempfile::TempDir;

/// More than three pieces of 256 KiB.
const LONG: usize = 900_000;

/// A log of many settlements, the ends of its commits, and what its client knew after each.
struct Written {
    space: TempDir,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    lanes: Vec<Lane>,
}

impl Written {
    fn new() -> Self {
        let space = tempfile::tempdir().unwrap();
        let mut host = rooted(&space);
        let path = space.path().join("a/wal.log");
        let create = install(&mut host, &notes::steps(&["create"]).build().seal());
        let mut lane = Lane::open(&mut host, &granting(&open_durable(1, "a"), &[&create]));
        let (mut ends, mut lanes) = (Vec::new(), Vec::new());
        let mut length = 0;
        while length < LONG {
            // Values of many lengths, so that records end everywhere in a piece, and one that is
            // longer than a piece.
            let id = u64::try_from(ends.len()).unwrap();
            let size = if id == 3 { 300_000 } else { ends.len() % 61 };
            let value = vec![0x2e; size];
            let input = notes::note(&id.to_be_bytes(), &value, b"");
            lane.effect(&mut host, &create, id, &input);
            length = usize::try_from(path.metadata().unwrap().len()).unwrap();
            ends.push(length);
            lanes.push(lane.clone());
        }
        assert_eq!(host.end().code, Some(0));
        Self {
            bytes: std::fs::read(path).unwrap(),
            space,
            ends,
            lanes,
        }
    }

    fn path(&self) -> PathBuf {
        self.space.path().join("a/wal.log")
    }

    /// The lane that recovery of `bytes` gives, with the number of discarded bytes, or the refusal.
    fn recovered(&self, host: &mut Host, bytes: &[u8]) -> Result<(Lane, u64), (String, String)> {
        std::fs::write(self.path(), bytes).unwrap();
        let reply = host.ask(4, &recover(1, "a"));
        if reply.kind == 0x8FFF {
            let text = |key| reply.text(key).unwrap().to_owned();
            assert_eq!(std::fs::read(self.path()).unwrap(), bytes);
            return Err((text("kind"), text("message")));
        }
        let lane = Lane::opened(&reply, &recover(1, "a"), &host.build);
        lane.close(host).ok(0x8008);
        let discarded = lane.recovery.get("discardedBytes").unwrap();
        let discarded = discarded.as_u64().unwrap();
        Ok((lane, discarded))
    }
}

fn rooted(space: &TempDir) -> Host {
    Host::serve(&["--state-root", space.path().to_str().unwrap()])
}

#[test]
fn a_long_log_is_recovered_cut_and_refused_like_a_short_one() {
    let written = Written::new();
    let mut host = rooted(&written.space);
    let (lane, discarded) = written.recovered(&mut host, &written.bytes).unwrap();
    let last = written.lanes.last().unwrap();
    assert_eq!((&lane.basis, discarded), (&last.basis, 0));
    assert_eq!(lane.decided, last.decided);
    assert_eq!(lane.last_receipt, last.last_receipt);
    let piece = 1 << 18;
    let places = (1..40).map(|number| number * written.bytes.len() / 40);
    for place in places.chain([piece - 1, piece, piece + 64, 2 * piece]) {
        let index = written.ends.iter().rposition(|end| *end <= place).unwrap();
        let (lane, discarded) = written
            .recovered(&mut host, &written.bytes[..place])
            .unwrap();
        assert_eq!(lane.basis, written.lanes[index].basis, "{place}");
        assert_eq!(lane.last_receipt, written.lanes[index].last_receipt);
        assert_eq!(discarded, (place - written.ends[index]) as u64, "{place}");
        let mut flipped = written.bytes.clone();
        flipped[place] ^= 0x40;
        let (kind, message) = written.recovered(&mut host, &flipped).unwrap_err();
        assert_eq!(kind, "wal-corrupt", "{place}");
        // The offset is that of the record, which begins behind the last whole transaction.
        let found = message.rsplit(' ').next().unwrap().parse::<usize>();
        let found = found.unwrap();
        assert!((written.ends[index]..=place).contains(&found), "{message}");
        // The earlier of two faults is the one that is told.
        flipped[written.bytes.len() - 40] ^= 0x40;
        assert_eq!(
            written.recovered(&mut host, &flipped).unwrap_err(),
            (kind, message)
        );
    }
    // Zeros behind a long log are a torn tail, and anything behind them is not.
    let mut padded = written.bytes.clone();
    padded.resize(written.bytes.len() + 3 * piece, 0);
    let (lane, discarded) = written.recovered(&mut host, &padded).unwrap();
    assert_eq!(
        (lane.basis, discarded),
        (last.basis.clone(), 3 * piece as u64)
    );
    padded.push(1);
    assert_eq!(
        written.recovered(&mut host, &padded).unwrap_err().0,
        "wal-corrupt"
    );
}
