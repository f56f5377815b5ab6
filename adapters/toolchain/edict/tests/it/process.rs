// SPDX-License-Identifier: Apache-2.0
//! The process: transport, settings, records, exit codes.

use crate::support::{BUILD, TestSpace};
use expect_test::{Expect, expect};

const CHECK: &str = r#"{"schema":"edict.compiler.settings/v1","operation":"check"}"#;

fn refused(request: &str, expected: &Expect) {
    let run = TestSpace::new().edict(request);
    assert_eq!((run.exit_code, run.stdout.as_str()), (2, ""), "{run:?}");
    expected.assert_eq(&run.refusal());
}

fn check(inputs: &[&str]) -> String {
    let mut request = CHECK.to_owned();
    for input in inputs {
        request.push_str("\n{\"schema\":\"edict.compiler.input/v1\",");
        request.push_str(input);
        request.push('}');
    }
    request
}

#[test]
fn help_and_version_are_the_only_arguments() {
    let space = TestSpace::new();
    for argument in ["--help", "-h", "--version", "-V"] {
        let run = space.edict_with(&[argument], None, b"");
        assert_eq!((run.exit_code, run.stderr.as_str()), (0, ""), "{argument}");
        assert!(run.stdout.starts_with("edict"), "{argument}");
    }
    for arguments in [&["build"][..], &["--help", "-V"]] {
        let run = space.edict_with(arguments, None, BUILD.as_bytes());
        assert_eq!(run.exit_code, 2);
        assert_eq!(run.kinds(), ["cli/UnexpectedArguments"]);
    }
}

