// SPDX-License-Identifier: Apache-2.0
//! The shipped lawpack `edict.test@1` through the whole chain: what each helper answers, its exact
//! bounds, and what a changed body of a helper does (BT-021).

use crate::support::{Space, copy, program, root, verdicts};
use edict_codec::cbor::{Value, encode};
use serde_json::{Value as Json, json};
use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

/// A helper with its parameters.
struct Helper {
    name: &'static str,
    parameters: &'static [(&'static str, &'static str)],
}

const LABEL: (&str, &str) = ("label", "String<max=64>");

const HELPERS: [Helper; 11] = [
    Helper {
        name: "pass",
        parameters: &[],
    },
    Helper {
        name: "fail",
        parameters: &[("message", "String<max=256>")],
    },
    Helper {
        name: "isTrue",
        parameters: &[LABEL, ("actual", "Bool")],
    },
    Helper {
        name: "isFalse",
        parameters: &[LABEL, ("actual", "Bool")],
    },
    Helper {
        name: "equalU32",
        parameters: &[LABEL, ("expected", "U32"), ("actual", "U32")],
    },
    Helper {
        name: "equalU64",
        parameters: &[LABEL, ("expected", "U64"), ("actual", "U64")],
    },
    Helper {
        name: "differU64",
        parameters: &[LABEL, ("refused", "U64"), ("actual", "U64")],
    },
    Helper {
        name: "equalBool",
        parameters: &[LABEL, ("expected", "Bool"), ("actual", "Bool")],
    },
    Helper {
        name: "equalString",
        parameters: &[
            LABEL,
            ("expected", "String<max=4096>"),
            ("actual", "String<max=4096>"),
        ],
    },
    Helper {
        name: "equalBytes",
        parameters: &[
            LABEL,
            ("expected", "Bytes<max=4096>"),
            ("actual", "Bytes<max=4096>"),
        ],
    },
    Helper {
        name: "both",
        parameters: &[("first", "test.CaseResult"), ("second", "test.CaseResult")],
    },
];

/// A call and what it must answer: status, assertions and message.
struct Call {
    helper: &'static str,
    arguments: Vec<Value>,
    answer: (u64, u64, String),
}

fn call(helper: &'static str, arguments: Vec<Value>, status: u64, message: &str) -> Call {
    Call {
        helper,
        arguments,
        answer: (status, 1, message.to_owned()),
    }
}

fn text(text: &str) -> Value {
    Value::text(text)
}

fn result(status: u64, assertions: u64, message: &str) -> Value {
    Value::text_map([
        ("status", Value::unsigned(status)),
        ("assertions", Value::unsigned(assertions)),
        ("message", text(message)),
    ])
}

/// A program for each helper: its input has the parameters, its result is the helper's.
fn probe(space: &Space, helper: &Helper) {
    let Helper { name, parameters } = helper;
    let fields: Vec<String> = parameters
        .iter()
        .map(|(name, ty)| format!("{name}: {ty}"))
        .collect();
    let fields = if fields.is_empty() {
        "unused: Bool".to_owned()
    } else {
        fields.join(", ")
    };
    let arguments: Vec<String> = parameters
        .iter()
        .map(|(name, _)| format!("input.{name}"))
        .collect();
    let measures = fs::read_to_string(space.path("programs/src/measures.edict")).unwrap();
    let imports: Vec<&str> = measures
        .lines()
        .filter(|it| it.starts_with("use "))
        .collect();
    let source = format!(
        "package probe.{name}@1;
{}
type Input = {{ {fields} }};
intent probe(input: Input) returns test.CaseResult
  profile kit.pure basis none budget <= kit.roomy
{{
  return test.{name}({});
}}
",
        imports.join("\n"),
        arguments.join(", ")
    );
    fs::write(space.path(&format!("programs/src/{name}.edict")), source).unwrap();
    let measures = fs::read(space.path("programs/measures.application.json")).unwrap();
    let mut document: Json = serde_json::from_slice(&measures).unwrap();
    document["coordinate"] = format!("probe.{name}@1").into();
    document["sources"] = json!([format!("src/{name}.edict")]);
    document["outputDirectory"] = format!("out/{name}").into();
    let path = space.path(&format!("programs/{name}.application.json"));
    fs::write(path, document.to_string()).unwrap();
}

