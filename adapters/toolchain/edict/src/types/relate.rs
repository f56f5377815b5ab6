// SPDX-License-Identifier: Apache-2.0
//! Which types agree: assignment and joining (section 2.2 of the language).

use super::ty::{RecordType, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Whether a value of `from` may stand where `to` is expected.
pub fn assignable(from: &Type, to: &Type) -> bool {
    Relation::default().assignable(from, to)
}

/// Whether both are the same type; named types are compared by coordinate.
pub fn same(left: &Type, right: &Type) -> bool {
    match (left, right) {
        (Type::Record(a), Type::Record(b)) => match (&a.coordinate, &b.coordinate) {
            (Some(a), Some(b)) => a == b,
            (None, None) => {
                a.fields.len() == b.fields.len()
                    && a.fields
                        .iter()
                        .zip(&b.fields)
                        .all(|(a, b)| a.0 == b.0 && same(a.1, b.1))
            }
            _ => false,
        },
        (Type::Variant(a), Type::Variant(b)) => a.coordinate == b.coordinate,
        (Type::Nominal(a), Type::Nominal(b)) => a.coordinate == b.coordinate,
        (Type::Option(a), Type::Option(b)) => same(a, b),
        (Type::List { item: a, max: n }, Type::List { item: b, max: m }) => n == m && same(a, b),
        _ => left == right,
    }
}

/// The least type that both are assignable to; the right one if either could be it.
pub fn join(left: &Type, right: &Type) -> Option<Type> {
    let mut relation = Relation::default();
    relation.join(left, right)
}

/// Answers are kept per pair of named records, so shared declarations are compared once.
#[derive(Default)]
struct Relation {
    seen: BTreeMap<(String, String), bool>,
    refused: BTreeSet<(String, String)>,
}

fn pair(left: &RecordType, right: &RecordType) -> Option<(String, String)> {
    Some((left.coordinate.clone()?, right.coordinate.clone()?))
}

impl Relation {
    fn assignable(&mut self, from: &Type, to: &Type) -> bool {
        match (from, to) {
            (Type::Error, _) | (_, Type::Error) => true,
            (Type::Text { max: a }, Type::Text { max: b }) => a <= b,
            (Type::Bytes { min: a, max: m }, Type::Bytes { min: b, max: n }) => b <= a && m <= n,
            (Type::List { item: a, max: m }, Type::List { item: b, max: n }) => {
                m <= n && self.assignable(a, b)
            }
            (Type::Option(a), Type::Option(b)) => self.assignable(a, b),
            (Type::Record(a), Type::Record(b)) => self.records(a, b),
            _ => same(from, to),
        }
    }

    fn records(&mut self, from: &Arc<RecordType>, to: &Arc<RecordType>) -> bool {
        let key = pair(from, to);
        if let Some((a, b)) = &key {
            if a == b {
                return true;
            }
            if let Some(known) = self.seen.get(&(a.clone(), b.clone())) {
                return *known;
            }
        }
        let answer = from.fields.len() == to.fields.len()
            && from
                .fields
                .iter()
                .zip(&to.fields)
                .all(|(a, b)| a.0 == b.0 && self.assignable(a.1, b.1));
        if let Some(key) = key {
            self.seen.insert(key, answer);
        }
        answer
    }

    fn join(&mut self, left: &Type, right: &Type) -> Option<Type> {
        if self.assignable(left, right) {
            let keep = matches!(right, Type::Error);
            return Some(if keep { left } else { right }.clone());
        }
        if self.assignable(right, left) {
            return Some(left.clone());
        }
        match (left, right) {
            (Type::Text { max: a }, Type::Text { max: b }) => Some(Type::Text { max: *a.max(b) }),
            (Type::Bytes { min: a, max: m }, Type::Bytes { min: b, max: n }) => Some(Type::Bytes {
                min: *a.min(b),
                max: *m.max(n),
            }),
            (Type::List { item: a, max: m }, Type::List { item: b, max: n }) => Some(Type::List {
                item: Arc::new(self.join(a, b)?),
                max: *m.max(n),
            }),
            (Type::Option(a), Type::Option(b)) => Some(Type::Option(Arc::new(self.join(a, b)?))),
            (Type::Record(a), Type::Record(b)) => self.join_records(a, b),
            _ => None,
        }
    }

    fn join_records(&mut self, left: &RecordType, right: &RecordType) -> Option<Type> {
        let key = pair(left, right);
        let fits = left.fields.len() == right.fields.len();
        if !fits || key.as_ref().is_some_and(|key| self.refused.contains(key)) {
            return None;
        }
        let fields: Option<BTreeMap<String, Type>> = left
            .fields
            .iter()
            .zip(&right.fields)
            .map(|(a, b)| {
                let joined = (a.0 == b.0).then(|| self.join(a.1, b.1)).flatten()?;
                Some((a.0.clone(), joined))
            })
            .collect();
        let Some(fields) = fields else {
            self.refused.extend(key);
            return None;
        };
        Some(Type::Record(Arc::new(RecordType {
            coordinate: None,
            fields,
        })))
    }
}
