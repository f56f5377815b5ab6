// SPDX-License-Identifier: Apache-2.0
//! Reads a whole program: the intent of Target IR and every function it reaches.

mod function;
mod step;

use super::{
    findings::{Findings, Path},
    functions::Functions,
    read::Reader,
    tree::{Block, Expr, Fold, For, Intent, Local, Predicate, Raise, Statement, Tree},
    types::{Scope, Types},
};
use crate::{eval::names::Names, limits};
use edict_codec::cbor::Value as Cbor;
use std::collections::BTreeMap;

/// What a program is read from.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    /// The intent in Target IR.
    pub(crate) intent: &'a Cbor,
    /// Its name.
    pub(crate) name: &'a str,
    /// Number of constraints that the package names.
    pub(crate) constraints: usize,
}

/// Reads the program. What is wrong stands in `findings`.
pub(crate) fn read_program<'a>(
    sources: &Sources<'a>,
    functions: &mut Functions<'a>,
    types: &mut Types,
    names: &mut Names,
    findings: &mut Findings,
) -> Tree {
    let mut reader = Reader {
        types,
        names,
        findings,
        functions,
        scope: Scope::Package,
        path: Path::new(format!(".targetIr.bytes.intents.{}", sources.name)),
        nodes: 0,
    };
    let intent = reader.intent(sources);
    let mut read = Vec::new();
    while let Some(source) = reader.functions.source(read.len()) {
        if read.len() as u64 >= limits::MAX_FUNCTIONS {
            reader
                .findings
                .too_large(&source.path, "the program reaches too many functions");
            break;
        }
        reader.scope = source.scope;
        reader.path = Path::new(source.path.clone());
        read.push(reader.function(&source));
    }
    let nodes = reader.nodes;
    if nodes > limits::MAX_PROGRAM_NODES {
        reader.findings.too_large(
            ".targetIr",
            &format!("the program has {nodes} nodes, at most {} are run", {
                limits::MAX_PROGRAM_NODES
            }),
        );
    }
    Tree {
        intent,
        functions: read,
    }
}

/// A block is referred to by ids in Target IR; they are resolved when all entries are read.
struct Ids<'a> {
    statements: Vec<Statement>,
    numbers: BTreeMap<&'a str, usize>,
    texts: Vec<String>,
    places: Vec<String>,
}

const INTENT_KEYS: [&str; 12] = [
    "basis",
    "coreEvaluationBudget",
    "executionOrder",
    "inputConstraints",
    "operationProfile",
    "outputType",
    "parameter",
    "pureBindings",
    "regions",
    "requirements",
    "result",
    "steps",
];

