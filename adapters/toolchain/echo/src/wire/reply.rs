// SPDX-License-Identifier: Apache-2.0
//! Replies: a type, a canonical body, and the rule that none exceeds what the client reads.

use super::{
    frame::{self, Fault, ReplyType},
    request::Basis,
};
use crate::refusal::Refusal;
use edict_codec::{
    cbor::{Value, encode},
    digest::TypedDigest,
};

const MAX_MESSAGE_BYTES: usize = 512;
const MAX_PATH_BYTES: usize = 256;

/// A reply without its sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its type.
    pub reply_type: ReplyType,
    /// Canonical body bytes.
    pub body: Vec<u8>,
}

impl Reply {
    /// A reply whose body is `value`.
    pub fn new(reply_type: ReplyType, value: &Value) -> Self {
        Self {
            reply_type,
            body: encode(value),
        }
    }

    /// The reply to a refused request.
    pub fn refused(refusal: &Refusal) -> Self {
        let path = refusal.path.as_deref().map_or(Value::Null, |path| {
            Value::text(cut(path, MAX_PATH_BYTES).to_owned())
        });
        let value = Value::text_map([
            ("kind", Value::text(refusal.kind)),
            ("message", Value::text(printable(&refusal.message))),
            ("path", path),
            ("scope", Value::text(refusal.scope.name())),
        ]);
        Self::new(ReplyType::Refused, &value)
    }

    /// The last frame of a stream that cannot be trusted.
    pub fn fault(fault: &Fault) -> Self {
        let value = Value::text_map([
            ("kind", Value::text(fault.kind)),
            ("message", Value::text(printable(&fault.message))),
        ]);
        Self::new(ReplyType::Fault, &value)
    }

    /// Bytes of the whole frame of this reply.
    pub fn frame_bytes(&self) -> usize {
        frame::whole_bytes(self.body.len())
    }

    /// This reply, if the client reads frames of its size.
    ///
    /// # Errors
    /// `response-too-large`.
    pub fn within(self, max_frame_bytes: u64) -> Result<Self, Refusal> {
        let bytes = self.frame_bytes();
        if u64::try_from(bytes).is_ok_and(|bytes| bytes <= max_frame_bytes) {
            Ok(self)
        } else {
            Err(Refusal::new(
                "response-too-large",
                format!("the reply has {bytes} bytes, the client reads {max_frame_bytes}"),
            ))
        }
    }
}

impl Basis {
    /// The map `{tick, stateRoot}`.
    pub fn to_value(&self) -> Value {
        Value::text_map([
            ("tick", Value::unsigned(self.tick)),
            ("stateRoot", self.state_root.to_value()),
        ])
    }
}

/// A digest or null.
pub fn optional_digest(digest: Option<&TypedDigest>) -> Value {
    digest.map_or(Value::Null, TypedDigest::to_value)
}

/// A byte string or null.
pub fn optional_bytes(bytes: Option<&[u8]>) -> Value {
    bytes.map_or(Value::Null, Value::bytes)
}

/// `text` with control characters escaped, cut at the bound of a message.
fn printable(text: &str) -> String {
    let mut printed = String::new();
    for sign in text.chars() {
        if sign.is_control() {
            printed.extend(sign.escape_unicode());
        } else {
            printed.push(sign);
        }
        if printed.len() > MAX_MESSAGE_BYTES {
            break;
        }
    }
    cut(&printed, MAX_MESSAGE_BYTES).to_owned()
}

/// The longest beginning of `text` of at most `most` bytes.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(0);
    text.get(..end).unwrap_or_default()
}
