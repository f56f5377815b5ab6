// SPDX-License-Identifier: Apache-2.0
//! From the tree of a program to flat code. Resolves locals, blocks and obstructions on the way;
//! what does not resolve is found here (check A12), and so is nesting beyond the limit (A13).

mod condition;
mod expression;
mod statement;

use super::{
    code::{Code, Entry, MatchArm, Op, Operand, RaiseForm, RecordForm, Slot, Target},
    names::Names,
    value::{Symbol, Value},
};
use crate::{
    eval::code::EffectForm,
    limits,
    package::{
        findings::Findings,
        tree::{Local, Statement, Tree},
        types::{TypeId, Types},
    },
};
use std::collections::BTreeMap;

/// An obstruction that the package declares.
#[derive(Debug)]
pub(crate) struct Obstruction {
    pub(crate) coordinate: String,
    pub(crate) payload: TypeId,
}

/// Makes the code of a program; what is wrong stands in `findings`.
pub(crate) fn compile(
    tree: &Tree,
    obstructions: &[Obstruction],
    types: Types,
    mut names: Names,
    ends: (TypeId, TypeId),
    findings: &mut Findings,
) -> Code {
    let (some, none) = (names.symbol("Some"), names.symbol("None"));
    let mut by_coordinate: BTreeMap<&str, Vec<TypeId>> = BTreeMap::new();
    for row in obstructions {
        by_coordinate
            .entry(&row.coordinate)
            .or_default()
            .push(row.payload);
    }
    let mut compiler = Compiler {
        obstructions: by_coordinate,
        types: &types,
        names: &mut names,
        findings,
        statements: &[],
        places: &[],
        locals: BTreeMap::new(),
        next_slot: 0,
        pending: 0,
        path: "",
        out: Output::default(),
    };
    compiler.intent(tree);
    for (number, function) in tree.functions.iter().enumerate() {
        compiler.function(number, function);
    }
    let out = compiler.out;
    Code {
        ops: out.ops,
        constants: out.constants,
        fields: out.fields,
        records: out.records,
        matches: out.matches,
        functions: out.functions,
        effects: out.effects,
        raises: out.raises,
        types,
        names,
        input: ends.0,
        output: ends.1,
        some,
        none,
    }
}

#[derive(Default)]
struct Output {
    ops: Vec<Op>,
    constants: Vec<Value>,
    fields: Vec<Symbol>,
    records: Vec<RecordForm>,
    matches: Vec<Vec<MatchArm>>,
    functions: Vec<Entry>,
    effects: Vec<EffectForm>,
    raises: Vec<RaiseForm>,
}

struct Compiler<'a> {
    obstructions: BTreeMap<&'a str, Vec<TypeId>>,
    types: &'a Types,
    names: &'a mut Names,
    findings: &'a mut Findings,
    /// The statements of the unit.
    statements: &'a [Statement],
    /// Where each of them stands.
    places: &'a [String],
    /// What is in scope.
    locals: BTreeMap<Local, Slot>,
    /// Slots are taken as a stack, so that those of one call are always without gaps.
    next_slot: Slot,
    /// Single steps that are not charged yet.
    pending: u32,
    /// The statement that is being compiled, or the unit: where findings are.
    path: &'a str,
    out: Output,
}

impl Compiler<'_> {
    fn emit(&mut self, op: Op) -> usize {
        self.out.ops.push(op);
        self.out.ops.len().saturating_sub(1)
    }

    /// The place of the next instruction. What is pending was flushed by the caller.
    fn here(&self) -> Target {
        number(self.out.ops.len())
    }

    fn unit(&mut self) {
        self.pending = self.pending.saturating_add(1);
    }

    /// Charges what is pending.
    fn flush(&mut self) {
        let units = std::mem::take(&mut self.pending);
        if units > 0 {
            self.emit(Op::Units(units));
        }
    }

    /// Lets the jumps at `jumps` lead to the next instruction.
    fn bind(&mut self, jumps: &[usize]) {
        if !jumps.is_empty() {
            self.flush();
        }
        let here = self.here();
        for jump in jumps {
            match self.out.ops.get_mut(*jump) {
                Some(
                    Op::Jump(target)
                    | Op::Compare { target, .. }
                    | Op::LoopStart { exit: target, .. },
                ) => *target = here,
                // Only those are ever patched.
                _ => self.malformed("the code does not fit together"),
            }
        }
    }

    fn malformed(&mut self, message: &str) {
        self.findings.malformed(self.path, message);
    }

    /// Whether `depth` is allowed; if not, that is found and nothing below is compiled.
    fn within(&mut self, depth: u64) -> bool {
        let within = depth <= limits::MAX_PROGRAM_DEPTH;
        if !within {
            self.findings
                .too_large(self.path, "the program nests too deep");
        }
        within
    }

    fn constant(&mut self, value: &Value) -> u32 {
        self.out.constants.push(value.clone());
        number(self.out.constants.len().saturating_sub(1))
    }

    fn slot(&mut self, local: Local) -> Slot {
        if let Some(slot) = self.locals.get(&local) {
            return *slot;
        }
        self.malformed(&format!("`{}` is not in scope", text(local)));
        0
    }

    /// Takes the next slot for `local`.
    fn take(&mut self, local: Local) -> Slot {
        let slot = self.next_slot;
        self.next_slot = slot.saturating_add(1);
        if self.locals.insert(local, slot).is_some() {
            self.malformed(&format!("`{}` is bound twice", text(local)));
        }
        slot
    }

    /// Ends the scope of everything bound since `mark`.
    fn leave(&mut self, mark: Slot, bound: &[Local]) {
        for local in bound {
            self.locals.remove(local);
        }
        self.next_slot = mark;
    }

    /// The type of the payload of an obstruction with these fields.
    fn obstruction(&mut self, coordinate: &str, fields: &[Symbol], path: &str) -> Option<TypeId> {
        let shape = self.names.shape(fields);
        let found = self
            .obstructions
            .get(coordinate)
            .into_iter()
            .flatten()
            .copied()
            .find(|id| match self.types.structure(*id) {
                crate::package::types::Type::Record { shape: row, .. } => Some(*row) == shape,
                _ => false,
            });
        if found.is_none() {
            self.findings.malformed(
                path,
                "the package declares no such obstruction with such a payload",
            );
        }
        found
    }
}

fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn text(local: Local) -> String {
    match local {
        Local::Argument(number) => format!("arg.{number}"),
        Local::Binder(number) => format!("local.{number}"),
        Local::Obstruction(number) => format!("obstruction.{number}"),
    }
}

/// An operand that needs no instruction, or the stack.
fn in_place(operand: Option<Operand>) -> Operand {
    operand.unwrap_or(Operand::Stack)
}
