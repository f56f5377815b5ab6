// SPDX-License-Identifier: Apache-2.0
//! Embedded artifacts, the closure of Target IR, and the report about them.

use super::{copy, place, refused};
use edict_codec::digest::frame_typed;
use serde_json::json;

#[test]
fn h19_embedded_artifacts_are_what_their_digests_say() {
    let good = copy().build();
    for key in ["core", "targetIr", "projection"] {
        let mut build = good.clone();
        build.package[key]["bytes"] = json!({"$bytes": "a0"});
        assert_eq!(
            refused(build),
            place("artifact-digest-mismatch", &format!(".{key}.digest"))
        );
        let mut build = good.clone();
        build.package[key]["digest"][0] = json!("edict.other/v1");
        assert_eq!(
            refused(build),
            place("package-malformed", &format!(".{key}.digest"))
        );
    }
    let noncanonical = frame_typed("edict.core.module/v1", &[0x18, 1]);
    let mut build = good.clone();
    build.package["core"] = json!({
        "bytes": {"$bytes": "1801"},
        "digest": ["edict.core.module/v1", "sha256", {"$bytes": noncanonical.hex()}],
    });
    assert_eq!(
        refused(build),
        place("artifact-noncanonical", ".core.bytes")
    );
    let mut build = good;
    build.package["lawpacks"][0]["exports"]["bytes"] = json!({"$bytes": "a0"});
    assert_eq!(
        refused(build),
        place("artifact-digest-mismatch", ".lawpacks[0].exports.digest")
    );
}

#[test]
fn a7_target_ir_names_this_core_and_these_manifests() {
    let digest = |domain: &str| json!([domain, "sha256", {"$bytes": "33".repeat(32)}]);
    let manifest = json!(["edict.lawpack/v1", "sha256", {"$bytes": "11".repeat(32)}]);
    let mut program = copy();
    program.target_ir["semanticClosure"] =
        json!({"sourceCore": digest("edict.core.module/v1"), "lawpacks": []});
    let root = ".targetIr.bytes.semanticClosure";
    assert_eq!(
        refused(program.build()),
        place("artifact-digest-mismatch", &format!("{root}.sourceCore"))
    );
    let core = copy().build().package["core"]["digest"].clone();
    for (lawpacks, path) in [
        (json!([]), ".lawpacks"),
        (
            json!([{"coordinate": "k@1", "manifest": digest("edict.lawpack/v1")}]),
            ".lawpacks[0].manifest",
        ),
        (
            json!([{"coordinate": "k@2", "manifest": manifest}]),
            ".lawpacks[0].coordinate",
        ),
    ] {
        program.target_ir["semanticClosure"] = json!({"sourceCore": core, "lawpacks": lawpacks});
        assert_eq!(
            refused(program.build()),
            place("artifact-digest-mismatch", &format!("{root}{path}"))
        );
    }
}

#[test]
fn h18_the_report_must_be_an_acceptance_of_exactly_this_package() {
    let good = copy().build();
    let mut build = good.clone();
    build.report["outcome"] = json!("rejected");
    build.report["diagnostics"] = json!([{"code": "c", "message": "m", "path": ".core"}]);
    assert_eq!(refused(build), place("report-rejected", ".outcome"));
    let mut build = good.clone();
    build.report["package"] =
        json!(["echo.program-package/v1", "sha256", {"$bytes": "44".repeat(32)}]);
    assert_eq!(refused(build), place("report-package-mismatch", ".package"));
    for key in ["core", "targetIr", "projection", "source", "targetProfile"] {
        let mut build = good.clone();
        build.report[key][2] = json!({"$bytes": "44".repeat(32)});
        assert_eq!(
            refused(build),
            place("report-artifact-mismatch", &format!(".{key}"))
        );
    }
    for (key, value) in [("manifest", "44"), ("exports", "55")] {
        let mut build = good.clone();
        build.report["lawpacks"][0][key][2] = json!({"$bytes": value.repeat(32)});
        assert_eq!(
            refused(build),
            place("report-artifact-mismatch", &format!(".lawpacks[0].{key}"))
        );
    }
    for (key, member) in [("budget", "maxSteps"), ("staticBound", "steps")] {
        let mut build = good.clone();
        build.report[key][member] = json!(9);
        assert_eq!(
            refused(build),
            place("report-artifact-mismatch", &format!(".{key}"))
        );
    }
}
