// SPDX-License-Identifier: Apache-2.0
//! Named types: well-formedness, assignment, joining, weights and largest encodings.

use crate::decode::reader::{Defect, Under, refuse};
use crate::decode::types::{Case, Definition, MAX_TYPE_DEPTH, Type};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Steps that comparing types may take in one run, so no pair of types can blow up.
const COMPARISON_STEPS: u64 = 16_777_216;

/// Definitions that are closed, acyclic and bounded.
#[derive(Debug)]
pub(crate) struct TypeTable {
    definitions: BTreeMap<String, Definition>,
    sizes: BTreeMap<String, Size>,
    fuel: Cell<u64>,
}

/// What follows from a type alone. Saturating.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    depth: usize,
    /// Greatest weight of a comparison operand.
    weight: u64,
    /// Greatest length of a canonical encoding in bytes.
    encoded: u64,
    /// Whether a value may be `null`.
    nullable: bool,
}

/// Units of 64 bytes, rounded up.
pub(crate) fn units(bytes: u64) -> u64 {
    bytes.div_ceil(64)
}

impl TypeTable {
    /// Checks and measures every definition.
    pub(crate) fn new(definitions: BTreeMap<String, Definition>) -> Result<Self, Defect> {
        let mut table = Self {
            definitions,
            sizes: BTreeMap::new(),
            fuel: Cell::new(COMPARISON_STEPS),
        };
        let names: Vec<String> = table.definitions.keys().cloned().collect();
        for name in names {
            table.settle(&name, 0).under(&name)?;
        }
        Ok(table)
    }

    /// The definition of a coordinate.
    pub(crate) fn definition(&self, name: &str) -> Option<&Definition> {
        self.definitions.get(name)
    }

    /// Refuses a type text that is not closed, bounded and well-formed.
    pub(crate) fn well_formed(&self, ty: &Type) -> Result<(), Defect> {
        self.measure(ty, 0).map(|_| ())
    }

