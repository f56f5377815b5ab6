// SPDX-License-Identifier: Apache-2.0
//! Reads the functions of Core and of lawpacks.

use super::{Reader, broken};
use crate::package::{
    functions::Source,
    tree::{Block, Function, Statement},
};
use edict_codec::cbor::Value as Cbor;

impl<'a> Reader<'a, '_> {
    /// A function.
    pub(super) fn function(&mut self, source: &Source<'a>) -> Function {
        let mut function = Function {
            parameters: Vec::new(),
            statements: Vec::new(),
            body: Block::default(),
            path: self.path.text(),
            places: Vec::new(),
        };
        let keys = ["bindings", "parameters", "result", "value"];
        let Some([bindings, parameters, result, value]) = self.map(source.value, keys) else {
            return function;
        };
        function.parameters = self.each("parameters", parameters, Self::binder_here);
        self.ty("result", result);
        function.body.order = self.core_nodes("bindings", bindings, &mut function);
        function.body.result = Some(self.expr("value", value));
        function
    }

    fn core_nodes(
        &mut self,
        key: &'static str,
        value: &'a Cbor,
        function: &mut Function,
    ) -> Vec<usize> {
        self.each(key, value, |it, node| {
            it.nodes = it.nodes.saturating_add(1);
            let statement = it.core_node(node, function).unwrap_or_else(broken);
            function.statements.push(statement);
            function.places.push(it.path.text());
            function.statements.len().saturating_sub(1)
        })
    }

    /// A node of a function: a binding, or a loop that accumulates.
    fn core_node(&mut self, value: &'a Cbor, function: &mut Function) -> Option<Statement> {
        match value.get("kind").and_then(Cbor::as_text) {
            Some("let") => {
                let [binding, _, value] = self.map(value, ["binding", "kind", "value"])?;
                Some(Statement::Let {
                    binding: self.binder("binding", binding),
                    value: self.expr("value", value),
                })
            }
            Some("for") => {
                let keys = [
                    "accumulator",
                    "binding",
                    "body",
                    "bound",
                    "collection",
                    "initial",
                    "item",
                    "kind",
                ];
                let [
                    accumulator,
                    binding,
                    body,
                    bound,
                    collection,
                    initial,
                    item,
                    _,
                ] = self.map(value, keys)?;
                let head = [accumulator, binding, bound, collection, initial, item];
                let (mut head, has_value) = self.loop_head(head);
                self.path.key("body");
                if let Some([nodes, result]) = self.map(body, ["nodes", "result"]) {
                    head.body = Block {
                        order: self.core_nodes("nodes", nodes, function),
                        result: self.block_result(result, has_value),
                    };
                }
                self.path.up();
                Some(Statement::For(Box::new(head)))
            }
            _ => {
                let path = self.path.text();
                self.findings
                    .unsupported(&path, "a function has bindings and loops only");
                None
            }
        }
    }
}
