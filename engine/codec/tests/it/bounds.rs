// SPDX-License-Identifier: Apache-2.0
//! Limits: exactly the limit is accepted, one more refused.

use edict_codec::bounded::{BoundedReadError, Budget, ByteLimit, read_all};
use std::io::{self, Read};

/// Gives bytes without end and counts what was taken.
struct Endless(u64);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'x');
        self.0 += buffer.len() as u64;
        Ok(buffer.len())
    }
}

#[test]
fn a_read_takes_no_more_than_one_byte_above_its_limit() {
    let read = |bytes: &[u8], limit| read_all(&mut &bytes[..], ByteLimit::new(limit));
    assert_eq!(read(b"abc", 3).unwrap(), b"abc");
    assert_eq!(read(b"", 0).unwrap(), b"");
    assert!(matches!(
        read(b"abcd", 3),
        Err(BoundedReadError::TooLarge { limit: 3 })
    ));
    let mut endless = Endless(0);
    let refused = read_all(&mut endless, ByteLimit::new(1000));
    assert!(matches!(
        refused,
        Err(BoundedReadError::TooLarge { limit: 1000 })
    ));
    assert_eq!(endless.0, 1001);
    assert_eq!(read(b"abc", u64::MAX).unwrap(), b"abc");
}

#[test]
fn a_reader_that_fails_is_no_end_of_input() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    let refused = read_all(&mut Broken, ByteLimit::new(1));
    assert!(matches!(refused, Err(BoundedReadError::Io(_))));
}

#[test]
fn a_budget_is_spent_whole_or_not_at_all() {
    let mut budget = Budget::new(5);
    assert!(budget.take(2));
    assert!(!budget.take(4));
    assert_eq!(budget.left(), 3);
    assert!(budget.take(3));
    assert!(budget.take(0));
    assert!(!budget.take(1));
    assert!(!Budget::new(u64::MAX - 1).take(u64::MAX));
}

#[test]
fn a_limit_admits_its_own_length() {
    assert!(ByteLimit::new(4).admits(4));
    assert!(!ByteLimit::new(4).admits(5));
    assert!(ByteLimit::new(0).admits(0));
}
