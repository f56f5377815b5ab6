// SPDX-License-Identifier: Apache-2.0
//! Reads maps with exact keys, and says where one is wrong.

use crate::pin::{Budget, Consumed};
use edict_codec::{
    cbor::Value,
    digest::{Algorithm, TypedDigest},
};

/// An item that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) path: String,
    pub(crate) message: String,
}

/// An item and the steps to it.
#[derive(Clone, Debug)]
pub(crate) struct Item<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Item<'a> {
    /// The root.
    pub(crate) fn root(value: &'a Value) -> Self {
        Self {
            value,
            path: String::new(),
        }
    }

    /// The item itself.
    pub(crate) fn value(&self) -> &'a Value {
        self.value
    }

    /// This item is wrong.
    pub(crate) fn wrong(&self, message: impl Into<String>) -> Wrong {
        Wrong {
            path: if self.path.is_empty() {
                ".".to_owned()
            } else {
                self.path.clone()
            },
            message: message.into(),
        }
    }

    /// What stands under `key` of this item is wrong.
    pub(crate) fn wrong_at(&self, key: &str, message: impl Into<String>) -> Wrong {
        Wrong {
            path: format!("{}.{key}", self.path),
            message: message.into(),
        }
    }

    /// The values of a map that has exactly `keys`.
    pub(crate) fn map<const N: usize>(
        &self,
        keys: [&'static str; N],
    ) -> Result<[Item<'a>; N], Wrong> {
        let Some(entries) = self.value.as_map() else {
            return Err(self.wrong("a map must stand here"));
        };
        for (key, _) in entries {
            match key.as_text() {
                Some(key) if keys.contains(&key) => {}
                Some(key) => return Err(self.wrong_at(key, "unknown key")),
                None => return Err(self.wrong("a key is no text")),
            }
        }
        for key in keys {
            if self.value.get(key).is_none() {
                return Err(self.wrong_at(key, "this key is missing"));
            }
        }
        Ok(keys.map(|key| Item {
            value: self.value.get(key).unwrap_or(self.value),
            path: format!("{}.{key}", self.path),
        }))
    }

    /// The value of one key of a map.
    pub(crate) fn member(&self, key: &str) -> Result<Item<'a>, Wrong> {
        let path = format!("{}.{key}", self.path);
        match self.value.get(key) {
            Some(value) => Ok(Item { value, path }),
            None => Err(self.wrong_at(key, "this key is missing")),
        }
    }

    /// The items of an array.
    pub(crate) fn array(&self) -> Result<Vec<Item<'a>>, Wrong> {
        let Some(items) = self.value.as_array() else {
            return Err(self.wrong("an array must stand here"));
        };
        Ok(items
            .iter()
            .enumerate()
            .map(|(index, value)| Item {
                value,
                path: format!("{}[{index}]", self.path),
            })
            .collect())
    }

    /// A text.
    pub(crate) fn text(&self) -> Result<&'a str, Wrong> {
        self.value
            .as_text()
            .ok_or_else(|| self.wrong("a text must stand here"))
    }

    /// A text of 1..1,024 bytes.
    pub(crate) fn coordinate(&self) -> Result<&'a str, Wrong> {
        let text = self.text()?;
        if text.is_empty() || text.len() > 1024 {
            return Err(self.wrong("a coordinate has 1 to 1024 bytes"));
        }
        Ok(text)
    }

    /// A byte string.
    pub(crate) fn bytes(&self) -> Result<&'a [u8], Wrong> {
        self.value
            .as_bytes()
            .ok_or_else(|| self.wrong("a byte string must stand here"))
    }

    /// A number 0..2^64-1.
    pub(crate) fn number(&self) -> Result<u64, Wrong> {
        self.value
            .as_u64()
            .ok_or_else(|| self.wrong("a number below 2^64 must stand here"))
    }

    /// A SHA-256 digest of that domain.
    pub(crate) fn digest(&self, domain: &str) -> Result<TypedDigest, Wrong> {
        let digest = self.any_digest()?;
        if digest.domain() == domain {
            Ok(digest)
        } else {
            Err(self.wrong(format!("a digest of domain `{domain}` must stand here")))
        }
    }

    /// A SHA-256 digest of any domain.
    pub(crate) fn any_digest(&self) -> Result<TypedDigest, Wrong> {
        TypedDigest::from_value(self.value)
            .filter(|digest| {
                digest.algorithm() == Algorithm::Sha256
                    && (1..=1024).contains(&digest.domain().len())
            })
            .ok_or_else(|| self.wrong("a SHA-256 digest must stand here"))
    }

    /// A budget; each member is at least 1.
    pub(crate) fn budget(&self) -> Result<Budget, Wrong> {
        let [bytes, output, steps] =
            self.map(["maxAllocatedBytes", "maxOutputBytes", "maxSteps"])?;
        for item in [&bytes, &output, &steps] {
            if item.number()? == 0 {
                return Err(item.wrong("a budget is at least 1"));
            }
        }
        Ok(Budget {
            max_steps: steps.number()?,
            max_allocated_bytes: bytes.number()?,
            max_output_bytes: output.number()?,
        })
    }

    /// A static bound.
    pub(crate) fn bound(&self) -> Result<Consumed, Wrong> {
        let [bytes, output, steps] = self.map(["allocatedBytes", "outputBytes", "steps"])?;
        Ok(Consumed {
            steps: steps.number()?,
            allocated_bytes: bytes.number()?,
            output_bytes: output.number()?,
        })
    }

    /// Whether `key` is above `last`; `last` becomes `key`.
    pub(crate) fn ascends<K: PartialOrd>(&self, last: &mut Option<K>, key: K) -> Result<(), Wrong> {
        if last.as_ref().is_some_and(|last| *last >= key) {
            return Err(self.wrong("the entries must ascend"));
        }
        *last = Some(key);
        Ok(())
    }
}
