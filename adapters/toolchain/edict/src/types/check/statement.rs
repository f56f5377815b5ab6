// SPDX-License-Identifier: Apache-2.0
//! Checks the statements of intents and what `let` binds.

use super::choice::Join;
use super::expression::is_bare;
use super::{Checker, Typed, Variable, Want, short};
use crate::core::depth;
use crate::core::tree::{Binder, Block as CoreBlock, Fold, Local, Node, Predicate};
use crate::diagnostic::{Kind, Span};
use crate::syntax::ast::{
    Block, Expr, ExprKind, FoldExpr, LetValue, Loop, Name, Statement, StatementKind, TypeExpr,
    YieldBlock,
};
use crate::types::relate;
use crate::types::ty::{Type, Width};

/// What a loop visits.
struct Visit {
    collection: crate::core::tree::Expr,
    bound: u64,
    item: Type,
    /// Whether the items are single bytes.
    bytes: bool,
}

impl Checker<'_, '_> {
    /// Checks statements in the current scope.
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Vec<Node> {
        let mut nodes = Vec::new();
        for statement in statements {
            nodes.extend(self.statement(statement));
        }
        nodes
    }

    fn statement(&mut self, statement: &Statement) -> Option<Node> {
        match &statement.kind {
            StatementKind::Let {
                name,
                annotation,
                value,
            } => self.let_statement(name, annotation.as_ref(), value),
            StatementKind::Return(_) => {
                self.misplaced(statement.span, "`return` is the last statement of the body");
                None
            }
            StatementKind::Require(condition, target) => {
                let (predicate, truth) = self.condition(condition);
                let failure = self.raise(target);
                self.facts.learn(&truth.holds);
                failure.map(|failure| Node::Require { predicate, failure })
            }
            StatementKind::If(parts, otherwise) => {
                Some(self.if_statement(parts, otherwise.as_ref()))
            }
            StatementKind::For(head, block) => Some(self.for_statement(head, block)),
            StatementKind::Call(value, handler) => {
                let ExprKind::Call(call) = &value.kind else {
                    return None;
                };
                if let Some(effect) = self.effect_of(call) {
                    let local = self.fresh();
                    let (node, _) = self.effect(value, call, handler.as_ref(), effect, local, None);
                    return node;
                }
                let typed = self.expr(value, Want::Nothing);
                if !typed.is_error() {
                    self.misplaced(statement.span, "only calls of effects are statements");
                }
                None
            }
        }
    }

    pub(super) fn misplaced(&mut self, span: Span, message: &str) {
        let help = "bind values with `let`; the body ends with its one `return`";
        self.report(Kind::UnsupportedSourceShape, span, message, help);
    }

    fn block(&mut self, block: &Block) -> CoreBlock {
        self.open();
        let nodes = self.statements(&block.statements);
        self.close();
        CoreBlock {
            nodes,
            result: None,
        }
    }

    fn if_statement(&mut self, parts: &[(Expr, Block)], otherwise: Option<&Block>) -> Node {
        let mark = self.facts.mark();
        let mut arms: Vec<(Predicate, CoreBlock)> = Vec::new();
        for (condition, block) in parts {
            let (predicate, truth) = self.condition(condition);
            let inner = self.facts.mark();
            self.facts.learn(&truth.holds);
            arms.push((predicate, self.block(block)));
            self.facts.reset(inner);
            self.facts.learn(&truth.fails);
        }
        let empty = || CoreBlock {
            nodes: Vec::new(),
            result: None,
        };
        let mut last = otherwise.map_or_else(empty, |it| self.block(it));
        self.facts.reset(mark);
        let many = arms.len() > 1;
        let mut node = None;
        for (nested, (condition, then)) in arms.into_iter().rev().enumerate() {
            if nested > 128 {
                self.too_deep = true;
                break;
            }
            if let Some(inner) = node.take() {
                last.nodes.push(inner);
            }
            node = Some(Node::Branch {
                condition,
                binding: None,
                then,
                otherwise: std::mem::replace(&mut last, empty()),
            });
        }
        let node = node.filter(|it| !many || depth::node(it) <= depth::MAX_CONTAINERS);
        node.unwrap_or_else(|| {
            self.too_deep = true;
            Node::Branch {
                condition: Predicate::False,
                binding: None,
                then: empty(),
                otherwise: empty(),
            }
        })
    }

    pub(super) fn let_statement(
        &mut self,
        name: &Name,
        annotation: Option<&TypeExpr>,
        value: &LetValue,
    ) -> Option<Node> {
        let local = self.fresh();
        let declared = annotation.map(|ty| self.environment.resolve(ty, self.sink));
        let want = declared.as_ref().map_or(Want::Nothing, Want::Must);
        match value {
            LetValue::Expr(value, handler) => {
                if let ExprKind::Call(call) = &value.kind
                    && let Some(effect) = self.effect_of(call)
                {
                    let declared = declared.as_ref();
                    let (node, ty) =
                        self.effect(value, call, handler.as_ref(), effect, local, declared);
                    self.bind_plain(&name.text, local, ty);
                    return node;
                }
                let typed = self.expr(value, want);
                if handler.is_some() && !typed.is_error() {
                    let message = "only effects have failures that `else` can handle";
                    self.report(
                        Kind::UnsupportedSourceShape,
                        value.span,
                        message,
                        "remove `else`",
                    );
                }
                Some(self.bind_value(name, local, declared, typed))
            }
            LetValue::Branch(condition, then, otherwise) => {
                Some(self.branch(name, local, declared, [then, otherwise], condition))
            }
            LetValue::Fold(fold) => Some(self.fold(name, local, declared, fold)),
        }
    }

