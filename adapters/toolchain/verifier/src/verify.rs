// SPDX-License-Identifier: Apache-2.0
//! Judging one build: which artifact, if any, does not follow from the others.

use crate::closure::{Closure, Lawpack, LawpackFiles, canonical, load};
use crate::decode::core::{Budget, Core, core as read_core};
use crate::decode::reader::{Defect, Fields, Under, difference, unsigned};
use crate::package::{self, Embedded, Parts};
use crate::report::{self, Kind, Rejection, Report, Subject};
use crate::retype::{self, Owner};
use crate::translate::translate;
use edict_codec::cbor::{Value, encode};
use edict_codec::digest::{TypedDigest, frame_typed};
use std::rc::Rc;

/// The files of one build.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The source file; only its digest is used.
    pub source: Vec<u8>,
    /// `core.cbor`.
    pub core: Vec<u8>,
    /// `target-ir.cbor`.
    pub target_ir: Vec<u8>,
    /// `result-projection.cbor`.
    pub projection: Vec<u8>,
    /// `executable-operation-package.cbor`.
    pub package: Vec<u8>,
    /// The lawpacks in application order.
    pub lawpacks: Vec<LawpackFiles>,
}

/// Why no report can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither Core nor the package names the operation, its budget and its bound: {0}")]
pub struct Unjudgeable(String);

/// Judges a build.
///
/// # Errors
/// `Unjudgeable` when the artifacts do not even say what they are about.
pub fn verify(inputs: &Inputs) -> Result<Report, Unjudgeable> {
    let mut run = Run {
        inputs,
        digests: Digests::of(inputs),
        package: canonical(&inputs.package),
        closure: None,
        expected: None,
        passed: 0,
    };
    let rejection = run.judge().err();
    run.report(rejection)
}

/// Digests of the files as they are.
#[derive(Debug)]
struct Digests {
    source: TypedDigest,
    core: TypedDigest,
    target_ir: TypedDigest,
    projection: TypedDigest,
    package: TypedDigest,
}

impl Digests {
    fn of(inputs: &Inputs) -> Self {
        let source = encode(&Value::bytes(inputs.source.clone()));
        Self {
            source: frame_typed("edict.source/v1", &source),
            core: frame_typed("edict.core.module/v1", &inputs.core),
            target_ir: frame_typed("edict.target-ir.artifact/v1", &inputs.target_ir),
            projection: frame_typed("edict.result-projection.artifact/v1", &inputs.projection),
            package: frame_typed("echo.program-package/v1", &inputs.package),
        }
    }
}

struct Run<'a> {
    inputs: &'a Inputs,
    digests: Digests,
    package: Result<Value, Defect>,
    closure: Option<Rc<Closure>>,
    expected: Option<Value>,
    passed: usize,
}

fn reject(kind: Kind) -> impl Fn(Defect) -> Rejection {
    move |defect| Rejection::new(kind, &defect)
}

fn same(expected: &Value, actual: Option<&Value>) -> bool {
    actual == Some(expected)
}

fn member<'a>(item: Option<&'a Value>, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(item?, |item, key| item.get(key))
}

