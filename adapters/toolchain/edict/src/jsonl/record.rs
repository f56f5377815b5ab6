// SPDX-License-Identifier: Apache-2.0
//! Answer records: one line, keys in alphabetical order.

use crate::failure::{Place, Report};
use edict_codec::{
    cbor::Value,
    hex,
    json::{Json, write_record},
};

/// A record as its line.
pub(super) fn line(record: Json) -> String {
    let mut line = write_record(&sorted(record));
    line.push('\n');
    line
}

/// The record of a report.
pub(super) fn diagnostic(report: &Report) -> Json {
    let place = report.place.as_ref();
    let number = |value: usize| Json::Integer(i128::try_from(value).unwrap_or(i128::MAX));
    let span = |place: &Place| {
        Json::object([
            ("start", number(place.span.start)),
            ("end", number(place.span.end)),
        ])
    };
    Json::object([
        ("schema", Json::text("edict.cli.diagnostic/v1")),
        ("type", Json::text("diagnostic")),
        ("severity", Json::text("error")),
        ("stage", Json::text(report.stage)),
        ("kind", Json::text(report.kind)),
        ("message", Json::text(report.message.as_str())),
        ("help", Json::optional(report.help.as_deref(), Json::text)),
        (
            "file",
            Json::optional(place, |it| Json::text(it.file.as_str())),
        ),
        (
            "line",
            Json::optional(place, |it| Json::Integer(it.line.into())),
        ),
        (
            "column",
            Json::optional(place, |it| Json::Integer(it.column.into())),
        ),
        ("span", Json::optional(place, span)),
    ])
}

/// The terminal event.
pub(super) fn event(command: Option<&str>, exit_code: u8) -> Json {
    let event = if exit_code == 0 {
        "completed"
    } else {
        "failed"
    };
    Json::object([
        ("schema", Json::text("edict.cli.event/v1")),
        ("type", Json::text("event")),
        ("event", Json::text(event)),
        ("command", Json::optional(command, Json::text)),
        ("exitCode", Json::Integer(exit_code.into())),
    ])
}

/// A value as typed JSON without a type.
pub(super) fn untyped(value: &Value) -> Json {
    const EXACT: i128 = (1 << 53) - 1;
    match value {
        Value::Integer(integer) if integer.get().abs() <= EXACT => Json::Integer(integer.get()),
        Value::Integer(integer) => {
            Json::object([("$edictInt", Json::text(integer.get().to_string()))])
        }
        Value::Bytes(bytes) => Json::object([("$edictBytes", Json::text(hex::encode(bytes)))]),
        Value::Text(text) => Json::text(text.as_str()),
        Value::Bool(value) => Json::Bool(*value),
        Value::Null => Json::Null,
        Value::Array(items) => Json::Array(items.iter().map(untyped).collect()),
        Value::Map(entries) => Json::object(entries.iter().filter_map(|(name, value)| {
            // Every map of our artifacts has text keys.
            Some((name.as_text()?.to_owned(), untyped(value)))
        })),
    }
}

fn sorted(json: Json) -> Json {
    match json {
        Json::Object(mut members) => {
            members.sort_by(|left, right| left.0.cmp(&right.0));
            let members = members.into_iter();
            Json::Object(members.map(|(name, value)| (name, sorted(value))).collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(sorted).collect()),
        scalar @ (Json::Null | Json::Bool(_) | Json::Integer(_) | Json::Text(_)) => scalar,
    }
}
