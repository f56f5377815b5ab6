// SPDX-License-Identifier: Apache-2.0
//! Keys, types, orders and profiles of package and report.

use super::{copy, place, refused};
use crate::support::program::budget;
use serde_json::json;

#[test]
fn a5_every_key_of_package_and_report_is_required_and_no_other() {
    let good = copy().build();
    for (document, kind) in [
        ("package", "package-malformed"),
        ("report", "report-malformed"),
    ] {
        let map = if document == "package" {
            &good.package
        } else {
            &good.report
        };
        for key in map.as_object().unwrap().keys() {
            let mut build = good.clone();
            let changed = if document == "package" {
                &mut build.package
            } else {
                &mut build.report
            };
            changed.as_object_mut().unwrap().remove(key);
            if key == "package" {
                continue;
            }
            assert_eq!(refused(build), place(kind, &format!(".{key}")));
        }
        let mut build = good.clone();
        let changed = if document == "package" {
            &mut build.package
        } else {
            &mut build.report
        };
        changed["more"] = json!(1);
        assert_eq!(refused(build), place(kind, ".more"));
    }
}

#[test]
fn a5_types_and_orders_are_judged() {
    let digest =
        |domain: &str, algorithm: &str| json!([domain, algorithm, {"$bytes": "11".repeat(32)}]);
    let effect = |name: &str| {
        json!({
            "effect": name, "intrinsic": "echo.dpo@1.atom.read", "space": "s", "keyType": "U64",
            "valueType": null, "failures": {},
        })
    };
    let obstruction =
        |name: &str, ty: &str| json!({"coordinate": name, "payloadType": ty, "class": "c"});
    let pair = |space: &str| json!({"space": space, "intrinsic": "i", "maxCalls": 1});
    let long = "s".repeat(257);
    let mut unnamed = effect("a");
    unnamed["failures"]["gone"] = json!(1);
    for (key, value, path) in [
        ("operation", json!(""), ".operation"),
        ("operation", json!("x".repeat(1025)), ".operation"),
        (
            "source",
            digest("edict.core.module/v1", "sha256"),
            ".source",
        ),
        ("source", digest("edict.source/v1", "blake3"), ".source"),
        ("budget", budget([0, 1, 1]), ".budget.maxSteps"),
        (
            "staticBound",
            json!({"steps": 1}),
            ".staticBound.allocatedBytes",
        ),
        ("constraints", json!(["where.1"]), ".constraints[0]"),
        ("effects", json!([effect("b"), effect("a")]), ".effects[1]"),
        ("effects", json!([effect("a"), effect("a")]), ".effects[1]"),
        (
            "obstructions",
            json!([obstruction("a", "U64"), obstruction("a", "U32")]),
            ".obstructions[1]",
        ),
        ("footprint", json!([pair("b"), pair("a")]), ".footprint[1]"),
        ("footprint", json!([pair(&long)]), ".footprint[0].space"),
        ("types", json!([]), ".types"),
        ("types", json!({"": "U64"}), ".types."),
        ("effects", json!([unnamed]), ".effects[0].failures.gone"),
        ("core", json!({"bytes": {"$bytes": ""}}), ".core.digest"),
    ] {
        let mut build = copy().build();
        build.package[key] = value;
        assert_eq!(refused(build), place("package-malformed", path), "{key}");
    }
    for (key, value, path) in [
        ("outcome", json!("unsure"), ".outcome"),
        (
            "apiVersion",
            json!("edict.verification-report/v2"),
            ".apiVersion",
        ),
        ("notChecked", json!([]), ".notChecked"),
        ("checked", json!(["b", "a"]), ".checked[1]"),
        (
            "diagnostics",
            json!([{"code": "c", "message": "m", "path": null}]),
            ".diagnostics",
        ),
        ("verifier", json!({"name": "n"}), ".verifier.version"),
    ] {
        let mut build = copy().build();
        build.report[key] = value;
        assert_eq!(refused(build), place("report-malformed", path), "{key}");
    }
}

#[test]
fn a6_only_the_profiles_of_this_host_are_supported() {
    for key in ["interpreter", "costLaw", "codec"] {
        let mut build = copy().build();
        build.package[key] = json!("other/v1");
        assert_eq!(
            refused(build),
            place("profile-unsupported", &format!(".{key}"))
        );
    }
    let mut build = copy().build();
    build.package["targetProfile"][2] = json!({"$bytes": "00".repeat(32)});
    assert_eq!(
        refused(build),
        place("profile-unsupported", ".targetProfile")
    );
}
