// SPDX-License-Identifier: Apache-2.0
//! Frames of the host transport (`docs/host.md` 1.2): header, canonical body, digest.

use edict_codec::digest::DeriveHasher;
use edict_test_model::FailureKind;

/// The whole frame is at most this many bytes, header and digest included.
pub const MAX_FRAME_BYTES: u64 = 16_777_216;

/// Bytes of the header.
pub(crate) const HEADER_BYTES: usize = 20;
/// Bytes of the digest behind the body.
pub(crate) const DIGEST_BYTES: usize = 32;

const MAGIC: [u8; 4] = [0x89, 0x45, 0x43, 0x48];
const VERSION: u16 = 1;

/// The type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Request and reply `hello`.
    Hello(Direction),
    /// Request and reply `install`.
    Install(Direction),
    /// Request and reply `uninstall`.
    Uninstall(Direction),
    /// Request and reply `open-context`.
    OpenContext(Direction),
    /// Request `invoke`, reply `outcome`.
    Invoke(Direction),
    /// Request and reply `observe`; the runner never sends one.
    Observe(Direction),
    /// Request and reply `close-context`.
    CloseContext(Direction),
    /// Request `shutdown`, reply `bye`.
    Shutdown(Direction),
    /// Reply `refused`.
    Refused,
    /// The last frame of a host that gives up.
    Fault,
}

/// Who sends a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The client.
    Request,
    /// The host.
    Reply,
}

impl FrameKind {
    /// The number in the header.
    pub const fn number(self) -> u16 {
        let (low, direction) = match self {
            Self::Hello(direction) => (1, direction),
            Self::Install(direction) => (2, direction),
            Self::Uninstall(direction) => (3, direction),
            Self::OpenContext(direction) => (4, direction),
            Self::Invoke(direction) => (5, direction),
            Self::Observe(direction) => (7, direction),
            Self::CloseContext(direction) => (8, direction),
            Self::Shutdown(direction) => (9, direction),
            Self::Refused => return 0x8fff,
            Self::Fault => return 0xffff,
        };
        match direction {
            Direction::Request => low,
            Direction::Reply => low | 0x8000,
        }
    }

    /// The reply type with that number.
    pub fn reply(number: u16) -> Option<Self> {
        let reply = Direction::Reply;
        [
            Self::Hello(reply),
            Self::Install(reply),
            Self::Uninstall(reply),
            Self::OpenContext(reply),
            Self::Invoke(reply),
            Self::Observe(reply),
            Self::CloseContext(reply),
            Self::Shutdown(reply),
            Self::Refused,
            Self::Fault,
        ]
        .into_iter()
        .find(|kind| kind.number() == number)
    }

    /// The greatest body of a request in bytes (`docs/host.md` 8).
    const fn ceiling(self) -> usize {
        match self {
            Self::Install(_) => 4_718_592,
            Self::Invoke(_) => 8_454_144,
            Self::OpenContext(_) => 131_072,
            Self::Observe(_) => 1_048_576,
            Self::Hello(_)
            | Self::Uninstall(_)
            | Self::CloseContext(_)
            | Self::Shutdown(_)
            | Self::Refused
            | Self::Fault => 65_536,
        }
    }
}

/// A decoded header of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The type.
    pub kind: FrameKind,
    /// The sequence.
    pub sequence: u64,
    /// Bytes of the body.
    pub length: usize,
}

/// Why bytes are no frame, in the order of reading (`docs/host.md` 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The stream ended between frames.
    #[error("the host closed its output")]
    Ended,
    /// The stream ended inside a frame.
    #[error("the host's output ends inside a frame")]
    Truncated,
    /// The first bytes are no frame.
    #[error("the host wrote something else than a frame")]
    Magic,
    /// Another framing version.
    #[error("the host uses framing version {0}")]
    Version(u16),
    /// A type that is unknown or not the host's to send.
    #[error("the host sent a frame of type {0:#06x}")]
    Type(u16),
    /// A length above the ceiling; nothing was allocated for it.
    #[error("a frame of {length} bytes, at most {limit} allowed")]
    Oversized {
        /// Bytes of the whole frame.
        length: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The digest is not that of header and body.
    #[error("the digest of a frame is wrong")]
    Digest,
}

