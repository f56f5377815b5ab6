// SPDX-License-Identifier: Apache-2.0
//! Real packages of the public compiler: admitted and executed for a client that asks for their
//! profile, refused for every other one. Their bytes are recorded, their execution is not.

use crate::support::{
    client::{Frame, Host},
    messages::{budget, hello, map, nothing, open_durable, recover, scan, text, with},
    world::{Lane, granting},
};
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::{frame_typed, sha256},
    hex,
};
use std::path::Path;

const PACKAGE: &str = "echo.operation-package/v1";
const REPORT: &str = "echo.operation-package-verifier-report/v1";

/// Package and report bytes of a recorded build.
fn recorded(name: &str) -> (Vec<u8>, Vec<u8>) {
    let out = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../testdata/upstream-applications")
        .join(name)
        .join("out");
    let read = |file: &str| std::fs::read(out.join(file)).unwrap();
    (
        read("executable-operation-package.cbor"),
        read("verification-report.cbor"),
    )
}

fn install(package: &[u8], report: &[u8]) -> Value {
    map([
        ("package", Value::bytes(package)),
        ("packageDigest", frame_typed(PACKAGE, package).to_value()),
        ("report", Value::bytes(report)),
        ("reportDigest", frame_typed(REPORT, report).to_value()),
        (
            "policy",
            map([
                ("operation", text("demo.app@1.put")),
                ("authority", text("atoms")),
                ("maxBudget", budget(9, 64, 128)),
            ]),
        ),
    ])
}

fn texts(names: &[&str]) -> Value {
    Value::Array(names.iter().map(|it| text(it)).collect())
}

/// A hello that asks for the profile.
fn asking() -> Value {
    let hello = with(
        &hello(),
        "profiles",
        texts(&["echo.anchored-operation/v1", "echo.program/v1"]),
    );
    let evidence = [
        "echo.anchored-execution/v1",
        "echo.effectful-execution/v1",
        "echo.pure-execution/v1",
        "echo.receipt/v1",
    ];
    with(&hello, "evidence", texts(&evidence))
}

/// A host that was asked for the profile.
fn serve(space: &Path) -> Host {
    let mut host = Host::start(&["serve", "--state-root", space.to_str().unwrap()]);
    let reply = host.ask(1, &asking());
    host.build = reply.ok(0x8001).get("build").unwrap().clone();
    host
}

fn input(key: &str, value: &[u8], tag: &str) -> Value {
    map([
        ("key", text(key)),
        ("tag", text(tag)),
        ("value", Value::bytes(value)),
    ])
}

fn installed(host: &mut Host, name: &str) -> Value {
    let (package, report) = recorded(name);
    let reply = host.ask(2, &install(&package, &report));
    reply.ok(0x8002).get("installation").unwrap().clone()
}

/// Package and report after a change of the package; the report follows.
fn changed(path: &[&str], new: Value) -> (Vec<u8>, Vec<u8>) {
    fn replace(value: &Value, path: &[&str], new: Value) -> Value {
        match path {
            [] => new,
            [key, rest @ ..] => with(value, key, replace(value.get(key).unwrap(), rest, new)),
        }
    }
    let (package, report) = recorded("kv-put");
    let package = encode(&replace(&decode(&package).unwrap(), path, new));
    let digest = Value::Array(vec![
        text("sha256"),
        Value::bytes(*frame_typed(PACKAGE, &package).bytes()),
    ]);
    let report = replace(&decode(&report).unwrap(), &["package", "digest"], digest);
    (package, encode(&report))
}

#[test]
fn the_profile_is_offered_to_those_only_who_ask() {
    let mut host = Host::start(&["serve"]);
    let alone = with(&hello(), "evidence", texts(&["echo.anchored-execution/v1"]));
    assert_eq!(host.ask(1, &alone).refused(), "evidence-unsupported");
    let reply = host.ask(1, &asking());
    let body = reply.ok(0x8001);
    assert_eq!(body.get("profiles"), asking().get("profiles"));
    assert_eq!(body.get("evidence"), asking().get("evidence"));
    let other = Host::serve(&[]);
    assert_ne!(body.get("build"), Some(&other.build));
}

