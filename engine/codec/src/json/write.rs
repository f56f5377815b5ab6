// SPDX-License-Identifier: Apache-2.0
//! The one JSON writer: documents over many lines, records on one.

use super::tree::{Node, Tree};
use std::{borrow::Cow, fmt::Write as _};

/// A JSON value to write. Members stand in the order in which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Integer(i128),
    /// A text.
    Text(String),
    /// A list.
    Array(Vec<Json>),
    /// An object; the caller keeps names unique. Nearly every name is a constant.
    Object(Vec<(Cow<'static, str>, Json)>),
}

impl Json {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// An unsigned integer.
    pub fn unsigned(value: u64) -> Self {
        Self::Integer(value.into())
    }

    /// An object from members in writing order.
    pub fn object<K: Into<Cow<'static, str>>>(
        members: impl IntoIterator<Item = (K, Json)>,
    ) -> Self {
        Self::Object(
            members
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
        )
    }

    /// `null`, or what `value` becomes.
    pub fn optional<T>(value: Option<T>, write: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Null, write)
    }
}

impl From<&Node> for Json {
    fn from(node: &Node) -> Self {
        match &node.tree {
            Tree::Null => Self::Null,
            Tree::Bool(value) => Self::Bool(*value),
            Tree::Integer(value) => Self::Integer(*value),
            Tree::Text(text) => Self::Text(text.clone()),
            Tree::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Tree::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|member| (member.name.clone().into(), Self::from(&member.value)))
                    .collect(),
            ),
        }
    }
}

/// A document: one member or item a line, two spaces a level, a final LF.
pub fn write_document(json: &Json) -> String {
    let mut text = String::new();
    document(json, 0, &mut text);
    text.push('\n');
    text
}

/// A record: one line without spaces and without a line end.
pub fn write_record(json: &Json) -> String {
    let mut text = String::new();
    record(json, &mut text);
    text
}

fn scalar(json: &Json, text: &mut String) -> bool {
    match json {
        Json::Null => text.push_str("null"),
        Json::Bool(true) => text.push_str("true"),
        Json::Bool(false) => text.push_str("false"),
        // Writing into a string cannot fail.
        Json::Integer(value) => _ = write!(text, "{value}"),
        Json::Text(value) => string(value, text),
        Json::Array(items) if items.is_empty() => text.push_str("[]"),
        Json::Object(members) if members.is_empty() => text.push_str("{}"),
        Json::Array(_) | Json::Object(_) => return false,
    }
    true
}

fn document(json: &Json, level: usize, text: &mut String) {
    if scalar(json, text) {
        return;
    }
    let inner = level.saturating_add(1);
    match json {
        Json::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                line(index > 0, inner, text);
                document(item, inner, text);
            }
            line(false, level, text);
            text.push(']');
        }
        Json::Object(members) => {
            text.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                line(index > 0, inner, text);
                string(name, text);
                text.push_str(": ");
                document(value, inner, text);
            }
            line(false, level, text);
            text.push('}');
        }
        Json::Null | Json::Bool(_) | Json::Integer(_) | Json::Text(_) => {}
    }
}

fn line(comma: bool, level: usize, text: &mut String) {
    if comma {
        text.push(',');
    }
    text.push('\n');
    for _ in 0..level {
        text.push_str("  ");
    }
}

fn record(json: &Json, text: &mut String) {
    if scalar(json, text) {
        return;
    }
    match json {
        Json::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                record(item, text);
            }
            text.push(']');
        }
        Json::Object(members) => {
            text.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                string(name, text);
                text.push(':');
                record(value, text);
            }
            text.push('}');
        }
        Json::Null | Json::Bool(_) | Json::Integer(_) | Json::Text(_) => {}
    }
}

fn string(value: &str, text: &mut String) {
    text.push('"');
    for scalar in value.chars() {
        match scalar {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\u{c}' => text.push_str("\\f"),
            ' '.. => text.push(scalar),
            // Writing into a string cannot fail.
            _ => _ = write!(text, "\\u{:04x}", u32::from(scalar)),
        }
    }
    text.push('"');
}