    fn bind_value(
        &mut self,
        name: &Name,
        local: Local,
        declared: Option<Type>,
        typed: Typed,
    ) -> Node {
        let range =
            matches!(typed.ty, Type::Integer(_)).then(|| self.facts.tighten(&typed.operand()));
        let ty = declared.unwrap_or_else(|| typed.ty.clone());
        let variable = Variable {
            local,
            ty: ty.clone(),
            alias: typed.term.clone(),
            range,
        };
        self.bind(&name.text, variable);
        Node::Let {
            binding: Binder { local, ty },
            value: typed.expr(),
        }
    }

    /// The statements of a yield block and, unless it is a bare literal, its value.
    fn yield_block(
        &mut self,
        block: &YieldBlock,
        join: &mut Join<'_>,
    ) -> (Vec<Node>, Option<Typed>) {
        self.open();
        let nodes = self.statements(&block.statements);
        let result = (!is_bare(&block.result)).then(|| join.part(self, &block.result));
        self.close();
        (nodes, result)
    }

    fn branch(
        &mut self,
        name: &Name,
        local: Local,
        declared: Option<Type>,
        blocks: [&YieldBlock; 2],
        condition: &Expr,
    ) -> Node {
        let want = declared.as_ref().map_or(Want::Nothing, Want::Must);
        let mut join = Join::new(want);
        let [first, second] = blocks;
        let (condition, truth) = self.condition(condition);
        let mark = self.facts.mark();
        self.facts.learn(&truth.holds);
        let (then, one) = self.yield_block(first, &mut join);
        self.facts.reset(mark);
        self.facts.learn(&truth.fails);
        let (otherwise, two) = self.yield_block(second, &mut join);
        self.facts.reset(mark);
        let one = one.unwrap_or_else(|| join.part(self, &first.result));
        let two = two.unwrap_or_else(|| join.part(self, &second.result));
        let natural = super::choice::natural([&one.ty, &two.ty].into_iter());
        let ty = declared.or(natural).unwrap_or(Type::Error);
        self.bind_plain(&name.text, local, ty.clone());
        let block = |nodes, result: Typed| CoreBlock {
            nodes,
            result: Some(result.expr()),
        };
        Node::Branch {
            condition,
            binding: Some(Binder { local, ty }),
            then: block(then, one),
            otherwise: block(otherwise, two),
        }
    }

    /// Checks the collection and the bound of a loop.
    fn visit(&mut self, head: &Loop) -> Visit {
        let collection = self.expr(&head.collection, Want::Nothing);
        let bound = self
            .environment
            .bound(&head.bound, head.bound.span(), self.sink);
        let (item, max) = match &collection.ty {
            Type::List { item, max } => ((**item).clone(), Some(*max)),
            Type::Bytes { max, .. } => (Type::Integer(Width::U32), Some(*max)),
            Type::Error => (Type::Error, None),
            other => {
                let message = format!("cannot iterate {}", short(other));
                self.report(Kind::TypeMismatch, head.collection.span, message, "");
                (Type::Error, None)
            }
        };
        if let (Some(bound), Some(max)) = (bound, max)
            && max > bound
        {
            let message = format!("the collection holds up to {max} items, the bound is {bound}");
            let help = format!("raise the bound to {max}");
            self.report(Kind::InvalidBound, head.bound.span(), message, &help);
        }
        let bytes = matches!(collection.ty, Type::Bytes { .. });
        Visit {
            collection: collection.expr(),
            bound: bound.unwrap_or(0),
            item,
            bytes,
        }
    }

    fn bind_item(&mut self, head: &Loop, local: Local, visit: &Visit) {
        let range = visit.bytes.then_some((0, 255));
        let variable = Variable {
            local,
            ty: visit.item.clone(),
            alias: None,
            range,
        };
        self.bind(&head.item.text, variable);
    }

    fn for_statement(&mut self, head: &Loop, block: &Block) -> Node {
        let local = self.fresh();
        let visit = self.visit(head);
        self.open();
        self.bind_item(head, local, &visit);
        let body = self.block(block);
        self.close();
        Node::For {
            item: Binder {
                local,
                ty: visit.item,
            },
            collection: visit.collection,
            bound: visit.bound,
            fold: None,
            body,
        }
    }

    fn fold(&mut self, name: &Name, local: Local, declared: Option<Type>, fold: &FoldExpr) -> Node {
        let item = self.fresh();
        let visit = self.visit(&fold.head);
        let accumulator = self.fresh();
        let ty = self.environment.resolve(&fold.ty, self.sink);
        let initial = self.expr(&fold.initial, Want::Must(&ty));
        self.open();
        self.bind_item(&fold.head, item, &visit);
        self.bind_plain(&fold.accumulator.text, accumulator, ty.clone());
        self.open();
        let nodes = self.statements(&fold.body.statements);
        let result = self.expr(&fold.body.result, Want::Must(&ty));
        self.close();
        self.close();
        if let Some(declared) = &declared
            && !relate::assignable(&ty, declared)
        {
            self.mismatch(fold.ty.span, &short(declared), &ty);
        }
        let bound_type = declared.unwrap_or_else(|| ty.clone());
        self.bind_plain(&name.text, local, bound_type.clone());
        Node::For {
            item: Binder {
                local: item,
                ty: visit.item,
            },
            collection: visit.collection,
            bound: visit.bound,
            fold: Some(Fold {
                binding: Binder {
                    local,
                    ty: bound_type,
                },
                accumulator: Binder {
                    local: accumulator,
                    ty,
                },
                initial: initial.expr(),
            }),
            body: CoreBlock {
                nodes,
                result: Some(result.expr()),
            },
        }
    }
}
