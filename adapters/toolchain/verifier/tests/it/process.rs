// SPDX-License-Identifier: Apache-2.0
//! The program itself: transport, records, exit codes, and the one file that it writes.

use crate::support::{Built, Said, Workshop, run, table, verifier};
use edict_codec::cbor::decode;
use edict_codec::digest::frame;
use edict_codec::hex;
use edict_verifier::process::MAX_STDIN_BYTES;
use serde_json::{Value as Json, json};
use std::fs;

fn lone(arguments: &[&str], stdin: &[u8]) -> Said {
    run(
        &verifier(),
        tempfile::tempdir().unwrap().path(),
        arguments,
        stdin,
    )
}

fn refused(said: &Said) -> String {
    assert_eq!((said.code, said.stdout.as_str()), (2, ""));
    let record: Json = serde_json::from_str(&said.stderr).unwrap();
    assert_eq!(record["schema"], "edict.cli.diagnostic/v1");
    record["kind"].as_str().unwrap().to_owned()
}

fn built() -> (Workshop, Built) {
    let mut workshop = Workshop::new();
    let table = table();
    let cases = table["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["id"] == "fn-call").unwrap();
    let built = workshop.build(case["source"].as_str().unwrap(), &Json::Null);
    (workshop, built.unwrap())
}

#[test]
fn a_lone_help_or_version_prints_text_and_anything_else_is_refused() {
    assert_eq!(lone(&["--help"], b"").code, 0);
    let version = lone(&["-V"], b"");
    assert_eq!(
        version.stdout,
        format!("edict-verifier {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(
        refused(&lone(&["--help", "-V"], b"")),
        "UnexpectedArguments"
    );
    assert_eq!(refused(&lone(&["verify"], b"")), "UnexpectedArguments");
}

#[test]
fn a_request_that_is_not_exactly_one_closed_object_is_refused() {
    assert_eq!(refused(&lone(&[], b"")), "InvalidRequest");
    assert_eq!(refused(&lone(&[], b"{\"a\":1")), "InvalidJsonl");
    assert_eq!(refused(&lone(&[], b"{\"a\":1,\"a\":1}")), "InvalidJsonl");
    assert_eq!(refused(&lone(&[], b"{}\n\n{}\n")), "InvalidRequest");
    assert_eq!(refused(&lone(&[], b"[]")), "InvalidRequest");
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    assert_eq!(refused(&lone(&[], deep.as_bytes())), "InvalidJsonl");
    let allowed = format!("{}{}", "[".repeat(64), "]".repeat(64));
    assert_eq!(refused(&lone(&[], allowed.as_bytes())), "InvalidRequest");
}

#[test]
fn the_bound_of_a_request_is_exact() {
    let limit = usize::try_from(MAX_STDIN_BYTES).unwrap();
    assert_eq!(refused(&lone(&[], &vec![b' '; limit])), "InvalidRequest");
    assert_eq!(refused(&lone(&[], &vec![b' '; limit + 1])), "StdinTooLarge");
}

#[test]
fn an_accepted_build_leaves_the_report_and_one_record() {
    let (_workshop, built) = built();
    let before = fs::read_dir(&built.directory).unwrap().count();
    let said = built.ask(&built.verify_request("report.cbor"));
    let bytes = fs::read(built.directory.join("report.cbor")).unwrap();
    let digest = hex::encode(&frame("edict.verification-report/v1", &bytes));
    let expected = format!(
        "{{\"kind\":null,\"operation\":\"verify\",\"outcome\":\"accepted\",\"path\":null,\
         \"report\":{{\"algorithm\":\"sha256\",\"bytes\":\"{digest}\",\
         \"domain\":\"edict.verification-report/v1\"}},\
         \"schema\":\"edict.verifier.result/v1\",\"type\":\"verifierResult\"}}\n"
    );
    assert_eq!(
        (said.code, said.stdout, said.stderr),
        (0, expected, String::new())
    );
    assert_eq!(fs::read_dir(&built.directory).unwrap().count(), before + 1);
    let report = decode(&bytes).unwrap();
    assert_eq!(report.get("outcome").unwrap().as_text(), Some("accepted"));
    assert_eq!(report.get("diagnostics").unwrap().as_array(), Some(&[][..]));
    let unchecked = report.get("notChecked").unwrap().as_array().unwrap();
    assert_eq!(
        unchecked
            .iter()
            .map(|it| it.as_text().unwrap())
            .collect::<Vec<_>>(),
        ["source-text"]
    );
}

#[test]
fn a_rejected_build_leaves_a_report_too() {
    let (_workshop, built) = built();
    fs::write(built.directory.join("main.edict"), "package other@1;").unwrap();
    let said = built.ask(&built.verify_request("report.cbor"));
    let record: Json = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((said.code, said.stderr.as_str()), (1, ""));
    assert_eq!(record["outcome"], "rejected");
    assert_eq!(record["kind"], "ClosureMismatch");
    assert_eq!(record["path"], "/source");
    let report = decode(&fs::read(built.directory.join("report.cbor")).unwrap()).unwrap();
    assert_eq!(report.get("outcome").unwrap().as_text(), Some("rejected"));
    assert_eq!(
        report.get("diagnostics").unwrap().as_array().unwrap().len(),
        1
    );
}

#[test]
fn what_cannot_be_judged_writes_nothing() {
    let (_workshop, built) = built();
    fs::write(built.directory.join("taken"), "mine").unwrap();
    assert_eq!(
        refused(&built.ask(&built.verify_request("taken"))),
        "OutputExists"
    );
    assert_eq!(fs::read(built.directory.join("taken")).unwrap(), b"mine");
    let mut request = built.verify_request("report.cbor");
    request["inputs"]["core"] = json!("absent.cbor");
    assert_eq!(refused(&built.ask(&request)), "InputReadFailed");
    let mut request = built.verify_request("report.cbor");
    request["inputs"]["extra"] = json!(1);
    assert_eq!(refused(&built.ask(&request)), "InvalidRequest");
    let mut request = built.verify_request("report.cbor");
    request["operation"] = json!("judge");
    assert_eq!(refused(&built.ask(&request)), "InvalidRequest");
    let mut request = built.verify_request("report.cbor");
    request["inputs"]["core"] = json!("main.edict");
    request["inputs"]["package"] = json!("main.edict");
    assert_eq!(refused(&built.ask(&request)), "Unjudgeable");
    assert!(!built.directory.join("report.cbor").exists());
    let request = built.verify_request("absent/report.cbor");
    assert_eq!(refused(&built.ask(&request)), "OutputWriteFailed");
}

#[test]
fn the_deepest_program_is_evaluated() {
    let space = tempfile::tempdir().unwrap();
    fs::write(space.path().join("core.cbor"), crate::hand::deepest()).unwrap();
    fs::write(space.path().join("input.bin"), crate::hand::input()).unwrap();
    let request = json!({
        "schema": "edict.verifier.request/v1",
        "type": "verifierRequest",
        "operation": "evaluate",
        "output": "body.cbor",
        "inputs": {"core": "core.cbor", "lawpacks": [], "input": "input.bin", "intent": "run"},
    });
    let said = run(
        &verifier(),
        space.path(),
        &[],
        request.to_string().as_bytes(),
    );
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let record: Json = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(record["outcome"], "result");
    // Every level adds one.
    let body = decode(&fs::read(space.path().join("body.cbor")).unwrap()).unwrap();
    assert!(body.as_u64().unwrap() > 128 * 20);
}
