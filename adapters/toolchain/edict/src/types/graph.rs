// SPDX-License-Identifier: Apache-2.0
//! Orders declarations so that everything stands after what it refers to; finds cycles.

use crate::diagnostic::Span;

/// A reference to the declaration of this index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) target: usize,
    pub(crate) span: Span,
}

/// The outcome of a walk.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Every declaration, after those it refers to; references that close a cycle do not count.
    pub(crate) sequence: Vec<usize>,
    /// Each closing reference and the declarations of its cycle.
    pub(crate) cycles: Vec<(Edge, Vec<usize>)>,
}

/// Walks `edges`, one list a declaration, in order and without recursion.
pub(crate) fn order(edges: &[Vec<Edge>]) -> Order {
    let mut order = Order::default();
    let mut state = vec![State::New; edges.len()];
    for root in 0..edges.len() {
        if state.get(root) != Some(&State::New) {
            continue;
        }
        let mut stack = vec![(root, 0usize)];
        set(&mut state, root, State::Open);
        while let Some((node, next)) = stack.last_mut() {
            let node = *node;
            let edge = edges.get(node).and_then(|it| it.get(*next)).copied();
            *next = next.saturating_add(1);
            let Some(edge) = edge else {
                set(&mut state, node, State::Done);
                order.sequence.push(node);
                stack.pop();
                continue;
            };
            match state.get(edge.target) {
                Some(State::New) => {
                    set(&mut state, edge.target, State::Open);
                    stack.push((edge.target, 0));
                }
                Some(State::Open) => {
                    let path = stack.iter().map(|(node, _)| *node);
                    let cycle = path.skip_while(|it| *it != edge.target).collect();
                    order.cycles.push((edge, cycle));
                }
                Some(State::Done) | None => {}
            }
        }
    }
    order
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

fn set(state: &mut [State], index: usize, value: State) {
    if let Some(slot) = state.get_mut(index) {
        *slot = value;
    }
}
