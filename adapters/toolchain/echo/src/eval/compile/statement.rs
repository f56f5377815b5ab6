// SPDX-License-Identifier: Apache-2.0
//! Code of statements, of the intent and of functions.

use super::{Compiler, number};
use crate::{
    eval::{
        code::{
            ArmForm, EffectForm, Entry, Op, OutputForm, PayloadForm, RaiseForm, Role, TargetFailure,
        },
        value::Symbol,
    },
    package::{
        tree::{
            Block, Effect, Expr, For, Function, Local, Output, Predicate, Raise, Statement, Tree,
        },
        types::{Type, TypeId},
    },
    state::view::Intrinsic,
};

impl<'a> Compiler<'a> {
    /// The intent, from the start charge to the result (section 4.1).
    pub(super) fn intent(&mut self, tree: &'a Tree) {
        let intent = &tree.intent;
        self.begin(&intent.statements, &intent.places, &intent.path);
        self.take(intent.parameter);
        self.unit();
        if let Some(basis) = &intent.basis {
            self.expr(basis, 1);
            self.flush();
            self.emit(Op::Basis);
        }
        for (index, constraint) in intent.constraints.iter().enumerate() {
            let trues = self.jumps(constraint, true, 1);
            self.flush();
            self.emit(Op::ConstraintFailed(number(index)));
            self.bind(&trues);
        }
        let mut bound = Vec::new();
        self.order(&intent.body, 1, &mut bound);
        if let Some(result) = &intent.body.result {
            self.expr(result, 1);
        }
        self.flush();
        self.emit(Op::End);
    }

    /// One function.
    pub(super) fn function(&mut self, index: usize, function: &'a Function) {
        self.begin(&function.statements, &function.places, &function.path);
        let entry = Entry {
            target: self.here(),
            arity: function.parameters.len(),
        };
        self.out.functions.resize(index, Entry::default());
        self.out.functions.push(entry);
        for parameter in &function.parameters {
            self.take(*parameter);
        }
        let mut bound = Vec::new();
        self.order(&function.body, 1, &mut bound);
        if let Some(value) = &function.body.result {
            self.expr(value, 1);
        }
        self.flush();
        self.emit(Op::Return);
    }

    fn begin(&mut self, statements: &'a [Statement], places: &'a [String], path: &'a str) {
        self.statements = statements;
        self.places = places;
        self.locals.clear();
        self.next_slot = 0;
        self.pending = 0;
        self.path = path;
    }

    /// The statements of a block; what they bind is added to `bound`.
    fn order(&mut self, block: &Block, depth: u64, bound: &mut Vec<Local>) {
        if self.within(depth) {
            for id in &block.order {
                if let Some(statement) = self.statements.get(*id) {
                    let around = self.path;
                    self.path = self.places.get(*id).map_or(around, String::as_str);
                    self.statement(statement, depth, bound);
                    self.path = around;
                }
            }
        }
    }

    fn statement(&mut self, statement: &Statement, depth: u64, bound: &mut Vec<Local>) {
        let inner = depth.saturating_add(1);
        self.unit();
        match statement {
            Statement::Let { binding, value } => {
                self.expr(value, inner);
                self.store(*binding, bound);
            }
            Statement::Require { predicate, raise } => {
                let trues = self.jumps(predicate, true, inner);
                self.raise(raise, inner);
                self.bind(&trues);
            }
            Statement::Effect(effect) => self.effect(effect, inner, bound),
            Statement::Branch {
                condition,
                binding,
                then,
                otherwise,
            } => self.branch(condition, *binding, (then, otherwise), inner, bound),
            Statement::For(head) => self.fold(head, inner, bound),
        }
    }

    /// Stores what is on the stack in a new local.
    fn store(&mut self, local: Local, bound: &mut Vec<Local>) {
        let slot = self.take(local);
        bound.push(local);
        self.emit(Op::Store(slot));
    }

    /// A block in a scope of its own; its value, if it has one, is left on the stack.
    fn block(&mut self, block: &Block, depth: u64) {
        let mark = self.next_slot;
        let mut bound = Vec::new();
        self.order(block, depth, &mut bound);
        if let Some(result) = &block.result {
            self.expr(result, depth);
        }
        self.leave(mark, &bound);
    }

    fn branch(
        &mut self,
        condition: &Predicate,
        binding: Option<Local>,
        (then, otherwise): (&Block, &Block),
        inner: u64,
        bound: &mut Vec<Local>,
    ) {
        let falses = self.jumps(condition, false, inner);
        self.block(then, inner);
        self.flush();
        let over = self.emit(Op::Jump(0));
        self.bind(&falses);
        self.block(otherwise, inner);
        self.bind(&[over]);
        if let Some(binding) = binding {
            self.store(binding, bound);
        }
    }

