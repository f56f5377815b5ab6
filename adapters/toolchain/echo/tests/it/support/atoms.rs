// SPDX-License-Identifier: Apache-2.0
//! A view over a plain map: an oracle of the four intrinsics.

use echo_host::{
    refusal::Refusal,
    state::view::{Atom, AtomAnswer, AtomRequest, AtomView},
};
use edict_codec::{
    cbor::{Value, encode},
    digest::derive,
};
use std::collections::BTreeMap;

/// Atoms of one invocation, and the calls it made.
#[derive(Debug, Default)]
pub(crate) struct MapView {
    pub(crate) atoms: BTreeMap<(String, Vec<u8>), Vec<u8>>,
    pub(crate) calls: usize,
}

/// The version of a value at an address.
pub(crate) fn version(space: &str, key: &[u8], value: &[u8]) -> [u8; 32] {
    let address = encode(&Value::Array(vec![Value::text(space), Value::bytes(key)]));
    let mut content = derive("echo/atom/v1", &address).to_vec();
    content.extend_from_slice(value);
    derive("echo/atom-version/v1", &content)
}

impl AtomView for MapView {
    fn judge(
        &self,
        space: &str,
        key: &[u8],
        request: &AtomRequest<'_>,
    ) -> Result<AtomAnswer, Refusal> {
        let stored = self.atoms.get(&(space.to_owned(), key.to_vec()));
        let atom = |value: &[u8]| Atom {
            value: value.into(),
            version: version(space, key, value),
        };
        Ok(match (request, stored.map(|it| atom(it))) {
            (AtomRequest::Create { value }, None) => AtomAnswer::Done(atom(value)),
            (AtomRequest::Create { .. }, Some(stored)) => AtomAnswer::Exists(stored.version),
            (_, None) => AtomAnswer::Missing,
            (
                AtomRequest::Replace { expected, .. } | AtomRequest::Delete { expected },
                Some(stored),
            ) if **expected != stored.version => AtomAnswer::Conflict(stored.version),
            (AtomRequest::Replace { value, .. }, Some(_)) => AtomAnswer::Done(atom(value)),
            (AtomRequest::Read | AtomRequest::Delete { .. }, Some(stored)) => {
                AtomAnswer::Done(stored)
            }
        })
    }

    fn perform(
        &mut self,
        space: &str,
        key: &[u8],
        request: &AtomRequest<'_>,
    ) -> Result<AtomAnswer, Refusal> {
        self.calls += 1;
        let answer = self.judge(space, key, request)?;
        if let AtomAnswer::Done(atom) = &answer {
            let address = (space.to_owned(), key.to_vec());
            match request {
                AtomRequest::Read => {}
                AtomRequest::Create { .. } | AtomRequest::Replace { .. } => {
                    self.atoms.insert(address, atom.value.to_vec());
                }
                AtomRequest::Delete { .. } => {
                    self.atoms.remove(&address);
                }
            }
        }
        Ok(answer)
    }
}