/// A suite of these calls, one case each.
fn suite(calls: &[Call]) -> Space {
    let space = Space::of("tour");
    for helper in &HELPERS {
        probe(&space, helper);
    }
    let cases = calls.iter().enumerate().map(|(index, call)| {
        let helper = HELPERS.iter().find(|it| it.name == call.helper).unwrap();
        let names = helper.parameters.iter().map(|it| it.0);
        let mut fields: Vec<(&str, Value)> = names.zip(call.arguments.iter().cloned()).collect();
        if fields.is_empty() {
            fields.push(("unused", Value::Bool(true)));
        }
        let input = format!("fixtures/call-{index}.bin");
        fs::write(space.path(&input), encode(&Value::text_map(fields))).unwrap();
        json!({
            "id": format!("call-{index}"), "input": input,
            "application": format!("programs/{}.application.json", call.helper),
            "expect": {"kind": "caseResult", "schema": "edict.test.case-result/v1"},
        })
    });
    let cases: Vec<Json> = cases.collect();
    space.manifest(|manifest| manifest["cases"] = cases.into());
    space
}

/// Runs the calls, each of which must answer what it says.
fn answered(calls: &[Call]) {
    let space = suite(calls);
    let (run, report) = space.run(&["--cross-check"]);
    let failed = calls.iter().any(|it| it.answer.0 == 1);
    assert_eq!(run.code, i32::from(failed), "{}", run.stderr);
    for (index, call) in calls.iter().enumerate() {
        let (status, assertions, message) = &call.answer;
        let case = &report["semantic"]["cases"][index];
        let verdict = if *status == 0 {
            "passed"
        } else {
            "assertion_failed"
        };
        let what = format!("{} {:?}", call.helper, call.arguments);
        assert_eq!(case["verdict"], verdict, "{what}: {case}");
        assert_eq!(case["assertions"], *assertions, "{what}");
        assert_eq!(case["message"]["text"], **message, "{what}");
    }
}

#[test]
fn bt_021_every_helper_answers_by_its_truth_table() {
    let number = Value::unsigned;
    let flag = Value::Bool;
    let most = u64::from(u32::MAX);
    let mut calls = vec![
        call("pass", vec![], 0, ""),
        call("fail", vec![text("why")], 1, "why"),
        call("fail", vec![text("")], 1, ""),
        call("isTrue", vec![text("l"), flag(true)], 0, ""),
        call(
            "isTrue",
            vec![text("l"), flag(false)],
            1,
            "l: expected true",
        ),
        call("isFalse", vec![text("l"), flag(false)], 0, ""),
        call(
            "isFalse",
            vec![text("l"), flag(true)],
            1,
            "l: expected false",
        ),
    ];
    for (left, right) in [(false, false), (false, true), (true, false), (true, true)] {
        let message = match (left == right, left) {
            (true, _) => "",
            (false, true) => "é: expected true",
            (false, false) => "é: expected false",
        };
        let arguments = vec![text("é"), flag(left), flag(right)];
        calls.push(call(
            "equalBool",
            arguments,
            u64::from(left != right),
            message,
        ));
    }
    for (helper, greatest) in [("equalU32", most), ("equalU64", u64::MAX)] {
        for (left, right) in [
            (0, 0),
            (greatest, greatest),
            (0, 1),
            (greatest, greatest - 1),
        ] {
            let message = if left == right {
                String::new()
            } else {
                format!("n: expected {left}, got {right}")
            };
            let arguments = vec![text("n"), number(left), number(right)];
            calls.push(call(helper, arguments, u64::from(left != right), &message));
        }
    }
    for (left, right) in [(0, 1), (u64::MAX, 0), (0, 0), (u64::MAX, u64::MAX)] {
        let message = if left == right {
            format!("n: did not expect {left}")
        } else {
            String::new()
        };
        let arguments = vec![text("n"), number(left), number(right)];
        calls.push(call(
            "differU64",
            arguments,
            u64::from(left == right),
            &message,
        ));
    }
    answered(&calls);
}

