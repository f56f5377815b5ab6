// SPDX-License-Identifier: Apache-2.0
//! Every single-field mutation of a real build is refused with the kind that owns it.

use crate::support::{Workshop, table};
use edict_codec::cbor::{Integer, Value, decode, encode};
use edict_codec::digest::frame_typed;
use edict_verifier::report::Kind;
use edict_verifier::verify::{Inputs, verify};
use serde_json::{Value as Json, json};

const PROGRAMS: [&str; 10] = [
    "budget-exact",
    "arith-sub-where",
    "bool-short-circuit",
    "utf8-boundary-table",
    "variant-construct",
    "opt-match",
    "fold-sum",
    "test-both",
    "eff-replace",
    "eff-in-branch",
];
/// Mutations taken from each artifact of each program.
const PER_ARTIFACT: usize = 15;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// Paths of everything that has no parts.
fn leaves(item: &Value) -> Vec<Vec<Step>> {
    let mut found = Vec::new();
    let mut pending = vec![(item, Vec::new())];
    while let Some((item, path)) = pending.pop() {
        let longer = |step| {
            let mut path: Vec<Step> = path.clone();
            path.push(step);
            path
        };
        match item {
            Value::Map(entries) if !entries.is_empty() => {
                for (key, value) in entries.iter().rev() {
                    let step = Step::Key(key.as_text().unwrap().to_owned());
                    pending.push((value, longer(step)));
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, value) in items.iter().enumerate().rev() {
                    pending.push((value, longer(Step::Index(index))));
                }
            }
            _ => found.push(path),
        }
    }
    found
}

pub(crate) fn part<'a>(item: &'a mut Value, path: &[Step]) -> &'a mut Value {
    path.iter().fold(item, |item, step| match (item, step) {
        (Value::Map(entries), Step::Key(key)) => {
            let entry = entries
                .iter_mut()
                .find(|(name, _)| name.as_text() == Some(key));
            &mut entry.unwrap().1
        }
        (Value::Array(items), Step::Index(index)) => items.get_mut(*index).unwrap(),
        _ => unreachable!("a path of this item"),
    })
}

fn changed(leaf: &Value) -> Value {
    match leaf {
        Value::Integer(integer) => Value::Integer(Integer::new(integer.get() ^ 1).unwrap()),
        Value::Bytes(bytes) => {
            let mut bytes = bytes.clone();
            match bytes.first_mut() {
                Some(first) => *first ^= 1,
                None => bytes.push(0),
            }
            Value::Bytes(bytes)
        }
        Value::Text(text) => Value::Text(format!("{text}x")),
        Value::Bool(truth) => Value::Bool(!truth),
        Value::Null | Value::Array(_) | Value::Map(_) => Value::unsigned(1),
    }
}

/// The package with what it embeds of an artifact replaced.
fn embed(package: &[u8], key: &str, domain: &str, bytes: &[u8]) -> Vec<u8> {
    let mut package = decode(package).unwrap();
    let embedded = Value::text_map([
        ("digest", frame_typed(domain, bytes).to_value()),
        ("bytes", Value::bytes(bytes)),
    ]);
    *part(&mut package, &[Step::Key(key.to_owned())]) = embedded;
    encode(&package)
}

pub(crate) fn with_core(mut inputs: Inputs, core: Vec<u8>) -> Inputs {
    let mut target_ir = decode(&inputs.target_ir).unwrap();
    let path = ["semanticClosure", "sourceCore"].map(|key| Step::Key(key.to_owned()));
    *part(&mut target_ir, &path) = frame_typed("edict.core.module/v1", &core).to_value();
    inputs.package = embed(&inputs.package, "core", "edict.core.module/v1", &core);
    inputs.core = core;
    with_target_ir(inputs, encode(&target_ir))
}

fn with_target_ir(mut inputs: Inputs, target_ir: Vec<u8>) -> Inputs {
    let domain = "edict.target-ir.artifact/v1";
    inputs.package = embed(&inputs.package, "targetIr", domain, &target_ir);
    inputs.target_ir = target_ir;
    inputs
}

fn with_projection(mut inputs: Inputs, projection: Vec<u8>) -> Inputs {
    let domain = "edict.result-projection.artifact/v1";
    inputs.package = embed(&inputs.package, "projection", domain, &projection);
    inputs.projection = projection;
    inputs
}

fn with_package(mut inputs: Inputs, package: Vec<u8>) -> Inputs {
    inputs.package = package;
    inputs
}

fn core_alone(mut inputs: Inputs, core: Vec<u8>) -> Inputs {
    inputs.core = core;
    inputs
}

type Replace = fn(Inputs, Vec<u8>) -> Inputs;