impl<'a> Reader<'a, '_> {
    fn intent(&mut self, sources: &Sources<'a>) -> Intent {
        let path = self.path.text();
        let mut intent = Intent {
            parameter: Local::Argument(0),
            basis: None,
            constraints: Vec::new(),
            statements: Vec::new(),
            ids: Vec::new(),
            body: Block::default(),
            path,
            places: Vec::new(),
        };
        let Some(values) = self.map(sources.intent, INTENT_KEYS) else {
            return intent;
        };
        let [
            basis,
            _,
            order,
            constraints,
            profile,
            output,
            parameter,
            lets,
            regions,
            requirements,
            result,
            steps,
        ] = values;
        self.text("operationProfile", profile);
        self.ty("outputType", output);
        intent.parameter = self.binder("parameter", parameter);
        intent.basis = self.optional_expr("basis", basis);
        self.constraints(constraints, sources.constraints, &mut intent);
        let ids = self.entries(lets, requirements, steps, regions);
        self.nodes = self.nodes.saturating_add(ids.statements.len() as u64);
        intent.body.order = self.order("executionOrder", order, &ids.numbers);
        intent.body.result = Some(self.expr("result", result));
        intent.statements = ids.statements;
        intent.ids = ids.texts;
        intent.places = ids.places;
        intent
    }

    fn constraints(&mut self, value: &'a Cbor, expected: usize, intent: &mut Intent) {
        let mut count = 0usize;
        intent.constraints = self.each("inputConstraints", value, |it, row| {
            let Some([id, predicate]) = it.map(row, ["id", "predicate"]) else {
                return Predicate::Literal(false);
            };
            let number = format!("where.{count}");
            if id.as_text() != Some(number.as_str()) {
                it.at("id", |it| it.malformed("constraints are numbered in order"));
            }
            count = count.saturating_add(1);
            it.predicate("predicate", predicate)
        });
        if intent.constraints.len() != expected {
            self.at("inputConstraints", |it| {
                it.malformed("the package names another number of constraints");
            });
        }
    }

    /// Reads the four flat lists. Ids are collected first, because blocks name later entries.
    fn entries(
        &mut self,
        lets: &'a Cbor,
        requirements: &'a Cbor,
        steps: &'a Cbor,
        regions: &'a Cbor,
    ) -> Ids<'a> {
        let lists = [
            ("pureBindings", lets),
            ("requirements", requirements),
            ("steps", steps),
            ("regions", regions),
        ];
        let mut numbers = BTreeMap::new();
        let (mut texts, mut places) = (Vec::new(), Vec::new());
        for (key, list) in lists {
            self.each(key, list, |it, entry| {
                let id = entry.get("id").and_then(Cbor::as_text);
                let number = texts.len();
                texts.push(id.unwrap_or_default().to_owned());
                places.push(it.path.text());
                match id {
                    None => it.at("id", |it| it.malformed("an id must stand here")),
                    Some(id) if numbers.insert(id, number).is_some() => {
                        it.at("id", |it| it.malformed("this id stands twice"));
                    }
                    Some(_) => {}
                }
            });
        }
        let mut statements = self.each("pureBindings", lets, Self::pure_binding);
        statements.extend(self.each("requirements", requirements, Self::requirement));
        statements.extend(self.each("steps", steps, Self::step));
        statements.extend(self.each("regions", regions, |it, region| it.region(region, &numbers)));
        Ids {
            statements,
            numbers,
            texts,
            places,
        }
    }

    fn order(
        &mut self,
        key: &'static str,
        value: &'a Cbor,
        numbers: &BTreeMap<&'a str, usize>,
    ) -> Vec<usize> {
        let ids = self.each(key, value, |it, id| {
            let number = id.as_text().and_then(|id| numbers.get(id)).copied();
            if number.is_none() {
                it.malformed("no entry has this id");
            }
            number
        });
        ids.into_iter().flatten().collect()
    }

    fn pure_binding(&mut self, value: &'a Cbor) -> Statement {
        match self.map(value, ["binding", "id", "value"]) {
            Some([binding, _, value]) => Statement::Let {
                binding: self.binder("binding", binding),
                value: self.expr("value", value),
            },
            None => broken(),
        }
    }

    fn requirement(&mut self, value: &'a Cbor) -> Statement {
        match self.map(value, ["id", "onFailure", "predicate"]) {
            Some([_, raise, predicate]) => Statement::Require {
                predicate: self.predicate("predicate", predicate),
                raise: self.raise("onFailure", raise),
            },
            None => broken(),
        }
    }

    fn region(&mut self, value: &'a Cbor, numbers: &BTreeMap<&'a str, usize>) -> Statement {
        let statement = match value.get("kind").and_then(Cbor::as_text) {
            Some("branch") => self.branch(value, numbers),
            Some("for") => self
                .map(
                    value,
                    [
                        "accumulator",
                        "binding",
                        "body",
                        "bound",
                        "collection",
                        "id",
                        "initial",
                        "item",
                        "kind",
                    ],
                )
                .map(
                    |[
                        accumulator,
                        binding,
                        body,
                        bound,
                        collection,
                        _,
                        initial,
                        item,
                        _,
                    ]| {
                        let head = [accumulator, binding, bound, collection, initial, item];
                        let (mut head, has_value) = self.loop_head(head);
                        head.body = self.block("body", body, has_value, numbers);
                        Statement::For(Box::new(head))
                    },
                ),
            Some(_) => {
                let path = self.path.text();
                self.findings
                    .unsupported(&path, "a region is a branch or a loop");
                None
            }
            None => {
                self.at("kind", |it| it.malformed("a kind must stand here"));
                None
            }
        };
        statement.unwrap_or_else(broken)
    }

    fn branch(&mut self, value: &'a Cbor, numbers: &BTreeMap<&'a str, usize>) -> Option<Statement> {
        let [binding, condition, otherwise, _, _, then] = self.map(
            value,
            ["binding", "condition", "else", "id", "kind", "then"],
        )?;
        let binding = self.optional_binder("binding", binding);
        Some(Statement::Branch {
            condition: self.predicate("condition", condition),
            then: self.block("then", then, binding.is_some(), numbers),
            otherwise: self.block("else", otherwise, binding.is_some(), numbers),
            binding,
        })
    }

    fn block(
        &mut self,
        key: &'static str,
        value: &'a Cbor,
        has_value: bool,
        numbers: &BTreeMap<&'a str, usize>,
    ) -> Block {
        self.path.key(key);
        let block = match self.map(value, ["executionOrder", "result"]) {
            Some([order, result]) => Block {
                order: self.order("executionOrder", order, numbers),
                result: self.block_result(result, has_value),
            },
            None => Block::default(),
        };
        self.path.up();
        block
    }

    /// The result of a block; one without a value has a null constant that is never evaluated.
    fn block_result(&mut self, value: &'a Cbor, has_value: bool) -> Option<Expr> {
        if has_value {
            return Some(self.expr("result", value));
        }
        let null = value.get("kind").and_then(Cbor::as_text) == Some("const")
            && value.get("value").is_some_and(Cbor::is_null);
        if !null {
            // Nothing could use the value, but what stands here must still be known.
            self.expr("result", value);
        }
        None
    }

    /// Everything of a loop but its body, and whether the body has a value. The values are those
    /// of accumulator, binding, bound, collection, initial and item.
    fn loop_head(&mut self, values: [&'a Cbor; 6]) -> (For, bool) {
        let [accumulator, binding, bound, collection, initial, item] = values;
        let item = self.binder("item", item);
        let collection = self.expr("collection", collection);
        let limit = bound.as_u64();
        if limit.is_none() {
            self.at("bound", |it| it.malformed("a bound must stand here"));
        }
        let fold = match (
            self.optional_binder("binding", binding),
            self.optional_binder("accumulator", accumulator),
            self.optional_expr("initial", initial),
        ) {
            (Some(binding), Some(accumulator), Some(initial)) => Some(Fold {
                binding,
                accumulator,
                initial,
            }),
            (None, None, None) => None,
            _ => {
                self.malformed("binding, accumulator and initial stand together or not at all");
                None
            }
        };
        let has_value = fold.is_some();
        let head = For {
            item,
            collection,
            bound: limit.unwrap_or(0),
            fold,
            body: Block::default(),
        };
        (head, has_value)
    }
}

/// What stands in for a statement that was found wrong; such a program never runs.
fn broken() -> Statement {
    Statement::Require {
        predicate: Predicate::Literal(false),
        raise: Raise {
            coordinate: String::new(),
            payload: None,
            path: String::new(),
        },
    }
}
