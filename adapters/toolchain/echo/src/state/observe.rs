// SPDX-License-Identifier: Apache-2.0
//! Observations: bounded looks at a store that change and decide nothing (section 2.6).

use super::{address, store::Store, view::Atom};
use crate::{
    refusal::Refusal,
    wire::{
        frame::ReplyType,
        reply::{Reply, optional_bytes},
        request::{Basis, Observe, Select},
    },
};
use edict_codec::{
    cbor::{Value, encode},
    digest::derive_typed,
};

/// The reply to `request` at the current `basis`.
///
/// # Errors
/// `basis-mismatch`, `observation-too-large`.
pub fn observe(store: &Store, basis: &Basis, request: &Observe) -> Result<Reply, Refusal> {
    request.basis.meets(basis)?;
    let (entries, more) = match &request.select {
        Select::Atoms(pairs) => (
            pairs
                .iter()
                .map(|(space, key)| (space.as_str(), key.as_slice(), store.get(space, key)))
                .collect::<Vec<_>>(),
            false,
        ),
        Select::Scan {
            space,
            after,
            limit,
        } => {
            let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
            let mut scan = store.scan(space, after.as_deref());
            let entries = scan
                .by_ref()
                .take(limit)
                .map(|(key, atom)| (space.as_str(), key, Some(atom)))
                .collect();
            (entries, scan.next().is_some())
        }
    };
    let sum: usize = entries
        .iter()
        .filter_map(|entry| entry.2)
        .fold(0, |sum, atom| sum.saturating_add(atom.value.len()));
    if u64::try_from(sum).is_ok_and(|sum| sum > request.max_bytes) {
        return Err(Refusal::at(
            "observation-too-large",
            ".maxBytes",
            format!("the values have {sum} bytes together"),
        ));
    }
    let entries = entries
        .into_iter()
        .map(|(space, key, atom)| entry(space, key, atom))
        .collect();
    let members = [
        ("worldline", request.worldline.to_value()),
        ("basis", basis.to_value()),
        ("entries", Value::Array(entries)),
        ("more", Value::Bool(more)),
    ];
    let judged = Value::text_map(
        members
            .clone()
            .into_iter()
            .chain([("select", select_value(&request.select))]),
    );
    let digest = derive_typed("echo/observation/v1", &encode(&judged));
    let value = Value::text_map(members.into_iter().chain([("digest", digest.to_value())]));
    Ok(Reply::new(ReplyType::Observe, &value))
}

fn entry(space: &str, key: &[u8], atom: Option<&Atom>) -> Value {
    Value::text_map([
        ("space", Value::text(space)),
        ("key", Value::bytes(key)),
        ("atom", Value::bytes(address::atom(space, key))),
        (
            "version",
            atom.map_or(Value::Null, |it| Value::bytes(it.version)),
        ),
        (
            "value",
            atom.map_or(Value::Null, |it| Value::bytes(&*it.value)),
        ),
    ])
}

fn select_value(select: &Select) -> Value {
    match select {
        Select::Atoms(pairs) => {
            let atoms = pairs
                .iter()
                .map(|(space, key)| {
                    Value::text_map([
                        ("space", Value::text(space.as_str())),
                        ("key", Value::bytes(key.as_slice())),
                    ])
                })
                .collect();
            Value::text_map([
                ("kind", Value::text("atoms")),
                ("atoms", Value::Array(atoms)),
            ])
        }
        Select::Scan {
            space,
            after,
            limit,
        } => Value::text_map([
            ("kind", Value::text("scan")),
            ("space", Value::text(space.as_str())),
            ("after", optional_bytes(after.as_deref())),
            ("limit", Value::unsigned(*limit)),
        ]),
    }
}
