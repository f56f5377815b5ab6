// SPDX-License-Identifier: Apache-2.0
//! Typed decoding by hand: closed objects, pointers, spans, and the first rejection (S2-S5).

use crate::{
    diagnostic::{Detail, FileSpan},
    failure::{Failure, FailureKind, Stage},
    ids::{Coordinate, Locator, NameError},
    recipe::LeafValue,
};
use edict_codec::{
    digest::{Algorithm, TypedDigest},
    hex,
    json::{JsonError, JsonErrorKind, JsonLimits, Member, Node, Span, Tree, parse},
};

/// The first rejection of a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DocumentError {
    /// The kind.
    pub kind: FailureKind,
    /// JSON Pointer; `None` for kinds of the strict reader (S5).
    pub pointer: Option<String>,
    /// Bytes at fault.
    pub span: Span,
    /// One sentence.
    pub message: String,
    /// Limit and measured number, for the kinds of a limit (J3).
    pub exceeded: Option<(u64, u64)>,
}

impl DocumentError {
    /// A rejection by the strict reader: a span and no pointer (S5).
    pub(crate) fn of_json(error: JsonError, too_large: FailureKind) -> Self {
        let message = match error.kind {
            JsonErrorKind::TooLarge => "the document is larger than its limit".to_owned(),
            JsonErrorKind::EmptyDocument
            | JsonErrorKind::ByteOrderMark
            | JsonErrorKind::InvalidUtf8
            | JsonErrorKind::ControlCharacter
            | JsonErrorKind::InvalidEscape
            | JsonErrorKind::LoneSurrogate
            | JsonErrorKind::UnexpectedEnd
            | JsonErrorKind::DuplicateKey
            | JsonErrorKind::NumberForm
            | JsonErrorKind::NumberRange
            | JsonErrorKind::JsonSyntax
            | JsonErrorKind::NestingTooDeep
            | JsonErrorKind::TrailingData => format!("the document is no strict JSON: {error}"),
        };
        Self {
            kind: FailureKind::of_json(error.kind, too_large),
            pointer: None,
            span: error.span,
            message,
            exceeded: None,
        }
    }

    /// The failure of `stage` in the file that diagnostics call `file`.
    pub fn into_failure(self, stage: Stage, file: &str) -> Failure {
        let mut failure = Failure::new(stage, self.kind, self.message);
        failure.pointer = self.pointer;
        failure.span = Some(FileSpan {
            file: file.to_owned(),
            span: self.span,
            text: None,
        });
        failure.detail = self.exceeded.map(|(limit, actual)| Detail::Limit {
            limit,
            actual: Some(actual),
        });
        failure
    }
}

/// Parses a document of at most 1 MiB; a larger one has the kind `too_large`.
pub(crate) fn tree(bytes: &[u8], too_large: FailureKind) -> Result<Node, DocumentError> {
    parse(bytes, JsonLimits::document(1 << 20))
        .map_err(|error| DocumentError::of_json(error, too_large))
}

/// A value with its pointer.
#[derive(Clone, Debug)]
pub(crate) struct At<'a> {
    node: &'a Node,
    pointer: String,
}

/// Whether a member may be left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
}

use Presence::{Optional, Required};

