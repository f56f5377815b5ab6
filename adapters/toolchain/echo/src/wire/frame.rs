// SPDX-License-Identifier: Apache-2.0
//! Frames: 20 header bytes, one canonical map, 32 digest bytes, read in a fixed order of checks.

use crate::limits;
use edict_codec::digest::{DeriveHasher, derive};
use std::io::Read;

/// First four bytes of a frame.
pub const MAGIC: [u8; 4] = [0x89, b'E', b'C', b'H'];
/// Framing version.
pub const VERSION: u16 = 1;
/// Bytes before the body.
pub const HEADER_BYTES: usize = 20;
/// Bytes after the body.
pub const DIGEST_BYTES: usize = 32;

/// The buffer of a body is at most this far ahead of what arrived.
const CHUNK_BYTES: usize = 65_536;
const DOMAIN: &str = "echo/frame/v1";

/// Types of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestType {
    /// `hello`.
    Hello,
    /// `install`.
    Install,
    /// `uninstall`.
    Uninstall,
    /// `open-context`.
    OpenContext,
    /// `invoke`.
    Invoke,
    /// `recall`.
    Recall,
    /// `observe`.
    Observe,
    /// `close-context`.
    CloseContext,
    /// `shutdown`.
    Shutdown,
}

impl RequestType {
    /// The request type of that number.
    pub const fn from_number(number: u16) -> Option<Self> {
        Some(match number {
            1 => Self::Hello,
            2 => Self::Install,
            3 => Self::Uninstall,
            4 => Self::OpenContext,
            5 => Self::Invoke,
            6 => Self::Recall,
            7 => Self::Observe,
            8 => Self::CloseContext,
            9 => Self::Shutdown,
            _ => return None,
        })
    }

    /// Most body bytes of this type (section 8).
    pub const fn ceiling(self) -> u64 {
        match self {
            Self::Hello => limits::MAX_HELLO_BYTES,
            Self::Install => limits::MAX_INSTALL_BYTES,
            Self::OpenContext => limits::MAX_OPEN_BYTES,
            Self::Invoke => limits::MAX_INVOKE_BYTES,
            Self::Observe => limits::MAX_OBSERVE_BYTES,
            Self::Uninstall | Self::Recall | Self::CloseContext | Self::Shutdown => {
                limits::MAX_CONTROL_BYTES
            }
        }
    }
}

/// Types of replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum ReplyType {
    /// Answer to `hello`.
    Hello = 0x8001,
    /// Answer to `install`.
    Install = 0x8002,
    /// Answer to `uninstall`.
    Uninstall = 0x8003,
    /// Answer to `open-context`.
    OpenContext = 0x8004,
    /// Answer to `invoke` and `recall`.
    Outcome = 0x8005,
    /// Answer to `observe`.
    Observe = 0x8007,
    /// Answer to `close-context`.
    CloseContext = 0x8008,
    /// Answer to `shutdown`.
    Bye = 0x8009,
    /// The request had no effect.
    Refused = 0x8FFF,
    /// The stream cannot be trusted; the last frame.
    Fault = 0xFFFF,
}

impl ReplyType {
    /// The number on the wire.
    pub const fn number(self) -> u16 {
        self as u16
    }
}

/// Why the stream cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct Fault {
    /// Stable kind.
    pub kind: &'static str,
    /// For people.
    pub message: String,
    /// Sequence of the offending frame; 0 when none is known.
    pub sequence: u64,
}

impl Fault {
    /// A fault at the frame of that sequence, or at none (0).
    pub fn new(kind: &'static str, message: impl Into<String>, sequence: u64) -> Self {
        Self {
            kind,
            message: message.into(),
            sequence,
        }
    }
}

/// A request whose form was checked up to its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFrame {
    /// Its type.
    pub request_type: RequestType,
    /// Its sequence.
    pub sequence: u64,
    /// Body bytes, not decoded yet.
    pub body: Vec<u8>,
}

/// The bytes of a whole frame.
pub fn encode(frame_type: u16, sequence: u64, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let mut frame = Vec::with_capacity(
        body.len()
            .saturating_add(HEADER_BYTES)
            .saturating_add(DIGEST_BYTES),
    );
    frame.extend_from_slice(&MAGIC);
    frame.extend_from_slice(&VERSION.to_be_bytes());
    frame.extend_from_slice(&frame_type.to_be_bytes());
    frame.extend_from_slice(&sequence.to_be_bytes());
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(body);
    let digest = derive(DOMAIN, &frame);
    frame.extend_from_slice(&digest);
    frame
}

