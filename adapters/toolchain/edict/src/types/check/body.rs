// SPDX-License-Identifier: Apache-2.0
//! Checks whole functions and intents.

use super::{Checker, Variable, Want};
use crate::core::extent::MAX_ARTIFACT;
use crate::core::tree::{
    Binder, Block as CoreBlock, BudgetLimits, Expr as CoreExpr, Function, Intent, Local, Node,
};
use crate::diagnostic::{Kind, Sink};
use crate::syntax::ast::{
    Block, ClauseKind, Expr, FunctionDecl, IntentDecl, LetValue, Name, Param, Statement,
    StatementKind,
};
use crate::types::environment::Environment;
use crate::types::facts::Fact;
use crate::types::ty::Type;

/// The checking of one module.
pub(crate) struct Pass<'c, 'a> {
    pub(crate) environment: &'c Environment<'a>,
    pub(crate) sink: &'c mut Sink,
    /// Bytes of coordinates and constants that Core holds copies of.
    pub(crate) copied: u64,
}

/// Why Core cannot hold a declaration whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// It nests too deep.
    pub(crate) deep: bool,
    /// It is too large.
    pub(crate) large: bool,
}

impl Pass<'_, '_> {
    /// Checks a function, and whether Core can hold it.
    pub(crate) fn function(&mut self, declared: &FunctionDecl) -> (Function, Cut) {
        self.whole(|checker| checker.function_body(declared))
    }

    /// Checks an intent, and whether Core can hold it.
    pub(crate) fn intent(&mut self, declared: &IntentDecl) -> (Intent, Cut) {
        self.whole(|checker| checker.intent_body(declared))
    }

    fn whole<T>(&mut self, check: impl FnOnce(&mut Checker<'_, '_>) -> T) -> (T, Cut) {
        let mut checker = Checker::new(self.environment, self.sink);
        checker.copied = self.copied;
        checker.open();
        let checked = check(&mut checker);
        let cut = Cut {
            deep: checker.too_deep,
            large: checker.copied > MAX_ARTIFACT,
        };
        self.copied = checker.copied;
        (checked, cut)
    }
}

fn nothing() -> CoreExpr {
    super::bool_const(false)
}

impl Checker<'_, '_> {
    fn parameters(&mut self, params: &[Param]) -> Vec<Binder> {
        let mut binders = Vec::new();
        for (param, number) in params.iter().zip(0..) {
            // Mistakes in signatures are reported by `resolve`.
            let ty = self.environment.resolve(&param.ty, &mut Sink::default());
            let local = Local::Argument(number);
            let variable = Variable {
                local,
                ty: ty.clone(),
                alias: None,
                range: None,
            };
            self.bind(&param.name.text, variable);
            binders.push(Binder { local, ty });
        }
        binders
    }

    fn function_body(&mut self, declared: &FunctionDecl) -> Function {
        let parameters = self.parameters(&declared.params);
        let result = self
            .environment
            .resolve(&declared.result, &mut Sink::default());
        let mut bindings = Vec::new();
        let (before, returned) = self.split(&declared.body, &declared.name);
        for statement in before {
            bindings.extend(self.function_statement(statement));
        }
        let value = returned.map_or_else(nothing, |value| {
            self.expr(value, Want::Must(&result)).expr()
        });
        Function {
            parameters,
            result,
            bindings,
            value,
        }
    }

    fn function_statement(&mut self, statement: &Statement) -> Option<Node> {
        if let StatementKind::Let {
            name,
            annotation,
            value,
        } = &statement.kind
        {
            let is_effect = match value {
                LetValue::Expr(value, handler) => self.refuse_effect(value, handler.is_some()),
                LetValue::Branch(..) => {
                    self.misplaced(statement.span, "a function has no branches with `yield`");
                    true
                }
                LetValue::Fold(fold) => {
                    if self.refuse_statements(&fold.body.statements) {
                        let local = self.fresh();
                        self.bind_plain(&name.text, local, Type::Error);
                        return None;
                    }
                    false
                }
            };
            if is_effect {
                let local = self.fresh();
                self.bind_plain(&name.text, local, Type::Error);
                return None;
            }
            return self.let_statement(name, annotation.as_ref(), value);
        }
        let message = "a function holds `let` and loops with an accumulator, then `return`";
        self.misplaced(statement.span, message);
        None
    }

