// SPDX-License-Identifier: Apache-2.0
//! Source diagnostics: where a mistake is, which rule it breaks and what to do about it.

use std::fmt;

/// A half-open range of byte offsets in one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// From the start of `self` to the end of `other`.
    #[must_use]
    pub const fn to(self, other: Self) -> Self {
        Self {
            start: self.start,
            end: other.end,
        }
    }
}

/// The step of the compiler that refuses a source (section 3 of the language).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Text to syntax tree; stops at the first mistake.
    Parse,
    /// Rules that need no other document.
    Semantic,
    /// Names of imports, types, bounds, profiles and budgets; call graph.
    Resolve,
    /// Bodies.
    TypeCheck,
    /// Limits of the Core encoding.
    LowerCore,
    /// Core to Target IR.
    TargetLowering,
    /// The result projection.
    Projection,
}

impl Stage {
    /// The stable spelling in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Semantic => "semantic",
            Self::Resolve => "resolve",
            Self::TypeCheck => "typeCheck",
            Self::LowerCore => "lowerCore",
            Self::TargetLowering => "targetLowering",
            Self::Projection => "projection",
        }
    }
}

macro_rules! kinds {
    ($($name:ident),+ $(,)?) => {
        /// The rule a source breaks; the order is that of the spellings.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the names are those of the diagnostics table")]
        pub enum Kind { $($name),+ }

        impl Kind {
            /// The stable spelling in records.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($name)),+ }
            }

            /// Every kind, ascending.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];
        }
    };
}

kinds! {
    DuplicateCase, DuplicateField, DuplicateIntentClause, DuplicateName,
    DuplicateObstructionFailure, EmptyEnum, EmptyMatch, EmptyObstructionMap, ExpectedIdentifier,
    ExpectedKeyword, ExpectedPredicate, ExpectedToken, InvalidBound, InvalidDigest, InvalidInteger,
    InvalidName, InvalidVersion, Lex, LimitExceeded, MissingBasis, MissingBudget,
    MissingContextFact, MissingFailureHandler, MissingOperationMode, NestingTooDeep, NonCallEffect,
    NonExhaustiveMatch, ProfileEffectMismatch, RecursiveDefinition, ReservedKeyword,
    ResultProjectionUnavailable, ReturnInYieldBlock, ShadowedName, SignatureMismatch, TypeMismatch,
    UnboundedScalar, UndigestedImport, UnknownCase, UnknownFailure, UnknownField,
    UnknownObstruction, UnresolvedFunction, UnresolvedType, UnsupportedSourceShape,
    UnsupportedSyntax,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One refused place of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The step that found it.
    pub stage: Stage,
    /// The rule.
    pub kind: Kind,
    /// The primary range in bytes.
    pub span: Span,
    /// Line of the start, counted from 1; lines end at LF.
    pub line: u32,
    /// Column of the start in bytes, counted from 1.
    pub column: u32,
    /// What is wrong, prose.
    pub message: String,
    /// What to do, if the rule has an answer.
    pub help: Option<String>,
}

/// At most this many diagnostics of one source are reported.
pub const MAX_DIAGNOSTICS: usize = 100;
/// Names that one message lists.
const MAX_LISTED: usize = 20;
/// Findings that are kept before the first ones are picked.
const KEPT: usize = 1_000;
/// Greatest edit distance of a name that may be meant.
const MAX_DISTANCE: usize = 4;