#[test]
fn h27_without_the_profile_they_stay_unsupported() {
    let (package, report) = recorded("kv-put");
    let mut host = Host::serve(&[]);
    let refusal = |reply: Frame| reply.refused().to_owned();
    assert_eq!(
        refusal(host.ask(2, &install(&package, &report))),
        "digest-domain"
    );
    // Pinned as the host wants it, the schema decides, as it does for a client that asks.
    let pinned = with(
        &with(
            &install(&package, b"\xa0"),
            "packageDigest",
            frame_typed("echo.program-package/v1", &package).to_value(),
        ),
        "reportDigest",
        frame_typed("edict.verification-report/v1", b"\xa0").to_value(),
    );
    assert_eq!(refusal(host.ask(2, &pinned)), "profile-unsupported");
    let space = tempfile::tempdir().unwrap();
    assert_eq!(
        refusal(serve(space.path()).ask(2, &pinned)),
        "profile-unsupported"
    );
}

#[test]
fn real_packages_create_once_and_obstruct_afterwards() {
    for name in ["kv-put", "kv-two-effects"] {
        let space = tempfile::tempdir().unwrap();
        let mut host = serve(space.path());
        let put = installed(&mut host, name);
        let mut lane = Lane::open(&mut host, &granting(&open_durable(1, "a"), &[&put]));
        let first = lane.effect(&mut host, &put, 1, &input("left", b"\x01\x02", "t"));
        assert_eq!(first.body(), map([("k", text("left")), ("t", text("t"))]));
        assert_eq!(first.posture(), Some("settled"));
        let of = |key: &str| first.record.get(key).unwrap().clone();
        assert_eq!(of("abi"), text("echo.anchored-execution/v1"));
        assert_eq!(of("interpreter"), text("echo.anchored-operation/v1"));
        let counters = |steps, read, write| {
            map([
                ("steps", Value::unsigned(steps)),
                ("readBytes", Value::unsigned(read)),
                ("writeBytes", Value::unsigned(write)),
            ])
        };
        assert_eq!(of("budget"), counters(9, 64, 128));
        assert_eq!(of("consumed"), counters(2, 0, 2));
        let second = lane.effect(&mut host, &put, 2, &input("left", b"\x03", "u"));
        assert_eq!(second.coordinate(), Some("demo.kv@1.Taken"));
        assert_eq!(second.body(), nothing());
        assert_eq!(second.posture(), Some("unchanged"));
        let other = lane.effect(&mut host, &put, 3, &input("right", b"", ""));
        assert_eq!(other.posture(), Some("settled"));
        observed(&mut host, &lane);
        again(space.path(), host, &lane, name);
    }
}

/// The attachments are ordinary atoms: node name hashed, value as canonical bytes.
fn observed(host: &mut Host, lane: &Lane) {
    let types = [
        "78005cf9398bbdfe0834bf8ab19500bea7f465848dda8f5d92d89f4d56c0cb12",
        "b008cd1bf605a67ea0a0af04c082744e3ac1d24b871aea56394a3b0a3f83c3de",
    ];
    let space = format!("echo.anchored/{}/{}", types[0], types[1]);
    let reply = host.ask(7, &lane.observe(scan(&space, Value::Null, 10), 1_000));
    let entries = reply.ok(0x8007).get("entries").unwrap().clone();
    let entries = entries.as_array().unwrap();
    assert_eq!(entries.len(), 2);
    let left = Value::bytes(sha256(b"left"));
    let left = entries
        .iter()
        .find(|it| it.get("key") == Some(&left))
        .unwrap();
    assert_eq!(
        left.get("value").unwrap().as_bytes(),
        Some(&[0x42, 1, 2][..])
    );
    let hash = "360f84035942243c6a36537ae2f8673485e6c04455a0a85a0db19690f2541480";
    assert_eq!(
        hex::encode(left.get("key").unwrap().as_bytes().unwrap()),
        hash
    );
}

/// Killed and recovered, the history is there and goes on.
fn again(space: &Path, host: Host, lane: &Lane, name: &str) {
    assert_eq!(host.kill().code, None);
    let mut host = serve(space);
    let put = installed(&mut host, name);
    let found = Lane::open(&mut host, &granting(&recover(1, "a"), &[&put]));
    assert_eq!(found.basis, lane.basis);
    assert_eq!(found.last_receipt, lane.last_receipt);
    let recalled = host.ask(6, &found.recall(2));
    assert_eq!(recalled.ok(0x8005).get("kind"), Some(&text("obstruction")));
    let mut lane = Lane {
        log: found.log,
        build: host.build.clone(),
        ..lane.clone()
    };
    let third = lane.effect(&mut host, &put, 4, &input("right", b"\x01", ""));
    assert_eq!(third.coordinate(), Some("demo.kv@1.Taken"));
}

