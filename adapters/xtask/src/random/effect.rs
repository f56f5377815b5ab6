// SPDX-License-Identifier: Apache-2.0
//! Effects on the atoms of the lawpack, every failure of theirs handled.

use super::{
    scope::{Generator, Made},
    types::{CELL, SEEN, STAMP, Ty, Width},
    value,
};
use std::fmt::Write as _;

/// Keys that programs agree on, so that they meet atoms of each other.
const KEYS: [&str; 4] = ["b\"k0\"", "b\"k1\"", "b\"k2\"", "b\"k3\""];
/// Identifiers that programs agree on; their encodings differ in length.
const IDS: [&str; 3] = ["1", "7", "70000"];

/// A failure and the type of its payload; `None` is the empty record.
type Failure = (&'static str, Option<Ty>);

/// An effect as it is written: its call, its result and its failures.
struct Effect {
    call: String,
    result: Option<Ty>,
    failures: Vec<Failure>,
    /// Whether it is about a label, its key, and the path of the version in its result.
    leaves: Option<(bool, String, &'static str)>,
}

impl Generator<'_> {
    /// One effect as a statement or to the right of `let`.
    pub(super) fn effect(&mut self, text: &mut String) {
        let label = self.tape.chance(30);
        let is_known = self.made.iter().any(|it| it.label == label);
        let drawn = if (is_known || self.tape.chance(8)) && !self.tape.chance(15) {
            if label {
                self.use_of_a_label()
            } else {
                self.use_of_a_cell()
            }
        } else {
            self.creation(label)
        };
        let handler = self.handler(&drawn.failures);
        let name = self.name();
        // Writing into a string cannot fail.
        match drawn.result {
            Some(ty) if self.tape.chance(90) => {
                _ = writeln!(text, "  let {name} = {} else {handler};", drawn.call);
                self.bind(&name, &ty, None);
                if let Some((label, key, path)) = drawn.leaves {
                    let version = format!("{name}{path}");
                    self.made.push(Made {
                        label,
                        key,
                        version,
                    });
                }
            }
            _ => _ = writeln!(text, "  {} else {handler};", drawn.call),
        }
    }

    fn creation(&mut self, label: bool) -> Effect {
        if label {
            let (id, name) = (self.fresh_id(), self.expression(&Ty::Str(8), 1, true));
            return Effect {
                call: format!("kit.createLabel({{ id: {id}, name: {name} }})"),
                result: Some(Ty::Bytes(32, 32)),
                failures: vec![("exists", Some(Ty::Int(Width::U32)))],
                leaves: Some((true, id, "")),
            };
        }
        let (key, cell) = (self.fresh_key(), self.cell());
        Effect {
            call: format!("kit.createCell({{ key: {key}, cell: {cell} }})"),
            result: Some(Ty::Record(SEEN)),
            failures: vec![("exists", Some(Ty::Record(STAMP)))],
            leaves: Some((false, key, ".version")),
        }
    }

    fn use_of_a_cell(&mut self) -> Effect {
        let bytes = Ty::Bytes(2, 2);
        let stamp = || Some(Ty::Record(STAMP));
        let (key, expected) = self.atom(false);
        match self.tape.below(10) {
            0..4 => Effect {
                call: format!("kit.readCell({key})"),
                result: Some(Ty::Record(SEEN)),
                failures: vec![("missing", Some(bytes))],
                leaves: Some((false, key, ".version")),
            },
            4..7 => {
                let cell = self.cell();
                self.made.retain(|it| it.key != key);
                Effect {
                    call: format!(
                        "kit.replaceCell({{ expected: {expected}, key: {key}, cell: {cell} }})"
                    ),
                    result: stamp(),
                    failures: vec![("missing", Some(bytes)), ("stale", None)],
                    leaves: Some((false, key, ".version")),
                }
            }
            7..9 => {
                self.made.retain(|it| it.key != key);
                Effect {
                    call: format!("kit.deleteCell({{ key: {key}, expected: {expected} }})"),
                    result: Some(Ty::Bytes(32, 32)),
                    failures: vec![("missing", None), ("stale", stamp())],
                    leaves: None,
                }
            }
            _ => Effect {
                call: format!("kit.readOdd({key})"),
                result: Some(Ty::Int(Width::U64)),
                failures: vec![("missing", None), ("malformed", stamp())],
                leaves: None,
            },
        }
    }

    fn use_of_a_label(&mut self) -> Effect {
        let payload = Some(Ty::Int(Width::U32));
        let (id, expected) = self.atom(true);
        if self.tape.chance(40) {
            self.made.retain(|it| it.key != id);
            return Effect {
                call: format!("kit.deleteLabel({{ id: {id}, expected: {expected} }})"),
                result: None,
                failures: vec![("missing", payload), ("stale", None)],
                leaves: None,
            };
        }
        Effect {
            call: format!("kit.readLabel({id})"),
            result: Some(Ty::Str(8)),
            failures: vec![("missing", payload.clone()), ("malformed", payload)],
            leaves: None,
        }
    }

    /// Key and version of an atom, most often of one that is there.
    fn atom(&mut self, label: bool) -> (String, String) {
        let known: Vec<Made> = self
            .made
            .iter()
            .filter(|it| it.label == label)
            .cloned()
            .collect();
        let known = if self.tape.chance(10) {
            None
        } else {
            self.tape.pick(&known).cloned()
        };
        let wrong = value::bytes_literal(&[b'w'; 32]);
        match known {
            Some(made) if self.tape.chance(10) => (made.key, wrong),
            Some(made) => (made.key, made.version),
            None if label => (self.fresh_id(), wrong),
            None => (self.fresh_key(), wrong),
        }
    }

    /// `target` for the only failure, or arms for all of them in any order.
    fn handler(&mut self, failures: &[Failure]) -> String {
        if failures.len() == 1 && self.tape.chance(40) {
            return self.target();
        }
        let mut arms: Vec<String> = failures
            .iter()
            .map(|(failure, payload)| {
                self.inner(|it| match payload {
                    Some(ty) if it.tape.chance(60) => {
                        let binder = it.name();
                        it.bind(&binder, ty, None);
                        format!("{failure}({binder}) => {}", it.target())
                    }
                    _ => format!("{failure} => {}", it.target()),
                })
            })
            .collect();
        if self.tape.chance(50) {
            arms.reverse();
        }
        format!("{{ {} }}", arms.join(", "))
    }

    fn fresh_key(&mut self) -> String {
        if self.tape.chance(40) {
            return self.expression(&Ty::Bytes(2, 2), 1, true);
        }
        self.tape
            .pick(&KEYS)
            .copied()
            .unwrap_or_default()
            .to_owned()
    }

    fn fresh_id(&mut self) -> String {
        if self.tape.chance(40) {
            return self.integer(Width::U32, 1).0;
        }
        self.unused(&IDS)
    }

    /// A key that nothing in scope has made, most often.
    fn unused(&mut self, keys: &[&str]) -> String {
        let is_free = |it: &&&str| !self.made.iter().any(|made| made.key == **it);
        let free: Vec<&str> = keys.iter().filter(is_free).copied().collect();
        let keys = if free.is_empty() || self.tape.chance(10) {
            keys
        } else {
            &free
        };
        self.tape.pick(keys).copied().unwrap_or_default().to_owned()
    }

    fn cell(&mut self) -> String {
        self.expression(&Ty::Record(CELL), 1, true)
    }
}