    /// The type behind aliases.
    pub(crate) fn resolve<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let mut ty = ty;
        // The definitions are acyclic, so this ends.
        while let Type::Named(name) = ty {
            match self.definitions.get(name) {
                Some(Definition::Alias(target)) => ty = target,
                _ => break,
            }
        }
        ty
    }

    /// The fields of a record type.
    pub(crate) fn fields<'a>(&'a self, ty: &'a Type) -> Option<&'a BTreeMap<String, Type>> {
        match self.resolve(ty) {
            Type::Record(fields) => Some(fields),
            Type::Named(name) => match self.definitions.get(name) {
                Some(Definition::Record(fields)) => Some(fields),
                _ => None,
            },
            _ => None,
        }
    }

    /// The cases of a variant type.
    pub(crate) fn cases<'a>(&'a self, ty: &'a Type) -> Option<&'a [Case]> {
        match self.resolve(ty) {
            Type::Named(name) => match self.definitions.get(name) {
                Some(Definition::Variant(cases)) => Some(cases),
                _ => None,
            },
            _ => None,
        }
    }

    /// The representation of a nominal type.
    pub(crate) fn representation<'a>(&'a self, ty: &'a Type) -> Option<&'a Type> {
        match self.resolve(ty) {
            Type::Named(name) => match self.definitions.get(name) {
                Some(Definition::Nominal(representation)) => Some(representation),
                _ => None,
            },
            _ => None,
        }
    }

    /// Greatest weight of a comparison operand of this type.
    pub(crate) fn weight(&self, ty: &Type) -> u64 {
        self.measure(ty, 0).map_or(u64::MAX, |size| size.weight)
    }

    /// Greatest length of a canonical encoding of this type in bytes.
    pub(crate) fn encoded(&self, ty: &Type) -> u64 {
        self.measure(ty, 0).map_or(u64::MAX, |size| size.encoded)
    }

    /// Whether a value of `from` may stand where `to` is expected.
    pub(crate) fn assignable(&self, from: &Type, to: &Type) -> bool {
        if !self.spend() {
            return false;
        }
        let (from, to) = (self.resolve(from), self.resolve(to));
        match (from, to) {
            (Type::String { max: from }, Type::String { max: to }) => from <= to,
            (
                Type::Bytes { min, max },
                Type::Bytes {
                    min: least,
                    max: most,
                },
            ) => least <= min && max <= most,
            (
                Type::List { item: from, max },
                Type::List {
                    item: to,
                    max: most,
                },
            ) => max <= most && self.assignable(from, to),
            (Type::Option(from), Type::Option(to)) => self.assignable(from, to),
            (Type::Named(from), Type::Named(to)) if from == to => true,
            _ => match (self.fields(from), self.fields(to)) {
                (Some(from), Some(to)) => {
                    from.len() == to.len()
                        && from.iter().all(|(name, field)| {
                            to.get(name)
                                .is_some_and(|target| self.assignable(field, target))
                        })
                }
                _ => from == to,
            },
        }
    }

    /// Whether both types have the same values.
    pub(crate) fn equivalent(&self, left: &Type, right: &Type) -> bool {
        self.assignable(left, right) && self.assignable(right, left)
    }

    /// The least type that both are assignable to.
    pub(crate) fn join(&self, left: &Type, right: &Type) -> Option<Type> {
        if self.assignable(left, right) {
            return Some(right.clone());
        }
        if self.assignable(right, left) {
            return Some(left.clone());
        }
        if !self.spend() {
            return None;
        }
        match (self.resolve(left), self.resolve(right)) {
            (Type::String { max }, Type::String { max: other }) => Some(Type::String {
                max: *max.max(other),
            }),
            (
                Type::Bytes { min, max },
                Type::Bytes {
                    min: least,
                    max: most,
                },
            ) => Some(Type::Bytes {
                min: *min.min(least),
                max: *max.max(most),
            }),
            (Type::Option(left), Type::Option(right)) => self.join(left, right).map(Type::optional),
            (
                Type::List { item, max },
                Type::List {
                    item: other,
                    max: most,
                },
            ) => Some(Type::List {
                item: Box::new(self.join(item, other)?),
                max: *max.max(most),
            }),
            (left, right) => {
                let (left, right) = (self.fields(left)?, self.fields(right)?);
                if !left.keys().eq(right.keys()) {
                    return None;
                }
                let joined: Option<BTreeMap<String, Type>> = left
                    .iter()
                    .zip(right.values())
                    .map(|((name, left), right)| Some((name.clone(), self.join(left, right)?)))
                    .collect();
                joined.map(Type::Record)
            }
        }
    }

    /// Adds to `seen` every coordinate that `ty` reaches; unknown ones too.
    pub(crate) fn reach(&self, ty: &Type, seen: &mut BTreeSet<String>) {
        let mut pending = Vec::new();
        ty.names(&mut |name| pending.push(name.to_owned()));
        while let Some(name) = pending.pop() {
            if let Some(definition) = self.definitions.get(&name)
                && !seen.contains(&name)
            {
                definition.names(&mut |name| pending.push(name.to_owned()));
            }
            seen.insert(name);
        }
    }

    fn spend(&self) -> bool {
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(1));
        left > 0
    }

    /// Measures a definition once; depth bounds the recursion and finds cycles.
    fn settle(&mut self, name: &str, depth: usize) -> Result<(), Defect> {
        if self.sizes.contains_key(name) {
            return Ok(());
        }
        if depth > MAX_TYPE_DEPTH {
            return refuse("contains itself, or nests too deep");
        }
        let Some(definition) = self.definitions.get(name).cloned() else {
            return refuse(format!("no type `{name}`"));
        };
        let mut names = Vec::new();
        definition.names(&mut |name| names.push(name.to_owned()));
        for inner in names {
            self.settle(&inner, depth.saturating_add(1))?;
        }
        let size = match &definition {
            Definition::Record(fields) => self.record(fields, 0)?,
            Definition::Variant(cases) => self.variant(cases)?,
            Definition::Nominal(ty) | Definition::Alias(ty) => self.measure(ty, 0)?,
        };
        self.sizes.insert(name.to_owned(), size);
        Ok(())
    }

    /// Recursion is bounded by the depth of type texts.
    fn measure(&self, ty: &Type, depth: usize) -> Result<Size, Defect> {
        let inner = depth.saturating_add(1);
        let size = match ty {
            Type::Bool => scalar(1, 1),
            Type::Integer(width) => scalar(
                1,
                if matches!(width.range().1, 0x1_0000_0000..) {
                    9
                } else {
                    5
                },
            ),
            Type::String { max } => {
                let bytes = max.saturating_mul(4);
                scalar(units(bytes).saturating_add(1), content(bytes))
            }
            Type::Bytes { min, max } => {
                if min > max {
                    return refuse("the length range is empty");
                }
                scalar(units(*max).saturating_add(1), content(*max))
            }
            Type::Option(item) => {
                let size = self.measure(item, inner)?;
                if size.nullable {
                    return refuse("an Option of an Option");
                }
                Size {
                    depth: size.depth.saturating_add(1),
                    weight: size.weight.saturating_add(1),
                    encoded: size.encoded.max(1),
                    nullable: true,
                }
            }
            Type::List { item, max } => {
                let size = self.measure(item, inner)?;
                Size {
                    depth: size.depth.saturating_add(1),
                    weight: size.weight.saturating_mul(*max).saturating_add(1),
                    encoded: size.encoded.saturating_mul(*max).saturating_add(head(*max)),
                    nullable: false,
                }
            }
            Type::Record(fields) => self.record(fields, inner)?,
            Type::Named(name) => match self.sizes.get(name) {
                Some(size) => *size,
                None => return refuse(format!("no type `{name}`")),
            },
        };
        if size.depth.saturating_add(depth) > MAX_TYPE_DEPTH {
            return refuse("types nest too deep");
        }
        Ok(size)
    }

    fn record(&self, fields: &BTreeMap<String, Type>, depth: usize) -> Result<Size, Defect> {
        let mut whole = Size {
            depth: 0,
            weight: 1,
            encoded: head(length(fields.len())),
            nullable: false,
        };
        for (name, field) in fields {
            let size = self.measure(field, depth.saturating_add(1)).under(name)?;
            whole.depth = whole.depth.max(size.depth);
            whole.weight = whole.weight.saturating_add(size.weight);
            whole.encoded = whole
                .encoded
                .saturating_add(content(length(name.len())))
                .saturating_add(size.encoded);
        }
        whole.depth = whole.depth.saturating_add(1);
        Ok(whole)
    }

    fn variant(&self, cases: &[Case]) -> Result<Size, Defect> {
        let mut names = BTreeSet::new();
        let mut whole = scalar(1, 0);
        for case in cases {
            if !names.insert(&case.name) {
                return refuse(format!("the case `{}` stands twice", case.name));
            }
            let size = match &case.payload {
                Some(payload) => self.measure(payload, 1).under(&case.name)?,
                None => Size::default(),
            };
            let encoded = content(length(case.name.len()))
                .saturating_add(1)
                .saturating_add(size.encoded);
            whole.depth = whole.depth.max(size.depth.saturating_add(1));
            whole.weight = whole.weight.max(size.weight.saturating_add(1));
            whole.encoded = whole.encoded.max(encoded);
        }
        if cases.is_empty() {
            return refuse("a variant without cases");
        }
        Ok(whole)
    }
}

fn scalar(weight: u64, encoded: u64) -> Size {
    Size {
        depth: 1,
        weight,
        encoded,
        nullable: false,
    }
}

/// Length of a shortest head with that argument.
fn head(argument: u64) -> u64 {
    match argument {
        0..24 => 1,
        24..0x100 => 2,
        0x100..0x1_0000 => 3,
        0x1_0000..0x1_0000_0000 => 5,
        _ => 9,
    }
}

/// Length of a text or byte string of `bytes` bytes.
fn content(bytes: u64) -> u64 {
    bytes.saturating_add(head(bytes))
}

/// A length as a count of the cost law.
pub(crate) fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