impl FrameError {
    /// The kind of stage `host`.
    pub const fn kind(self) -> FailureKind {
        match self {
            Self::Ended => FailureKind::HostLost,
            Self::Truncated => FailureKind::FrameTruncated,
            Self::Oversized { .. } => FailureKind::FrameTooLarge,
            Self::Magic | Self::Version(_) | Self::Type(_) | Self::Digest => {
                FailureKind::FrameMalformed
            }
        }
    }
}

/// A whole frame of at most `max_frame_bytes` bytes.
///
/// # Errors
/// `Oversized` when the body is above the ceiling of its type or the frame above the limit.
pub fn encode_frame(
    kind: FrameKind,
    sequence: u64,
    body: &[u8],
    max_frame_bytes: u64,
) -> Result<Vec<u8>, FrameError> {
    let whole = whole_length(body.len());
    let request = kind.number() < 0x8000;
    let oversized = |limit| {
        Err(FrameError::Oversized {
            length: whole,
            limit,
        })
    };
    if request && body.len() > kind.ceiling() {
        return oversized(whole_length(kind.ceiling()));
    }
    let limit = max_frame_bytes.min(MAX_FRAME_BYTES);
    let Ok(length) = u32::try_from(body.len()) else {
        return oversized(limit);
    };
    if whole > limit {
        return oversized(limit);
    }
    let mut frame = Vec::with_capacity(HEADER_BYTES.saturating_add(body.len()));
    frame.extend_from_slice(&MAGIC);
    frame.extend_from_slice(&VERSION.to_be_bytes());
    frame.extend_from_slice(&kind.number().to_be_bytes());
    frame.extend_from_slice(&sequence.to_be_bytes());
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(body);
    let digest = digest(&frame, &[]);
    frame.extend_from_slice(&digest);
    Ok(frame)
}

/// Reads the header of a reply, everything but the sequence being judged here.
///
/// # Errors
/// `Ended`, `Truncated`, `Magic`, `Version`, `Type`, `Oversized`, the first that applies.
pub(crate) fn decode_header(bytes: &[u8], max_frame_bytes: u64) -> Result<Header, FrameError> {
    let [
        m0,
        m1,
        m2,
        m3,
        v0,
        v1,
        t0,
        t1,
        sequence @ ..,
        l0,
        l1,
        l2,
        l3,
    ] = bytes
    else {
        return Err(short(bytes.len()));
    };
    let Ok(sequence) = <[u8; 8]>::try_from(sequence) else {
        return Err(short(bytes.len()));
    };
    if [*m0, *m1, *m2, *m3] != MAGIC {
        return Err(FrameError::Magic);
    }
    let version = u16::from_be_bytes([*v0, *v1]);
    if version != VERSION {
        return Err(FrameError::Version(version));
    }
    let number = u16::from_be_bytes([*t0, *t1]);
    let kind = FrameKind::reply(number).ok_or(FrameError::Type(number))?;
    let claimed = u32::from_be_bytes([*l0, *l1, *l2, *l3]);
    let limit = max_frame_bytes.min(MAX_FRAME_BYTES);
    let whole = u64::from(claimed).saturating_add(OVERHEAD);
    match usize::try_from(claimed) {
        Ok(length) if whole <= limit => Ok(Header {
            kind,
            sequence: u64::from_be_bytes(sequence),
            length,
        }),
        _ => Err(FrameError::Oversized {
            length: whole,
            limit,
        }),
    }
}

/// Whether `digest` is that of a header and its body.
///
/// # Errors
/// `Digest`.
pub(crate) fn check_digest(header: &[u8], body: &[u8], stated: &[u8]) -> Result<(), FrameError> {
    if digest(header, body) == stated {
        Ok(())
    } else {
        Err(FrameError::Digest)
    }
}

/// Header and digest.
const OVERHEAD: u64 = 52;

fn whole_length(body: usize) -> u64 {
    u64::try_from(body)
        .unwrap_or(u64::MAX)
        .saturating_add(OVERHEAD)
}

fn digest(header: &[u8], body: &[u8]) -> [u8; 32] {
    let mut hasher = DeriveHasher::new("echo/frame/v1");
    hasher.update(header);
    hasher.update(body);
    hasher.finish()
}

fn short(length: usize) -> FrameError {
    if length == 0 {
        FrameError::Ended
    } else {
        FrameError::Truncated
    }
}
