// SPDX-License-Identifier: Apache-2.0
//! The strict decoder: every accepted input re-encodes to the same bytes.

use super::{
    make::Make,
    value::{Integer, Value},
};

/// Containers nest at most this deep; the outermost counts as 1.
pub const MAX_DEPTH: usize = 128;

/// Most items of a container that get room before they were read.
const MAX_EXPECTED: usize = 32;

/// Why bytes are no canonical item. The names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CborErrorKind {
    /// The input ends inside an item.
    UnexpectedEnd,
    /// A length or count above what is left of the input.
    LengthExceedsInput,
    /// Bytes after the item.
    TrailingData,
    /// A head longer than needed.
    NonMinimalHead,
    /// An indefinite length or a lone break.
    IndefiniteLength,
    /// Additional information that means nothing.
    ReservedHead,
    /// A tag, a float, `undefined` or another simple value.
    UnsupportedType,
    /// Map keys do not ascend.
    MapKeyOrder,
    /// A map key stands twice.
    DuplicateMapKey,
    /// A text is not UTF-8.
    InvalidUtf8,
    /// Containers nest too deep.
    NestingTooDeep,
    /// More items than the caller allows.
    TooManyNodes,
}

impl CborErrorKind {
    /// The stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnexpectedEnd => "UnexpectedEnd",
            Self::LengthExceedsInput => "LengthExceedsInput",
            Self::TrailingData => "TrailingData",
            Self::NonMinimalHead => "NonMinimalHead",
            Self::IndefiniteLength => "IndefiniteLength",
            Self::ReservedHead => "ReservedHead",
            Self::UnsupportedType => "UnsupportedType",
            Self::MapKeyOrder => "MapKeyOrder",
            Self::DuplicateMapKey => "DuplicateMapKey",
            Self::InvalidUtf8 => "InvalidUtf8",
            Self::NestingTooDeep => "NestingTooDeep",
            Self::TooManyNodes => "TooManyNodes",
        }
    }
}

/// A rejection with the byte offset of the item that caused it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} at byte {offset}", kind.name())]
pub struct CborError {
    /// Why.
    pub kind: CborErrorKind,
    /// Offset of the offending item in bytes.
    pub offset: usize,
}

/// What a caller allows beyond the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Greatest nesting of containers.
    pub depth: usize,
    /// Greatest number of items, map keys included.
    pub nodes: usize,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self {
            depth: MAX_DEPTH,
            nodes: usize::MAX,
        }
    }
}

/// Decodes exactly one canonical item.
///
/// # Errors
/// The first rejection in the order of `docs/contracts/strict-formats.md`.
pub fn decode(bytes: &[u8]) -> Result<Value, CborError> {
    decode_with(bytes, DecodeLimits::default())
}

/// As [`decode`], with tighter bounds on depth and number of items.
///
/// # Errors
/// As [`decode`], and `TooManyNodes`.
pub fn decode_with(bytes: &[u8], limits: DecodeLimits) -> Result<Value, CborError> {
    read(bytes, limits)
}

/// Whether `bytes` are exactly one canonical item, decided as by [`decode_with`] without making its
/// value.
///
/// # Errors
/// As [`decode_with`].
pub fn validate(bytes: &[u8], limits: DecodeLimits) -> Result<(), CborError> {
    read(bytes, limits)
}

