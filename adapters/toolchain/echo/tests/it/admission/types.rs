// SPDX-License-Identifier: Apache-2.0
//! Types of packages: bounded, closed, acyclic, of limited depth.

use super::{bound, copy, kind_of};
use serde_json::{Value as Json, json};

#[test]
fn h22_types_are_bounded_closed_and_acyclic() {
    let typed = |types: Json, input: &str| {
        let mut program = copy();
        program.types = types;
        program.intent()["parameter"]["type"] = json!(input);
        program.input = input.to_owned();
        program
    };
    let record_of = |ty: &str| json!({"kind": "Record", "fields": {"a": ty}});
    typed(json!({"m@1.T": record_of("U64")}), "m@1.T")
        .admit()
        .unwrap();
    for (types, input) in [
        (json!({}), "String"),
        (json!({}), "Bytes"),
        (json!({}), "Bytes<min=3,max=2>"),
        (json!({}), "List<U64>"),
        (json!({}), "F64"),
        (json!({}), "Option<Option<U64>>"),
        (json!({}), "Record<b:U64,a:U64>"),
        (json!({}), "Record<a:U64,a:U64>"),
        (json!({}), "U64 "),
        (json!({}), "m@1.Absent"),
        (json!({"m@1.T": record_of("m@1.Absent")}), "m@1.T"),
        (json!({"m@1.T": record_of("m@1.T")}), "m@1.T"),
        (
            json!({"m@1.T": record_of("List<m@1.S,max=1>"), "m@1.S": record_of("m@1.T")}),
            "U64",
        ),
        (
            json!({"m@1.T": {"kind": "Nominal", "representation": "m@1.T"}}),
            "U64",
        ),
        (json!({"m@1.T": {"kind": "F64"}}), "U64"),
        (
            json!({"m@1.T": {"kind": "String", "canonical": "raw-utf8"}}),
            "U64",
        ),
        (
            json!({"m@1.T": {"kind": "String", "max": 3, "canonical": "nfc"}}),
            "U64",
        ),
        (
            json!({"m@1.T": {"kind": "Bytes", "min": 4, "max": 3}}),
            "U64",
        ),
        (json!({"m@1.T": {"kind": "Variant", "cases": []}}), "U64"),
        (json!({"m@1.T": {"kind": "Bool", "max": 1}}), "U64"),
    ] {
        assert_eq!(
            kind_of(&typed(types.clone(), input)),
            "type-malformed",
            "{types} {input}"
        );
    }
    // In the program too, before anything else of it is judged.
    let mut program = bound("U64", &json!({"kind": "unheard"}));
    program.intent()["pureBindings"][0]["binding"]["type"] = json!("String");
    assert_eq!(kind_of(&program), "type-malformed");
}

#[test]
fn type_nesting_is_accepted_at_the_limit_and_refused_one_deeper() {
    let nested = |levels: usize| {
        let mut ty = "U64".to_owned();
        for _ in 0..levels {
            ty = format!("List<{ty},max=1>");
        }
        let mut program = copy();
        program.types = json!({"m@1.T": {"kind": "Nominal", "representation": ty}});
        program
    };
    // The nominal type is a level of its own.
    nested(127).admit().unwrap();
    assert_eq!(kind_of(&nested(128)), "type-malformed");
    assert_eq!(kind_of(&nested(100_000)), "type-malformed");
}