/// Mutates leaves spread over an artifact; returns how many were refused as `owner` says.
fn mutate(
    inputs: &Inputs,
    artifact: &[u8],
    replace: Replace,
    owner: &dyn Fn(&[Step]) -> Vec<Kind>,
) -> usize {
    let item = decode(artifact).unwrap();
    let paths = leaves(&item);
    let stride = paths.len().div_ceil(PER_ARTIFACT).max(1);
    let mut mutants = vec![(Vec::new(), with_another_key(&item))];
    for path in paths.iter().step_by(stride) {
        let mut mutated = item.clone();
        let leaf = part(&mut mutated, path);
        *leaf = changed(leaf);
        mutants.push((path.clone(), mutated));
    }
    for (path, mutated) in &mutants {
        let report = verify(&replace(inputs.clone(), encode(mutated)));
        // A package that no longer says what it is about is no subject of a report.
        let kind = report.map(|report| report.rejection.map(|it| it.kind));
        let kinds = owner(path);
        assert!(
            kinds.iter().any(|expected| kind == Ok(Some(*expected))),
            "{path:?}: {kind:?}, not {kinds:?}"
        );
    }
    mutants.len()
}

fn with_another_key(item: &Value) -> Value {
    let mut entries = item.as_map().unwrap().to_vec();
    entries.push((Value::text("another"), Value::Null));
    Value::map(entries)
}

fn starts(path: &[Step], keys: &[&str]) -> bool {
    matches!(path.first(), Some(Step::Key(key)) if keys.contains(&key.as_str()))
}

fn package_owner(path: &[Step]) -> Vec<Kind> {
    if starts(path, &["targetProfile", "interpreter", "costLaw", "codec"]) {
        return vec![Kind::ProfileMismatch];
    }
    if starts(path, &["source"]) {
        // A member that makes it no digest at all is a malformed package.
        return match path.get(1) {
            Some(Step::Index(1)) => vec![Kind::PackageMismatch],
            _ => vec![Kind::ClosureMismatch],
        };
    }
    vec![Kind::PackageMismatch]
}

fn target_ir_owner(path: &[Step]) -> Vec<Kind> {
    if starts(path, &["targetProfile"]) {
        return vec![Kind::ProfileMismatch];
    }
    vec![Kind::TargetIrMismatch]
}

/// A repaired Core that is still well-typed is another program, which the rest is not made from.
fn repaired_core_owner(_: &[Step]) -> Vec<Kind> {
    vec![
        Kind::CoreMismatch,
        Kind::TargetIrMismatch,
        Kind::ProjectionMismatch,
        Kind::PackageMismatch,
    ]
}

fn case(id: &str) -> Json {
    let table = table();
    let cases = table["cases"].as_array().unwrap();
    let found = cases.iter().find(|case| case["id"] == id);
    found.unwrap_or_else(|| panic!("no case `{id}`")).clone()
}

pub(crate) fn built(workshop: &mut Workshop, id: &str) -> Inputs {
    let case = case(id);
    let source = case["source"].as_str().unwrap();
    workshop.build(source, &case["budget"]).unwrap().inputs()
}

#[test]
fn single_field_mutations_are_refused_with_the_owning_kind() {
    let mut workshop = Workshop::new();
    let mut refused = 0;
    for id in PROGRAMS {
        let inputs = built(&mut workshop, id);
        assert_eq!(verify(&inputs).unwrap().rejection, None, "{id}");
        let core = |_: &[Step]| vec![Kind::CoreMismatch];
        refused += mutate(&inputs, &inputs.core, core_alone, &core);
        refused += mutate(&inputs, &inputs.core, with_core, &repaired_core_owner);
        refused += mutate(&inputs, &inputs.target_ir, with_target_ir, &target_ir_owner);
        let projection = |_: &[Step]| vec![Kind::ProjectionMismatch];
        refused += mutate(&inputs, &inputs.projection, with_projection, &projection);
        refused += mutate(&inputs, &inputs.package, with_package, &package_owner);
        let closure = |_: &[Step]| vec![Kind::ClosureMismatch];
        let first = inputs.lawpacks.first().unwrap();
        let manifest: Replace = |mut inputs, bytes| {
            inputs.lawpacks.first_mut().unwrap().manifest = bytes;
            inputs
        };
        refused += mutate(&inputs, &first.manifest, manifest, &closure);
        let exports: Replace = |mut inputs, bytes| {
            inputs.lawpacks.first_mut().unwrap().exports = bytes;
            inputs
        };
        refused += mutate(&inputs, &first.exports, exports, &closure);
        let adapter: Replace = |mut inputs, bytes| {
            inputs.lawpacks.first_mut().unwrap().adapter = Some(bytes);
            inputs
        };
        refused += mutate(&inputs, first.adapter.as_ref().unwrap(), adapter, &closure);
        let configuration: Replace = |mut inputs, bytes| {
            inputs.lawpacks.first_mut().unwrap().configuration = Some(bytes);
            inputs
        };
        let bytes = first.configuration.as_ref().unwrap();
        refused += mutate(&inputs, bytes, configuration, &closure);
    }
    assert!(refused >= 200, "only {refused} mutations");
}

