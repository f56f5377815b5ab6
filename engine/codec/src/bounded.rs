// SPDX-License-Identifier: Apache-2.0
//! Limits that are compared before anything is allocated.

use std::io::{self, Read};

/// A limit in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteLimit(u64);

impl ByteLimit {
    /// A limit of `bytes` bytes; exactly the limit is accepted, one more is refused.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether `length` bytes are within the limit.
    pub fn admits(self, length: usize) -> bool {
        u64::try_from(length).is_ok_and(|length| length <= self.0)
    }
}

/// A quantity that is spent and never refunded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// A budget of `total` units.
    pub const fn new(total: u64) -> Self {
        Self { left: total }
    }

    /// Units left.
    pub const fn left(self) -> u64 {
        self.left
    }

    /// Takes `amount` units; `false`, and nothing taken, when fewer are left.
    pub fn take(&mut self, amount: u64) -> bool {
        match self.left.checked_sub(amount) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

/// Why a bounded read gave no bytes.
#[derive(Debug, thiserror::Error)]
pub enum BoundedReadError {
    /// More bytes than the limit; nothing after `limit + 1` bytes was read.
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The reader failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Reads all of `reader`, at most `limit + 1` bytes of it.
///
/// The buffer grows with the bytes received, never with a claimed length.
///
/// # Errors
/// `TooLarge` when more than `limit` bytes arrive, `Io` when the reader fails.
pub fn read_all(reader: &mut dyn Read, limit: ByteLimit) -> Result<Vec<u8>, BoundedReadError> {
    let mut bytes = Vec::new();
    reader
        .take(limit.get().saturating_add(1))
        .read_to_end(&mut bytes)?;
    if limit.admits(bytes.len()) {
        Ok(bytes)
    } else {
        Err(BoundedReadError::TooLarge { limit: limit.get() })
    }
}
