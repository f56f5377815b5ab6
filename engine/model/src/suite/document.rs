// SPDX-License-Identifier: Apache-2.0
//! The suite manifest `edict.test-suite/v1` (section 1.2).

use super::decode::{
    At, DocumentError, Object,
    Presence::{Optional, Required},
    tree, whole,
};
use crate::{
    failure::FailureKind,
    ids::{CaseId, Coordinate, Locator, SuiteId},
    limits::{Limit, Limits},
};
use std::collections::BTreeMap;

/// The schema of a manifest.
pub const SCHEMA: &str = "edict.test-suite/v1";
/// The schema of a case result.
pub const CASE_RESULT: &str = "edict.test.case-result/v1";

/// A manifest that was decoded in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteDocument {
    /// The suite id.
    pub id: SuiteId,
    /// Where the lock is.
    pub toolchain_lock: Locator,
    /// The effective limits.
    pub limits: Limits,
    /// The cases in order.
    pub cases: Vec<CaseDocument>,
}

/// One case of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseDocument {
    /// The id.
    pub id: CaseId,
    /// `description`, or the id.
    pub label: String,
    /// The application document.
    pub application: Locator,
    /// The input fixture.
    pub input: Locator,
    /// Setup entries in order.
    pub setup: Vec<SetupDocument>,
    /// The expectation.
    pub expect: Expect,
    /// A declared skip.
    pub skip: Option<Skip>,
}

/// One setup entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupDocument {
    /// The application document.
    pub application: Locator,
    /// The input fixture.
    pub input: Locator,
}

/// What a case must end in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// A case result of the one schema there is.
    CaseResult,
    /// An obstruction of stage `execution`.
    Obstruction {
        /// Its exact coordinate.
        coordinate: Coordinate,
        /// The payload fixture.
        payload: Locator,
    },
}

/// Why a case is not executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The reason, 1 to 1,024 bytes.
    pub reason: String,
    /// Where it is tracked, 1 to 1,024 bytes.
    pub tracking_reference: String,
}

impl SuiteDocument {
    /// Decodes a manifest.
    ///
    /// # Errors
    /// The first rejection in the order of S3.
    pub fn decode(bytes: &[u8]) -> Result<Self, DocumentError> {
        let node = tree(bytes, FailureKind::ManifestTooLarge)?;
        let object = At::root(&node).object()?;
        object
            .required("schema")?
            .exactly(SCHEMA, FailureKind::UnsupportedSchema)?;
        object.closed(&[
            ("schema", Required),
            ("id", Required),
            ("toolchainLock", Required),
            ("limits", Optional),
            ("cases", Required),
        ])?;
        let id = object.required("id")?;
        let id = id.named(SuiteId::parse(id.text()?))?;
        let toolchain_lock = object.required("toolchainLock")?.path()?;
        let limits = object
            .optional("limits")
            .map_or_else(|| Ok(Limits::default()), |at| limits(&at))?;
        let cases = cases(&object.required("cases")?, &limits)?;
        let most = limits.max_manifest_bytes();
        let size = bytes.len() as u64;
        if size > most {
            return Err(DocumentError {
                kind: FailureKind::ManifestTooLarge,
                pointer: None,
                span: whole(bytes),
                message: format!(
                    "the manifest has {size} bytes, more than its own limit of {most}"
                ),
                exceeded: Some((most, size)),
            });
        }
        Ok(Self {
            id,
            toolchain_lock,
            limits,
            cases,
        })
    }
}

fn limits(at: &At<'_>) -> Result<Limits, DocumentError> {
    let object = at.object()?;
    object.closed(&Limit::ALL.map(|limit| (limit.name(), Optional)))?;
    let mut limits = Limits::default();
    for limit in Limit::ALL {
        if let Some(at) = object.optional(limit.name()) {
            let value = at.integer()?;
            if let Err(kind) = limits.lower(limit, value) {
                let ceiling = limit.ceiling();
                return at.fail(kind, format!("{value} is outside 1 to {ceiling}"));
            }
        }
    }
    Ok(limits)
}