#[test]
fn each_substituted_artifact_is_refused_with_its_own_kind() {
    let mut workshop = Workshop::new();
    let ours = built(&mut workshop, "fn-call");
    let other = built(&mut workshop, "budget-exact");
    let kind = |inputs: Inputs| verify(&inputs).unwrap().rejection.map(|it| it.kind);
    let core = Inputs {
        core: other.core.clone(),
        ..ours.clone()
    };
    assert_eq!(kind(core), Some(Kind::CoreMismatch));
    let target_ir = Inputs {
        target_ir: other.target_ir.clone(),
        ..ours.clone()
    };
    assert_eq!(kind(target_ir), Some(Kind::TargetIrMismatch));
    let projection = Inputs {
        projection: other.projection.clone(),
        ..ours.clone()
    };
    assert_eq!(kind(projection), Some(Kind::ProjectionMismatch));
    let package = Inputs {
        package: other.package.clone(),
        ..ours.clone()
    };
    assert_eq!(kind(package), Some(Kind::PackageMismatch));
    let source = Inputs {
        source: other.source.clone(),
        ..ours.clone()
    };
    assert_eq!(kind(source), Some(Kind::ClosureMismatch));
    let lawpacks = Inputs {
        lawpacks: Vec::new(),
        ..ours.clone()
    };
    assert_eq!(kind(lawpacks), Some(Kind::ClosureMismatch));
    let case = case("fn-call");
    let budget = json!({"maxSteps": 9, "maxAllocatedBytes": 9, "maxOutputBytes": 9});
    let rebuilt = workshop.build(case["source"].as_str().unwrap(), &budget);
    let lawpacks = Inputs {
        lawpacks: rebuilt.unwrap().inputs().lawpacks,
        ..ours.clone()
    };
    assert_ne!(lawpacks.lawpacks[0].manifest, ours.lawpacks[0].manifest);
    assert_eq!(kind(lawpacks), Some(Kind::ClosureMismatch));
    assert_eq!(kind(ours), None);
}

#[test]
fn an_artifact_that_is_no_canonical_item_is_refused_as_that_artifact() {
    let mut workshop = Workshop::new();
    let ours = built(&mut workshop, "fn-call");
    let kind = |inputs: Inputs| verify(&inputs).unwrap().rejection.map(|it| it.kind);
    let broken = vec![0x1f];
    let core = Inputs {
        core: broken.clone(),
        ..ours.clone()
    };
    assert_eq!(kind(core), Some(Kind::CoreMismatch));
    let target_ir = Inputs {
        target_ir: broken.clone(),
        ..ours.clone()
    };
    assert_eq!(kind(target_ir), Some(Kind::TargetIrMismatch));
    let projection = Inputs {
        projection: broken.clone(),
        ..ours.clone()
    };
    assert_eq!(kind(projection), Some(Kind::ProjectionMismatch));
    let package = Inputs {
        package: broken.clone(),
        ..ours.clone()
    };
    assert_eq!(kind(package), Some(Kind::PackageMismatch));
    let neither = Inputs {
        core: broken.clone(),
        package: broken,
        ..ours
    };
    assert!(verify(&neither).is_err());
}

#[test]
fn a_flipped_byte_is_never_accepted() {
    let mut workshop = Workshop::new();
    let ours = built(&mut workshop, "test-both");
    let files: [fn(&mut Inputs) -> &mut Vec<u8>; 9] = [
        |inputs| &mut inputs.source,
        |inputs| &mut inputs.core,
        |inputs| &mut inputs.target_ir,
        |inputs| &mut inputs.projection,
        |inputs| &mut inputs.package,
        |inputs| &mut inputs.lawpacks[0].manifest,
        |inputs| &mut inputs.lawpacks[0].exports,
        |inputs| inputs.lawpacks[0].adapter.as_mut().unwrap(),
        |inputs| &mut inputs.lawpacks[1].exports,
    ];
    for (number, file) in files.iter().enumerate() {
        let length = file(&mut ours.clone()).len();
        for at in (0..length).step_by(length.div_ceil(60)) {
            for bit in [0x01, 0x20, 0x80] {
                let mut inputs = ours.clone();
                file(&mut inputs)[at] ^= bit;
                let report = verify(&inputs).unwrap();
                assert!(
                    report.rejection.is_some(),
                    "file {number}, byte {at}, bit {bit}"
                );
            }
        }
    }
}
