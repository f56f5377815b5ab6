// SPDX-License-Identifier: Apache-2.0
//! A strict JSON document: its value, and the place in its text of everything that is refused.

use crate::{
    diagnostic::LineIndex,
    failure::{Failure, Place, Report},
    shape::{At, ShapeError, Step, Strictness},
};
use edict_codec::{
    cbor::{Integer, Value},
    hex,
    json::{self, JsonError, JsonErrorKind, JsonLimits, Node, Span, Tree},
};

/// Greatest size of a document in bytes.
pub const MAX_BYTES: usize = 1_048_576;

/// A document that was read.
#[derive(Clone, Debug)]
pub struct Document {
    file: String,
    kind: &'static str,
    lines: LineIndex,
    node: Node,
    value: Value,
}

impl Document {
    /// Reads `bytes` of the file that is called `file` in messages; refusals are of `kind`.
    ///
    /// # Errors
    /// A failure of `kind` at the token that is no strict JSON.
    pub fn parse(
        file: &str,
        kind: &'static str,
        bytes: &[u8],
        depth: usize,
    ) -> Result<Self, Box<Failure>> {
        let lines = LineIndex::new(bytes);
        let limits = JsonLimits {
            bytes: MAX_BYTES,
            depth,
        };
        let refuse = |span, message| {
            let place = Place::new(file, span, &lines);
            Box::new(Failure::from(Report::cli(kind, message).at(place)))
        };
        let malformed = |error: JsonError| {
            let mut failure = refuse(
                error.span,
                format!("read the document: {}", prose(error.kind)),
            );
            if error.kind == JsonErrorKind::DuplicateKey {
                failure.summary.help = Some("remove it".to_owned());
            }
            failure
        };
        let node = json::parse(bytes, limits).map_err(malformed)?;
        let value = to_value(&node).map_err(|(span, message)| refuse(span, message))?;
        Ok(Self {
            file: file.to_owned(),
            kind,
            lines,
            node,
            value,
        })
    }

    /// The root.
    pub fn root(&self) -> At<'_> {
        At::root(&self.value, Strictness::Closed)
    }

    /// What `error` is for the caller of the process.
    pub fn refuse(&self, error: &ShapeError) -> Box<Failure> {
        self.refuse_as(self.kind, error)
    }

    /// As [`Self::refuse`], of another kind.
    pub fn refuse_as(&self, kind: &'static str, error: &ShapeError) -> Box<Failure> {
        let mut report = Report::cli(kind, error.to_string()).at(self.place(error));
        if error.on_name {
            report = report.help("remove it");
        } else if kind.ends_with("PathEscape") {
            report = report.help("write a path below the directory of the document");
        }
        Box::new(Failure::from(report))
    }

    fn place(&self, error: &ShapeError) -> Place {
        let mut node = &self.node;
        let mut span = node.span;
        for step in &error.path {
            let next = match (step, &node.tree) {
                (Step::Member(name), Tree::Object(members)) => members
                    .iter()
                    .find(|member| member.name == *name)
                    .map(|member| (&member.value, member.name_span)),
                (Step::Index(index), Tree::Array(items)) => {
                    items.get(*index).map(|item| (item, item.span))
                }
                _ => None,
            };
            let Some((below, name_span)) = next else {
                break;
            };
            node = below;
            span = if error.on_name { name_span } else { node.span };
        }
        Place::new(&self.file, span, &self.lines)
    }
}

/// What is wrong with text that is no strict JSON, for people.
pub fn prose(kind: JsonErrorKind) -> &'static str {
    match kind {
        JsonErrorKind::TooLarge => "larger than 1048576 bytes",
        JsonErrorKind::EmptyDocument => "nothing but white space",
        JsonErrorKind::ByteOrderMark => "a byte order mark",
        JsonErrorKind::InvalidUtf8 => "not UTF-8",
        JsonErrorKind::ControlCharacter => "a control character in a string",
        JsonErrorKind::InvalidEscape => "an escape that does not exist",
        JsonErrorKind::LoneSurrogate => "half of a surrogate pair",
        JsonErrorKind::UnexpectedEnd => "it ends inside a value",
        JsonErrorKind::DuplicateKey => "duplicate member name",
        JsonErrorKind::NumberForm => "a number that is no plain integer",
        JsonErrorKind::NumberRange => "an integer beyond 64 bits",
        JsonErrorKind::JsonSyntax => "unexpected character",
        JsonErrorKind::NestingTooDeep => "containers nest too deep",
        JsonErrorKind::TrailingData => "something after the value",
    }
}

/// Typed JSON without a type: `$edictBytes`, `$edictInt`, and everything else as it stands.
///
/// # Errors
/// The span and the reason of a malformed escape object.
pub fn to_value(node: &Node) -> Result<Value, (Span, String)> {
    match &node.tree {
        Tree::Null => Ok(Value::Null),
        Tree::Bool(value) => Ok(Value::Bool(*value)),
        Tree::Integer(value) => integer(*value, node.span),
        Tree::Text(text) => Ok(Value::text(text.as_str())),
        Tree::Array(items) => items
            .iter()
            .map(to_value)
            .collect::<Result<_, _>>()
            .map(Value::Array),
        Tree::Object(members) => match members.as_slice() {
            [member] if member.name == "$edictBytes" => member
                .value
                .as_text()
                .and_then(hex::decode)
                .map(Value::Bytes)
                .ok_or_else(|| {
                    let message = "`$edictBytes` takes lower-case hexadecimal digits";
                    (member.value.span, message.to_owned())
                }),
            [member] if member.name == "$edictInt" => {
                let parsed = member.value.as_text().and_then(decimal);
                let message = || "`$edictInt` takes a decimal integer".to_owned();
                parsed.map_or_else(
                    || Err((member.value.span, message())),
                    |value| integer(value, member.value.span),
                )
            }
            members => members
                .iter()
                .map(|member| Ok((member.name.clone(), to_value(&member.value)?)))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::text_map),
        },
    }
}

/// A decimal integer without leading zeros or plus sign.
pub fn decimal(text: &str) -> Option<i128> {
    let value: i128 = text.parse().ok()?;
    (value.to_string() == text).then_some(value)
}

fn integer(value: i128, span: Span) -> Result<Value, (Span, String)> {
    Integer::new(value)
        .map(Value::Integer)
        .ok_or_else(|| (span, "integer out of range".to_owned()))
}
