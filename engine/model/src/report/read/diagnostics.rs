// SPDX-License-Identifier: Apache-2.0
//! One entry of `diagnostics`: a record of section 6, kept as it stands.

use crate::{
    report::fields::{boolean, closed, optional, unsigned},
    suite::decode::{At, DocumentError},
};
use edict_codec::json::Json;

const MEMBERS: [&str; 15] = [
    "schema",
    "seq",
    "severity",
    "stage",
    "kind",
    "primary",
    "caseId",
    "setupIndex",
    "role",
    "pointer",
    "span",
    "expected",
    "actual",
    "message",
    "excerpt",
];

/// A record with exactly the members of section 6, each of its type.
pub(super) fn record(at: &At<'_>) -> Result<Json, DocumentError> {
    let names: Vec<&str> = MEMBERS.into_iter().chain(["detail"]).collect();
    let object = closed(at, &names)?;
    object.required("schema")?.exactly(
        "edict.test.diagnostic/v1",
        crate::failure::FailureKind::UnsupportedSchema,
    )?;
    unsigned(&object.required("seq")?)?;
    boolean(&object.required("primary")?)?;
    object
        .required("severity")?
        .variant(|name| matches!(name, "error" | "warning" | "note").then_some(()))?;
    for name in ["stage", "kind", "message"] {
        object.required(name)?.text()?;
    }
    for name in ["caseId", "role", "pointer"] {
        optional(object.required(name)?, |at| at.text().map(drop))?;
    }
    optional(object.required("setupIndex")?, |at| unsigned(at).map(drop))?;
    for name in ["expected", "actual"] {
        optional(object.required(name)?, |at| at.any_digest().map(drop))?;
    }
    optional(object.required("span")?, span)?;
    optional(object.required("excerpt")?, |at| {
        let object = closed(at, &["text", "truncated", "byteLength"])?;
        object.required("text")?.text_within(4096)?;
        boolean(&object.required("truncated")?)?;
        unsigned(&object.required("byteLength")?).map(drop)
    })?;
    optional(object.required("detail")?, |at| at.object().map(drop))?;
    Ok(Json::from(at.node()))
}

fn span(at: &At<'_>) -> Result<(), DocumentError> {
    let object = closed(at, &["file", "start", "end"])?;
    object.required("file")?.text()?;
    unsigned(&object.required("start")?)?;
    unsigned(&object.required("end")?).map(drop)
}