fn cases(at: &At<'_>, limits: &Limits) -> Result<Vec<CaseDocument>, DocumentError> {
    let items = at.items()?;
    let (count, most) = (items.len() as u64, limits.max_cases());
    if count > most {
        return at.exceeds(FailureKind::TooManyCases, most, count, "cases");
    }
    let mut seen = BTreeMap::new();
    let mut cases = Vec::new();
    for item in items {
        let case = case(&item, limits, &seen)?;
        seen.insert(case.id.clone(), item.pointer().to_owned());
        cases.push(case);
    }
    Ok(cases)
}

fn case(
    at: &At<'_>,
    limits: &Limits,
    seen: &BTreeMap<CaseId, String>,
) -> Result<CaseDocument, DocumentError> {
    let object = at.object()?;
    object.closed(&[
        ("id", Required),
        ("description", Optional),
        ("application", Required),
        ("input", Required),
        ("setup", Optional),
        ("expect", Required),
        ("skip", Optional),
    ])?;
    let id = case_id(&object.required("id")?, seen)?;
    let label = match object.optional("description") {
        Some(at) => at.text_within(1024)?.to_owned(),
        None => id.as_str().to_owned(),
    };
    Ok(CaseDocument {
        label,
        application: object.required("application")?.path()?,
        input: object.required("input")?.path()?,
        setup: object
            .optional("setup")
            .map_or_else(|| Ok(Vec::new()), |at| setup(&at, limits))?,
        expect: expect(&object.required("expect")?)?,
        skip: object.optional("skip").map(|at| skip(&at)).transpose()?,
        id,
    })
}

fn case_id(at: &At<'_>, seen: &BTreeMap<CaseId, String>) -> Result<CaseId, DocumentError> {
    let id = at.named(CaseId::parse(at.text()?))?;
    match seen.get(&id) {
        None => Ok(id),
        Some(first) => {
            let mut error = at.fail::<CaseId>(FailureKind::DuplicateCaseId, "");
            if let Err(error) = &mut error {
                error.message = format!("case id \"{id}\" is already used by {first}");
            }
            error
        }
    }
}

fn setup(at: &At<'_>, limits: &Limits) -> Result<Vec<SetupDocument>, DocumentError> {
    let items = at.items()?;
    let (count, most) = (items.len() as u64, limits.max_setup_operations_per_case());
    if count > most {
        return at.exceeds(
            FailureKind::TooManySetupOperations,
            most,
            count,
            "setup operations",
        );
    }
    let entry = |at: &At<'_>| {
        let object = at.object()?;
        object.closed(&[("application", Required), ("input", Required)])?;
        Ok(SetupDocument {
            application: object.required("application")?.path()?,
            input: object.required("input")?.path()?,
        })
    };
    items.iter().map(entry).collect()
}

#[derive(Clone, Copy)]
enum ExpectKind {
    CaseResult,
    Obstruction,
}

fn expect(at: &At<'_>) -> Result<Expect, DocumentError> {
    let object = at.object()?;
    let kind = object.required("kind")?.variant(|name| match name {
        "caseResult" => Some(ExpectKind::CaseResult),
        "obstruction" => Some(ExpectKind::Obstruction),
        _ => None,
    })?;
    match kind {
        ExpectKind::CaseResult => {
            object.closed(&[("kind", Required), ("schema", Required)])?;
            object
                .required("schema")?
                .exactly(CASE_RESULT, FailureKind::UnsupportedSchema)?;
            Ok(Expect::CaseResult)
        }
        ExpectKind::Obstruction => obstruction(&object),
    }
}

fn obstruction(object: &Object<'_>) -> Result<Expect, DocumentError> {
    object.closed(&[
        ("kind", Required),
        ("stage", Required),
        ("coordinate", Required),
        ("payload", Required),
    ])?;
    object
        .required("stage")?
        .exactly("execution", FailureKind::UnsupportedValue)?;
    Ok(Expect::Obstruction {
        coordinate: object.required("coordinate")?.coordinate()?,
        payload: object.required("payload")?.path()?,
    })
}

fn skip(at: &At<'_>) -> Result<Skip, DocumentError> {
    let object = at.object()?;
    object.closed(&[("reason", Required), ("trackingReference", Required)])?;
    Ok(Skip {
        reason: object.required("reason")?.filled_text(1024)?.to_owned(),
        tracking_reference: object
            .required("trackingReference")?
            .filled_text(1024)?
            .to_owned(),
    })
}
