// SPDX-License-Identifier: Apache-2.0
//! The strict reader of `edict.test.run/v1` (M1): members in any order, none unknown but in telemetry.

mod case;
mod diagnostics;
mod evidence;
mod semantic;

use super::{
    body::{BodyBytes, BodyEntry, NamedBody},
    fields::{blake3, boolean, closed, list, unsigned},
};
use crate::{
    built::{BLOB, Body},
    failure::FailureKind,
    run::{EvidenceReport, SemanticReport, semantic::RUN_SEMANTIC, semantic_json},
    suite::decode::{At, DocumentError},
};
use edict_codec::{
    digest::TypedDigest,
    json::{Json, JsonLimits, Node, parse},
};
use std::sync::Arc;

/// Schema of a machine report.
pub const SCHEMA: &str = "edict.test.run/v1";
/// Greatest length of a report in bytes.
pub const MAX_REPORT_BYTES: usize = 64 << 20;

/// A report whose outermost shape and list of bodies were read; its bodies are not there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportDocument {
    root: Node,
    bodies: Vec<BodyEntry>,
}

/// A report in the types of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadReport {
    /// What it says of its completeness.
    pub complete: bool,
    /// The digest it states over `semantic`.
    pub semantic_digest: TypedDigest,
    /// `semantic`.
    pub semantic: SemanticReport,
    /// `semantic` exactly as it stands.
    pub semantic_tree: Json,
    /// `evidence` without its list of bodies. A body whose bytes were not given has none.
    pub evidence: EvidenceReport,
    /// `evidence.bodies`.
    pub bodies: Vec<BodyEntry>,
    /// Every place that names a body, in document order of the tables.
    pub named: Vec<NamedBody>,
    /// `diagnostics`, each of the shape of section 6.
    pub diagnostics: Vec<Json>,
    /// `telemetry`, which is open.
    pub telemetry: Json,
}

const MEMBERS: [&str; 7] = [
    "schema",
    "complete",
    "semanticDigest",
    "semantic",
    "evidence",
    "diagnostics",
    "telemetry",
];

impl ReportDocument {
    /// Reads the outermost object and the list of bodies.
    ///
    /// # Errors
    /// The first rejection, with pointer and span.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let root = parse(bytes, JsonLimits::document(MAX_REPORT_BYTES))
            .map_err(|error| DocumentError::of_json(error, FailureKind::ReportTooLarge))?;
        let at = At::root(&root);
        let object = at.object()?;
        object
            .required("schema")?
            .exactly(SCHEMA, FailureKind::UnsupportedSchema)?;
        let object = closed(&at, &MEMBERS)?;
        let evidence = closed(&object.required("evidence")?, &["hosts", "cases", "bodies"])?;
        let bodies = list(&evidence.required("bodies")?, entry)?;
        Ok(Self { root, bodies })
    }

    /// `evidence.bodies`: what [`Self::read`] needs the bytes of.
    pub fn bodies(&self) -> &[BodyEntry] {
        &self.bodies
    }

    /// Reads the whole report. Bytes are taken as they were found; whether they are those that the
    /// report names is judged by [`verify`](super::verify::verify).
    ///
    /// # Errors
    /// The first rejection, with pointer and span.
    pub fn read(&self, bytes: &BodyBytes) -> Result<ReadReport, DocumentError> {
        let at = At::root(&self.root);
        let object = at.object()?;
        let mut bodies = Bodies {
            bytes,
            named: Vec::new(),
        };
        let semantic_at = object.required("semantic")?;
        let semantic = semantic::semantic(&semantic_at, &mut bodies)?;
        let semantic_tree = Json::from(semantic_at.node());
        coherent(&semantic_at, &semantic_tree, &semantic_json(&semantic))?;
        let evidence = evidence::evidence(&object.required("evidence")?, &mut bodies)?;
        let telemetry = object.required("telemetry")?;
        telemetry.object()?;
        Ok(ReadReport {
            complete: boolean(&object.required("complete")?)?,
            semantic_digest: blake3(&object.required("semanticDigest")?, RUN_SEMANTIC)?,
            semantic,
            semantic_tree,
            evidence,
            bodies: self.bodies.clone(),
            named: bodies.named,
            diagnostics: list(&object.required("diagnostics")?, diagnostics::record)?,
            telemetry: Json::from(telemetry.node()),
        })
    }
}

fn entry(at: &At<'_>) -> Result<BodyEntry, DocumentError> {
    let object = closed(at, &["blob", "byteLength", "path"])?;
    Ok(BodyEntry {
        blob: blake3(&object.required("blob")?, BLOB)?,
        byte_length: unsigned(&object.required("byteLength")?)?,
        path: object.required("path")?.text()?.to_owned(),
    })
}

/// Gives places of the report the bytes that were found for them, and keeps a list of the places.
struct Bodies<'b> {
    bytes: &'b BodyBytes,
    named: Vec<NamedBody>,
}

impl Bodies<'_> {
    /// The body that `{blob, byteLength}` names.
    fn body(&mut self, at: &At<'_>) -> Result<Body, DocumentError> {
        let object = closed(at, &["blob", "byteLength"])?;
        self.named_at(
            at.pointer(),
            &object.required("blob")?,
            &object.required("byteLength")?,
        )
    }

    fn named_at(
        &mut self,
        pointer: &str,
        blob: &At<'_>,
        byte_length: &At<'_>,
    ) -> Result<Body, DocumentError> {
        let blob = blake3(blob, BLOB)?;
        self.named.push(NamedBody {
            pointer: pointer.to_owned(),
            blob: blob.clone(),
            byte_length: unsigned(byte_length)?,
        });
        let bytes = self.bytes.get(blob.bytes()).cloned();
        Ok(Body {
            blob,
            bytes: bytes.unwrap_or_else(|| Arc::from(&[][..])),
        })
    }
}

/// Members of `semantic` that others determine must say the same: what was read, written again, is
/// what was read. Lengths of bodies are judged with the bodies.
fn coherent(at: &At<'_>, stated: &Json, written: &Json) -> Result<(), DocumentError> {
    match difference(stated, written) {
        None => Ok(()),
        Some(pointer) => {
            let mut error = at.fail(
                FailureKind::ValueOutOfRange,
                format!("{pointer} disagrees with the members beside it"),
            );
            if let Err(error) = &mut error {
                error.pointer = Some(format!("{}{pointer}", at.pointer()));
            }
            error
        }
    }
}

/// Pointer of the first difference, members in any order.
fn difference(left: &Json, right: &Json) -> Option<String> {
    match (left, right) {
        (Json::Object(stated), Json::Object(written)) => {
            let body = stated.iter().any(|(name, _)| name == "blob");
            stated.iter().find_map(|(name, value)| {
                if body && name == "byteLength" {
                    return None;
                }
                let other = written.iter().find(|(candidate, _)| candidate == name);
                let inner = match other {
                    Some((_, other)) => difference(value, other)?,
                    None => String::new(),
                };
                Some(format!("/{name}{inner}"))
            })
        }
        (Json::Array(stated), Json::Array(written)) if stated.len() == written.len() => stated
            .iter()
            .zip(written)
            .enumerate()
            .find_map(|(index, (left, right))| {
                difference(left, right).map(|inner| format!("/{index}{inner}"))
            }),
        _ => (left != right).then(String::new),
    }
}
