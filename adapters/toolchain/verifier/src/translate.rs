// SPDX-License-Identifier: Apache-2.0
//! Target IR and result projection, made again from Core.
//!
//! Core was decoded and typed before, so its items have the keys that are read here.

use crate::closure::Closure;
use crate::closure::effect::{PROFILE, TARGET_IR, profile_digest};
use crate::decode::core::{Core, Intent};
use crate::decode::reader::{Defect, Under, refuse};
use edict_codec::cbor::Value;
use edict_codec::digest::TypedDigest;
use std::collections::BTreeMap;

const MAX_PROJECTION_NODES: usize = 256;
const MAX_PROJECTION_PATH: usize = 32;

/// What lowering must have written.
#[derive(Debug)]
pub(crate) struct Translation {
    pub(crate) target_ir: Value,
    pub(crate) projection: Value,
}

/// Translates the one intent of a module, given decoded and as its item.
pub(crate) fn translate(
    core: &Core,
    item: &Value,
    core_digest: &TypedDigest,
    closure: &Closure,
) -> Result<Translation, Defect> {
    let Some((name, intent)) = core.intents.first_key_value() else {
        return Err(Defect::new("no intent").under("intents"));
    };
    let source = child(&child(item, "intents"), name);
    let mut writer = Writer {
        closure,
        name,
        bindings: Vec::new(),
        requirements: Vec::new(),
        steps: Vec::new(),
        regions: Vec::new(),
        sources: BTreeMap::new(),
    };
    let parameter = intent.parameter.local.to_string();
    let input = Value::text_map([("kind", Value::text("applicationInput"))]);
    writer.sources.insert(parameter, input);
    let body = child(&source, "body");
    let order = writer.order(&child(&body, "nodes"))?;
    let result = child(&body, "result");
    let projection = writer.projection(core, intent, &result)?;
    let target_ir = writer.artifact(core, core_digest, intent, &source, order, result);
    Ok(Translation {
        target_ir,
        projection,
    })
}

fn child(item: &Value, key: &str) -> Value {
    item.get(key).cloned().unwrap_or(Value::Null)
}

fn texts(ids: Vec<String>) -> Value {
    Value::Array(ids.into_iter().map(Value::Text).collect())
}

/// Collects the four flat lists of a Target IR intent.
struct Writer<'a> {
    closure: &'a Closure,
    name: &'a str,
    bindings: Vec<Value>,
    requirements: Vec<Value>,
    steps: Vec<Value>,
    regions: Vec<Value>,
    /// Sources of the projection by the id of the binder.
    sources: BTreeMap<String, Value>,
}

