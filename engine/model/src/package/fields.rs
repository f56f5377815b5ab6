// SPDX-License-Identifier: Apache-2.0
//! Reading one closed canonical map: exactly the keys of its table, each of its type.

use edict_codec::cbor::Value;
use edict_codec::digest::{Algorithm, TypedDigest};

/// A value that breaks the table it should follow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct Malformed {
    /// Steps `.name` and `[n]` from the root; `.` is the root alone.
    pub path: String,
    /// What is wrong there.
    pub problem: String,
}

impl Malformed {
    /// A breach at `path`; an empty path is the root.
    pub(crate) fn new(path: &str, problem: impl Into<String>) -> Self {
        Self {
            path: if path.is_empty() { "." } else { path }.to_owned(),
            problem: problem.into(),
        }
    }
}

/// The greatest length of a coordinate in bytes.
const MAX_COORDINATE_BYTES: usize = 1024;

/// A value and the path that leads to it.
#[derive(Clone, Debug)]
pub(crate) struct Field<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Field<'a> {
    /// The root of a document.
    pub(crate) fn root(value: &'a Value) -> Self {
        Self {
            value,
            path: String::new(),
        }
    }

    /// The value itself.
    pub(crate) fn value(&self) -> &'a Value {
        self.value
    }

    /// The path, `.` for the root.
    pub(crate) fn fail(&self, problem: impl Into<String>) -> Malformed {
        Malformed::new(&self.path, problem)
    }

    /// Requires a map with exactly `keys`.
    pub(crate) fn closed(&self, keys: &[&str]) -> Result<(), Malformed> {
        let entries = self.value.as_map().ok_or_else(|| self.fail("not a map"))?;
        for (key, _) in entries {
            let name = key.as_text().ok_or_else(|| self.fail("a key is no text"))?;
            if !keys.contains(&name) {
                return Err(Malformed::new(
                    &format!("{}.{name}", self.path),
                    "unknown key",
                ));
            }
        }
        match keys.iter().find(|key| self.value.get(key).is_none()) {
            Some(key) => Err(Malformed::new(
                &format!("{}.{key}", self.path),
                "missing key",
            )),
            None => Ok(()),
        }
    }

    /// The member `key` of a map.
    pub(crate) fn get(&self, key: &str) -> Result<Field<'a>, Malformed> {
        let path = format!("{}.{key}", self.path);
        match self.value.get(key) {
            Some(value) => Ok(Field { value, path }),
            None => Err(Malformed::new(&path, "missing key")),
        }
    }

    /// The same place, unless it is null.
    pub(crate) fn non_null(self) -> Option<Self> {
        (!self.value.is_null()).then_some(self)
    }

    /// The items of an array.
    pub(crate) fn items(&self) -> Result<Vec<Field<'a>>, Malformed> {
        let items = self
            .value
            .as_array()
            .ok_or_else(|| self.fail("not an array"))?;
        Ok(items
            .iter()
            .enumerate()
            .map(|(index, value)| Field {
                value,
                path: format!("{}[{index}]", self.path),
            })
            .collect())
    }

    /// The entries of a map with text keys.
    pub(crate) fn entries(&self) -> Result<Vec<(&'a str, Field<'a>)>, Malformed> {
        self.value
            .as_map()
            .ok_or_else(|| self.fail("not a map"))?
            .iter()
            .map(|(key, value)| {
                let name = key.as_text().ok_or_else(|| self.fail("a key is no text"))?;
                let path = format!("{}.{name}", self.path);
                Ok((name, Field { value, path }))
            })
            .collect()
    }

    /// A text.
    pub(crate) fn text(&self) -> Result<&'a str, Malformed> {
        self.value.as_text().ok_or_else(|| self.fail("not a text"))
    }

    /// A text of 1..=1,024 bytes.
    pub(crate) fn coordinate(&self) -> Result<String, Malformed> {
        let text = self.text()?;
        if text.is_empty() || text.len() > MAX_COORDINATE_BYTES {
            return Err(self.fail("a coordinate has 1 to 1024 bytes"));
        }
        Ok(text.to_owned())
    }

    /// A text that must be `expected`.
    pub(crate) fn exactly(&self, expected: &str) -> Result<(), Malformed> {
        if self.text()? == expected {
            Ok(())
        } else {
            Err(self.fail(format!("not `{expected}`")))
        }
    }

    /// An integer 0 ..= 2^64-1.
    pub(crate) fn unsigned(&self) -> Result<u64, Malformed> {
        self.value
            .as_u64()
            .ok_or_else(|| self.fail("not an unsigned 64-bit integer"))
    }

    /// An integer 1 ..= 2^64-1.
    pub(crate) fn positive(&self) -> Result<u64, Malformed> {
        match self.unsigned()? {
            0 => Err(self.fail("must not be 0")),
            value => Ok(value),
        }
    }

    /// `false` or `true`.
    pub(crate) fn bool(&self) -> Result<bool, Malformed> {
        self.value
            .as_bool()
            .ok_or_else(|| self.fail("not a boolean"))
    }

    /// A byte string.
    pub(crate) fn bytes(&self) -> Result<&'a [u8], Malformed> {
        self.value
            .as_bytes()
            .ok_or_else(|| self.fail("not a byte string"))
    }

    /// A byte string of exactly 32 bytes.
    pub(crate) fn bytes_32(&self) -> Result<[u8; 32], Malformed> {
        self.bytes()?
            .try_into()
            .map_err(|_| self.fail("not 32 bytes"))
    }

    /// A digest of any domain.
    pub(crate) fn any_digest(&self) -> Result<TypedDigest, Malformed> {
        let digest = TypedDigest::from_value(self.value)
            .ok_or_else(|| self.fail("not a typed digest `[domain, algorithm, 32 bytes]`"))?;
        if digest.domain().is_empty() || digest.domain().len() > MAX_COORDINATE_BYTES {
            return Err(self.fail("the domain of a digest has 1 to 1024 bytes"));
        }
        Ok(digest)
    }

    /// A SHA-256 digest of `domain` (an Edict domain).
    pub(crate) fn sha256(&self, domain: &str) -> Result<TypedDigest, Malformed> {
        self.digest(domain, Algorithm::Sha256)
    }

    /// A BLAKE3 digest of `domain` (a domain of the host).
    pub(crate) fn blake3(&self, domain: &str) -> Result<TypedDigest, Malformed> {
        self.digest(domain, Algorithm::Blake3)
    }

    fn digest(&self, domain: &str, algorithm: Algorithm) -> Result<TypedDigest, Malformed> {
        let digest = self.any_digest()?;
        if digest.domain() == domain && digest.algorithm() == algorithm {
            Ok(digest)
        } else {
            Err(self.fail(format!("not a {} digest of `{domain}`", algorithm.name())))
        }
    }

    /// Requires that `items` ascend strictly by `key`.
    pub(crate) fn ascending<T, K: Ord>(
        &self,
        items: &[T],
        key: impl Fn(&T) -> K,
    ) -> Result<(), Malformed> {
        let ascend = items
            .iter()
            .zip(items.iter().skip(1))
            .all(|(before, after)| key(before) < key(after));
        if ascend {
            Ok(())
        } else {
            Err(self.fail("items do not ascend strictly"))
        }
    }
}