    /// Whether statements of a loop body in a function hold something a function may not.
    fn refuse_statements(&mut self, statements: &[Statement]) -> bool {
        let mut refused = false;
        for statement in statements {
            let StatementKind::Let { value, .. } = &statement.kind else {
                self.misplaced(statement.span, "the loops of a function hold `let` only");
                refused = true;
                continue;
            };
            refused |= match value {
                LetValue::Expr(value, handler) => self.refuse_effect(value, handler.is_some()),
                LetValue::Branch(..) => {
                    self.misplaced(statement.span, "a function has no branches with `yield`");
                    true
                }
                LetValue::Fold(fold) => self.refuse_statements(&fold.body.statements),
            };
        }
        refused
    }

    fn refuse_effect(&mut self, value: &Expr, handled: bool) -> bool {
        let crate::syntax::ast::ExprKind::Call(call) = &value.kind else {
            return false;
        };
        if self.effect_of(call).is_none() && !handled {
            return false;
        }
        let message = "functions are pure: no effect may stand here";
        let help = "call it in the intent and pass its result";
        self.report(
            Kind::UnsupportedSourceShape,
            call.callee.span,
            message,
            help,
        );
        true
    }

    /// The statements before the one `return` and its value; what follows it is refused.
    fn split<'b>(&mut self, body: &'b Block, name: &Name) -> (&'b [Statement], Option<&'b Expr>) {
        let all = body.statements.as_slice();
        let at = all
            .iter()
            .position(|it| matches!(it.kind, StatementKind::Return(_)));
        let Some(at) = at else {
            let message = format!("`{}` ends without `return`", name.text);
            self.report(
                Kind::UnsupportedSourceShape,
                name.span,
                message,
                "add `return value;`",
            );
            return (all, None);
        };
        let (before, rest) = all.split_at(at);
        for statement in rest.iter().skip(1) {
            self.misplaced(statement.span, "nothing follows `return`");
        }
        let value = rest.first().and_then(|it| match &it.kind {
            StatementKind::Return(value) => Some(value),
            _ => None,
        });
        (before, value)
    }

    fn intent_body(&mut self, declared: &IntentDecl) -> Intent {
        let mut parameters = self.parameters(&declared.params).into_iter();
        let parameter = parameters.next().unwrap_or(Binder {
            local: Local::Argument(0),
            ty: Type::Error,
        });
        let result = self
            .environment
            .resolve(&declared.result, &mut Sink::default());
        let mut intent = Intent {
            parameter,
            result,
            profile: String::new(),
            basis: None,
            constraints: Vec::new(),
            budget: String::new(),
            limits: BudgetLimits {
                max_steps: 0,
                max_allocated_bytes: 0,
                max_output_bytes: 0,
            },
            body: CoreBlock {
                nodes: Vec::new(),
                result: None,
            },
        };
        let known = self.clauses(declared, &mut intent);
        self.facts.learn(&known);
        self.open();
        let (before, returned) = self.split(&declared.body, &declared.name);
        intent.body.nodes = self.statements(before);
        if let Some(value) = returned {
            let typed = self.expr(value, Want::Must(&intent.result));
            let ty = typed.ty.clone();
            let value = typed.expr();
            let value = self.bind_leaves(value, &ty, &mut intent.body.nodes);
            intent.body.result = Some(value);
        }
        self.close();
        intent
    }

    /// Checks the clauses in written order and returns what `where` makes known in the body.
    fn clauses(&mut self, declared: &IntentDecl, intent: &mut Intent) -> Vec<Fact> {
        let mut known = Vec::new();
        for clause in &declared.clauses {
            match &clause.kind {
                ClauseKind::Profile(path) => {
                    self.profile = self.environment.profile(path);
                    if let Some(profile) = self.profile {
                        intent.profile.clone_from(&profile.coordinate);
                    }
                }
                ClauseKind::Budget(path) => {
                    if let Some((coordinate, limits)) = self.environment.budget(path) {
                        intent.budget = coordinate;
                        intent.limits = limits;
                    }
                }
                ClauseKind::Basis(None) => {}
                ClauseKind::Basis(Some(expr)) => {
                    intent.basis = Some(self.expr(expr, Want::Nothing).expr());
                }
                ClauseKind::Where(parts) => {
                    for part in parts {
                        let (predicate, truth) = self.condition(part);
                        intent.constraints.push(predicate);
                        known.extend(truth.holds);
                    }
                }
            }
        }
        known
    }
}
