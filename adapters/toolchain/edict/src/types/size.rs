// SPDX-License-Identifier: Apache-2.0
//! How large values of a type can get: encoded bytes, comparison weight, nesting.

use super::ty::{Type, Width};
use std::collections::BTreeMap;

/// Steps for `n` bytes of work: `n / 64` rounded up.
pub const fn units(bytes: u64) -> u64 {
    bytes.div_ceil(64)
}

/// Bytes of a definite-length CBOR head for `count`.
pub const fn head(count: u64) -> u64 {
    match count {
        0..=23 => 1,
        24..=0xff => 2,
        0x100..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

fn string(bytes: u64) -> u64 {
    head(bytes).saturating_add(bytes)
}

fn length(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

fn count(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}

/// Sizes of types; answers for named types are kept, so sharing costs nothing.
#[derive(Debug, Default)]
pub struct Sizes {
    encoded: BTreeMap<String, u64>,
    weights: BTreeMap<String, u64>,
}

pub(crate) fn coordinate(ty: &Type) -> Option<&str> {
    match ty {
        Type::Record(record) => record.coordinate.as_deref(),
        Type::Variant(variant) => Some(&variant.coordinate),
        Type::Nominal(nominal) => Some(&nominal.coordinate),
        Type::Bool
        | Type::Integer(_)
        | Type::Text { .. }
        | Type::Bytes { .. }
        | Type::Option(_)
        | Type::List { .. }
        | Type::Error => None,
    }
}

impl Sizes {
    /// Bytes of the largest canonical encoding, saturating.
    pub fn encoded(&mut self, ty: &Type) -> u64 {
        let name = coordinate(ty);
        if let Some(known) = name.and_then(|it| self.encoded.get(it)) {
            return *known;
        }
        let size = self.encoded_parts(ty);
        if let Some(name) = name {
            self.encoded.insert(name.to_owned(), size);
        }
        size
    }

    fn encoded_parts(&mut self, ty: &Type) -> u64 {
        match ty {
            Type::Bool | Type::Error => 1,
            Type::Integer(Width::U32 | Width::I32) => 5,
            Type::Integer(Width::U64 | Width::I64) => 9,
            Type::Text { max } => string(max.saturating_mul(4)),
            Type::Bytes { max, .. } => string(*max),
            Type::Option(item) => self.encoded(item),
            Type::List { item, max } => {
                head(*max).saturating_add(max.saturating_mul(self.encoded(item)))
            }
            Type::Nominal(nominal) => self.encoded(&nominal.representation),
            Type::Record(record) => {
                let mut sum = head(count(record.fields.len()));
                for (name, field) in &record.fields {
                    sum = sum
                        .saturating_add(string(length(name)))
                        .saturating_add(self.encoded(field));
                }
                sum
            }
            Type::Variant(variant) => {
                let mut most = 0;
                for (name, payload) in &variant.cases {
                    let payload = payload.as_ref().map_or(0, |it| self.encoded(it));
                    most = string(length(name)).saturating_add(payload).max(most);
                }
                most.saturating_add(1)
            }
        }
    }

    /// The greatest weight of a value in a comparison, saturating.
    pub fn weight(&mut self, ty: &Type) -> u64 {
        let name = coordinate(ty);
        if let Some(known) = name.and_then(|it| self.weights.get(it)) {
            return *known;
        }
        let weight = match ty {
            Type::Bool | Type::Integer(_) | Type::Error => 1,
            Type::Text { max } => units(max.saturating_mul(4)).saturating_add(1),
            Type::Bytes { max, .. } => units(*max).saturating_add(1),
            Type::Option(item) => self.weight(item).saturating_add(1),
            Type::List { item, max } => max.saturating_mul(self.weight(item)).saturating_add(1),
            Type::Nominal(nominal) => self.weight(&nominal.representation),
            Type::Record(record) => record
                .fields
                .values()
                .fold(1, |sum, field| self.weight(field).saturating_add(sum)),
            Type::Variant(variant) => variant
                .cases
                .iter()
                .filter_map(|(_, payload)| payload.as_ref())
                .map(|it| self.weight(it))
                .max()
                .unwrap_or(0)
                .saturating_add(1),
        };
        if let Some(name) = name {
            self.weights.insert(name.to_owned(), weight);
        }
        weight
    }

    /// Bytes of the largest atom key: byte strings as they are, anything else encoded.
    pub fn key(&mut self, ty: &Type) -> u64 {
        match ty {
            Type::Bytes { max, .. } => *max,
            Type::Nominal(nominal) => self.key(&nominal.representation),
            Type::Bool
            | Type::Integer(_)
            | Type::Text { .. }
            | Type::Record(_)
            | Type::Variant(_)
            | Type::Option(_)
            | Type::List { .. }
            | Type::Error => self.encoded(ty),
        }
    }
}

/// Parts of the text of a type and its depth: a named type counts as one level, and every 64
/// bytes of a name as one part more.
pub fn extent(ty: &Type) -> (u64, u64) {
    let named = |name: &str| length(name).div_euclid(64).saturating_add(1);
    match ty {
        Type::Option(item) | Type::List { item, .. } => {
            let (parts, depth) = extent(item);
            (parts.saturating_add(1), depth.saturating_add(1))
        }
        Type::Record(record) if record.coordinate.is_none() => {
            let (mut parts, mut depth) = (1u64, 0u64);
            for (name, field) in &record.fields {
                let (more, deep) = extent(field);
                parts = parts.saturating_add(more).saturating_add(named(name));
                depth = depth.max(deep);
            }
            (parts, depth.saturating_add(1))
        }
        Type::Bool
        | Type::Integer(_)
        | Type::Text { .. }
        | Type::Bytes { .. }
        | Type::Record(_)
        | Type::Variant(_)
        | Type::Nominal(_)
        | Type::Error => (coordinate(ty).map_or(1, named), 1),
    }
}

/// Deepest nesting of a declared type; deeper values have no canonical encoding.
pub const MAX_DEPTH: u64 = 128;

/// Nesting of types through their names.
#[derive(Debug, Default)]
pub struct Depths {
    known: BTreeMap<String, u64>,
}

impl Depths {
    /// Containers that a value of the type nests at most.
    pub fn depth(&mut self, ty: &Type) -> u64 {
        let name = coordinate(ty);
        if let Some(known) = name.and_then(|it| self.known.get(it)) {
            return *known;
        }
        let inner = match ty {
            Type::Bool
            | Type::Integer(_)
            | Type::Text { .. }
            | Type::Bytes { .. }
            | Type::Error => return 0,
            Type::Option(item) => return self.depth(item).saturating_add(1),
            Type::List { item, .. } => self.depth(item),
            Type::Nominal(nominal) => self.depth(&nominal.representation),
            Type::Record(record) => {
                let fields = record.fields.values();
                fields.map(|it| self.depth(it)).max().unwrap_or(0)
            }
            Type::Variant(variant) => {
                let payloads = variant.cases.iter().filter_map(|(_, it)| it.as_ref());
                payloads.map(|it| self.depth(it)).max().unwrap_or(0)
            }
        };
        let depth = inner.saturating_add(1);
        if let Some(name) = name {
            self.known.insert(name.to_owned(), depth);
        }
        depth
    }
}
