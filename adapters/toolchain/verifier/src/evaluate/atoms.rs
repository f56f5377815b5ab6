// SPDX-License-Identifier: Apache-2.0
//! The atoms that a program with effects finds and leaves: a canonical list of space, key and value
//! bytes, ascending.

use crate::closure::canonical;
use crate::decode::reader::{Defect, Under, refuse};
use edict_codec::cbor::{Value, encode};
use edict_codec::digest::derive;
use std::collections::BTreeMap;

/// Space and key bytes of an atom.
pub(crate) type Address = (String, Vec<u8>);

/// Value bytes by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Atoms(BTreeMap<Address, Vec<u8>>);

impl Atoms {
    /// Reads a list.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Defect> {
        let list = canonical(bytes)?;
        let Some(rows) = list.as_array() else {
            return refuse("expected a list of atoms");
        };
        let mut atoms = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            let (address, value) = atom(row).under(index)?;
            if atoms
                .last_key_value()
                .is_some_and(|(last, _)| *last >= address)
            {
                return Err(Defect::new("atoms stand in ascending order, each once").under(index));
            }
            atoms.insert(address, value);
        }
        Ok(Self(atoms))
    }

    /// The canonical list.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let rows = self.0.iter().map(|((space, key), value)| {
            Value::text_map([
                ("key", Value::bytes(&**key)),
                ("space", Value::text(&**space)),
                ("value", Value::bytes(&**value)),
            ])
        });
        encode(&Value::Array(rows.collect()))
    }

    /// The value bytes at an address.
    pub(crate) fn get(&self, address: &Address) -> Option<&[u8]> {
        self.0.get(address).map(Vec::as_slice)
    }

    /// Writes a value.
    pub(crate) fn set(&mut self, address: Address, value: Vec<u8>) {
        self.0.insert(address, value);
    }

    /// Removes an atom.
    pub(crate) fn remove(&mut self, address: &Address) {
        self.0.remove(address);
    }
}

/// The version of an atom depends on its address and its content only.
pub(crate) fn version((space, key): &Address, value: &[u8]) -> [u8; 32] {
    let address = Value::Array(vec![Value::text(&**space), Value::bytes(&**key)]);
    let atom = derive("echo/atom/v1", &encode(&address));
    derive("echo/atom-version/v1", &[&atom, value].concat())
}

fn atom(row: &Value) -> Result<(Address, Vec<u8>), Defect> {
    let is_closed = row.as_map().is_some_and(|members| members.len() == 3);
    let bytes = |name: &str| row.get(name).and_then(Value::as_bytes).map(<[u8]>::to_vec);
    let space = row.get("space").and_then(Value::as_text);
    match (space, bytes("key"), bytes("value")) {
        (Some(space), Some(key), Some(value)) if is_closed => Ok(((space.to_owned(), key), value)),
        _ => refuse("an atom is exactly a space, a key and a value"),
    }
}
