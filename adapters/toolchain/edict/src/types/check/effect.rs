// SPDX-License-Identifier: Apache-2.0
//! Checks effect calls, their failure handlers and the obstructions that are raised (3.7-3.9).

use super::{Checker, Want, short};
use crate::core::extent;
use crate::core::tree::{Arm, Binder, Local, Node, Raise};
use crate::diagnostic::{Kind, Span, listed};
use crate::lawpack::context::{Effect, Obstruction};
use crate::syntax::ast::{Call, Expr, ExprKind, Handler, HandlerArm, Target};
use crate::types::relate;
use crate::types::size::Sizes;
use crate::types::ty::Type;
use std::collections::{BTreeMap, BTreeSet};

/// Most bytes of an encoded payload.
const MAX_PAYLOAD_BYTES: u64 = 65_536;

/// Whether a core profile lets effects of a write class through.
fn allows(core: &str, class: &str) -> bool {
    let classes: &[&str] = match core {
        "continuum.profile.read-only/v1" => &["read"],
        "continuum.profile.create/v1" => &["read", "create"],
        "continuum.profile.read-write/v1" => &["read", "create", "replace", "delete"],
        _ => &[],
    };
    classes.contains(&class)
}

impl<'a> Checker<'_, 'a> {
    /// Checks an effect call and returns its node and the type its binder has.
    pub(super) fn effect(
        &mut self,
        expr: &Expr,
        call: &Call,
        handler: Option<&Handler>,
        effect: &'a Effect,
        local: Local,
        declared: Option<&Type>,
    ) -> (Option<Node>, Type) {
        self.judge_profile(call.callee.span, effect);
        let input = match call.arguments.as_slice() {
            [argument] if call.types.is_empty() => {
                Some(self.expr(argument, Want::Must(&effect.input)).expr())
            }
            _ => {
                let takes = format!("takes one argument of {}", short(&effect.input));
                self.wrong_arity(expr.span, &takes);
                self.drain(call);
                None
            }
        };
        if let Some(declared) = declared
            && !relate::assignable(&effect.output, declared)
        {
            self.mismatch(expr.span, &short(declared), &effect.output);
        }
        let ty = declared.unwrap_or(&effect.output).clone();
        let arms = self.handle(expr.span, effect, handler);
        let affordable = self.may_copy(extent::length(&effect.coordinate));
        let node = input.filter(|_| affordable).map(|input| Node::Effect {
            binding: Binder {
                local,
                ty: ty.clone(),
            },
            effect: effect.coordinate.clone(),
            input,
            arms,
        });
        (node, ty)
    }

    fn judge_profile(&mut self, callee: Span, effect: &Effect) {
        let Some(profile) = self.profile else {
            return;
        };
        let listed = profile.effects.contains(&effect.coordinate);
        if listed && allows(&profile.core, &effect.write_class) {
            return;
        }
        let allowed = match profile.effects.as_slice() {
            [] => "no effect".to_owned(),
            effects => format!("only {}", effects.join(", ")),
        };
        let message = format!(
            "profile `{}` ({}) allows {allowed}",
            profile.coordinate, profile.core
        );
        self.report(
            Kind::ProfileEffectMismatch,
            callee,
            message,
            "choose another profile",
        );
    }

    fn handle(
        &mut self,
        call: Span,
        effect: &Effect,
        handler: Option<&Handler>,
    ) -> BTreeMap<String, Arm> {
        let mut binders: BTreeMap<&str, Binder> = BTreeMap::new();
        for (failure, ty) in &effect.failures {
            let local = Local::Obstruction(self.obstructions);
            self.obstructions = self.obstructions.saturating_add(1);
            let ty = ty.clone();
            binders.insert(failure, Binder { local, ty });
        }
        match handler {
            None => {
                self.judge_missing(call, binders.keys().copied());
                BTreeMap::new()
            }
            Some(Handler::Short(target)) => self.short_handler(call, target, &binders),
            Some(Handler::Map(arms)) => self.handler_map(call, arms, &binders),
        }
    }

    fn judge_missing<'n>(&mut self, call: Span, missing: impl Iterator<Item = &'n str>) {
        let missing: Vec<&str> = missing.collect();
        if !missing.is_empty() {
            let message = format!("failures are not handled: {}", listed(&missing));
            let help = format!("add `else {{ … }}` arms for {}", listed(&missing));
            self.report(Kind::MissingFailureHandler, call, message, &help);
        }
    }

    fn short_handler(
        &mut self,
        call: Span,
        target: &Target,
        binders: &BTreeMap<&str, Binder>,
    ) -> BTreeMap<String, Arm> {
        let raise = self.raise(target);
        let mut failures = binders.iter();
        match (failures.next(), failures.next()) {
            (Some((failure, binding)), None) => raise
                .map(|raise| {
                    let binding = binding.clone();
                    ((*failure).to_owned(), Arm { binding, raise })
                })
                .into_iter()
                .collect(),
            (Some(_), Some(_)) => {
                self.judge_missing(call, binders.keys().copied());
                BTreeMap::new()
            }
            (None, _) => {
                let message = "the effect declares no failure";
                self.report(
                    Kind::UnknownFailure,
                    target.path.span,
                    message,
                    "remove `else`",
                );
                BTreeMap::new()
            }
        }
    }

    fn handler_map(
        &mut self,
        call: Span,
        arms: &[HandlerArm],
        binders: &BTreeMap<&str, Binder>,
    ) -> BTreeMap<String, Arm> {
        let mut handled = BTreeMap::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut unknown = false;
        for arm in arms {
            let failure = arm.failure.text.as_str();
            let binding = binders.get(failure);
            if binding.is_none() {
                unknown = true;
                let known: Vec<&str> = binders.keys().copied().collect();
                let message = format!("the effect declares no failure `{failure}`");
                let help = format!("remove it; declared are: {}", listed(&known));
                self.report(Kind::UnknownFailure, arm.failure.span, message, &help);
            } else if !seen.insert(failure) {
                let message = format!("failure `{failure}` is handled already");
                let kind = Kind::DuplicateObstructionFailure;
                self.report(kind, arm.failure.span, message, "remove the arm");
            }
            self.open();
            if let Some(name) = &arm.binder {
                // A failure nothing declares gets no number; its arm is never written.
                let local = binding.map_or(Local::Obstruction(u32::MAX), |it| it.local);
                let ty = binding.map_or(Type::Error, |it| it.ty.clone());
                self.bind_plain(&name.text, local, ty);
            }
            let raise = self.raise(&arm.target);
            self.close();
            if let (Some(binding), Some(raise)) = (binding, raise) {
                let binding = binding.clone();
                handled.insert(failure.to_owned(), Arm { binding, raise });
            }
        }
        if !unknown {
            let names = binders.keys().copied();
            self.judge_missing(call, names.filter(|it| !seen.contains(it)));
        }
        handled
    }

    /// Checks what a `require` or an arm raises.
    pub(super) fn raise(&mut self, target: &Target) -> Option<Raise> {
        let member = self.environment.member(&target.path);
        let found = member.and_then(|(context, name)| context.obstructions.get(name));
        let Some(obstruction) = found else {
            let known: Vec<&str> = member
                .map(|(context, _)| context.obstructions.keys().map(String::as_str).collect())
                .unwrap_or_default();
            let message = format!(
                "no imported lawpack exports obstruction `{}`",
                target.path.text()
            );
            let close = member.and_then(|(_, name)| self.sink.nearest(name, known.iter().copied()));
            let help = match close {
                Some(close) => {
                    format!("did you mean `{close}`? exported are: {}", listed(&known))
                }
                None if known.is_empty() => "name it `alias.Name`".to_owned(),
                None => format!("exported are: {}", listed(&known)),
            };
            self.report(Kind::UnknownObstruction, target.path.span, message, &help);
            if let Some(payload) = &target.payload {
                self.expr(payload, Want::Hint(&Type::Error));
            }
            return None;
        };
        let payload = match &target.payload {
            None => None,
            Some(payload) => Some(self.payload(payload, obstruction)?),
        };
        if !self.may_copy(extent::length(&obstruction.coordinate)) {
            return None;
        }
        Some(Raise {
            obstruction: obstruction.coordinate.clone(),
            payload,
        })
    }

    fn payload(
        &mut self,
        payload: &Expr,
        obstruction: &Obstruction,
    ) -> Option<crate::core::tree::Expr> {
        let is_literal = matches!(payload.bare().kind, ExprKind::Record(_));
        let is_record = matches!(obstruction.payload, Type::Record(_));
        if !is_literal || !is_record {
            let message = if is_record {
                "the payload must be a record literal".to_owned()
            } else {
                format!(
                    "payloads of {} cannot be written",
                    short(&obstruction.payload)
                )
            };
            let help = if is_record {
                "write `{ field: value }`"
            } else {
                "raise it bare"
            };
            self.report(Kind::UnsupportedSourceShape, payload.span, message, help);
            self.expr(payload, Want::Hint(&Type::Error));
            return None;
        }
        let most = Sizes::default().encoded(&obstruction.payload);
        if most > MAX_PAYLOAD_BYTES {
            let message =
                format!("the payload may take {most} bytes, the limit is {MAX_PAYLOAD_BYTES}");
            self.report(Kind::InvalidBound, payload.span, message, "raise it bare");
        }
        let typed = self.expr(payload, Want::Must(&obstruction.payload));
        (!typed.is_error()).then(|| typed.expr())
    }
}
