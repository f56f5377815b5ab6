// SPDX-License-Identifier: Apache-2.0
//! JSON values as canonical CBOR: what digests over documents are made of.

use super::write::Json;
use crate::cbor::{Encoder, Integer};

/// The canonical bytes of `json`: objects as maps with text keys, everything else as it is. `None` for
/// an integer outside the range of the codec.
pub fn canonical(json: &Json) -> Option<Vec<u8>> {
    let mut encoder = Encoder::new();
    write(json, &mut encoder)?;
    Some(encoder.into_bytes())
}

/// Recurses as deep as `json`, which is a document of ours or was read with a limit of depth.
fn write(json: &Json, encoder: &mut Encoder) -> Option<()> {
    match json {
        Json::Null => encoder.null(),
        Json::Bool(value) => encoder.bool(*value),
        Json::Integer(value) => encoder.integer(Integer::new(*value)?),
        Json::Text(text) => encoder.text(text),
        Json::Array(items) => {
            encoder.array(items.len());
            for item in items {
                write(item, encoder)?;
            }
        }
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            // Encoded text keys order by length first, then by bytes.
            members.sort_unstable_by_key(|(name, _)| (name.len(), name.as_bytes()));
            encoder.map(members.len());
            for (name, member) in members {
                encoder.text(name);
                write(member, encoder)?;
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_in_the_order_of_their_encoded_bytes() {
        let json = Json::object([
            ("b", Json::Null),
            ("aa", Json::Bool(true)),
            ("a", Json::Array(vec![Json::Integer(-1), Json::text("x")])),
        ]);
        assert_eq!(
            canonical(&json).unwrap(),
            b"\xa3\x61a\x82\x20\x61x\x61b\xf6\x62aa\xf5"
        );
    }

    #[test]
    fn an_integer_beyond_the_codec_has_no_bytes() {
        assert_eq!(canonical(&Json::Integer(i128::MAX)), None);
        assert_eq!(
            canonical(&Json::Array(vec![Json::Integer(i128::MIN)])),
            None
        );
    }
}
