// SPDX-License-Identifier: Apache-2.0
//! Types of generated programs and the rule of assignment (language page 2.1 and 2.2).

use super::tape::Tape;
use std::fmt::Write as _;

/// An integer width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// Unsigned, 64 bits.
    U64,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
}

impl Width {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::U64, Self::U32, Self::I32, Self::I64];

    /// The name of the type.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::U64 => "U64",
            Self::U32 => "U32",
            Self::I32 => "I32",
            Self::I64 => "I64",
        }
    }

    /// The suffix of a literal.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::U64 => "u64",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::I64 => "i64",
        }
    }

    /// Least and greatest value.
    pub(crate) const fn range(self) -> (i128, i128) {
        match self {
            Self::U64 => (0, u64::MAX as i128),
            Self::U32 => (0, u32::MAX as i128),
            Self::I32 => (i32::MIN as i128, i32::MAX as i128),
            Self::I64 => (i64::MIN as i128, i64::MAX as i128),
        }
    }

    /// Scalars of the longest decimal text.
    pub(crate) const fn digits(self) -> u64 {
        match self {
            Self::U32 => 10,
            Self::I32 => 11,
            Self::U64 | Self::I64 => 20,
        }
    }

    /// Whether there are no negative values.
    pub(crate) const fn is_unsigned(self) -> bool {
        matches!(self, Self::U64 | Self::U32)
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    /// `Bool`.
    Bool,
    /// An integer.
    Int(Width),
    /// At most so many scalar values.
    Str(u64),
    /// A range of lengths.
    Bytes(u64, u64),
    /// `Option`; never of an `Option`.
    Opt(Box<Ty>),
    /// At most so many items.
    List(Box<Ty>, u64),
    /// A record of the table.
    Record(usize),
    /// A variant or enum of the table.
    Variant(usize),
    /// `kit.Tag`, a nominal type over `Bytes<exact=4>`.
    Tag,
}

/// Fields of a record by name.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Its name, `kit.` and all for an imported one.
    pub(crate) name: String,
    /// Names and types in written order.
    pub(crate) fields: Vec<(String, Ty)>,
}

/// Cases of a variant.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    /// Its name, `kit.` and all for an imported one.
    pub(crate) name: String,
    /// Names and payloads.
    pub(crate) cases: Vec<(String, Option<Ty>)>,
}

/// `kit.Cell`, the value of an atom, in [`Types::records`].
pub(crate) const CELL: usize = 1;
/// `kit.Seen`, a cell with its version.
pub(crate) const SEEN: usize = 2;
/// `kit.Stamp`, a version.
pub(crate) const STAMP: usize = 3;

/// The named types of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    /// Records.
    pub(crate) records: Vec<Record>,
    /// Variants and enums.
    pub(crate) variants: Vec<Variant>,
}

impl Types {
    /// The type as source text.
    pub(crate) fn text(&self, ty: &Ty) -> String {
        match ty {
            Ty::Bool => "Bool".to_owned(),
            Ty::Int(width) => width.name().to_owned(),
            Ty::Str(max) => format!("String<max={max}>"),
            Ty::Bytes(0, max) => format!("Bytes<max={max}>"),
            Ty::Bytes(min, max) if min == max => format!("Bytes<exact={max}>"),
            Ty::Bytes(min, max) => format!("Bytes<min={min}, max={max}>"),
            Ty::Opt(item) => format!("Option<{}>", self.text(item)),
            Ty::List(item, max) => format!("List<{}, max={max}>", self.text(item)),
            Ty::Record(at) => self
                .records
                .get(*at)
                .map_or_else(String::new, |it| it.name.clone()),
            Ty::Variant(at) => self
                .variants
                .get(*at)
                .map_or_else(String::new, |it| it.name.clone()),
            Ty::Tag => "kit.Tag".to_owned(),
        }
    }

    /// Fields of a record type.
    pub(crate) fn fields(&self, at: usize) -> &[(String, Ty)] {
        self.records.get(at).map_or(&[], |it| &it.fields)
    }

    /// Cases of a variant type.
    pub(crate) fn cases(&self, at: usize) -> &[(String, Option<Ty>)] {
        self.variants.get(at).map_or(&[], |it| &it.cases)
    }

    /// Whether a value of `from` may stand where `to` is expected.
    pub(crate) fn assignable(&self, from: &Ty, to: &Ty) -> bool {
        match (from, to) {
            (Ty::Str(from), Ty::Str(to)) => from <= to,
            (Ty::Bytes(min, max), Ty::Bytes(low, high)) => low <= min && max <= high,
            (Ty::Opt(from), Ty::Opt(to)) => self.assignable(from, to),
            (Ty::List(from, max), Ty::List(to, high)) => max <= high && self.assignable(from, to),
            (Ty::Record(from), Ty::Record(to)) => {
                let (from, to) = (self.fields(*from), self.fields(*to));
                from.len() == to.len()
                    && from.iter().all(|(name, ty)| {
                        let same = to.iter().find(|it| it.0 == *name);
                        same.is_some_and(|it| self.assignable(ty, &it.1))
                    })
            }
            (from, to) => from == to,
        }
    }