#[test]
fn a_failed_run_has_one_diagnostic_and_the_terminal_event() {
    let run = TestSpace::new().build();
    assert_eq!(run.exit_code, 2);
    expect![[r#"
        {"column":null,"file":null,"help":null,"kind":"ApplicationReadFailed","line":null,"message":"read `edict.application.json`: No such file or directory (os error 2)","schema":"edict.cli.diagnostic/v1","severity":"error","span":null,"stage":"cli","type":"diagnostic"}
        {"command":"build","event":"failed","exitCode":2,"schema":"edict.cli.event/v1","type":"event"}
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn malformed_lines_are_refused() {
    refused(
        "",
        &expect!["InvalidSettings: the request is empty; it starts with a settings record"],
    );
    refused(
        "\n{\"schema\":",
        &expect![
            "InvalidJsonl: read line 2 of the request: it ends inside a value at bytes 10..10"
        ],
    );
    refused(
        r#"{"schema":"edict.compiler.settings/v1","operation":"check","operation":"build"}"#,
        &expect!["InvalidJsonl: read line 1 of the request: duplicate member name at bytes 59..70"],
    );
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    refused(
        &deep(64),
        &expect!["InvalidSettings: line 1 of the request: member `schema` is missing"],
    );
    refused(
        &deep(65),
        &expect![
            "InvalidJsonl: read line 1 of the request: containers nest too deep at bytes 64..65"
        ],
    );
}

#[test]
fn settings_are_closed() {
    let settings =
        |members: &str| format!(r#"{{"schema":"edict.compiler.settings/v1",{members}}}"#);
    refused(
        &settings(r#""operation":"build""#),
        &expect![
            "InvalidSettings: line 1 of the request: `build` takes either `application` or `lawpack`"
        ],
    );
    refused(
        &settings(r#""operation":"build","application":"a","lawpack":"b""#),
        &expect![
            "InvalidSettings: line 1 of the request: `build` takes either `application` or `lawpack`"
        ],
    );
    refused(
        &settings(r#""operation":"build","application":"a","checkOnly":true"#),
        &expect![
            "InvalidSettings: line 1 of the request: /checkOnly: `checkOnly` is a truth value that stands with `lawpack`"
        ],
    );
    refused(
        &settings(r#""operation":"test""#),
        &expect![
            "InvalidSettings: line 1 of the request: /operation: `test` is none of `build`, `check`, `project`"
        ],
    );
    refused(
        &settings(r#""operation":"check","color":true"#),
        &expect!["InvalidSettings: line 1 of the request: /color: unknown member `color`"],
    );
    refused(
        &settings(r#""operation":"check","type":"other""#),
        &expect![
            "InvalidSettings: line 1 of the request: /type: expected `settings` or `compilerSettings`"
        ],
    );
    refused(
        CHECK,
        &expect!["InvalidInput: there is no source; add an input record that names one"],
    );
    refused(
        &format!(
            "{BUILD}\n{}",
            r#"{"schema":"edict.compiler.input/v1","kind":"path","path":"x"}"#
        ),
        &expect!["InvalidInput: `build` takes no input records"],
    );
}

#[test]
fn the_request_has_a_limit() {
    let space = TestSpace::new();
    let request = check(&[r#""kind":"source","name":"a.edict","text":"package a@1;""#]);
    let exact = request.len().to_string();
    let run = space.edict_with(&[], Some(&exact), request.as_bytes());
    assert_eq!(run.exit_code, 0, "{run:?}");
    let less = (request.len() - 1).to_string();
    let run = space.edict_with(&[], Some(&less), request.as_bytes());
    assert_eq!(
        (run.exit_code, run.kinds()),
        (2, vec!["cli/StdinTooLarge".to_owned()])
    );
    let run = space.edict_with(&[], Some("many"), request.as_bytes());
    assert_eq!(
        (run.exit_code, run.kinds()),
        (2, vec!["cli/InvalidSettings".to_owned()])
    );
}

#[test]
fn check_reports_source_diagnostics_with_exit_code_1() {
    let space = TestSpace::new();
    let text = r#""kind":"source","name":"mem.edict","text":"package a@1;\ntype A = Bytes;\n""#;
    let run = space.edict(&check(&[text]));
    assert_eq!((run.exit_code, run.stdout.as_str()), (1, ""));
    expect![[r#"
        {"column":10,"file":"mem.edict","help":"write `<max=…>`","kind":"UnboundedScalar","line":2,"message":"text and bytes need a bound","schema":"edict.cli.diagnostic/v1","severity":"error","span":{"end":27,"start":22},"stage":"semantic","type":"diagnostic"}
        {"command":"check","event":"failed","exitCode":1,"schema":"edict.cli.event/v1","type":"event"}
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn check_accepts_what_only_later_stages_refuse() {
    let text = r#""kind":"source","name":"a.edict","text":"package a@1;\ntype A = B;\n""#;
    let run = TestSpace::new().edict(&check(&[text]));
    assert_eq!((run.exit_code, run.stderr.as_str()), (0, ""));
    expect![[r#"
        {"command":"check","files":["a.edict"],"schema":"edict.cli.check-result/v1","type":"checkResult"}
        {"command":"check","event":"completed","exitCode":0,"schema":"edict.cli.event/v1","type":"event"}
    "#]]
    .assert_eq(&run.stdout);
}

#[test]
fn inputs_name_files_in_a_fixed_order() {
    let space = TestSpace::new();
    for name in [
        "src/b.edict",
        "src/a.edict",
        "src/deep/c.edict",
        "src/d.txt",
    ] {
        space.write(name, "package a@1;\n");
    }
    let files = |input: &str| {
        let run = space.edict(&check(&[input]));
        assert_eq!(run.exit_code, 0, "{run:?}");
        run.records()[0]["files"].to_string()
    };
    let all = r#"["src/a.edict","src/b.edict","src/deep/c.edict"]"#;
    assert_eq!(files(r#""kind":"directory","path":"src""#), all);
    assert_eq!(files(r#""kind":"glob","pattern":"src/**/*.edict""#), all);
    let listed = files(r#""kind":"pathList","paths":["src/b.edict","src/a.edict"]"#);
    assert_eq!(listed, r#"["src/b.edict","src/a.edict"]"#);
    assert_eq!(
        files(r#""kind":"path","path":"src/a.edict""#),
        r#"["src/a.edict"]"#
    );
    assert_eq!(
        files(r#""kind":"glob","pattern":"src/?.edict""#),
        r#"["src/a.edict","src/b.edict"]"#
    );
    assert_eq!(
        files(r#""kind":"glob","pattern":"s*/d*p/c.e*t""#),
        r#"["src/deep/c.edict"]"#
    );

    let run = space.edict(&check(&[r#""kind":"path","path":"src/x.edict""#]));
    assert_eq!(
        (run.exit_code, run.kinds()),
        (2, vec!["cli/InputReadFailed".to_owned()])
    );
    let run = space.edict(&check(&[
        r#""kind":"path","path":"src/a.edict","name":"a""#,
    ]));
    assert_eq!(
        (run.exit_code, run.kinds()),
        (2, vec!["cli/InvalidInput".to_owned()])
    );
}

#[test]
fn a_source_that_is_no_text_is_a_diagnostic() {
    let space = TestSpace::new();
    space.write("a.edict", b"package a@1;\n\xff\0");
    let run = space.edict(&check(&[r#""kind":"path","path":"a.edict""#]));
    assert_eq!(
        (run.exit_code, run.kinds()),
        (1, vec!["parse/Lex".to_owned()])
    );
}

#[test]
fn hostile_sources_end_with_a_record() {
    let space = TestSpace::new();
    let deep = format!(
        "package a@1; fn f() -> U64 {{ return {}1; }}",
        "(".repeat(5_000)
    );
    let unary = format!(
        "package a@1; fn f() -> U64 {{ return {}1; }}",
        "!".repeat(100_000)
    );
    let flat = format!(
        "package a@1; fn f() -> U64 {{ return 1{}; }}",
        " + 1".repeat(100_000)
    );
    for (text, kind) in [
        (deep, "parse/NestingTooDeep"),
        (unary, "parse/NestingTooDeep"),
        (flat, "parse/NestingTooDeep"),
        ("(".repeat(1_048_576), "parse/ExpectedKeyword"),
    ] {
        space.write("a.edict", text);
        let run = space.edict(&check(&[r#""kind":"path","path":"a.edict""#]));
        assert_eq!((run.exit_code, run.kinds()), (1, vec![kind.to_owned()]));
    }
    space.write("a.edict", " ".repeat(1_048_577));
    let run = space.edict(&check(&[r#""kind":"path","path":"a.edict""#]));
    assert_eq!(
        (run.exit_code, run.kinds()),
        (1, vec!["parse/LimitExceeded".to_owned()])
    );
}
