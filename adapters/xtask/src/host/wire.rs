// SPDX-License-Identifier: Apache-2.0
//! Frames of the host's transport, written from its contract.

use super::HostError;
use edict_codec::{
    cbor::{Value, decode},
    digest::derive,
};

/// Magic and version of a frame.
const START: [u8; 6] = [0x89, 0x45, 0x43, 0x48, 0, 1];
/// Bytes before a body.
pub(super) const HEADER: usize = 20;
/// Bytes behind it.
pub(super) const DIGEST: usize = 32;

/// A frame whose digest held.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its type.
    pub kind: u16,
    /// The sequence it answers.
    pub sequence: u64,
    /// Its body.
    pub body: Value,
}

impl Frame {
    /// The body of a reply of that type.
    ///
    /// # Errors
    /// What it is instead.
    pub fn ok(self, kind: u16) -> Result<Value, HostError> {
        if self.kind == kind {
            return Ok(self.body);
        }
        Err(HostError::new(format!(
            "the host answered {:#06x}: {:?}",
            self.kind, self.body
        )))
    }

    /// The kind of a refusal.
    pub fn refused(&self) -> Option<&str> {
        (self.kind == 0x8FFF)
            .then(|| self.body.get("kind")?.as_text())
            .flatten()
    }
}

/// The bytes of a frame.
pub(super) fn write(kind: u16, sequence: u64, body: &[u8]) -> Result<Vec<u8>, HostError> {
    let length = u32::try_from(body.len()).map_err(|_| HostError::new("a body is too long"))?;
    let mut bytes = START.to_vec();
    bytes.extend(kind.to_be_bytes());
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend(body);
    let digest = derive("echo/frame/v1", &bytes);
    bytes.extend(digest);
    Ok(bytes)
}

/// The whole frame that `bytes` begin with, and what follows it.
pub(super) fn split(bytes: &[u8]) -> Result<Option<(Frame, &[u8])>, HostError> {
    let Some((header, _)) = bytes.split_first_chunk::<HEADER>() else {
        return Ok(None);
    };
    let whole = HEADER + body_length(header) + DIGEST;
    let Some((whole, rest)) = bytes.split_at_checked(whole) else {
        return Ok(None);
    };
    judge(whole).map(|frame| Some((frame, rest)))
}

pub(super) fn body_length(header: &[u8; HEADER]) -> usize {
    let [.., a, b, c, d] = *header;
    u32::from_be_bytes([a, b, c, d]) as usize
}

pub(super) fn judge(whole: &[u8]) -> Result<Frame, HostError> {
    let bad = |what: &str| HostError::new(format!("the host sent a frame with a bad {what}"));
    let (covered, digest) = whole
        .split_last_chunk::<DIGEST>()
        .ok_or_else(|| bad("length"))?;
    if derive("echo/frame/v1", covered) != *digest {
        return Err(bad("digest"));
    }
    let (header, body) = covered
        .split_first_chunk::<HEADER>()
        .ok_or_else(|| bad("length"))?;
    let [
        m0,
        m1,
        m2,
        m3,
        v0,
        v1,
        k0,
        k1,
        s0,
        s1,
        s2,
        s3,
        s4,
        s5,
        s6,
        s7,
        ..,
    ] = *header;
    if [m0, m1, m2, m3, v0, v1] != START {
        return Err(bad("start"));
    }
    Ok(Frame {
        kind: u16::from_be_bytes([k0, k1]),
        sequence: u64::from_be_bytes([s0, s1, s2, s3, s4, s5, s6, s7]),
        body: decode(body).map_err(|error| bad(&format!("body: {error}")))?,
    })
}
