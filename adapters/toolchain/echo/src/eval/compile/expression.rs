// SPDX-License-Identifier: Apache-2.0
//! Code of expressions: each leaves one value on the stack.

use super::{Compiler, in_place, number};
use crate::{
    eval::{
        code::{MatchArm, Op, Operand, RecordForm},
        value::{Symbol, Value},
    },
    package::tree::{Arm, Builtin, Expr},
};

impl Compiler<'_> {
    /// Compiles `expr`, which stands at nesting `depth`.
    pub(super) fn expr(&mut self, expr: &Expr, depth: u64) {
        if !self.within(depth) {
            return;
        }
        let inner = depth.saturating_add(1);
        self.unit();
        match expr {
            Expr::Const(value) => {
                let constant = self.constant(value);
                self.emit(Op::Const(constant));
            }
            Expr::Local(local) => {
                let slot = self.slot(*local);
                self.emit(Op::Local(slot));
            }
            Expr::Field { base, name } => self.field(base, *name, depth),
            Expr::Record(fields) => self.record(fields, inner),
            Expr::List(items) => {
                for item in items {
                    self.expr(item, inner);
                }
                self.flush();
                self.emit(Op::List(number(items.len())));
            }
            Expr::Case {
                name,
                payload: None,
            } => {
                let constant = self.constant(&Value::Case(*name));
                self.emit(Op::Const(constant));
            }
            Expr::Case {
                name,
                payload: Some(payload),
            } => {
                self.expr(payload, inner);
                self.flush();
                self.emit(Op::Case(*name));
            }
            Expr::Match { value, arms } => self.choice(value, arms, inner),
            Expr::Builtin { builtin, args } => self.builtin(*builtin, args, inner),
            Expr::Call { function, args } => {
                for arg in args {
                    self.expr(arg, inner);
                }
                self.flush();
                self.emit(Op::Call(number(*function)));
            }
            Expr::If {
                condition,
                then,
                otherwise,
            } => {
                let falses = self.jumps(condition, false, inner);
                self.expr(then, inner);
                self.flush();
                let over = self.emit(Op::Jump(0));
                self.bind(&falses);
                self.expr(otherwise, inner);
                self.bind(&[over]);
            }
        }
    }

    /// An operand that can be read where it is, its step counted; otherwise it is on the stack.
    pub(super) fn operand(&mut self, expr: &Expr, depth: u64) -> Operand {
        let (mut expr, mut depth) = (expr, depth);
        while let Some(value) = same(expr)
            && self.within(depth)
        {
            self.unit();
            (expr, depth) = (value, depth.saturating_add(1));
        }
        let operand = match expr {
            Expr::Local(local) if self.within(depth) => Some(Operand::Local(self.slot(*local))),
            Expr::Const(value) if self.within(depth) => Some(Operand::Const(self.constant(value))),
            _ => None,
        };
        match operand {
            Some(_) => self.unit(),
            None => self.expr(expr, depth),
        }
        in_place(operand)
    }

    /// A field; a chain of fields of a local is read without touching what is around it.
    fn field(&mut self, base: &Expr, name: Symbol, depth: u64) {
        let mut chain = vec![name];
        let (mut base, mut depth) = (base, depth);
        loop {
            depth = depth.saturating_add(1);
            match base {
                Expr::Field { base: inner, name } if self.within(depth) => {
                    self.unit();
                    chain.push(*name);
                    base = inner;
                }
                Expr::Local(local) if self.within(depth) => {
                    self.unit();
                    let slot = self.slot(*local);
                    let first = number(self.out.fields.len());
                    let count = number(chain.len());
                    self.out.fields.extend(chain.iter().rev());
                    self.emit(Op::Path { slot, first, count });
                    return;
                }
                other => {
                    self.expr(other, depth);
                    for name in chain.iter().rev() {
                        self.emit(Op::Field(*name));
                    }
                    return;
                }
            }
        }
    }

    fn record(&mut self, fields: &[(Symbol, Expr)], inner: u64) {
        for (_, value) in fields {
            self.expr(value, inner);
        }
        self.flush();
        let form = self.record_form(fields);
        self.out.records.push(form);
        let form = number(self.out.records.len().saturating_sub(1));
        self.emit(Op::Record(form));
    }

    fn record_form(&mut self, fields: &[(Symbol, Expr)]) -> RecordForm {
        let written: Vec<Symbol> = fields.iter().map(|field| field.0).collect();
        let shape = self.names.shape(&written).unwrap_or_default();
        let sorted = self.names.fields(shape);
        let order = (written != sorted).then(|| {
            let mut places: Vec<(Symbol, usize)> = written.iter().copied().zip(0usize..).collect();
            places.sort_unstable();
            sorted
                .iter()
                .filter_map(|symbol| {
                    let found = places.binary_search_by_key(symbol, |place| place.0).ok()?;
                    places.get(found).map(|place| place.1)
                })
                .collect()
        });
        RecordForm {
            shape,
            order,
            count: fields.len(),
        }
    }

    fn choice(&mut self, value: &Expr, arms: &[Arm], inner: u64) {
        self.expr(value, inner);
        self.flush();
        self.emit(Op::Match(number(self.out.matches.len())));
        let table = self.out.matches.len();
        self.out.matches.push(Vec::new());
        let mut ends = Vec::new();
        let mut forms = Vec::with_capacity(arms.len());
        let mark = self.next_slot;
        for arm in arms {
            let target = self.here();
            let binding = arm.binding.map(|local| self.take(local));
            forms.push(MatchArm {
                case: arm.case,
                binding,
                target,
            });
            self.expr(&arm.value, inner);
            self.flush();
            ends.push(self.emit(Op::Jump(0)));
            self.leave(mark, arm.binding.as_slice());
        }
        forms.sort_unstable_by_key(|form| form.case);
        if let Some(slot) = self.out.matches.get_mut(table) {
            *slot = forms;
        }
        self.bind(&ends);
    }

    fn builtin(&mut self, builtin: Builtin, args: &[Expr], inner: u64) {
        if let (Builtin::Integer { op, width, checked }, [left, right]) = (builtin, args) {
            let left = self.operand(left, inner);
            let right = self.operand(right, inner);
            if checked {
                self.flush();
            }
            self.emit(Op::Integer {
                op,
                width,
                checked,
                left,
                right,
            });
            return;
        }
        if let (Builtin::Default, [value, other]) = (builtin, args) {
            self.expr(value, inner);
            let other = self.operand(other, inner);
            self.emit(Op::Default(other));
            return;
        }
        for arg in args {
            self.expr(arg, inner);
        }
        if keeps(builtin) {
            return;
        }
        if charges(builtin) {
            self.flush();
        }
        self.emit(Op::Builtin(builtin));
    }
}