#[test]
fn inputs_and_budgets_are_held_to_the_package() {
    let space = tempfile::tempdir().unwrap();
    let mut host = serve(space.path());
    let put = installed(&mut host, "kv-put");
    let mut lane = Lane::open(&mut host, &granting(&open_durable(1, "a"), &[&put]));
    let mut refused = |input: &Value| {
        let request = lane.request(&put, 1, input, false);
        let reply = host.ask(5, &request);
        let (kind, path) = reply.refusal();
        (kind.to_owned(), path.map(str::to_owned))
    };
    let wrong = |path: &str| ("input-type".to_owned(), Some(path.to_owned()));
    assert_eq!(refused(&input("k", &[0; 65], "")), wrong(".value"));
    assert_eq!(
        refused(&with(&input("k", b"", ""), "key", Value::unsigned(1))),
        wrong(".key")
    );
    assert_eq!(
        refused(&map([("key", text("k")), ("value", Value::bytes(b""))])),
        wrong(".tag")
    );
    assert_eq!(refused(&text("k")), wrong("."));
    let request = with(
        &lane.request(&put, 1, &input("k", b"\x01\x02", ""), false),
        "budget",
        budget(9, 64, 1),
    );
    let short = lane.invoke(&mut host, &request);
    assert_eq!(
        short.coordinate(),
        Some("echo.obstruction.budget-exhausted/v1")
    );
    let exhausted = |resource, limit| {
        map([
            ("resource", text(resource)),
            ("limit", Value::unsigned(limit)),
        ])
    };
    assert_eq!(short.body(), exhausted("write-bytes", 1));
    assert_eq!(short.posture(), Some("unchanged"));
    let request = with(
        &lane.request(&put, 2, &input("k", b"\x01\x02", ""), false),
        "budget",
        budget(1, 64, 2),
    );
    assert_eq!(
        lane.invoke(&mut host, &request).body(),
        exhausted("steps", 1)
    );
    let exact = lane.effect(&mut host, &put, 3, &input("k", &[7; 64], ""));
    assert_eq!(exact.posture(), Some("settled"));
}

#[test]
fn what_is_not_exactly_such_a_package_is_refused() {
    let space = tempfile::tempdir().unwrap();
    let mut host = serve(space.path());
    let mut refused =
        |package: &[u8], report: &[u8]| host.ask(2, &install(package, report)).refused().to_owned();
    let (package, report) = recorded("kv-put");
    let (other, other_report) = recorded("kv-two-effects");
    assert_eq!(refused(&package, &other_report), "report-package-mismatch");
    assert_eq!(refused(&other, &report), "report-package-mismatch");
    let rejected = with(&decode(&report).unwrap(), "outcome", text("rejected"));
    assert_eq!(refused(&package, &encode(&rejected)), "report-rejected");
    let projection = "application_result_projection";
    let zeros = || Value::bytes([0; 32]);
    let cases: [(&[&str], Value, &str); 11] = [
        (
            &["schema"],
            text("echo.operation-package/v2"),
            "profile-unsupported",
        ),
        (
            &["budget_ceiling", "steps"],
            Value::unsigned(0),
            "package-malformed",
        ),
        (
            &["budget_ceiling", "steps"],
            Value::unsigned(10),
            "budget-above-policy",
        ),
        (&["program"], Value::bytes(b"\xa0"), "package-malformed"),
        (
            &["operation_coordinate"],
            text("demo.app@1.get"),
            "projection-mismatch",
        ),
        (
            &["interpreter_profile_identity"],
            zeros(),
            "program-malformed",
        ),
        (
            &["semantic_closure", "target_ir_identity"],
            zeros(),
            "report-artifact-mismatch",
        ),
        (
            &[projection, "artifact_identity"],
            zeros(),
            "artifact-digest-mismatch",
        ),
        (
            &[projection, "runtime_expression", "kind"],
            text("source"),
            "projection-mismatch",
        ),
        (
            &[projection, "runtime_expression", "fields", "t", "path"],
            texts(&["key"]),
            "projection-mismatch",
        ),
        (
            &[projection, "application_input_node_key_path"],
            texts(&["tag"]),
            "projection-mismatch",
        ),
    ];
    for (path, new, kind) in cases {
        let (package, report) = changed(path, new);
        assert_eq!(refused(&package, &report), kind, "{path:?}");
    }
    let program = decode(&package).unwrap().get("program").unwrap().clone();
    let program = with(
        &decode(program.as_bytes().unwrap()).unwrap(),
        "kind",
        text("anchored-node-attachment-replace/v1"),
    );
    let (package, report) = changed(&["program"], Value::bytes(encode(&program)));
    assert_eq!(refused(&package, &report), "profile-unsupported");
}