impl Run<'_> {
    /// The checks in the order of `report::CHECKS`.
    fn judge(&mut self) -> Result<(), Rejection> {
        let inputs = self.inputs;
        let core_item = canonical(&inputs.core).map_err(reject(Kind::CoreMismatch))?;
        let target_ir = canonical(&inputs.target_ir);
        self.named_core(target_ir.as_ref().ok())?;
        let core = read_core(&core_item).map_err(reject(Kind::CoreMismatch))?;
        self.pass();
        let closure = load(&inputs.lawpacks).map_err(reject(Kind::ClosureMismatch))?;
        let closure = Rc::new(closure);
        self.closure = Some(Rc::clone(&closure));
        let closure = &*closure;
        bind(
            closure,
            &core,
            target_ir.as_ref().ok(),
            self.package.as_ref().ok(),
        )?;
        self.pass();
        let judgement = retype::judge(&core, closure).map_err(|owner| match owner {
            Owner::Core(defect) => Rejection::new(Kind::CoreMismatch, &defect),
            Owner::Closure(defect) => Rejection::new(Kind::ClosureMismatch, &defect),
        })?;
        let table = retype::types(&core, closure).map_err(reject(Kind::CoreMismatch))?;
        let Some(intent) = core.intents.get(&judgement.intent) else {
            return Err(Rejection::new(
                Kind::CoreMismatch,
                &Defect::new("no intent").under("intents"),
            ));
        };
        let translation = translate(&core, &core_item, &self.digests.core, closure)
            .map_err(reject(Kind::ProjectionMismatch))?;
        let made_ir = encode(&translation.target_ir);
        let made_projection = encode(&translation.projection);
        let parts = Parts {
            module: &core,
            intent,
            closure,
            table: &table,
            judgement: &judgement,
            source: self.digests.source.clone(),
            core: Embedded {
                digest: self.digests.core.clone(),
                bytes: &inputs.core,
            },
            target_ir: Embedded {
                digest: frame_typed("edict.target-ir.artifact/v1", &made_ir),
                bytes: &made_ir,
            },
            projection: Embedded {
                digest: frame_typed("edict.result-projection.artifact/v1", &made_projection),
                bytes: &made_projection,
            },
        };
        let expected = package::expected(&parts);
        self.expected = Some(expected.clone());
        self.pass();
        self.profile(&expected, &translation.target_ir, target_ir.as_ref().ok())?;
        self.pass();
        let target_ir = target_ir.map_err(reject(Kind::TargetIrMismatch))?;
        compare(&translation.target_ir, &target_ir, Kind::TargetIrMismatch)?;
        self.pass();
        let projection = canonical(&inputs.projection).map_err(reject(Kind::ProjectionMismatch))?;
        compare(
            &translation.projection,
            &projection,
            Kind::ProjectionMismatch,
        )?;
        self.pass();
        self.package(&expected)
    }

    fn pass(&mut self) {
        self.passed = self.passed.saturating_add(1);
    }

    /// Core is the odd one when neither Target IR nor package names it.
    fn named_core(&self, target_ir: Option<&Value>) -> Result<(), Rejection> {
        let digest = self.digests.core.to_value();
        let package = self.package.as_ref().ok();
        if same(
            &digest,
            member(target_ir, &["semanticClosure", "sourceCore"]),
        ) || same(&digest, member(package, &["core", "digest"]))
        {
            return Ok(());
        }
        let message = "not the Core that Target IR and package name";
        Err(Rejection::new(Kind::CoreMismatch, &Defect::new(message)))
    }

    /// Another target profile, interpreter, cost law or codec, wherever it stands.
    fn profile(
        &self,
        expected: &Value,
        made_ir: &Value,
        target_ir: Option<&Value>,
    ) -> Result<(), Rejection> {
        let package = self.package.as_ref().ok();
        for key in ["targetProfile", "interpreter", "costLaw", "codec"] {
            if let (Some(expected), Some(actual)) = (expected.get(key), member(package, &[key]))
                && let Some(defect) = difference(expected, actual)
            {
                return Err(Rejection::new(Kind::ProfileMismatch, &defect.under(key)));
            }
        }
        let key = "targetProfile";
        if let (Some(expected), Some(actual)) = (made_ir.get(key), member(target_ir, &[key]))
            && let Some(defect) = difference(expected, actual)
        {
            return Err(Rejection::new(Kind::ProfileMismatch, &defect.under(key)));
        }
        Ok(())
    }

    /// The source comes last: it is part of the closure, and a foreign package differs before.
    fn package(&mut self, expected: &Value) -> Result<(), Rejection> {
        let package = match &self.package {
            Ok(package) => package,
            Err(defect) => return Err(Rejection::new(Kind::PackageMismatch, defect)),
        };
        let source = package.get("source").cloned().unwrap_or(Value::Null);
        if TypedDigest::from_value(&source).is_none() {
            let defect = Defect::new("expected a typed digest").under("source");
            return Err(Rejection::new(Kind::PackageMismatch, &defect));
        }
        compare(
            &with_source(expected, &source),
            package,
            Kind::PackageMismatch,
        )?;
        self.passed = self.passed.saturating_add(1);
        if source != self.digests.source.to_value() {
            let defect = Defect::new("not the source that the package names").under("source");
            return Err(Rejection::new(Kind::ClosureMismatch, &defect));
        }
        self.passed = self.passed.saturating_add(1);
        Ok(())
    }

    fn report(self, rejection: Option<Rejection>) -> Result<Report, Unjudgeable> {
        let statement = match (&self.expected, &self.package) {
            (Some(expected), _) => statement(expected),
            (None, Ok(package)) => statement(package),
            (None, Err(defect)) => Err(defect.clone()),
        }
        .map_err(|defect| {
            let why = rejection.as_ref().map_or("", |it| it.message.as_str());
            Unjudgeable(format!(
                "{why}; package: {} {}",
                defect.path(),
                defect.message()
            ))
        })?;
        let lawpacks = match &self.closure {
            Some(closure) => closure.lawpacks.iter().map(Lawpack::report_row).collect(),
            None => stated_lawpacks(self.package.as_ref().ok()),
        };
        let subject = Subject {
            statement,
            package: self.digests.package,
            source: self.digests.source,
            core: self.digests.core,
            target_ir: self.digests.target_ir,
            projection: self.digests.projection,
            target_profile: package::target_profile(),
            lawpacks,
        };
        Ok(report::write(subject, self.passed, rejection))
    }
}