/// Whether a built-in leaves its operand as it is: integers have one form at run time whatever
/// their width, and a nominal type is its representation.
fn keeps(builtin: Builtin) -> bool {
    matches!(builtin, Builtin::Same | Builtin::ToU64)
}

/// The operand of a built-in that leaves it as it is.
fn same(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Builtin { builtin, args } if keeps(*builtin) => match &**args {
            [value] => Some(value),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a built-in charges by size, so that what was charged before must be counted first.
fn charges(builtin: Builtin) -> bool {
    match builtin {
        Builtin::TextLength
        | Builtin::BytesConcat
        | Builtin::TextConcat
        | Builtin::Slice
        | Builtin::CheckedSlice
        | Builtin::Integer { checked: true, .. }
        | Builtin::Narrow(_)
        | Builtin::Decimal
        | Builtin::Hex
        | Builtin::ValidUtf8
        | Builtin::Utf8Decode
        | Builtin::Utf8Encode
        | Builtin::Some => true,
        Builtin::BytesLength
        | Builtin::ListLength
        | Builtin::BytesAt
        | Builtin::ListAt
        | Builtin::Integer { checked: false, .. }
        | Builtin::Negate(_)
        | Builtin::ToU64
        | Builtin::IsBoundary
        | Builtin::None
        | Builtin::IsSome
        | Builtin::Unwrap
        | Builtin::Default
        | Builtin::Same => false,
    }
}
