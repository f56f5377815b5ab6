// SPDX-License-Identifier: Apache-2.0
//! The replica of a client: it starts empty, applies patches and recomputes every root.

use edict_codec::{
    cbor::{Value, decode, encode},
    digest::{TypedDigest, derive, derive_extended, derive_typed},
};
use std::collections::BTreeMap;

/// Atoms by identity: version and value length.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    lanes: Vec<u16>,
    atoms: BTreeMap<Vec<u8>, (Vec<u8>, u64)>,
}

impl Replica {
    /// The empty basis.
    pub(crate) fn new() -> Self {
        Self {
            lanes: vec![0; 1_024],
            atoms: BTreeMap::new(),
        }
    }

    /// The version of an atom, if there is one.
    pub(crate) fn version(&self, atom: &[u8]) -> Option<&[u8]> {
        self.atoms.get(atom).map(|it| it.0.as_slice())
    }

    /// The state root.
    pub(crate) fn root(&self) -> TypedDigest {
        let mut bytes: Vec<u8> = self.lanes.iter().flat_map(|it| it.to_be_bytes()).collect();
        let sum: u64 = self.atoms.values().map(|it| it.1).sum();
        bytes.extend((self.atoms.len() as u64).to_be_bytes());
        bytes.extend(sum.to_be_bytes());
        derive_typed("echo/state-root/v1", &bytes)
    }

    /// Applies a patch body, every claim in it checked (V13).
    pub(crate) fn apply(&mut self, patch: &[u8]) {
        let rows = decode(patch).unwrap();
        let mut last = Vec::new();
        for row in rows.as_array().unwrap() {
            let bytes = |key: &str| row.get(key).unwrap().as_bytes().map(<[u8]>::to_vec);
            let atom = bytes("atom").unwrap();
            assert!(last < atom);
            let pair = Value::Array(vec![
                row.get("space").unwrap().clone(),
                row.get("key").unwrap().clone(),
            ]);
            assert_eq!(derive("echo/atom/v1", &encode(&pair)).as_slice(), atom);
            assert_eq!(bytes("before").as_deref(), self.version(&atom));
            assert_ne!(bytes("before"), bytes("after"));
            if let Some((version, _)) = self.atoms.remove(&atom) {
                self.element(&atom, &version, u16::wrapping_sub);
            }
            if let Some(value) = bytes("value") {
                let content = [atom.as_slice(), &value].concat();
                let version = derive("echo/atom-version/v1", &content);
                assert_eq!(bytes("after").as_deref(), Some(version.as_slice()));
                self.element(&atom, &version, u16::wrapping_add);
                let stored = (version.to_vec(), value.len() as u64);
                self.atoms.insert(atom.clone(), stored);
            } else {
                assert_eq!(bytes("after"), None);
            }
            last = atom;
        }
    }

    fn element(&mut self, atom: &[u8], version: &[u8], operation: fn(u16, u16) -> u16) {
        let mut element = [0; 2_048];
        let preimage = [atom, version].concat();
        derive_extended("echo/state-element/v1", &preimage, &mut element);
        for (lane, pair) in self.lanes.iter_mut().zip(element.chunks(2)) {
            *lane = operation(*lane, u16::from_be_bytes([pair[0], pair[1]]));
        }
    }
}