fn compare(expected: &Value, actual: &Value, kind: Kind) -> Result<(), Rejection> {
    match difference(expected, actual) {
        Some(defect) => Err(Rejection::new(kind, &defect)),
        None => Ok(()),
    }
}

/// Closure and Core against the witnesses: the one that stands alone is the wrong one.
fn bind(
    closure: &Closure,
    core: &Core,
    target_ir: Option<&Value>,
    package: Option<&Value>,
) -> Result<(), Rejection> {
    let manifests: Vec<Value> = closure
        .lawpacks
        .iter()
        .map(|lawpack| lawpack.manifest_digest().to_value())
        .collect();
    let agrees = |rows: Option<&Value>| {
        rows.and_then(Value::as_array).is_some_and(|rows| {
            rows.len() == manifests.len()
                && rows
                    .iter()
                    .zip(&manifests)
                    .all(|(row, manifest)| row.get("manifest") == Some(manifest))
        })
    };
    let by_ir = agrees(member(target_ir, &["semanticClosure", "lawpacks"]));
    let by_package = agrees(member(package, &["lawpacks"]));
    if !by_ir && !by_package {
        let message = "not the lawpacks that Target IR and package name";
        let defect = Defect::new(message).under("lawpacks");
        return Err(Rejection::new(Kind::ClosureMismatch, &defect));
    }
    match closure.bind(core) {
        Ok(()) => Ok(()),
        Err(_) if by_ir && by_package => {
            let message = "not the lawpacks of the closure";
            let defect = Defect::new(message).under("imports");
            Err(Rejection::new(Kind::CoreMismatch, &defect))
        }
        Err(defect) => Err(Rejection::new(Kind::ClosureMismatch, &defect)),
    }
}

fn with_source(expected: &Value, source: &Value) -> Value {
    let entries = expected.as_map().unwrap_or_default().iter();
    Value::Map(
        entries
            .map(|(key, value)| match key.as_text() {
                Some("source") => (key.clone(), source.clone()),
                _ => (key.clone(), value.clone()),
            })
            .collect(),
    )
}

/// Operation, budget and bound as a package states them.
fn statement(package: &Value) -> Result<[Value; 3], Defect> {
    let found = |key: &str| match package.get(key) {
        Some(value) => Ok(value.clone()),
        None => Err(Defect::new("missing key").under(key)),
    };
    let (operation, budget, bound) = (found("operation")?, found("budget")?, found("staticBound")?);
    if operation.as_text().is_none() {
        return Err(Defect::new("expected a text").under("operation"));
    }
    Budget::read(&budget).under("budget")?;
    let keys = ["steps", "allocatedBytes", "outputBytes"];
    let fields = Fields::new(&bound, &keys, &[]).under("staticBound")?;
    for key in keys {
        fields.get(key, unsigned).under("staticBound")?;
    }
    Ok([operation, budget, bound])
}

/// The closure as a package states it, for a report about files that make no closure.
fn stated_lawpacks(package: Option<&Value>) -> Vec<Value> {
    let rows = member(package, &["lawpacks"]).and_then(Value::as_array);
    rows.unwrap_or_default()
        .iter()
        .filter_map(|row| {
            let coordinate = row.get("coordinate")?;
            let manifest = row.get("manifest")?;
            let exports = member(Some(row), &["exports", "digest"])?;
            coordinate.as_text()?;
            TypedDigest::from_value(manifest)?;
            TypedDigest::from_value(exports)?;
            Some(Value::text_map([
                ("coordinate", coordinate.clone()),
                ("manifest", manifest.clone()),
                ("exports", exports.clone()),
            ]))
        })
        .collect()
}