impl Writer<'_> {
    /// Places statements in their lists; returns their ids in order.
    fn order(&mut self, nodes: &Value) -> Result<Vec<String>, Defect> {
        let nodes = nodes.as_array().unwrap_or_default();
        nodes.iter().map(|node| self.node(node)).collect()
    }

    fn node(&mut self, node: &Value) -> Result<String, Defect> {
        match node.get("kind").and_then(Value::as_text) {
            Some("let") => {
                let id = self.id("binding", self.bindings.len());
                self.source(node, "pureBinding", "bindingId", &id);
                self.bindings.push(copied(&id, node, &["binding", "value"]));
                Ok(id)
            }
            Some("require") => {
                let id = self.id("require", self.requirements.len());
                let keys = ["predicate", "onFailure"];
                self.requirements.push(copied(&id, node, &keys));
                Ok(id)
            }
            Some("effect") => self.step(node),
            Some("branch") => {
                let keys = ["kind", "condition", "binding"];
                self.region(node, &keys, &["then", "else"])
            }
            Some("for") => {
                let keys = [
                    "kind",
                    "item",
                    "collection",
                    "bound",
                    "binding",
                    "accumulator",
                    "initial",
                ];
                self.region(node, &keys, &["body"])
            }
            _ => refuse("unknown kind of node"),
        }
    }

    fn id(&self, category: &str, number: usize) -> String {
        format!("{}.{category}.{number}", self.name)
    }

    /// Remembers what a binder is to the projection.
    fn source(&mut self, node: &Value, kind: &str, key: &str, id: &str) {
        if let Some(binder) = node.get("binding").and_then(|binding| binding.get("id")) {
            let source = Value::text_map([("kind", Value::text(kind)), (key, Value::text(id))]);
            let binder = binder.as_text().unwrap_or_default().to_owned();
            self.sources.insert(binder, source);
        }
    }

    /// A region has its number before what its blocks hold.
    fn region(&mut self, node: &Value, keys: &[&str], blocks: &[&str]) -> Result<String, Defect> {
        let number = self.regions.len();
        let id = self.id("region", number);
        self.regions.push(Value::Null);
        self.source(node, "pureBinding", "bindingId", &id);
        let mut entries = vec![("id", Value::text(&*id))];
        entries.extend(keys.iter().map(|key| (*key, child(node, key))));
        for name in blocks {
            let block = child(node, name);
            let order = self.order(&child(&block, "nodes"))?;
            let block = Value::text_map([
                ("executionOrder", texts(order)),
                ("result", child(&block, "result")),
            ]);
            entries.push((name, block));
        }
        if let Some(region) = self.regions.get_mut(number) {
            *region = Value::text_map(entries);
        }
        Ok(id)
    }

    fn step(&mut self, node: &Value) -> Result<String, Defect> {
        let id = self.id("step", self.steps.len());
        self.source(node, "capabilityResult", "stepId", &id);
        let effect = child(node, "effect");
        let Some(plan) = effect.as_text().and_then(|it| self.closure.effect(it)) else {
            return refuse("no such effect");
        };
        let failures = plan.failures.iter().map(|(name, failure)| {
            let row = Value::text_map([
                ("target", Value::text(&*failure.target)),
                ("payloadType", Value::text(failure.payload.to_string())),
            ]);
            (name.as_str(), row)
        });
        self.steps.push(Value::text_map([
            ("id", Value::text(&*id)),
            ("binding", child(node, "binding")),
            ("targetIntrinsic", Value::text(plan.intrinsic.coordinate())),
            ("configuration", plan.configuration.clone()),
            ("input", child(node, "input")),
            ("obstructionFailures", Value::text_map(failures)),
            ("obstructionArms", child(node, "arms")),
            ("effect", effect),
        ]));
        Ok(id)
    }

    fn artifact(
        self,
        core: &Core,
        core_digest: &TypedDigest,
        intent: &Intent,
        source: &Value,
        order: Vec<String>,
        result: Value,
    ) -> Value {
        let lawpacks = self.closure.lawpacks.iter().map(|lawpack| {
            Value::text_map([
                ("coordinate", Value::text(&*lawpack.coordinate)),
                ("manifest", lawpack.manifest_digest().to_value()),
            ])
        });
        let closure = Value::text_map([
            ("sourceCore", core_digest.to_value()),
            ("lawpacks", Value::Array(lawpacks.collect())),
        ]);
        let lowered = Value::text_map([
            ("operationProfile", Value::text(&*intent.profile)),
            ("basis", child(source, "basis")),
            ("inputConstraints", constraints(source)),
            ("coreEvaluationBudget", intent.budget.to_value()),
            ("parameter", child(source, "parameter")),
            ("outputType", child(source, "result")),
            ("pureBindings", Value::Array(self.bindings)),
            ("requirements", Value::Array(self.requirements)),
            ("steps", Value::Array(self.steps)),
            ("regions", Value::Array(self.regions)),
            ("executionOrder", texts(order)),
            ("result", result),
        ]);
        Value::text_map([
            ("kind", Value::text("orderedTargetIrArtifact")),
            ("domain", Value::text(TARGET_IR)),
            (
                "targetProfile",
                Value::text_map([
                    ("id", Value::text(PROFILE)),
                    ("digest", raw_digest(profile_digest())),
                ]),
            ),
            ("sourceCoreCoordinate", Value::text(&*core.coordinate)),
            ("semanticClosure", closure),
            ("intents", Value::text_map([(self.name, lowered)])),
        ])
    }

    fn projection(&self, core: &Core, intent: &Intent, result: &Value) -> Result<Value, Defect> {
        let mut nodes = 0;
        let expression = self.projected(result, &mut nodes).under("expression")?;
        Ok(Value::text_map([
            ("schema", Value::text("edict.result-projection/v1")),
            (
                "operationCoordinate",
                Value::Text(format!("{}.{}", core.coordinate, self.name)),
            ),
            ("outputType", Value::text(intent.result.to_string())),
            (
                "maxOutputBytes",
                Value::unsigned(intent.budget.output_bytes),
            ),
            ("expression", expression),
        ]))
    }

    /// Recursion is bounded by the nesting of Core.
    fn projected(&self, result: &Value, nodes: &mut usize) -> Result<Value, Defect> {
        *nodes = nodes.saturating_add(1);
        if *nodes > MAX_PROJECTION_NODES {
            return refuse("a projection has at most 256 nodes");
        }
        if result.get("kind").and_then(Value::as_text) == Some("record") {
            let fields = child(result, "fields");
            let mut projected = Vec::new();
            for field in fields.as_array().unwrap_or_default() {
                let name = child(field, "name")
                    .as_text()
                    .unwrap_or_default()
                    .to_owned();
                let value = self.projected(&child(field, "value"), nodes).under(&name)?;
                projected.push((name, value));
            }
            return Ok(Value::text_map([
                ("kind", Value::text("record")),
                ("fields", Value::text_map(projected)),
            ]));
        }
        let mut path = Vec::new();
        let mut base = result;
        while let Some(inner) = base.get("base") {
            path.push(child(base, "field"));
            base = inner;
        }
        path.reverse();
        if path.len() > MAX_PROJECTION_PATH {
            return refuse("a path of a projection has at most 32 fields");
        }
        let root = base.get("id").and_then(Value::as_text).unwrap_or_default();
        match self.sources.get(root) {
            Some(source) => Ok(Value::text_map([
                ("kind", Value::text("source")),
                ("source", source.clone()),
                ("path", Value::Array(path)),
            ])),
            None => refuse(format!("`{root}` is no source of a projection")),
        }
    }
}

/// An entry of a flat list: its id and some keys of a Core node as they are.
fn copied(id: &str, node: &Value, keys: &[&str]) -> Value {
    let kept = keys.iter().map(|key| (*key, child(node, key)));
    Value::text_map(kept.chain([("id", Value::text(id))]))
}

/// Core stores constraints by bytes, Target IR by number.
fn constraints(source: &Value) -> Value {
    let stored = child(source, "constraints");
    let mut rows: Vec<Value> = stored.as_array().unwrap_or_default().to_vec();
    rows.sort_by_key(|row| {
        let id = row.get("id").and_then(Value::as_text).unwrap_or_default();
        id.strip_prefix("where.")
            .and_then(|n| n.parse::<u64>().ok())
    });
    Value::Array(rows)
}

fn raw_digest(digest: [u8; 32]) -> Value {
    Value::Array(vec![Value::text("sha256"), Value::bytes(digest)])
}
