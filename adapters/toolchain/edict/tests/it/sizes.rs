// SPDX-License-Identifier: Apache-2.0
//! Artifacts that are too large for every verifier are not written.

use crate::support::TestSpace;
use serde_json::json;

#[test]
fn a_package_that_no_verifier_reads_is_refused_at_its_intent() {
    let space = TestSpace::new();
    space.vendor(None);
    let (field, zeros) = ("f".repeat(100_000), "0".repeat(64));
    let program = |copies: usize| {
        let uses = (0..copies)
            .map(|it| format!("let x{it} = some(r);\n"))
            .collect::<Vec<String>>()
            .concat();
        format!(
            "package case.x@1;\n\
             use lawpack case.kit@1 digest \"sha256:{zeros}\" as kit;\n\
             type In = {{ a: U64 }}; type Out = {{ r: U64 }};\n\
             intent edit(input: In) returns Out profile kit.pure basis none budget <= kit.roomy {{\n\
             let r = {{ {field}: 1u64 }};\n{uses}return {{ r: 1 }};\n}}\n"
        )
    };
    // Core and Target IR of some twelve megabytes each, together in one package.
    space.application(&program(40));
    let run = space.build();
    assert_eq!((run.exit_code, run.stdout.as_str()), (2, ""));
    assert!(!space.path().join("out").exists(), "nothing is written");
    let record = &run.records()[0];
    assert_eq!(
        (
            &record["stage"],
            &record["kind"],
            &record["line"],
            &record["column"]
        ),
        (
            &json!("targetLowering"),
            &json!("LimitExceeded"),
            &json!(4),
            &json!(8)
        )
    );
    assert!(
        record["help"].as_str().unwrap().starts_with("split"),
        "{record}"
    );
    space.application(&program(20));
    assert_eq!(space.build().exit_code, 0);
}