fn read<Made: Make>(bytes: &[u8], limits: DecodeLimits) -> Result<Made, CborError> {
    let mut reader = Reader {
        bytes,
        position: 0,
        limits,
        nodes: 0,
    };
    let value = reader.root()?;
    if reader.position == bytes.len() {
        Ok(value)
    } else {
        Err(CborError {
            kind: CborErrorKind::TrailingData,
            offset: reader.position,
        })
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
    limits: DecodeLimits,
    nodes: usize,
}

/// An open container. A map collects keys and values in turn; `last_key` is the span of the
/// encoding of the key before, which the next one must exceed.
enum Open<Made> {
    Array {
        items: Vec<Made>,
        left: u64,
    },
    Map {
        entries: Vec<(Made, Made)>,
        left: u64,
        key: Option<Made>,
        last_key: (usize, usize),
    },
}

/// A scalar, or a container that was opened.
enum Item<Made> {
    Done(Made),
    Opened(Open<Made>),
}

impl Reader<'_> {
    /// Decodes one item with an explicit stack, so nesting never uses the machine stack.
    fn root<Made: Make>(&mut self) -> Result<Made, CborError> {
        // Each frame remembers where its item starts: a container as map key is compared by span.
        let mut stack: Vec<(usize, Open<Made>)> = Vec::new();
        loop {
            let start = self.position;
            let mut finished = match self.item(stack.len())? {
                Item::Done(value) => Some((start, value)),
                Item::Opened(open) => match empty(open) {
                    Ok(value) => Some((start, value)),
                    Err(open) => {
                        stack.push((start, open));
                        None
                    }
                },
            };
            while let Some((start, value)) = finished.take() {
                let Some((_, open)) = stack.last_mut() else {
                    return Ok(value);
                };
                if self.place(open, start, value)? {
                    finished = stack.pop().map(|(start, open)| (start, close(open)));
                }
            }
        }
    }

    /// Puts a finished item into its container; `true` when that container is complete.
    fn place<Made>(
        &self,
        open: &mut Open<Made>,
        start: usize,
        value: Made,
    ) -> Result<bool, CborError> {
        match open {
            Open::Array { items, left } => {
                items.push(value);
                *left = left.saturating_sub(1);
                Ok(*left == 0)
            }
            Open::Map {
                entries,
                left,
                key,
                last_key,
            } => {
                match key.take() {
                    None => {
                        let before = self.bytes.get(last_key.0..last_key.1).unwrap_or_default();
                        let this = self.bytes.get(start..self.position).unwrap_or_default();
                        // The first key has an empty one before it, below every encoding.
                        if before >= this {
                            let kind = if before == this {
                                CborErrorKind::DuplicateMapKey
                            } else {
                                CborErrorKind::MapKeyOrder
                            };
                            return Err(CborError {
                                kind,
                                offset: start,
                            });
                        }
                        *last_key = (start, self.position);
                        *key = Some(value);
                        Ok(false)
                    }
                    Some(key) => {
                        entries.push((key, value));
                        *left = left.saturating_sub(1);
                        Ok(*left == 0)
                    }
                }
            }
        }
    }

    fn item<Made: Make>(&mut self, depth: usize) -> Result<Item<Made>, CborError> {
        let offset = self.position;
        let fail = |kind| Err(CborError { kind, offset });
        let Some(&first) = self.bytes.get(offset) else {
            return fail(CborErrorKind::UnexpectedEnd);
        };
        let (major, info) = (first >> 5, first & 31);
        if (28..=30).contains(&info) || (info == 31 && matches!(major, 0 | 1 | 6)) {
            return fail(CborErrorKind::ReservedHead);
        }
        if major == 6 || (major == 7 && !matches!(info, 20..=22 | 31)) {
            return fail(CborErrorKind::UnsupportedType);
        }
        if info == 31 {
            return fail(CborErrorKind::IndefiniteLength);
        }
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > self.limits.nodes {
            return fail(CborErrorKind::TooManyNodes);
        }
        let argument = self.argument(offset, info)?;
        if matches!(major, 4 | 5) && depth >= self.limits.depth {
            return fail(CborErrorKind::NestingTooDeep);
        }
        match major {
            0 => Ok(Item::Done(Made::integer(argument.into()))),
            // The stored number n means -1 - n, which is the complement of n.
            1 => Ok(Item::Done(match Integer::new(!i128::from(argument)) {
                Some(integer) => Made::integer(integer),
                None => return fail(CborErrorKind::ReservedHead),
            })),
            2 => Ok(Item::Done(Made::bytes(self.content(offset, argument)?))),
            3 => match str::from_utf8(self.content(offset, argument)?) {
                Ok(text) => Ok(Item::Done(Made::text(text))),
                Err(_) => fail(CborErrorKind::InvalidUtf8),
            },
            4 if argument > self.left() => fail(CborErrorKind::LengthExceedsInput),
            4 => Ok(Item::Opened(Open::Array {
                items: Vec::with_capacity(expected(argument)),
                left: argument,
            })),
            5 if argument > self.left() / 2 => fail(CborErrorKind::LengthExceedsInput),
            5 => Ok(Item::Opened(Open::Map {
                entries: Vec::with_capacity(expected(argument)),
                left: argument,
                key: None,
                last_key: (0, 0),
            })),
            _ => Ok(Item::Done(match info {
                20 => Made::bool(false),
                21 => Made::bool(true),
                _ => Made::null(),
            })),
        }
    }

    /// The argument of a head whose first byte is at `offset`; leaves the position behind it.
    fn argument(&mut self, offset: usize, info: u8) -> Result<u64, CborError> {
        let width: usize = match info {
            24 => 1,
            25 => 2,
            26 => 4,
            27 => 8,
            _ => 0,
        };
        let start = offset.saturating_add(1);
        let end = start.saturating_add(width);
        let Some(rest) = self.bytes.get(start..end) else {
            return Err(CborError {
                kind: CborErrorKind::UnexpectedEnd,
                offset,
            });
        };
        self.position = end;
        if width == 0 {
            return Ok(info.into());
        }
        let argument = rest
            .iter()
            .fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
        let least: u64 = match width {
            1 => 24,
            2 => 1 << 8,
            4 => 1 << 16,
            _ => 1 << 32,
        };
        if argument < least {
            return Err(CborError {
                kind: CborErrorKind::NonMinimalHead,
                offset,
            });
        }
        Ok(argument)
    }

    fn content(&mut self, offset: usize, length: u64) -> Result<&[u8], CborError> {
        if length > self.left() {
            return Err(CborError {
                kind: CborErrorKind::LengthExceedsInput,
                offset,
            });
        }
        let start = self.position;
        self.position = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(self.bytes.get(start..self.position).unwrap_or_default())
    }

    fn left(&self) -> u64 {
        u64::try_from(self.bytes.len().saturating_sub(self.position)).unwrap_or(u64::MAX)
    }
}

/// Room made at once for so many announced items. An announcement costs its sender almost nothing,
/// so only a small one is believed before the items have come.
fn expected(announced: u64) -> usize {
    usize::try_from(announced).map_or(MAX_EXPECTED, |it| it.min(MAX_EXPECTED))
}

fn empty<Made: Make>(open: Open<Made>) -> Result<Made, Open<Made>> {
    match open {
        Open::Array { left: 0, .. } | Open::Map { left: 0, .. } => Ok(close(open)),
        Open::Array { .. } | Open::Map { .. } => Err(open),
    }
}

fn close<Made: Make>(open: Open<Made>) -> Made {
    match open {
        Open::Array { items, .. } => Made::array(items),
        Open::Map { entries, .. } => Made::map(entries),
    }
}
