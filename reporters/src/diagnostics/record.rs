// SPDX-License-Identifier: Apache-2.0
//! One diagnostic as its JSON record, members in table order.

use crate::json_parts::{digest, excerpt, text_or_null};
use edict_codec::json::Json;
use edict_test_model::{
    CaseId, Detail, Diagnostic, Failure, FileSpan, Severity,
    diagnostic::{Child, Notice, SourceDiagnostic},
    suite::Role,
};

/// Greatest length of `message` in bytes.
const MAX_MESSAGE_BYTES: usize = 1_024;

/// The record number `seq` of a run.
pub fn record(seq: u64, diagnostic: &Diagnostic) -> Json {
    match diagnostic {
        Diagnostic::Failure { failure, primary } => of_failure(seq, failure, *primary),
        Diagnostic::Notice(notice) => of_notice(seq, notice),
    }
}

fn of_failure(seq: u64, failure: &Failure, primary: bool) -> Json {
    Json::object([
        ("schema", Json::text("edict.test.diagnostic/v1")),
        ("seq", Json::unsigned(seq)),
        ("severity", Json::text(Severity::Error.name())),
        ("stage", Json::text(failure.stage.name())),
        ("kind", Json::text(failure.kind.name())),
        ("primary", Json::Bool(primary)),
        (
            "caseId",
            text_or_null(failure.case.as_ref().map(CaseId::as_str)),
        ),
        (
            "setupIndex",
            Json::optional(failure.setup_index, |index| Json::unsigned(index.into())),
        ),
        ("role", text_or_null(failure.role.map(Role::name))),
        ("pointer", text_or_null(failure.pointer.as_deref())),
        ("span", Json::optional(failure.span.as_ref(), file_span)),
        (
            "expected",
            Json::optional(failure.expected.as_ref(), digest),
        ),
        ("actual", Json::optional(failure.actual.as_ref(), digest)),
        ("message", Json::text(bounded(&failure.message))),
        ("excerpt", Json::optional(failure.excerpt.as_ref(), excerpt)),
        ("detail", Json::optional(failure.detail.as_ref(), detail)),
    ])
}

fn of_notice(seq: u64, notice: &Notice) -> Json {
    Json::object([
        ("schema", Json::text("edict.test.diagnostic/v1")),
        ("seq", Json::unsigned(seq)),
        ("severity", Json::text(notice.severity.name())),
        ("stage", Json::text(notice.stage.name())),
        ("kind", Json::text(notice.kind.name())),
        ("primary", Json::Bool(false)),
        (
            "caseId",
            text_or_null(notice.case.as_ref().map(CaseId::as_str)),
        ),
        ("setupIndex", Json::Null),
        ("role", Json::Null),
        ("pointer", Json::Null),
        ("span", Json::Null),
        ("expected", Json::Null),
        ("actual", Json::Null),
        ("message", Json::text(bounded(&notice.message))),
        ("excerpt", Json::optional(notice.excerpt.as_ref(), excerpt)),
        ("detail", Json::optional(notice.detail.as_ref(), detail)),
    ])
}

fn bounded(message: &str) -> &str {
    let mut end = message.len().min(MAX_MESSAGE_BYTES);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    message.get(..end).unwrap_or_default()
}

fn file_span(at: &FileSpan) -> Json {
    Json::object([
        ("file", Json::text(&at.file)),
        ("start", Json::unsigned(at.span.start as u64)),
        ("end", Json::unsigned(at.span.end as u64)),
    ])
}

fn detail(detail: &Detail) -> Json {
    match detail {
        Detail::Counts { selected, skipped } => Json::object([(
            "counts",
            Json::object([
                ("selected", Json::unsigned(*selected)),
                ("skipped", Json::unsigned(*skipped)),
            ]),
        )]),
        Detail::Limit { limit, actual } => Json::object([
            ("limit", Json::unsigned(*limit)),
            ("actual", Json::optional(*actual, Json::unsigned)),
        ]),
        Detail::Refused {
            failure_kind,
            diagnostics,
        } => Json::object([
            ("failureKind", Json::text(failure_kind)),
            (
                "diagnostics",
                Json::Array(diagnostics.iter().map(source).collect()),
            ),
        ]),
        Detail::Child(it) => Json::object([("child", child(it))]),
        Detail::Host {
            child: it,
            host_code,
        } => Json::object([
            ("child", child(it)),
            ("hostCode", text_or_null(host_code.as_deref())),
        ]),
        Detail::Name(name) => Json::object([("name", Json::text(name))]),
        Detail::Fixture { fixture, host_code } => Json::object([
            ("fixture", digest(fixture)),
            ("hostCode", text_or_null(host_code.as_deref())),
        ]),
        Detail::HostCode(code) => Json::object([("hostCode", Json::text(code))]),
        Detail::Obstruction {
            coordinate,
            payload,
        } => Json::object([(
            "obstruction",
            Json::object([
                ("coordinate", Json::text(coordinate)),
                ("payload", digest(payload)),
            ]),
        )]),
        Detail::Check(check) => Json::object([("check", Json::text(*check))]),
        Detail::Signal(signal) => Json::object([("signal", Json::text(signal))]),
        Detail::Dropped(dropped) => Json::object([("dropped", Json::unsigned(*dropped))]),
    }
}

fn child(child: &Child) -> Json {
    Json::object([
        ("role", Json::text(&child.role)),
        (
            "exitCode",
            Json::optional(child.exit_code, |code| Json::Integer(code.into())),
        ),
        (
            "signal",
            Json::optional(child.signal, |signal| Json::Integer(signal.into())),
        ),
        ("elapsedMs", Json::unsigned(child.elapsed_ms)),
    ])
}

fn source(diagnostic: &SourceDiagnostic) -> Json {
    Json::object([
        ("file", Json::text(&diagnostic.file)),
        (
            "span",
            Json::object([
                ("start", Json::unsigned(diagnostic.span.start as u64)),
                ("end", Json::unsigned(diagnostic.span.end as u64)),
            ]),
        ),
        ("line", Json::unsigned(diagnostic.line)),
        ("column", Json::unsigned(diagnostic.column)),
        ("stage", Json::text(&diagnostic.stage)),
        ("kind", Json::text(&diagnostic.kind)),
        ("message", Json::text(&diagnostic.message)),
        ("help", text_or_null(diagnostic.help.as_deref())),
    ])
}
