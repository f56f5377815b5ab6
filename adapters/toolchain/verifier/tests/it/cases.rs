// SPDX-License-Identifier: Apache-2.0
//! Every case of the language contract that runs: built, accepted, and evaluated a second time.

use crate::support::{Said, Workshop, table};
use crate::typed::{typed, value};
use edict_codec::cbor::{decode, encode};
use edict_codec::digest::derive_typed;
use serde_json::{Value as Json, json};
use std::fs;
use std::path::Path;

fn evaluated(workshop: &mut Workshop, case: &Json) -> Result<(), String> {
    let source = case["source"].as_str().unwrap();
    let built = workshop
        .build(source, &case["budget"])
        .map_err(|said| format!("compiler: {}", said.stderr))?;
    let said = built.ask(&built.verify_request("report.cbor"));
    if said.code != 0 {
        return Err(format!("verify: {} {}", said.stdout, said.stderr));
    }
    let inputs = built.inputs();
    let report = edict_verifier::verify::verify(&inputs).map_err(|error| error.to_string())?;
    if fs::read(built.directory.join("report.cbor")).unwrap() != report.bytes {
        return Err("the process writes another report than the library".to_owned());
    }
    if case.get("state").is_some() || case.get("stateAfter").is_some() {
        return Ok(());
    }
    let package = decode(&inputs.package).unwrap();
    let types = package.get("types").unwrap();
    let input_type = package.get("inputType").unwrap().as_text().unwrap();
    let input = encode(&typed(&case["input"], input_type, types));
    fs::write(built.directory.join("input.bin"), input).unwrap();
    let intent = source.split("intent ").nth(1).unwrap();
    let intent = intent.split('(').next().unwrap();
    let said = built.ask(&built.evaluate_request(intent, "body.cbor"));
    let output_type = package.get("outputType").unwrap().as_text().unwrap();
    let expected = match case["expect"].get("ok") {
        Some(result) => typed(result, output_type, types),
        None => value(&case["expect"]["payload"]),
    };
    judged(
        case,
        &said,
        &built.directory.join("body.cbor"),
        &encode(&expected),
    )
}

fn judged(case: &Json, said: &Said, output: &Path, expected: &[u8]) -> Result<(), String> {
    let expect = &case["expect"];
    if expect.get("refused").is_some() || said.code == 2 {
        let record: Json = serde_json::from_str(&said.stderr).map_err(|it| it.to_string())?;
        let expected = if expect.get("refused").is_some() {
            "InputRefused"
        } else {
            "EffectsUnsupported"
        };
        if record["kind"] != expected || said.code != 2 || output.exists() {
            return Err(format!("evaluate: {}", said.stderr));
        }
        return Ok(());
    }
    let record: Json =
        serde_json::from_str(&said.stdout).map_err(|it| format!("{it}: {}", said.stderr))?;
    let (outcome, coordinate) = match expect.get("ok") {
        Some(_) => ("result", Json::Null),
        None => ("obstruction", expect["obstruction"].clone()),
    };
    let written = fs::read(output).unwrap();
    if record["outcome"] != outcome || record["coordinate"] != coordinate || written != expected {
        return Err(format!(
            "evaluate: {record}, body {written:02x?}, not {expected:02x?}"
        ));
    }
    let digest = derive_typed("echo/body/v1", expected);
    if record["body"]
        != json!({"algorithm": "blake3", "bytes": digest.hex(), "domain": "echo/body/v1"})
    {
        return Err(format!("digest: {record}"));
    }
    match case.get("cost") {
        Some(cost) if record["consumed"] != *cost => Err(format!("cost: {record}, not {cost}")),
        _ => Ok(()),
    }
}

#[test]
fn every_running_case_is_accepted_and_evaluates_as_the_contract_says() {
    let table = table();
    let mut workshop = Workshop::new();
    let mut failures = Vec::new();
    let mut ran = 0;
    for case in table["cases"].as_array().unwrap() {
        if case.get("input").is_none() || case["expect"].get("diagnostics").is_some() {
            continue;
        }
        ran += 1;
        if let Err(message) = evaluated(&mut workshop, case) {
            failures.push(format!("{}: {message}", case["id"]));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {ran}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(ran > 130, "only {ran} cases ran");
}
