// SPDX-License-Identifier: Apache-2.0
//! `edict.test.action-record/v1`: what decided an action, leaf by leaf, and its outputs (A2).

use edict_codec::{
    digest::{Algorithm, TypedDigest, derive},
    hex,
    json::{Json, JsonLimits, Node, canonical, parse, write_document},
};
use edict_test_model::{
    built::{Artifact, ArtifactRole},
    recipe::{Leaf, LeafValue},
};

const SCHEMA: &str = "edict.test.action-record/v1";
/// Context of the record's own digest.
const CONTEXT: &str = "edict.test/action-record/v1";
/// Greatest length of a record in bytes.
pub(crate) const MAX_RECORD: u64 = 1_048_576;

/// Which action it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ActionKind {
    Build,
    Verify,
}

impl ActionKind {
    fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Verify => "verify",
        }
    }
}

/// One output of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) role: ArtifactRole,
    pub(crate) identity: TypedDigest,
    pub(crate) blob: TypedDigest,
    pub(crate) byte_length: u64,
}

impl Output {
    pub(crate) fn of(artifact: &Artifact) -> Self {
        Self {
            role: artifact.role,
            identity: artifact.identity.clone(),
            blob: artifact.body.blob.clone(),
            byte_length: artifact.body.byte_length(),
        }
    }
}

/// The text of a record.
pub(crate) fn write(
    kind: ActionKind,
    key: &TypedDigest,
    leaves: &[Leaf],
    outputs: &[Output],
    producer: &TypedDigest,
) -> String {
    let mut record = Json::object([
        ("schema", Json::text(SCHEMA)),
        ("kind", Json::text(kind.name())),
        ("key", digest_json(key)),
        (
            "leaves",
            Json::Array(leaves.iter().map(leaf_json).collect()),
        ),
        (
            "outputs",
            Json::Array(outputs.iter().map(output_json).collect()),
        ),
        ("producer", digest_json(producer)),
    ]);
    let own = Json::optional(own_digest(&record), Json::Text);
    if let Json::Object(members) = &mut record {
        members.push(("self".into(), own));
    }
    write_document(&record)
}

/// Reads the outputs of a record that is exactly that of `kind`, `key` and `leaves`.
///
/// # Errors
/// The first check that fails (A4), for people.
pub(crate) fn read(
    bytes: &[u8],
    kind: ActionKind,
    key: &TypedDigest,
    leaves: &[Leaf],
) -> Result<Vec<Output>, String> {
    let node = sound(bytes, key)?;
    let text = |name: &str| node.get(name).and_then(Node::as_text);
    if text("schema") != Some(SCHEMA) || text("kind") != Some(kind.name()) {
        return Err("it is the record of something else".to_owned());
    }
    // The key and the leaves of the wanted action come from one traversal, so equality with both is
    // equality of the recorded key with the key of the recorded leaves (A3).
    if node.get("leaves").map(Json::from)
        != Some(Json::Array(leaves.iter().map(leaf_json).collect()))
    {
        return Err("its leaves are not those of its key".to_owned());
    }
    output_rows(&node)
}

/// Reads the outputs of a record of `key`, whatever its leaves are.
///
/// # Errors
/// The first check that fails, for people.
pub(crate) fn outputs(bytes: &[u8], key: &TypedDigest) -> Result<Vec<Output>, String> {
    output_rows(&sound(bytes, key)?)
}

/// A record that is what its own digest says and that is one of `key`.
fn sound(bytes: &[u8], key: &TypedDigest) -> Result<Node, String> {
    let limit = usize::try_from(MAX_RECORD).unwrap_or(usize::MAX);
    let node = parse(bytes, JsonLimits::document(limit)).map_err(|error| error.to_string())?;
    let mut record = Json::from(&node);
    let Json::Object(members) = &mut record else {
        return Err("it is no object".to_owned());
    };
    let names: Vec<&str> = members.iter().map(|(name, _)| name.as_ref()).collect();
    if names
        != [
            "schema", "kind", "key", "leaves", "outputs", "producer", "self",
        ]
    {
        return Err("its members are not those of a record".to_owned());
    }
    let own = members.pop().map(|(_, own)| own);
    if own.is_none() || own != own_digest(&record).map(Json::Text) {
        return Err("it is not what its own digest says".to_owned());
    }
    if node.get("key").map(Json::from) != Some(digest_json(key)) {
        return Err("it has another key".to_owned());
    }
    digest(node.get("producer")).ok_or("its producer is no digest")?;
    Ok(node)
}

fn output_rows(node: &Node) -> Result<Vec<Output>, String> {
    let outputs = node.get("outputs").and_then(Node::as_array);
    outputs
        .unwrap_or_default()
        .iter()
        .map(|row| output(row).ok_or_else(|| "an output is malformed".to_owned()))
        .collect()
}

/// Every blob that a record names, without any check: what a collection must keep.
pub(crate) fn blobs(bytes: &[u8]) -> Vec<TypedDigest> {
    let limit = usize::try_from(MAX_RECORD).unwrap_or(usize::MAX);
    let Ok(node) = parse(bytes, JsonLimits::document(limit)) else {
        return Vec::new();
    };
    let outputs = node.get("outputs").and_then(Node::as_array);
    let rows = outputs.unwrap_or_default().iter();
    rows.filter_map(|row| digest(row.get("blob"))).collect()
}

fn output(row: &Node) -> Option<Output> {
    (row.as_object()?.len() == 4).then_some(())?;
    Some(Output {
        role: ArtifactRole::from_name(row.get("role")?.as_text()?)?,
        identity: digest(row.get("identity"))?,
        blob: digest(row.get("blob"))?,
        byte_length: row.get("byteLength")?.as_integer()?.try_into().ok()?,
    })
}

/// The form `{domain, algorithm, bytes}`.
pub(crate) fn digest(node: Option<&Node>) -> Option<TypedDigest> {
    let node = node?;
    let text = |name: &str| node.get(name).and_then(Node::as_text);
    (node.as_object()?.len() == 3).then_some(())?;
    Some(TypedDigest::new(
        text("domain")?,
        Algorithm::from_name(text("algorithm")?)?,
        hex::decode_32(text("bytes")?)?,
    ))
}

fn digest_json(digest: &TypedDigest) -> Json {
    Json::object([
        ("domain", Json::text(digest.domain())),
        ("algorithm", Json::text(digest.algorithm().name())),
        ("bytes", Json::text(digest.hex())),
    ])
}

fn leaf_json(leaf: &Leaf) -> Json {
    let value = match &leaf.value {
        LeafValue::Digest(digest) => digest_json(digest),
        LeafValue::Text(text) => Json::text(text.as_str()),
        LeafValue::Number(number) => Json::unsigned(*number),
        LeafValue::Absent => Json::Null,
    };
    Json::object([("label", Json::text(leaf.label.as_str())), ("value", value)])
}

fn output_json(output: &Output) -> Json {
    Json::object([
        ("role", Json::text(output.role.name())),
        ("identity", digest_json(&output.identity)),
        ("blob", digest_json(&output.blob)),
        ("byteLength", Json::unsigned(output.byte_length)),
    ])
}

/// The digest over the canonical CBOR of the record without `self`; `None` for an integer that no
/// record has.
fn own_digest(record: &Json) -> Option<String> {
    Some(hex::encode(&derive(CONTEXT, &canonical(record)?)))
}