/// A table of members: name and presence, in table order.
pub(crate) type Table<'t> = &'t [(&'t str, Presence)];

impl<'a> At<'a> {
    pub(crate) fn root(node: &'a Node) -> Self {
        Self {
            node,
            pointer: String::new(),
        }
    }

    pub(crate) fn pointer(&self) -> &str {
        &self.pointer
    }

    pub(crate) fn node(&self) -> &'a Node {
        self.node
    }

    pub(crate) fn fail<T>(
        &self,
        kind: FailureKind,
        message: impl Into<String>,
    ) -> Result<T, DocumentError> {
        Err(DocumentError {
            kind,
            pointer: Some(self.pointer.clone()),
            span: self.node.span,
            message: format!("{}: {}", self.shown(), message.into()),
            exceeded: None,
        })
    }

    /// A rejection because of a limit.
    pub(crate) fn exceeds<T>(
        &self,
        kind: FailureKind,
        limit: u64,
        actual: u64,
        what: &str,
    ) -> Result<T, DocumentError> {
        let message = format!("{actual} {what} are more than {limit}");
        self.fail(kind, message).map_err(|error| DocumentError {
            exceeded: Some((limit, actual)),
            ..error
        })
    }

    fn shown(&self) -> &str {
        if self.pointer.is_empty() {
            "the document"
        } else {
            &self.pointer
        }
    }

    fn wrong_type<T>(&self, wanted: &str) -> Result<T, DocumentError> {
        self.fail(FailureKind::WrongType, format!("{wanted} is needed here"))
    }

    /// The object, members not yet judged.
    pub(crate) fn object(&self) -> Result<Object<'a>, DocumentError> {
        match self.node.as_object() {
            Some(members) => Ok(Object {
                at: self.clone(),
                members,
            }),
            None => self.wrong_type("an object"),
        }
    }

    /// The items of a list, not yet judged.
    pub(crate) fn items(&self) -> Result<Vec<At<'a>>, DocumentError> {
        match self.node.as_array() {
            Some(items) => Ok(items
                .iter()
                .enumerate()
                .map(|(index, node)| At {
                    node,
                    pointer: format!("{}/{index}", self.pointer),
                })
                .collect()),
            None => self.wrong_type("a list"),
        }
    }

    pub(crate) fn text(&self) -> Result<&'a str, DocumentError> {
        self.node
            .as_text()
            .map_or_else(|| self.wrong_type("a text"), Ok)
    }

    pub(crate) fn integer(&self) -> Result<i128, DocumentError> {
        self.node
            .as_integer()
            .map_or_else(|| self.wrong_type("an integer"), Ok)
    }

    pub(crate) fn named<T>(&self, parsed: Result<T, NameError>) -> Result<T, DocumentError> {
        parsed.or_else(|error| {
            let kind = match error {
                NameError::InvalidIdentifier => FailureKind::InvalidIdentifier,
                NameError::InvalidPath => FailureKind::InvalidPath,
                NameError::PathEscape => FailureKind::PathEscape,
                NameError::EmptyString => FailureKind::EmptyString,
                NameError::StringTooLong => FailureKind::StringTooLong,
                NameError::InvalidCoordinate => FailureKind::InvalidCoordinate,
            };
            self.fail(kind, error.to_string())
        })
    }

    pub(crate) fn path(&self) -> Result<Locator, DocumentError> {
        self.named(Locator::parse(self.text()?))
    }

    pub(crate) fn coordinate(&self) -> Result<Coordinate, DocumentError> {
        self.named(Coordinate::parse(self.text()?))
    }

    /// A text of at most `limit` bytes.
    pub(crate) fn text_within(&self, limit: usize) -> Result<&'a str, DocumentError> {
        let text = self.text()?;
        if text.len() > limit {
            let message = format!("{} bytes are more than {limit}", text.len());
            return self.fail(FailureKind::StringTooLong, message);
        }
        Ok(text)
    }

    /// A text that is not only white space, of at most `limit` bytes.
    pub(crate) fn filled_text(&self, limit: usize) -> Result<&'a str, DocumentError> {
        if self.text()?.trim().is_empty() {
            return self.fail(FailureKind::EmptyString, "a text is needed here");
        }
        self.text_within(limit)
    }

    /// The one value that a text may have.
    pub(crate) fn exactly(&self, value: &str, kind: FailureKind) -> Result<(), DocumentError> {
        let text = self.text()?;
        if text == value {
            Ok(())
        } else {
            self.fail(kind, format!("{text:?} is not {value:?}"))
        }
    }

    /// A tag: the value that `read` knows, or `UnknownVariant`.
    pub(crate) fn variant<T>(
        &self,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, DocumentError> {
        let text = self.text()?;
        read(text).map_or_else(
            || {
                self.fail(
                    FailureKind::UnknownVariant,
                    format!("{text:?} is not known"),
                )
            },
            Ok,
        )
    }

    pub(crate) fn within(&self, least: u64, most: u64) -> Result<u64, DocumentError> {
        let value = self.integer()?;
        match u64::try_from(value) {
            Ok(value) if (least..=most).contains(&value) => Ok(value),
            _ => self.fail(
                FailureKind::ValueOutOfRange,
                format!("{value} is outside {least} to {most}"),
            ),
        }
    }

    /// The value, unless it is `null`; only records have members that may be.
    pub(crate) fn non_null(self) -> Option<Self> {
        (self.node.tree != Tree::Null).then_some(self)
    }

    /// The value of a leaf: a typed digest, a text, a number, or nothing.
    pub(crate) fn leaf_value(&self) -> Result<LeafValue, DocumentError> {
        Ok(match &self.node.tree {
            Tree::Null => LeafValue::Absent,
            Tree::Text(text) => LeafValue::Text(text.clone()),
            Tree::Integer(_) => LeafValue::Number(self.within(0, (1 << 53) - 1)?),
            Tree::Object(_) => LeafValue::Digest(self.any_digest()?),
            Tree::Bool(_) | Tree::Array(_) => return self.wrong_type("the value of a leaf"),
        })
    }

    /// A typed digest of any domain, as records hold them.
    pub(crate) fn any_digest(&self) -> Result<TypedDigest, DocumentError> {
        let object = self.object()?;
        let domain = object.required("domain")?.text()?;
        let algorithm = object.required("algorithm")?;
        match Algorithm::from_name(algorithm.text()?) {
            Some(known) => self.digest(domain, known),
            None => algorithm.fail(FailureKind::UnsupportedAlgorithm, "no known algorithm"),
        }
    }

    /// A typed digest that must have exactly this domain and algorithm (S13).
    pub(crate) fn digest(
        &self,
        domain: &str,
        algorithm: Algorithm,
    ) -> Result<TypedDigest, DocumentError> {
        let object = self.object()?;
        object.closed(&[
            ("domain", Required),
            ("algorithm", Required),
            ("bytes", Required),
        ])?;
        let (domain_at, algorithm_at, bytes_at) = (
            object.required("domain")?,
            object.required("algorithm")?,
            object.required("bytes")?,
        );
        let (stated, name, bytes) = (domain_at.text()?, algorithm_at.text()?, bytes_at.text()?);
        let Some(stated_algorithm) = Algorithm::from_name(name) else {
            return algorithm_at.fail(
                FailureKind::UnsupportedAlgorithm,
                format!("{name:?} is neither \"blake3\" nor \"sha256\""),
            );
        };
        if stated != domain {
            return domain_at.fail(
                FailureKind::DomainMismatch,
                format!("{stated:?} is not {domain:?}"),
            );
        }
        if stated_algorithm != algorithm {
            return algorithm_at.fail(
                FailureKind::DomainMismatch,
                format!("{domain:?} has the algorithm {:?}", algorithm.name()),
            );
        }
        match hex::decode_32(bytes) {
            Some(bytes) => Ok(TypedDigest::new(domain, algorithm, bytes)),
            None => bytes_at.fail(
                FailureKind::InvalidDigest,
                "a digest is 64 lower-case hexadecimal digits",
            ),
        }
    }
}