    fn fold(&mut self, head: &For, inner: u64, bound: &mut Vec<Local>) {
        self.expr(&head.collection, inner);
        let mark = self.next_slot;
        let accumulator = head.fold.as_ref().map(|fold| {
            self.expr(&fold.initial, inner);
            let slot = self.take(fold.accumulator);
            self.emit(Op::Store(slot));
            slot
        });
        self.flush();
        let item_mark = self.next_slot;
        let item = self.take(head.item);
        let start = self.emit(Op::LoopStart {
            item,
            bound: number(usize::try_from(head.bound).unwrap_or(usize::MAX)),
            exit: 0,
        });
        let target = self.here();
        self.unit();
        self.block(&head.body, inner);
        self.flush();
        self.emit(Op::LoopNext {
            item,
            accumulator,
            start: target,
        });
        self.bind(&[start]);
        self.leave(item_mark, &[head.item]);
        match &head.fold {
            Some(fold) => {
                // The last value of the accumulator is that of the loop, in the same slot.
                self.leave(mark, &[fold.accumulator]);
                self.take(fold.binding);
                bound.push(fold.binding);
            }
            None => self.leave(mark, &[]),
        }
    }

    fn raise(&mut self, raise: &Raise, inner: u64) {
        let fields: Vec<Symbol> = match &raise.payload {
            Some(Expr::Record(fields)) => fields.iter().map(|field| field.0).collect(),
            _ => Vec::new(),
        };
        let ty = self.obstruction(&raise.coordinate, &fields, &raise.path);
        let payload = raise.payload.as_ref().and(ty);
        if let Some(payload) = &raise.payload {
            self.expr(payload, inner);
        }
        self.flush();
        self.out.raises.push(RaiseForm {
            coordinate: raise.coordinate.clone(),
            payload,
        });
        let form = number(self.out.raises.len().saturating_sub(1));
        self.emit(Op::Raise(form));
    }

    fn effect(&mut self, effect: &Effect, inner: u64, bound: &mut Vec<Local>) {
        self.expr(&effect.input, inner);
        self.flush();
        let index = self.out.effects.len();
        self.emit(Op::Effect(number(index)));
        let form = self.effect_form(effect);
        self.out.effects.push(form);
        let mark = self.next_slot;
        let over = self.emit(Op::Jump(0));
        let mut arms = Vec::with_capacity(effect.arms.len());
        for (name, arm) in &effect.arms {
            let target = self.here();
            let slot = self.take(arm.binding);
            let failure = effect.failures.get(name);
            arms.push(ArmForm {
                failure: failure
                    .and_then(|failure| TargetFailure::from_name(&failure.target))
                    .unwrap_or(TargetFailure::Never),
                payload: self.payload_form(failure.map(|failure| failure.payload), effect),
                binding: slot,
                target,
            });
            self.raise(&arm.raise, inner);
            self.leave(mark, &[arm.binding]);
        }
        if let Some(form) = self.out.effects.get_mut(index) {
            form.arms = arms;
        }
        self.bind(&[over]);
        self.store(effect.binding, bound);
    }

    fn effect_form(&mut self, effect: &Effect) -> EffectForm {
        let configuration = &effect.configuration;
        EffectForm {
            // An unknown intrinsic is refused by A15, before anything runs.
            intrinsic: effect.intrinsic.unwrap_or(Intrinsic::Read),
            space: configuration.space.clone(),
            atom_type: configuration.atom_type.1,
            key_type: configuration.key_type.1,
            key: configuration.key.clone(),
            value: configuration.value.clone().unwrap_or_default(),
            expected: configuration.expected.clone().unwrap_or_default(),
            output: self.output_form(&configuration.output),
            arms: Vec::new(),
        }
    }

    fn output_form(&mut self, output: &Output) -> OutputForm {
        match output {
            Output::Value => OutputForm::Value,
            Output::Version => OutputForm::Version,
            Output::Record { value, version } => {
                let fields: Vec<Symbol> = value.iter().chain(version).copied().collect();
                let shape = self.names.shape(&fields).unwrap_or_default();
                let roles = self.names.fields(shape).iter();
                let roles = roles
                    .map(|field| {
                        if Some(*field) == *value {
                            Role::Value
                        } else {
                            Role::Version
                        }
                    })
                    .collect();
                OutputForm::Record { shape, roles }
            }
        }
    }

    /// What a failure binder holds: nothing, the version, or else the key that was asked for.
    fn payload_form(&mut self, payload: Option<TypeId>, effect: &Effect) -> PayloadForm {
        let Some(payload) = payload else {
            return PayloadForm::Key;
        };
        if payload == effect.configuration.key_type.1 {
            return PayloadForm::Key;
        }
        let version = self.names.symbol("version");
        let shape_of_version = self.names.shape(&[version]).unwrap_or_default();
        match self.types.structure(payload) {
            Type::Record { shape, fields } if fields.is_empty() => PayloadForm::Empty(*shape),
            Type::Record { shape, .. } if *shape == shape_of_version => {
                PayloadForm::Version(*shape)
            }
            _ => PayloadForm::Key,
        }
    }
}