#[test]
fn bt_021_texts_and_bytes_are_equal_only_when_every_part_is() {
    let strings = |left: &str, right: &str, message: &str| {
        let arguments = vec![text("s"), text(left), text(right)];
        call("equalString", arguments, u64::from(left != right), message)
    };
    let bytes = |left: &[u8], right: &[u8], message: &str| {
        let arguments = vec![text("b"), Value::bytes(left), Value::bytes(right)];
        call("equalBytes", arguments, u64::from(left != right), message)
    };
    answered(&[
        strings("", "", ""),
        strings("a€", "a€", ""),
        // The same text to a reader, other scalars: nothing is normalized.
        strings("é", "e\u{301}", "s: strings differ, lengths 1 and 2"),
        strings("a", "b", "s: strings differ, lengths 1 and 1"),
        strings("a", "a\0", "s: strings differ, lengths 1 and 2"),
        strings("😀", "", "s: strings differ, lengths 1 and 0"),
        bytes(b"", b"", ""),
        bytes(&[0, 255], &[0, 255], ""),
        bytes(&[0, 255], &[0, 254], "b: bytes differ, lengths 2 and 2"),
        bytes(b"a", b"ab", "b: bytes differ, lengths 1 and 2"),
    ]);
}

#[test]
fn bt_021_both_adds_up_and_keeps_the_first_message() {
    let both = |first: (u64, u64, &str), second: (u64, u64, &str), answer: (u64, u64, &str)| Call {
        helper: "both",
        arguments: [first, second].map(|(s, a, m)| result(s, a, m)).to_vec(),
        answer: (answer.0, answer.1, answer.2.to_owned()),
    };
    let most = u64::from(u32::MAX);
    answered(&[
        both((0, 1, "x"), (0, 2, "y"), (0, 3, "y")),
        both((1, 1, "x"), (0, 1, "y"), (1, 2, "x")),
        both((0, 1, "x"), (1, 1, "y"), (1, 2, "y")),
        both((1, 1, "x"), (1, 1, "y"), (1, 2, "x")),
        both((0, 65_534, ""), (0, 1, ""), (0, 65_535, "")),
        both((0, 65_535, ""), (0, 1, ""), (0, 65_535, "")),
        both((0, most, ""), (0, 1, ""), (0, 65_535, "")),
        both((7, 1, "x"), (0, 1, ""), (1, 2, "x")),
    ]);
}

#[test]
fn bt_021_lengths_are_accepted_up_to_their_bound_and_not_one_further() {
    let smile = "😀";
    let long = |count: usize| text(&smile.repeat(count));
    let message = smile.repeat(256);
    let bytes = |count: usize| Value::bytes(vec![7; count]);
    answered(&[
        // 4,096 scalars are 16,384 bytes, and a message of 256 scalars is exactly 1,024 bytes.
        call(
            "equalString",
            vec![text("s"), long(4096), long(4096)],
            0,
            "",
        ),
        call(
            "equalString",
            vec![text("s"), long(4096), long(4095)],
            1,
            "s: strings differ, lengths 4096 and 4095",
        ),
        call(
            "equalBytes",
            vec![text("b"), bytes(4096), bytes(4096)],
            0,
            "",
        ),
        call("fail", vec![text(&message)], 1, &message),
        call(
            "isTrue",
            vec![long(64), Value::Bool(false)],
            1,
            &format!("{}: expected true", smile.repeat(64)),
        ),
    ]);
    for refused in [
        call("equalString", vec![text("s"), long(4097), text("")], 0, ""),
        call(
            "equalString",
            vec![text("s"), text(""), text(&"a".repeat(4097))],
            0,
            "",
        ),
        call("equalBytes", vec![text("b"), bytes(4097), bytes(0)], 0, ""),
        call("fail", vec![long(257)], 0, ""),
        call("isTrue", vec![long(65), Value::Bool(true)], 0, ""),
        call(
            "equalU32",
            vec![text("n"), Value::unsigned(1 << 32), Value::unsigned(0)],
            0,
            "",
        ),
    ] {
        let (run, report) = suite(&[refused]).run(&[]);
        assert_eq!(run.code, 2, "{}", run.stdout);
        assert_eq!(run.primary().as_deref(), Some("admission/InputRefused"));
        assert_eq!(report["semantic"]["counts"]["executed"], 0);
    }
}

#[test]
fn bt_021_a_value_whose_type_is_too_wide_is_refused_by_the_compiler() {
    let space = suite(&[call(
        "equalString",
        vec![text("s"), text(""), text("")],
        0,
        "",
    )]);
    let source = "programs/src/equalString.edict";
    space.edit(
        source,
        "expected: String<max=4096>",
        "expected: String<max=4097>",
    );
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, 2);
    assert_eq!(run.primary().as_deref(), Some("build/CompilerRefused"));
    assert!(run.stderr.contains("TypeMismatch"), "{}", run.stderr);
    assert_eq!(verdicts(&report)["call-0"], "build_failed/CompilerRefused");
}

