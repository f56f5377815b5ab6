// SPDX-License-Identifier: Apache-2.0
//! What a diagnostic record says (section 6): failures, warnings and the members of each kind.

use crate::{failure::Failure, ids::CaseId};
use edict_codec::{digest::TypedDigest, json::Span};
use std::sync::Arc;

/// Greatest length of an excerpt in bytes.
pub const MAX_EXCERPT: usize = 4096;

/// How grave a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// A failure.
    Error,
    /// Something to look at.
    Warning,
    /// Something to know.
    Note,
}

impl Severity {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Kinds of records that are no failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarningKind {
    /// The default state directory cannot be written.
    StateUnavailable,
    /// An entry of the action cache failed its check.
    CacheEntryQuarantined,
    /// An input has more than one link.
    HardLinkedInput,
    /// Less than full isolation.
    IsolationPartial,
    /// A child wrote where it should not.
    StrayOutput,
    /// Later records were dropped.
    DiagnosticsTruncated,
}

impl WarningKind {
    /// The stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StateUnavailable => "StateUnavailable",
            Self::CacheEntryQuarantined => "CacheEntryQuarantined",
            Self::HardLinkedInput => "HardLinkedInput",
            Self::IsolationPartial => "IsolationPartial",
            Self::StrayOutput => "StrayOutput",
            Self::DiagnosticsTruncated => "DiagnosticsTruncated",
        }
    }
}

/// One record before it gets its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diagnostic {
    /// A failure; `primary` for exactly the primary one (F4).
    Failure {
        /// The failure.
        failure: Failure,
        /// Whether it is the primary one.
        primary: bool,
    },
    /// A warning or a note.
    Notice(Notice),
}

/// A record that is no failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// `warning` or `note`.
    pub severity: Severity,
    /// The stage in which it was seen.
    pub stage: crate::failure::Stage,
    /// What.
    pub kind: WarningKind,
    /// The case it concerns.
    pub case: Option<CaseId>,
    /// One sentence, at most 1,024 bytes.
    pub message: String,
    /// What a child said.
    pub excerpt: Option<Excerpt>,
    /// The members of its kind.
    pub detail: Option<Detail>,
}

impl Notice {
    /// A warning.
    pub fn warning(
        stage: crate::failure::Stage,
        kind: WarningKind,
        message: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            stage,
            kind,
            case: None,
            message: message.into(),
            excerpt: None,
            detail: None,
        }
    }
}

/// A place in a file: `suite`, `lock` or the path of an application document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpan {
    /// Which file.
    pub file: String,
    /// Half-open range of bytes.
    pub span: Span,
    /// The file as it was read, for people; it stands in no record.
    pub text: Option<Arc<[u8]>>,
}

/// A bounded piece of a text (M4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The text kept.
    pub text: String,
    /// Whether text is missing.
    pub truncated: bool,
    /// Length of the whole text in bytes.
    pub byte_length: u64,
}

impl Excerpt {
    /// The first 4,096 bytes of `text`, cut at a scalar boundary.
    pub fn of(text: &str) -> Self {
        let mut end = text.len().min(MAX_EXCERPT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self {
            text: text.get(..end).unwrap_or_default().to_owned(),
            truncated: end < text.len(),
            byte_length: text.len() as u64,
        }
    }

    /// As [`Self::of`], for output of a child; foreign bytes become U+FFFD.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let head = bytes.get(..MAX_EXCERPT).unwrap_or(bytes);
        let mut excerpt = Self::of(&String::from_utf8_lossy(head));
        excerpt.truncated |= head.len() < bytes.len();
        excerpt.byte_length = bytes.len() as u64;
        excerpt
    }
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The role it was started for: `compiler`, `verifier`, `host`.
    pub role: String,
    /// Its exit code, when it exited.
    pub exit_code: Option<u8>,
    /// The signal that ended it.
    pub signal: Option<u8>,
    /// Its monotonic running time in milliseconds.
    pub elapsed_ms: u64,
}

impl Child {
    /// The end of a process of `role` that never began: a kind about a process names one always.
    pub fn not_started(role: &str) -> Self {
        Self {
            role: role.to_owned(),
            exit_code: None,
            signal: None,
            elapsed_ms: 0,
        }
    }
}

/// One diagnostic of the compiler, as the compiler gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDiagnostic {
    /// The source file.
    pub file: String,
    /// Half-open range of bytes.
    pub span: Span,
    /// Line from 1.
    pub line: u64,
    /// Column from 1.
    pub column: u64,
    /// Stage of the compiler.
    pub stage: String,
    /// Kind of the compiler.
    pub kind: String,
    /// One sentence.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// The source as the compiler was given it, for people; it stands in no record.
    pub text: Option<Arc<[u8]>>,
}

/// Members of `detail`, closed per kind (J3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// `NoExecutableCases`: `counts`.
    Counts {
        /// Selected cases.
        selected: u64,
        /// Cases that declare a skip.
        skipped: u64,
    },
    /// Kinds of a limit of section 3: `limit`, `actual`.
    Limit {
        /// The effective limit.
        limit: u64,
        /// What was measured; `None` when it was not measured past the limit.
        actual: Option<u64>,
    },
    /// `CompilerRefused`, `SetupBuildRefused`: `failureKind`, `diagnostics`.
    Refused {
        /// The compiler's kind (F7).
        failure_kind: String,
        /// At most 100.
        diagnostics: Vec<SourceDiagnostic>,
    },
    /// Kinds about a process: `child`.
    Child(Child),
    /// Kinds of stage `host`: `child` and `hostCode`.
    Host {
        /// The host process.
        child: Child,
        /// The host's refusal or fault kind.
        host_code: Option<String>,
    },
    /// Kinds about a file: `name`.
    Name(String),
    /// `InputRefused`, `ExpectedPayloadInvalid`: `fixture`, `hostCode`.
    Fixture {
        /// Identity of the fixture.
        fixture: TypedDigest,
        /// The host's refusal.
        host_code: Option<String>,
    },
    /// `InstallRefused`, `InvocationRefused`, `ContextRefused`: `hostCode`.
    HostCode(String),
    /// Kinds of an obstruction: `obstruction`.
    Obstruction {
        /// Its coordinate.
        coordinate: String,
        /// Blob digest of its payload.
        payload: TypedDigest,
    },
    /// Kinds of `evidence`: `check`, `V1` to `V18`.
    Check(&'static str),
    /// `Interrupted`: `signal`, a name such as `TERM`.
    Signal(String),
    /// `DiagnosticsTruncated`: `dropped`.
    Dropped(u64),
}
