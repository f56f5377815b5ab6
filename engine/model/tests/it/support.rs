// SPDX-License-Identifier: Apache-2.0
//! Contract data and documents that are edited by JSON Pointer.

use edict_codec::{
    cbor::Value,
    hex,
    json::{Json, JsonLimits, Node, Tree, parse, write_document},
};

const LIMITS: JsonLimits = JsonLimits {
    bytes: 1 << 24,
    depth: 64,
};

macro_rules! contracts {
    ($($name:literal),*) => {
        /// A data file of the contracts.
        pub(crate) fn contract(name: &str) -> Node {
            let text = match name {
                $($name => include_str!(concat!("../../../../testdata/contracts/", $name)),)*
                other => panic!("no data file {other}"),
            };
            parse(text.as_bytes(), LIMITS).unwrap()
        }
    };
}

contracts!("document-cases.json", "identity-vectors.json");

/// A document to edit.
#[derive(Clone, Debug)]
pub(crate) struct Doc(Json);

impl Doc {
    pub(crate) fn parse(text: &str) -> Self {
        Self(Json::from(&parse(text.as_bytes(), LIMITS).unwrap()))
    }

    pub(crate) fn of(node: &Node) -> Self {
        Self(Json::from(node))
    }

    pub(crate) fn text(&self) -> String {
        write_document(&self.0)
    }

    pub(crate) fn add(&mut self, pointer: &str, value: &str) {
        self.put(pointer, Self::parse(value).0);
    }

    pub(crate) fn replace(&mut self, pointer: &str, value: &str) {
        self.remove_value(pointer, Some(Self::parse(value).0));
    }

    pub(crate) fn remove(&mut self, pointer: &str) {
        self.remove_value(pointer, None);
    }

    fn put(&mut self, pointer: &str, value: Json) {
        let (parent, name) = self.parent(pointer);
        match parent {
            Json::Object(members) => members.push((name.into(), value)),
            Json::Array(items) => items.push(value),
            other => panic!("{pointer} leads through {other:?}"),
        }
    }

    fn remove_value(&mut self, pointer: &str, value: Option<Json>) {
        let (parent, name) = self.parent(pointer);
        match parent {
            Json::Object(members) => {
                let index = members.iter().position(|member| member.0 == name).unwrap();
                match value {
                    Some(value) => members[index].1 = value,
                    None => drop(members.remove(index)),
                }
            }
            Json::Array(items) => {
                let index: usize = name.parse().unwrap();
                match value {
                    Some(value) => items[index] = value,
                    None => drop(items.remove(index)),
                }
            }
            other => panic!("{pointer} leads through {other:?}"),
        }
    }

    fn parent(&mut self, pointer: &str) -> (&mut Json, String) {
        let mut steps: Vec<String> = pointer
            .split('/')
            .skip(1)
            .map(|step| step.replace("~1", "/").replace("~0", "~"))
            .collect();
        let last = steps.pop().unwrap();
        let mut at = &mut self.0;
        for step in steps {
            at = match at {
                Json::Object(members) => {
                    &mut members
                        .iter_mut()
                        .find(|member| member.0 == step)
                        .unwrap()
                        .1
                }
                Json::Array(items) => &mut items[step.parse::<usize>().unwrap()],
                other => panic!("{pointer} leads through {other:?}"),
            };
        }
        (at, last)
    }
}

/// The text of `base` after the patch of a document case.
pub(crate) fn patched(base: &Node, patch: &[Node]) -> String {
    let mut doc = Doc::of(base);
    for step in patch {
        let pointer = step.get("path").and_then(Node::as_text).unwrap();
        let value = step.get("value").map(repeated);
        match step.get("op").and_then(Node::as_text).unwrap() {
            "add" => doc.put(pointer, value.unwrap()),
            "replace" => doc.remove_value(pointer, value),
            "remove" => doc.remove_value(pointer, None),
            other => panic!("unknown step {other}"),
        }
    }
    doc.text()
}

/// A value in which `{"$repeat": s, "$times": n}` stands for a repeated text.
fn repeated(node: &Node) -> Json {
    if let (Some(text), Some(times)) = (node.get("$repeat"), node.get("$times")) {
        let times = usize::try_from(times.as_integer().unwrap()).unwrap();
        return Json::text(text.as_text().unwrap().repeat(times));
    }
    match &node.tree {
        Tree::Array(items) => Json::Array(items.iter().map(repeated).collect()),
        Tree::Object(members) => Json::object(
            members
                .iter()
                .map(|it| (it.name.clone(), repeated(&it.value))),
        ),
        Tree::Null | Tree::Bool(_) | Tree::Integer(_) | Tree::Text(_) => Json::from(node),
    }
}

/// The CBOR value that a vector spells in JSON; `{"$bytes": hex}` is a byte string.
pub(crate) fn cbor(node: &Node) -> Value {
    if let Some(bytes) = node.get("$bytes") {
        return Value::Bytes(hex::decode(bytes.as_text().unwrap()).unwrap());
    }
    match &node.tree {
        Tree::Null => Value::Null,
        Tree::Bool(value) => Value::Bool(*value),
        Tree::Integer(value) => Value::Integer(edict_codec::cbor::Integer::new(*value).unwrap()),
        Tree::Text(text) => Value::text(text.as_str()),
        Tree::Array(items) => Value::Array(items.iter().map(cbor).collect()),
        Tree::Object(members) => {
            Value::text_map(members.iter().map(|it| (it.name.as_str(), cbor(&it.value))))
        }
    }
}