/// Bytes of the whole frame around a body of `body` bytes.
pub fn whole_bytes(body: usize) -> usize {
    body.saturating_add(HEADER_BYTES)
        .saturating_add(DIGEST_BYTES)
}

/// Reads request frames one after the other.
#[derive(Debug)]
pub struct FrameReader<R> {
    input: R,
    last_sequence: u64,
}

impl<R: Read> FrameReader<R> {
    /// A reader at the beginning of a stream.
    pub fn new(input: R) -> Self {
        Self {
            input,
            last_sequence: 0,
        }
    }

    /// The next frame, or `None` at the orderly end of the stream.
    ///
    /// # Errors
    /// The first `frame-*` fault in the order of section 1.3.
    pub fn read(&mut self) -> Result<Option<RequestFrame>, Fault> {
        let mut header = [0u8; HEADER_BYTES];
        match read_full(&mut self.input, &mut header) {
            0 => return Ok(None),
            HEADER_BYTES => {}
            got => {
                return Err(Fault::new(
                    "frame-truncated",
                    format!("the stream ends after {got} of {HEADER_BYTES} header bytes"),
                    0,
                ));
            }
        }
        let (request_type, sequence, length) = self.judge_header(&header)?;
        self.last_sequence = sequence;
        let body = self.body(&header, sequence, length)?;
        Ok(Some(RequestFrame {
            request_type,
            sequence,
            body,
        }))
    }

    fn judge_header(
        &self,
        header: &[u8; HEADER_BYTES],
    ) -> Result<(RequestType, u64, usize), Fault> {
        let &[
            m0,
            m1,
            m2,
            m3,
            v0,
            v1,
            t0,
            t1,
            s0,
            s1,
            s2,
            s3,
            s4,
            s5,
            s6,
            s7,
            l0,
            l1,
            l2,
            l3,
        ] = header;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(Fault::new("frame-magic", "no frame begins here", 0));
        }
        let version = u16::from_be_bytes([v0, v1]);
        if version != VERSION {
            return Err(Fault::new(
                "frame-version",
                format!("framing version {version}, only {VERSION} is spoken"),
                0,
            ));
        }
        let number = u16::from_be_bytes([t0, t1]);
        let sequence = u64::from_be_bytes([s0, s1, s2, s3, s4, s5, s6, s7]);
        let Some(request_type) = RequestType::from_number(number) else {
            return Err(Fault::new(
                "frame-type",
                format!("{number} is no type of a request"),
                sequence,
            ));
        };
        let length = u32::from_be_bytes([l0, l1, l2, l3]);
        let ceiling = request_type.ceiling();
        if u64::from(length) > ceiling {
            return Err(Fault::new(
                "frame-oversized",
                format!("a body of {length} bytes, this type has at most {ceiling}"),
                sequence,
            ));
        }
        let expected = self.last_sequence.checked_add(1);
        if Some(sequence) != expected {
            return Err(Fault::new(
                "frame-sequence",
                format!("sequence {sequence} after {}", self.last_sequence),
                sequence,
            ));
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        Ok((request_type, sequence, length))
    }

    fn body(
        &mut self,
        header: &[u8; HEADER_BYTES],
        sequence: u64,
        length: usize,
    ) -> Result<Vec<u8>, Fault> {
        let truncated = |what: &str| {
            Fault::new(
                "frame-truncated",
                format!("the stream ends in the {what} of a frame"),
                sequence,
            )
        };
        let mut body: Vec<u8> = Vec::new();
        while body.len() < length {
            let start = body.len();
            let chunk = CHUNK_BYTES.min(length.saturating_sub(start));
            body.reserve_exact(chunk);
            body.resize(start.saturating_add(chunk), 0);
            let target = body.get_mut(start..).unwrap_or_default();
            if read_full(&mut self.input, target) < chunk {
                return Err(truncated("body"));
            }
        }
        let mut digest = [0u8; DIGEST_BYTES];
        if read_full(&mut self.input, &mut digest) < DIGEST_BYTES {
            return Err(truncated("digest"));
        }
        let mut hasher = DeriveHasher::new(DOMAIN);
        hasher.update(header);
        hasher.update(&body);
        if hasher.finish() == digest {
            Ok(body)
        } else {
            Err(Fault::new(
                "frame-digest",
                "the digest is not that of header and body",
                sequence,
            ))
        }
    }
}

/// Fills `target` as far as the stream goes; a reader that fails has ended. Returns the bytes read.
fn read_full(input: &mut dyn Read, target: &mut [u8]) -> usize {
    let mut filled = 0;
    while let Some(rest) = target.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) => break,
            Ok(count) => filled = filled.saturating_add(count),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    filled
}