/// An object with its pointer.
#[derive(Clone, Debug)]
pub(crate) struct Object<'a> {
    at: At<'a>,
    members: &'a [Member],
}

impl<'a> Object<'a> {
    /// The value of a member.
    pub(crate) fn optional(&self, name: &str) -> Option<At<'a>> {
        self.members
            .iter()
            .find(|member| member.name == name)
            .map(|member| At {
                node: &member.value,
                pointer: self.member_pointer(name),
            })
    }

    /// The value of a member, or `MissingField`.
    pub(crate) fn required(&self, name: &str) -> Result<At<'a>, DocumentError> {
        self.optional(name).ok_or_else(|| DocumentError {
            kind: FailureKind::MissingField,
            pointer: Some(self.member_pointer(name)),
            span: self.at.node.span,
            message: format!("{}: member {name:?} is missing", self.at.shown()),
            exceeded: None,
        })
    }

    /// Refuses unknown members in document order, then missing ones in table order (S3).
    pub(crate) fn closed(&self, table: Table<'_>) -> Result<(), DocumentError> {
        let known = |name: &str| table.iter().any(|(candidate, _)| *candidate == name);
        if let Some(member) = self.members.iter().find(|member| !known(&member.name)) {
            return Err(DocumentError {
                kind: FailureKind::UnknownField,
                pointer: Some(self.member_pointer(&member.name)),
                span: member.name_span,
                message: format!("{}: member {:?} is not known", self.at.shown(), member.name),
                exceeded: None,
            });
        }
        for (name, presence) in table {
            if *presence == Required {
                self.required(name)?;
            }
        }
        Ok(())
    }

    fn member_pointer(&self, name: &str) -> String {
        let escaped = name.replace('~', "~0").replace('/', "~1");
        format!("{}/{escaped}", self.at.pointer)
    }
}

/// `Required` when `required`, otherwise `Optional`.
pub(crate) fn presence(required: bool) -> Presence {
    if required { Required } else { Optional }
}

/// The span of a whole document.
pub(crate) fn whole(bytes: &[u8]) -> Span {
    Span {
        start: 0,
        end: bytes.len(),
    }
}
