// SPDX-License-Identifier: Apache-2.0
//! The four flat lists of a Target IR intent, numbered in program order.

use crate::{
    core::tree::{Block, Local, Node},
    core_artifact::{
        arms, binder, block_result, expression, fold_members, optional_binder, predicate, raise,
    },
    lawpack::{
        assemble::{Access, Lawpack},
        configuration::Output,
    },
};
use edict_codec::cbor::Value;
use std::collections::BTreeMap;

/// Which entry of Target IR binds a local.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A step.
    Step(String),
    /// A pure binding or a region.
    Binding(String),
}

/// Entries by the local that they bind, at every depth.
pub type Ids = BTreeMap<Local, Source>;

/// Order and result of a block.
pub(super) struct FlatBlock {
    pub(super) order: Value,
    pub(super) result: Value,
}

/// Collects the entries of one intent.
pub(super) struct Flat<'a> {
    name: &'a str,
    accesses: BTreeMap<&'a str, &'a Access>,
    bindings: Vec<Value>,
    requirements: Vec<Value>,
    steps: Vec<Value>,
    regions: Vec<Value>,
    ids: Ids,
}

impl<'a> Flat<'a> {
    pub(super) fn new(name: &'a str, closure: &[&'a Lawpack]) -> Self {
        let accesses = closure
            .iter()
            .flat_map(|lawpack| &lawpack.accesses)
            .map(|(effect, access)| (effect.as_str(), access))
            .collect();
        Self {
            name,
            accesses,
            bindings: Vec::new(),
            requirements: Vec::new(),
            steps: Vec::new(),
            regions: Vec::new(),
            ids: Ids::new(),
        }
    }

    /// The four lists by member name, and who binds what.
    pub(super) fn finish(self) -> ([(&'static str, Value); 4], Ids) {
        let lists = [
            ("pureBindings", Value::Array(self.bindings)),
            ("requirements", Value::Array(self.requirements)),
            ("steps", Value::Array(self.steps)),
            ("regions", Value::Array(self.regions)),
        ];
        (lists, self.ids)
    }

    /// Adds everything in a block.
    pub(super) fn block(&mut self, block: &Block) -> FlatBlock {
        let order = block.nodes.iter().map(|node| Value::text(self.node(node)));
        FlatBlock {
            order: Value::Array(order.collect()),
            result: block_result(block),
        }
    }

    fn nested(&mut self, block: &Block) -> Value {
        let block = self.block(block);
        Value::text_map([("executionOrder", block.order), ("result", block.result)])
    }

    fn id(&self, word: &str, list: &[Value]) -> String {
        format!("{}.{word}.{}", self.name, list.len())
    }

    fn node(&mut self, node: &Node) -> String {
        match node {
            Node::Let { binding, value } => {
                let id = self.id("binding", &self.bindings);
                self.ids.insert(binding.local, Source::Binding(id.clone()));
                self.bindings.push(Value::text_map([
                    ("id", Value::text(id.as_str())),
                    ("binding", binder(binding)),
                    ("value", expression(value)),
                ]));
                id
            }
            Node::Require {
                predicate: condition,
                failure,
            } => {
                let id = self.id("require", &self.requirements);
                self.requirements.push(Value::text_map([
                    ("id", Value::text(id.as_str())),
                    ("predicate", predicate(condition)),
                    ("onFailure", raise(failure)),
                ]));
                id
            }
            Node::Effect {
                binding,
                effect,
                input,
                arms: handled,
            } => {
                let id = self.id("step", &self.steps);
                self.ids.insert(binding.local, Source::Step(id.clone()));
                let access = self.accesses.get(effect.as_str());
                let text = |text: Option<String>| text.map_or(Value::Null, Value::Text);
                self.steps.push(Value::text_map([
                    ("id", Value::text(id.as_str())),
                    ("binding", binder(binding)),
                    ("effect", Value::text(effect.as_str())),
                    (
                        "targetIntrinsic",
                        text(access.map(|it| it.intrinsic.coordinate())),
                    ),
                    (
                        "configuration",
                        access.map_or(Value::Null, |it| configuration(it)),
                    ),
                    ("input", expression(input)),
                    (
                        "obstructionFailures",
                        access.map_or(Value::Null, |it| failures(it)),
                    ),
                    ("obstructionArms", arms(handled)),
                ]));
                id
            }
            Node::Branch { .. } => self.branch(node),
            Node::For { .. } => self.repeat(node),
        }
    }

    /// Takes the next region, so that it is numbered before what its blocks hold.
    fn region(&mut self, bound: Option<Local>) -> (usize, String) {
        let id = self.id("region", &self.regions);
        if let Some(local) = bound {
            self.ids.insert(local, Source::Binding(id.clone()));
        }
        self.regions.push(Value::Null);
        (self.regions.len().saturating_sub(1), id)
    }

    fn fill(&mut self, index: usize, region: Value) {
        if let Some(slot) = self.regions.get_mut(index) {
            *slot = region;
        }
    }

    fn branch(&mut self, node: &Node) -> String {
        let Node::Branch {
            condition,
            binding,
            then,
            otherwise,
        } = node
        else {
            return String::new();
        };
        let (index, id) = self.region(binding.as_ref().map(|it| it.local));
        let region = Value::text_map([
            ("id", Value::text(id.as_str())),
            ("kind", Value::text("branch")),
            ("condition", predicate(condition)),
            ("binding", optional_binder(binding.as_ref())),
            ("then", self.nested(then)),
            ("else", self.nested(otherwise)),
        ]);
        self.fill(index, region);
        id
    }

    fn repeat(&mut self, node: &Node) -> String {
        let Node::For {
            item,
            collection,
            bound,
            fold,
            body,
        } = node
        else {
            return String::new();
        };
        let (index, id) = self.region(fold.as_ref().map(|it| it.binding.local));
        let [binding, accumulator, initial] = fold_members(fold.as_ref());
        let region = Value::text_map([
            ("id", Value::text(id.as_str())),
            ("kind", Value::text("for")),
            ("item", binder(item)),
            ("collection", expression(collection)),
            ("bound", Value::unsigned(*bound)),
            ("binding", binding),
            ("accumulator", accumulator),
            ("initial", initial),
            ("body", self.nested(body)),
        ]);
        self.fill(index, region);
        id
    }
}

/// The configuration of a step, type texts with aliases expanded.
fn configuration(access: &Access) -> Value {
    let configured = &access.configuration;
    let path = |path: &[String]| {
        let fields = path.iter().map(|field| Value::text(field.as_str()));
        Value::Array(fields.collect())
    };
    let output = match &configured.output {
        Output::Value => Value::text("value"),
        Output::Version => Value::text("version"),
        Output::Fields { value, version } => {
            let value = value.iter().map(|it| ("value", Value::text(it.as_str())));
            let version = version
                .iter()
                .map(|it| ("version", Value::text(it.as_str())));
            Value::text_map(value.chain(version))
        }
    };
    let mut members = vec![
        ("space", Value::text(configured.space.as_str())),
        ("atomType", Value::text(access.atom.to_string())),
        ("keyType", Value::text(access.key.to_string())),
        ("key", path(&configured.key)),
        ("output", output),
    ];
    if let Some(value) = &configured.value {
        members.push(("value", path(value)));
    }
    if let Some(expected) = &configured.expected {
        members.push(("expected", path(expected)));
    }
    Value::text_map(members)
}

fn failures(access: &Access) -> Value {
    Value::text_map(access.failures.iter().map(|(name, failure)| {
        let value = Value::text_map([
            ("target", Value::text(failure.target.as_str())),
            ("payloadType", Value::text(failure.payload.to_string())),
        ]);
        (name.as_str(), value)
    }))
}
