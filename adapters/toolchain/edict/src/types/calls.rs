// SPDX-License-Identifier: Apache-2.0
//! The calls of a module: no function calls itself, and no more than 128 functions and helpers are
//! ever entered inside each other (3.2), which is what verifier and host count too.

use super::environment::{Alias, Environment};
use super::graph::{self, Edge};
use super::resolve::report_cycles;
use crate::core_artifact::Reach;
use crate::diagnostic::{Finding, Kind, Sink, Span};
use crate::lawpack::context::LawpackContext;
use crate::syntax::ast::{FunctionDecl, IntentDecl, Name};
use crate::syntax::calls_in;
use std::collections::BTreeMap;

/// Functions and helpers that may be entered inside each other.
const MAX_CALLS: usize = 128;

/// How many functions a call of each callee enters inside each other, itself among them.
type Heights = BTreeMap<String, usize>;

/// Reports cycles and calls that go too deep. Functions are visited in source order.
pub(crate) fn judge(
    functions: &[&FunctionDecl],
    intents: &[&IntentDecl],
    environment: &Environment<'_>,
    contexts: &[LawpackContext],
    sink: &mut Sink,
) {
    let names = functions.iter().map(|it| it.name.text.as_str());
    let index: BTreeMap<&str, usize> = names.zip(0..).collect();
    let calls: Vec<Vec<Name>> = functions.iter().map(|it| calls_in(&it.body)).collect();
    let edge = |call: &Name| {
        Some(Edge {
            target: *index.get(call.text.as_str())?,
            span: call.span,
        })
    };
    let edges: Vec<Vec<Edge>> = calls
        .iter()
        .map(|calls| calls.iter().filter_map(edge).collect())
        .collect();
    let order = graph::order(&edges);
    let name = |at: usize| functions.get(at).map_or("", |it| &it.name.text);
    report_cycles(&order.cycles, name, sink);
    let mut heights = helpers(contexts);
    // Callees come first; a closing reference has no height yet and counts nothing.
    for function in order.sequence {
        let mut height = 0;
        for call in calls.get(function).into_iter().flatten() {
            let callee = callee(environment, &call.text);
            let below = heights.get(&callee).copied().unwrap_or(0);
            if below >= MAX_CALLS {
                sink.report(too_deep(call.span));
            } else {
                height = height.max(below);
            }
        }
        let own = callee(environment, name(function));
        heights.insert(own, height.saturating_add(1));
    }
    for call in intents.iter().flat_map(|it| calls_in(&it.body)) {
        let callee = callee(environment, &call.text);
        if heights.get(&callee).is_some_and(|it| *it > MAX_CALLS) {
            sink.report(too_deep(call.span));
        }
    }
}

fn too_deep(span: Span) -> Finding {
    let message = format!("functions call more than {MAX_CALLS} deep");
    Finding::new(Kind::InvalidBound, span, message).help("merge some of the functions")
}

/// The name of a callee as Core writes it.
fn callee(environment: &Environment<'_>, name: &str) -> String {
    let Some((alias, helper)) = name.split_once('.') else {
        return format!("{}.{name}", environment.coordinate);
    };
    match environment.aliases.get(alias) {
        Some(Alias::Lawpack(context)) => format!("{}.{helper}", context.coordinate),
        Some(Alias::Target | Alias::Missing) | None => String::new(),
    }
}

/// The heights of all helpers of a closure, which has no cycles.
fn helpers(contexts: &[LawpackContext]) -> Heights {
    let all = contexts.iter().flat_map(|context| {
        let named = context.helpers.iter();
        named.map(|(name, helper)| (format!("{}.{name}", context.coordinate), helper))
    });
    let (names, callees): (Vec<String>, Vec<Vec<String>>) = all
        .map(|(name, helper)| {
            let mut reach = Reach::default();
            reach.function(helper);
            (name, reach.callees.into_iter().collect())
        })
        .unzip();
    let index: BTreeMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let edge = |callee: &String| {
        Some(Edge {
            target: *index.get(callee.as_str())?,
            span: Span::default(),
        })
    };
    let edges: Vec<Vec<Edge>> = callees
        .iter()
        .map(|callees| callees.iter().filter_map(edge).collect())
        .collect();
    let mut heights = Heights::new();
    for helper in graph::order(&edges).sequence {
        let below = callees.get(helper).into_iter().flatten();
        let below = below.filter_map(|callee| heights.get(callee)).max();
        let height = below.copied().unwrap_or(0).saturating_add(1);
        if let Some(name) = names.get(helper) {
            heights.insert(name.clone(), height);
        }
    }
    heights
}
