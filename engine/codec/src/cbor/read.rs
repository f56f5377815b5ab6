// SPDX-License-Identifier: Apache-2.0
//! `ItemReader`: canonical items of a known form, read where they stand without making values.

/// Reads canonical items one after the other: the counterpart of [`super::Encoder`].
///
/// Every method takes the item of its kind that stands next, or gives `None` and moves nowhere.
/// Heads longer than needed, indefinite lengths, tags and floats are never taken. The order of map
/// keys and the end of the input are for the caller, who knows which keys it reads.
#[derive(Clone, Debug)]
pub struct ItemReader<'a> {
    rest: &'a [u8],
}

impl<'a> ItemReader<'a> {
    /// A reader at the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether everything was taken.
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The head of an array: its number of items.
    pub fn array(&mut self) -> Option<u64> {
        self.count(4)
    }

    /// The head of a map: its number of entries.
    pub fn map(&mut self) -> Option<u64> {
        self.count(5)
    }

    /// An unsigned integer.
    pub fn unsigned(&mut self) -> Option<u64> {
        self.count(0)
    }

    /// A byte string.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        self.content(2)
    }

    /// A text.
    pub fn text(&mut self) -> Option<&'a str> {
        let before = self.rest;
        let text = self.content(3).and_then(|it| str::from_utf8(it).ok());
        if text.is_none() {
            self.rest = before;
        }
        text
    }

    /// The text `expected`.
    pub fn literal(&mut self, expected: &str) -> Option<()> {
        let (content, rest) = split(self.rest, 3)?;
        (content == expected.as_bytes()).then(|| self.rest = rest)
    }

    /// `null`.
    pub fn null(&mut self) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[0xf6])?;
        Some(())
    }

    fn count(&mut self, major: u8) -> Option<u64> {
        let (argument, rest) = head(self.rest, major)?;
        self.rest = rest;
        Some(argument)
    }

    fn content(&mut self, major: u8) -> Option<&'a [u8]> {
        let (content, rest) = split(self.rest, major)?;
        self.rest = rest;
        Some(content)
    }
}

/// The content of the string that `bytes` begin with, and what follows it.
fn split(bytes: &[u8], major: u8) -> Option<(&[u8], &[u8])> {
    let (length, rest) = head(bytes, major)?;
    rest.split_at_checked(usize::try_from(length).ok()?)
}

/// The argument of the shortest head of that major type, and what follows it.
fn head(bytes: &[u8], major: u8) -> Option<(u64, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    if first >> 5 != major {
        return None;
    }
    match first & 31 {
        info @ 0..=23 => Some((info.into(), rest)),
        24 => {
            let (argument, rest) = rest.split_first()?;
            (*argument >= 24).then_some(((*argument).into(), rest))
        }
        25 => {
            let (argument, rest) = rest.split_first_chunk()?;
            let argument = u64::from(u16::from_be_bytes(*argument));
            (argument >= 1 << 8).then_some((argument, rest))
        }
        26 => {
            let (argument, rest) = rest.split_first_chunk()?;
            let argument = u64::from(u32::from_be_bytes(*argument));
            (argument >= 1 << 16).then_some((argument, rest))
        }
        27 => {
            let (argument, rest) = rest.split_first_chunk()?;
            let argument = u64::from_be_bytes(*argument);
            (argument >= 1 << 32).then_some((argument, rest))
        }
        _ => None,
    }
}
