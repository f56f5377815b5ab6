// SPDX-License-Identifier: Apache-2.0
//! What is judged before anything is decoded, and what an installation is.

use super::{copy, place, refusal, refused};
use crate::support::program::{ROOMY, Sealed};
use echo_host::executable::{Executable as _, Kind};
use edict_codec::cbor::{Value, encode};
use edict_codec::digest::{derive_typed, frame_typed};
use serde_json::json;

#[test]
fn an_installation_says_what_it_is() {
    let sealed = copy().build().seal();
    let installation = sealed.admit().unwrap();
    let facts = installation.facts();
    assert_eq!(facts.operation, "m@1.run");
    assert_eq!(facts.kind, Kind::Pure);
    assert_eq!(facts.budget.max_steps, ROOMY[0]);
    assert_eq!(facts.static_bound.allocated_bytes, 2);
    assert_eq!(facts.input_type, "Record<a:U64>");
    assert_eq!(facts.output_type, "Record<r:U64>");
    assert_eq!(facts.footprint_bytes, vec![0x80]);
    let size = sealed.package.len() + sealed.report.len();
    assert_eq!(facts.size, u64::try_from(size).unwrap());
    let package = frame_typed("echo.program-package/v1", &sealed.package);
    let report = frame_typed("edict.verification-report/v1", &sealed.report);
    let content = Value::text_map([
        ("package", package.to_value()),
        ("report", report.to_value()),
        ("policy", sealed.policy.to_value()),
        ("interpreter", Value::text("echo.interpreter/v1")),
        ("costLaw", Value::text("echo.cost/v1")),
    ]);
    assert_eq!(
        facts.installation,
        derive_typed("echo/installation/v1", &encode(&content))
    );
    let mut other = sealed.clone();
    other.policy.max_budget.max_steps = ROOMY[0];
    assert_ne!(
        other.admit().unwrap().facts().installation,
        facts.installation
    );
}

#[test]
fn a1_sizes_come_first() {
    let mut sealed = copy().build().seal();
    sealed.package = vec![0; 4_194_305];
    sealed.report = vec![0; 262_145];
    assert_eq!(refusal(&sealed), at("package-too-large", ".package"));
    sealed.package.pop();
    assert_eq!(refusal(&sealed), at("report-too-large", ".report"));
    sealed.report.pop();
    assert_eq!(refusal(&sealed).0, "package-digest-mismatch");
}

#[test]
fn a2_pins_are_of_the_right_domain_and_algorithm() {
    for (domain, algorithm) in [
        ("echo.operation-package/v1", "sha256"),
        ("echo.program-package/v1", "blake3"),
    ] {
        let mut sealed = copy().build().seal();
        sealed.package_pin.domain = domain.to_owned();
        sealed.package_pin.algorithm = algorithm.to_owned();
        sealed.package[0] ^= 1;
        assert_eq!(
            refusal(&sealed),
            ("digest-domain", Some(".packageDigest".to_owned()))
        );
    }
    let mut sealed = copy().build().seal();
    sealed.report_pin.domain = "other".to_owned();
    assert_eq!(
        refusal(&sealed),
        ("digest-domain", Some(".reportDigest".to_owned()))
    );
}

#[test]
fn h17_identity_comes_before_decoding() {
    let good = copy().build().seal();
    for at in [0, good.package.len() / 2, good.package.len() - 1] {
        let mut sealed = good.clone();
        sealed.package[at] ^= 1;
        sealed.report[0] ^= 1;
        assert_eq!(refusal(&sealed).0, "package-digest-mismatch");
    }
    for at in [0, good.report.len() / 2, good.report.len() - 1] {
        let mut sealed = good.clone();
        sealed.report[at] ^= 1;
        assert_eq!(refusal(&sealed).0, "report-digest-mismatch");
    }
}

#[test]
fn a4_the_package_is_decoded_before_the_report() {
    let good = copy().build().seal();
    let long = |bytes: &[u8]| [bytes, &[0]].concat();
    let both = Sealed::of(long(&good.package), long(&good.report));
    assert_eq!(refusal(&both).0, "package-noncanonical");
    let report = Sealed::of(good.package, long(&good.report));
    assert_eq!(refusal(&report).0, "report-noncanonical");
}

#[test]
fn h27_another_schema_is_unsupported_whatever_else_is_wrong() {
    let mut build = copy().build();
    build.package = json!({"schema": "echo.operation-package/v1", "other": 1});
    build.report = json!({"package": 3});
    assert_eq!(refused(build), place("profile-unsupported", ".schema"));
    let mut build = copy().build();
    build.package["schema"] = json!(3);
    assert_eq!(refused(build), place("package-malformed", ".schema"));
    let mut build = copy().build();
    build.package["kind"] = json!("other");
    assert_eq!(refused(build), place("package-malformed", ".kind"));
}

fn at(kind: &'static str, path: &str) -> (&'static str, Option<String>) {
    (kind, Some(path.to_owned()))
}