    /// Declares random types; a later one may use the earlier ones.
    pub(crate) fn declare(tape: &mut Tape) -> (Self, String) {
        let mut types = Self::default();
        types.variants.push(Variant {
            name: "kit.Shade".to_owned(),
            cases: vec![
                ("Light".to_owned(), None),
                ("Dark".to_owned(), Some(Ty::Int(Width::U32))),
            ],
        });
        types.records.push(Record {
            name: "kit.Pair".to_owned(),
            fields: vec![
                ("left".to_owned(), Ty::Int(Width::U64)),
                ("right".to_owned(), Ty::Opt(Box::new(Ty::Str(6)))),
            ],
        });
        let version = || ("version".to_owned(), Ty::Bytes(32, 32));
        let optional = Ty::Opt(Box::new(Ty::Int(Width::U32)));
        let cell = [
            ("count", Ty::Int(Width::U64)),
            ("tag", optional),
            ("text", Ty::Bytes(0, 12)),
        ];
        let cell = cell.map(|(name, ty)| (name.to_owned(), ty));
        let seen = vec![("cell".to_owned(), Ty::Record(CELL)), version()];
        for (name, fields) in [
            ("kit.Cell", cell.to_vec()),
            ("kit.Seen", seen),
            ("kit.Stamp", vec![version()]),
        ] {
            types.records.push(Record {
                name: name.to_owned(),
                fields,
            });
        }
        let mut text = String::new();
        for number in 0..tape.below(4) {
            match tape.below(3) {
                0 => types.record(tape, &format!("R{number}"), &mut text),
                1 => types.variant(tape, &format!("V{number}"), &mut text),
                _ => types.enumeration(tape, &format!("E{number}"), &mut text),
            }
        }
        (types, text)
    }

    /// Declares a record of that name.
    pub(crate) fn record(&mut self, tape: &mut Tape, name: &str, text: &mut String) {
        let fields: Vec<(String, Ty)> = (0..=tape.below(4))
            .map(|at| (format!("f{at}"), self.draw(tape, 2)))
            .collect();
        let rows: Vec<String> = fields
            .iter()
            .map(|(name, ty)| format!("{name}: {}", self.text(ty)))
            .collect();
        // Writing into a string cannot fail.
        _ = writeln!(text, "type {name} = {{ {} }};", rows.join(", "));
        self.records.push(Record {
            name: name.to_owned(),
            fields,
        });
    }

    fn variant(&mut self, tape: &mut Tape, name: &str, text: &mut String) {
        let cases: Vec<(String, Option<Ty>)> = (0..=tape.below(3))
            .map(|at| {
                let payload = tape.chance(60).then(|| self.draw(tape, 2));
                (format!("{name}C{at}"), payload)
            })
            .collect();
        let rows: Vec<String> = cases
            .iter()
            .map(|(name, payload)| match payload {
                Some(ty) => format!("{name}({})", self.text(ty)),
                None => name.clone(),
            })
            .collect();
        _ = writeln!(text, "type {name} = variant {{ {} }};", rows.join(", "));
        self.variants.push(Variant {
            name: name.to_owned(),
            cases,
        });
    }

    fn enumeration(&mut self, tape: &mut Tape, name: &str, text: &mut String) {
        let cases: Vec<_> = (0..=tape.below(4))
            .map(|at| (format!("{name}C{at}"), None))
            .collect();
        let rows: Vec<&str> = cases.iter().map(|it: &(String, _)| it.0.as_str()).collect();
        _ = writeln!(text, "enum {name} {{ {} }}", rows.join(", "));
        self.variants.push(Variant {
            name: name.to_owned(),
            cases,
        });
    }

    /// A random type of bounded depth.
    pub(crate) fn draw(&self, tape: &mut Tape, depth: usize) -> Ty {
        match tape.below(if depth == 0 { 8 } else { 12 }) {
            0 | 1 => Ty::Int(tape.pick(&Width::ALL).copied().unwrap_or(Width::U64)),
            2 => Ty::Bool,
            3 => Ty::Str(tape.pick(&[4, 0, 1, 8, 24, 70]).copied().unwrap_or(4)),
            4 | 5 => {
                let ranges = [(0, 8), (0, 0), (4, 4), (1, 3), (2, 16), (0, 70), (32, 32)];
                let (min, max) = tape.pick(&ranges).copied().unwrap_or((0, 8));
                Ty::Bytes(min, max)
            }
            6 => Ty::Variant(tape.below(self.variants.len())),
            7 if tape.chance(30) => Ty::Tag,
            7 => Ty::Record(tape.below(self.records.len())),
            8 | 9 => match self.draw(tape, depth - 1) {
                Ty::Opt(item) => Ty::Opt(item),
                item => Ty::Opt(Box::new(item)),
            },
            _ => {
                let item = self.draw(tape, depth - 1);
                Ty::List(
                    Box::new(item),
                    tape.pick(&[3, 0, 1, 5]).copied().unwrap_or(3),
                )
            }
        }
    }
}