/// Start offsets of the lines of a source.
#[derive(Debug, Clone, Default)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Indexes `source`, of at most 4 GiB.
    pub fn new(source: &[u8]) -> Self {
        let mut starts = vec![0];
        let mut next = 0u32;
        for byte in source {
            next = next.saturating_add(1);
            if *byte == b'\n' {
                starts.push(next);
            }
        }
        Self { starts }
    }

    /// Line and byte column of an offset, both counted from 1.
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line
            .checked_sub(1)
            .and_then(|index| self.starts.get(index))
            .copied()
            .unwrap_or(0);
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        (line, offset.saturating_sub(start).saturating_add(1))
    }

    /// The line of an offset, counted from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.position(offset).0
    }

    /// A complete diagnostic at `span`.
    pub fn diagnostic(&self, stage: Stage, finding: Finding) -> Diagnostic {
        let (line, column) = self.position(finding.span.start);
        Diagnostic {
            stage,
            kind: finding.kind,
            span: finding.span,
            line,
            column,
            message: finding.message,
            help: finding.help,
        }
    }
}

/// A diagnostic before its stage and position are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub kind: Kind,
    /// The primary range.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl Finding {
    /// A finding without help.
    pub fn new(kind: Kind, span: Span, message: impl Into<String>) -> Self {
        Self {
            kind,
            span,
            message: message.into(),
            help: None,
        }
    }

    /// The same finding with an answer.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Collects the findings of one stage. However many mistakes a source has, what is kept of them and
/// the time that goes into advice stay within bounds.
#[derive(Debug, Default)]
pub struct Sink {
    findings: Vec<Finding>,
    suggestions: usize,
}

impl Sink {
    /// Keeps a finding, as long as it can be among those that are reported.
    pub fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
        if self.findings.len() >= KEPT {
            self.sort();
        }
    }

    /// The candidate that may be meant, for the first mistakes of a stage.
    pub fn nearest<'n>(
        &mut self,
        wanted: &str,
        candidates: impl IntoIterator<Item = &'n str>,
    ) -> Option<&'n str> {
        self.suggestions = self.suggestions.saturating_add(1);
        let is_early = self.suggestions <= MAX_DIAGNOSTICS;
        is_early.then(|| nearest(wanted, candidates)).flatten()
    }

    fn sort(&mut self) {
        self.findings.sort_by_key(|it| (it.span, it.kind));
        self.findings.dedup();
        self.findings.truncate(MAX_DIAGNOSTICS);
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Ends the stage.
    ///
    /// # Errors
    /// All findings sorted by start, end and kind, without exact repetitions and at most
    /// [`MAX_DIAGNOSTICS`] of them, if there is any.
    pub fn finish(mut self, stage: Stage, lines: &LineIndex) -> Result<(), Vec<Diagnostic>> {
        if self.findings.is_empty() {
            return Ok(());
        }
        self.sort();
        Err(self
            .findings
            .into_iter()
            .map(|finding| lines.diagnostic(stage, finding))
            .collect())
    }
}

/// Names in a message, at most twenty of them.
pub(crate) fn listed(names: &[&str]) -> String {
    first_of(names.len(), names.iter().copied())
}

/// The first of `all` names, at most twenty; the others are neither visited nor shown.
pub(crate) fn first_of<'n>(all: usize, names: impl Iterator<Item = &'n str>) -> String {
    let shown: Vec<&str> = names.take(MAX_LISTED).collect();
    match all.saturating_sub(shown.len()) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The candidate closest to `wanted` by edit distance, if one is close enough to be meant.
fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = wanted.len().div_ceil(3).clamp(1, MAX_DISTANCE);
    candidates
        .into_iter()
        .filter(|it| it.len().abs_diff(wanted.len()) <= limit)
        .map(|it| (distance(wanted, it), it))
        .filter(|(far, _)| *far <= limit)
        .min()
        .map(|(_, it)| it)
}

/// Edit distance in bytes; names are ASCII and at most 64 bytes are compared.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<u8> = right.bytes().take(64).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, a) in left.bytes().take(64).enumerate() {
        let mut next = vec![above.saturating_add(1)];
        for (b, pair) in right.iter().zip(row.windows(2)) {
            let [diagonal, up] = pair else { continue };
            let step = diagonal.saturating_add(usize::from(a != *b));
            let left = next.last().copied().unwrap_or(0).saturating_add(1);
            next.push(step.min(left).min(up.saturating_add(1)));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
