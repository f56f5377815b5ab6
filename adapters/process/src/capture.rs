// SPDX-License-Identifier: Apache-2.0
//! What was kept of a stream: its head, its tail and its length.

use std::collections::VecDeque;

/// Bytes kept at each end of a stream (L3).
const KEPT: usize = 64 * 1024;

/// A bounded copy of one stream: 64 KiB of its head, 64 KiB of its tail, and its length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Capture {
    /// Length of the whole stream in bytes.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether bytes between head and tail were dropped.
    pub fn is_truncated(&self) -> bool {
        self.total > self.kept()
    }

    /// The whole stream, or `None` when it is truncated.
    pub fn complete(&self) -> Option<Vec<u8>> {
        (!self.is_truncated()).then(|| {
            let mut bytes = self.head.clone();
            bytes.extend(&self.tail);
            bytes
        })
    }

    /// The first bytes of the stream, at most 64 KiB.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The last bytes after the head, at most 64 KiB.
    pub fn tail(&self) -> Vec<u8> {
        self.tail.iter().copied().collect()
    }

    /// Adds bytes that arrived.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total = self
            .total
            .saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let room = KEPT.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..excess);
    }

    fn kept(&self) -> u64 {
        u64::try_from(self.head.len().saturating_add(self.tail.len())).unwrap_or(u64::MAX)
    }
}
