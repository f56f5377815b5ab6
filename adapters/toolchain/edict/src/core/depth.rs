// SPDX-License-Identifier: Apache-2.0
//! How many containers the encoding of a Core tree nests (3.12).

use super::tree::{Block, Expr, Function, Intent, Node, Predicate, Raise};

/// Deepest nesting that the canonical encoding allows.
pub const MAX_CONTAINERS: u32 = 128;

/// Module, `functions` and the function around everything else.
const OUTER: u32 = 3;

/// Containers nested in a module that holds this function.
pub fn function(function: &Function) -> u32 {
    let binder = 2;
    nodes(&function.bindings)
        .max(expr(&function.value))
        .max(binder)
        .saturating_add(OUTER)
}

/// Containers nested in a module that holds this intent.
pub fn intent(intent: &Intent) -> u32 {
    // `{id, predicate}` in a list.
    let constraints = intent.constraints.iter().map(predicate).max().unwrap_or(0);
    let basis = intent.basis.as_ref().map_or(0, expr);
    block(&intent.body)
        .max(constraints.saturating_add(2))
        .max(basis)
        .saturating_add(OUTER)
}

fn block(it: &Block) -> u32 {
    let result = it.result.as_ref().map_or(1, expr);
    nodes(&it.nodes).max(result).saturating_add(1)
}

fn nodes(nodes: &[Node]) -> u32 {
    let deepest = nodes.iter().map(node).max().unwrap_or(0);
    deepest.saturating_add(1)
}

/// Containers of a node.
pub(crate) fn node(node: &Node) -> u32 {
    let inner = match node {
        Node::Let { value, .. } => expr(value),
        Node::Require {
            predicate: it,
            failure,
        } => predicate(it).max(raise(failure)),
        Node::Effect { input, arms, .. } => {
            // `arms` and the arm.
            let arms = arms.values().map(|it| raise(&it.raise)).max().unwrap_or(0);
            expr(input).max(arms.saturating_add(2))
        }
        Node::Branch {
            condition,
            then,
            otherwise,
            ..
        } => predicate(condition).max(block(then)).max(block(otherwise)),
        Node::For {
            collection,
            fold,
            body,
            ..
        } => {
            let initial = fold.as_ref().map_or(0, |it| expr(&it.initial));
            expr(collection).max(initial).max(block(body))
        }
    };
    inner.max(1).saturating_add(1)
}

fn raise(raise: &Raise) -> u32 {
    // The call and its list of arguments.
    raise.payload.as_ref().map_or(0, expr).saturating_add(2)
}

/// Containers of an expression.
pub(crate) fn expr(it: &Expr) -> u32 {
    let inner = match it {
        Expr::Const { .. } | Expr::Local(_) => 0,
        Expr::Field { base, .. } => expr(base),
        // The list and `{name, value}`.
        Expr::Record(fields) => {
            deepest(fields.iter().map(|(_, it)| it)).map_or(1, |it| it.saturating_add(2))
        }
        Expr::List { items, .. } => deepest(items.iter()).unwrap_or(0).saturating_add(1),
        Expr::Variant { payload, .. } => payload.as_ref().map_or(0, |it| expr(it)),
        // The list and the arm.
        Expr::Match { value, arms } => {
            let arms = deepest(arms.iter().map(|it| &it.value)).unwrap_or(0);
            expr(value).max(arms.saturating_add(2))
        }
        Expr::Call { arguments, .. } => deepest(arguments.iter()).unwrap_or(0).saturating_add(1),
        Expr::If {
            condition,
            then,
            otherwise,
        } => predicate(condition).max(expr(then)).max(expr(otherwise)),
    };
    inner.saturating_add(1)
}

fn deepest<'a>(items: impl Iterator<Item = &'a Expr>) -> Option<u32> {
    items.map(expr).max()
}

fn predicate(it: &Predicate) -> u32 {
    let inner = match it {
        Predicate::Compare { left, right, .. } => expr(left).max(expr(right)),
        Predicate::All(parts) | Predicate::Any(parts) => {
            let parts = parts.iter().map(predicate).max().unwrap_or(0);
            parts.saturating_add(1)
        }
        Predicate::Not(part) => predicate(part),
        Predicate::True | Predicate::False => 0,
    };
    inner.saturating_add(1)
}
