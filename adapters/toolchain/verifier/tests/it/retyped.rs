// SPDX-License-Identifier: Apache-2.0
//! Core that is no longer well-typed, with every digest repaired, is refused by typing alone.

use crate::mutations::{Step, built, part, with_core};
use crate::support::Workshop;
use edict_codec::cbor::{Value, decode, encode};
use edict_verifier::report::Kind;
use edict_verifier::verify::{Inputs, verify};

#[test]
fn a_core_that_is_not_well_typed_is_refused_past_every_digest() {
    let mut workshop = Workshop::new();
    let inputs = built(&mut workshop, "arith-sub-require");
    let item = decode(&inputs.core).unwrap();
    let name = item.get("intents").unwrap().as_map().unwrap()[0].0.clone();
    let name = name.as_text().unwrap();
    let edits: [(&[&str], Value); 8] = [
        (&["apiVersion"], Value::text("edict.core/v2")),
        (
            &["requiredCoreCapabilities"],
            Value::Array(vec![Value::text("x")]),
        ),
        (&["types"], Value::text_map(Vec::<(String, Value)>::new())),
        (&["intents", name, "result"], Value::text("U64")),
        (
            &["intents", name, "coreProfile"],
            Value::text("continuum.profile.read-write/v1"),
        ),
        (
            &["intents", name, "operationProfile"],
            Value::text("case.kit@1.none"),
        ),
        (&["intents", name, "budget", "maxSteps"], Value::unsigned(1)),
        (&["intents", name, "parameter", "type"], Value::text("U64")),
    ];
    for (keys, value) in edits {
        let path: Vec<Step> = keys
            .iter()
            .map(|key| Step::Key((*key).to_owned()))
            .collect();
        let mut mutated = item.clone();
        *part(&mut mutated, &path) = value;
        let report = verify(&with_core(inputs.clone(), encode(&mutated))).unwrap();
        let rejection = report.rejection.unwrap();
        assert_eq!(
            rejection.kind,
            Kind::CoreMismatch,
            "{keys:?}: {rejection:?}"
        );
    }
}

type Edit<'a> = &'a dyn Fn(&mut Vec<(Value, Value)>);

/// Applies `edit` to every map of an item.
fn everywhere(item: &mut Value, edit: Edit<'_>) {
    match item {
        Value::Map(entries) => {
            edit(entries);
            for (_, value) in entries {
                everywhere(value, edit);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| everywhere(item, edit)),
        _ => {}
    }
}

fn refusal(inputs: &Inputs, edit: Edit<'_>) -> (Kind, String) {
    let mut core = decode(&inputs.core).unwrap();
    everywhere(&mut core, edit);
    let mutated = encode(&core);
    assert_ne!(mutated, inputs.core);
    let report = verify(&with_core(inputs.clone(), mutated)).unwrap();
    let rejection = report.rejection.unwrap();
    (rejection.kind, rejection.message)
}

#[test]
fn a_condition_that_no_longer_proves_anything_is_missed() {
    let mut workshop = Workshop::new();
    for id in [
        "arith-sub-where",
        "arith-sub-require",
        "arith-sub-branch",
        "arith-transitive",
        "arith-literal-guard",
        "arith-div-proven",
        "bytes-slice-where",
        "bool-or-refine",
        "opt-unwrap-if",
    ] {
        let inputs = built(&mut workshop, id);
        let weakened = refusal(&inputs, &|entries| {
            for (key, value) in entries {
                if key.as_text() == Some("op") {
                    *value = Value::text(if value.as_text() == Some("!=") {
                        "=="
                    } else {
                        "!="
                    });
                }
            }
        });
        assert_eq!(weakened.0, Kind::CoreMismatch, "{id}");
        assert!(
            weakened.1.starts_with("cannot show"),
            "{id}: {}",
            weakened.1
        );
    }
}

#[test]
fn binders_numbered_in_another_order_are_refused() {
    let mut workshop = Workshop::new();
    for id in ["fold-sum", "eff-in-branch", "eff-replace"] {
        let inputs = built(&mut workshop, id);
        let (kind, message) = refusal(&inputs, &|entries| {
            for (_, value) in entries {
                let swapped = match value.as_text() {
                    Some("local.0") => "local.1",
                    Some("local.1") => "local.0",
                    Some("$local0") => "$local1",
                    Some("$local1") => "$local0",
                    _ => continue,
                };
                *value = Value::text(swapped);
            }
        });
        assert_eq!(kind, Kind::CoreMismatch, "{id}: {message}");
        assert!(message.contains("is due"), "{id}: {message}");
    }
}

#[test]
fn operands_of_another_type_are_refused() {
    let mut workshop = Workshop::new();
    for (id, from, to) in [
        (
            "arith-checkedAdd-some",
            "core.integer.checkedAdd",
            "core.bytes.concat",
        ),
        ("bytes-concat-ok", "core.bytes.concat", "core.string.concat"),
        ("fold-sum", "U32", "U64"),
        ("str-concat", "core.string.concat", "core.string.join"),
        ("opt-match", "Some", "Same"),
        ("nominal-wrap-raw", "core.nominal.raw", "core.nominal.wrap"),
        (
            "eff-replace",
            "case.kit@1.replaceNote",
            "case.kit@1.createNote",
        ),
        (
            "arith-sub-require",
            "case.kit@1.Rejected",
            "case.kit@1.Accepted",
        ),
    ] {
        let inputs = built(&mut workshop, id);
        let (kind, message) = refusal(&inputs, &|entries| {
            for (_, value) in entries {
                if value.as_text() == Some(from) {
                    *value = Value::text(to);
                }
            }
        });
        assert_eq!(kind, Kind::CoreMismatch, "{id}: {message}");
    }
}