/// Builds the lawpack with a changed source over the vendored one; gives its digest.
fn rebuild(space: &Space, old: &str, new: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    copy(
        &root().join("testdata/lawpacks/edict-test"),
        directory.path(),
    );
    let path = directory.path().join("src/assert.edict");
    let source = fs::read_to_string(&path).unwrap();
    assert!(source.contains(old));
    fs::write(path, source.replacen(old, new, 1)).unwrap();
    compile(directory.path());
    for file in ["manifest.cbor", "exports.cbor"] {
        let made = directory.path().join("out").join(file);
        fs::copy(
            made,
            space.path(&format!("programs/vendor/edict-test/{file}")),
        )
        .unwrap();
    }
    let digest = fs::read_to_string(directory.path().join("out/manifest.sha256")).unwrap();
    digest.trim().to_owned()
}

fn compile(directory: &Path) {
    let mut child = Command::new(program("edict"))
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let request = json!({
        "schema": "edict.compiler.settings/v1", "operation": "build",
        "lawpack": "edict.lawpack.json",
    });
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{request}\n").as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// The digest of the lawpack as the program of a helper pins it.
fn pin(space: &Space, helper: &str) -> String {
    let source = fs::read_to_string(space.path(&format!("programs/src/{helper}.edict"))).unwrap();
    let import = source
        .lines()
        .find(|it| it.contains("edict.test@1"))
        .unwrap();
    import.split('"').nth(1).unwrap().to_owned()
}

#[test]
fn bt_021_a_mutated_body_is_refused_by_its_stale_pin_and_flips_the_verdict_once_it_is_pinned() {
    let equal = || vec![text("n"), Value::unsigned(5), Value::unsigned(5)];
    let space = suite(&[call("equalU64", equal(), 0, "")]);
    assert_eq!(space.run(&[]).0.code, 0);
    let old = pin(&space, "equalU64");
    // The body of `equalU64` and nothing else; its type stays what it was.
    let new = rebuild(
        &space,
        "expected: U64, actual: U64) -> CaseResult {\n  return if expected == actual",
        "expected: U64, actual: U64) -> CaseResult {\n  return if expected != actual",
    );
    assert_ne!(old, new);
    let (stale, report) = space.run(&[]);
    assert_eq!(stale.code, 2, "{}", stale.stdout);
    assert_eq!(stale.primary().as_deref(), Some("build/CompilerFailed"));
    assert!(
        stale.stderr.contains("InvalidApplicationClosure"),
        "{}",
        stale.stderr
    );
    assert!(
        stale.stderr.contains(&new),
        "the message says what to paste: {}",
        stale.stderr
    );
    assert_eq!(verdicts(&report)["call-0"], "build_failed/CompilerFailed");
    assert_eq!(report["semantic"]["counts"]["executed"], 0);

    space.edit("programs/src/equalU64.edict", &old, &new);
    let (fresh, report) = space.run(&["--cross-check"]);
    assert_eq!(fresh.code, 1, "{}", fresh.stderr);
    assert_eq!(
        verdicts(&report)["call-0"],
        "assertion_failed/AssertionFailed"
    );
    assert_eq!(
        report["semantic"]["cases"][0]["message"]["text"],
        "n: expected 5, got 5"
    );

    // The shipped body under the new pin is as stale as the other way round.
    rebuild(&space, "expected == actual", "expected == actual");
    let (back, _) = space.run(&[]);
    assert_eq!(back.primary().as_deref(), Some("build/CompilerFailed"));
    space.edit("programs/src/equalU64.edict", &new, &old);
    assert_eq!(space.run(&[]).0.code, 0);
}

#[test]
fn bt_021_exports_that_the_manifest_does_not_name_are_refused() {
    let space = suite(&[call("pass", vec![], 0, "")]);
    let manifest = space.path("programs/vendor/edict-test/manifest.cbor");
    let kept = fs::read(&manifest).unwrap();
    rebuild(
        &space,
        "status: 0u32, assertions: 1u32",
        "status: 1u32, assertions: 1u32",
    );
    fs::write(manifest, kept).unwrap();
    let (run, report) = space.run(&[]);
    assert_eq!(
        run.primary().as_deref(),
        Some("build/CompilerFailed"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("InvalidApplicationClosure"),
        "{}",
        run.stderr
    );
    assert_eq!(report["semantic"]["counts"]["executed"], 0);
}
