// SPDX-License-Identifier: Apache-2.0
//! Every way a build can end (section 4, stage `build`).

use crate::support::{GOOD, Space, failure, file, kind, request, trials};
use std::fmt::Write as _;

use edict_codec::{bounded::ByteLimit, digest::frame_typed};
use edict_test_model::{
    built::Artifact,
    diagnostic::Detail,
    failure::{FailureKind, Form, Stage},
    ids::Locator,
    ports::BuildRequest,
    suite::Shape,
};

pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
    trials![
        a_build_gives_four_artifacts_source_and_exports,
        the_request_and_the_copy_are_exact,
        the_private_directory_evades_staged_names,
        an_author_error_is_a_refusal_with_its_diagnostics,
        every_refusal_kind_blames_the_author_and_no_other_does,
        only_the_last_diagnostic_decides,
        an_answer_that_is_no_answer_is_a_protocol_failure,
        b10_noise_on_standard_output_is_a_protocol_failure_with_an_excerpt,
        b10_noise_on_standard_error_of_a_good_build_is_nothing,
        b25_a_flood_on_standard_error_is_bounded,
        a_long_list_of_diagnostics_is_still_a_refusal,
        death_by_a_signal_is_a_crash_whatever_was_printed,
        a_program_that_cannot_start_is_a_spawn_failure,
        a_slow_build_times_out,
        a_stop_interrupts_the_build,
        b32_a_background_child_does_not_delay_the_build,
        a_missing_output_is_named,
        an_additional_output_is_named,
        an_output_that_is_no_regular_file_is_unexpected,
        an_output_that_is_not_canonical_is_invalid,
        a_manifest_without_exports_is_invalid,
        the_byte_limit_holds_for_one_file_and_for_all,
        upstream_leaves_package_and_report,
    ]
}

fn a_build_gives_four_artifacts_source_and_exports() {
    let built = Space::new(GOOD).build(&request()).unwrap();
    assert_eq!(
        built.core.as_ref().unwrap().identity,
        frame_typed("edict.core.module/v1", b"\x80")
    );
    assert_eq!(
        built.target_ir.as_ref().unwrap().identity,
        frame_typed("edict.target-ir.artifact/v1", b"\x80")
    );
    assert_eq!(
        built.projection.as_ref().unwrap().identity,
        frame_typed("edict.result-projection.artifact/v1", b"\x80"),
    );
    assert_eq!(
        built.package.identity,
        frame_typed("echo.program-package/v1", b"\x80")
    );
    assert_eq!(built.source, Artifact::source(*b"package example.a@1;\n"));
    let [exports] = built.lawpack_exports.as_slice() else {
        panic!("there is one lawpack");
    };
    assert_eq!(exports.identity, frame_typed("pack.exports/v1", b"\xa0"));
    assert_eq!(built.report, None);
}

fn the_request_and_the_copy_are_exact() {
    let script = format!(
        "read line
[ \"$line\" = '{{\"schema\":\"edict.compiler.settings/v1\",\"type\":\"settings\",\"operation\":\"build\",\"application\":\"../edict.application.json\"}}' ] || exit 3
[ \"$(cat ../edict.application.json)\" = '{{\"outputDirectory\": \"private/output\", \"schema\": \"edict.application/v1\"}}' ] || exit 4
[ \"$(cat ../src/m.edict)\" = 'package example.a@1;' ] || exit 5
[ \"$(echo *)\" = '*' ] || exit 6
[ \"$(cd ..; echo *)\" = 'edict.application.json pack private src' ] || exit 8
(: > ../src/m.edict) 2>/dev/null && exit 9
(: > ../more) 2>/dev/null && exit 10
read line && exit 7
{GOOD}"
    );
    Space::new(&script).build(&request()).unwrap();
}

fn the_private_directory_evades_staged_names() {
    let mut request = request();
    request.files.push(crate::support::file("private/x", b""));
    request.files.push(crate::support::file("private-", b""));
    let script = format!(
        "case \"$(cat ../edict.application.json)\" in *'\"private--/output\"'*) ;; *) exit 3 ;; esac
case \"$PWD\" in */private--) ;; *) exit 4 ;; esac
{GOOD}"
    );
    Space::new(&script).build(&request).unwrap();
}

/// Lines on standard error, and the exit code.
fn fails(code: u32, lines: &[&str]) -> String {
    let mut script = String::new();
    for line in lines {
        writeln!(script, "cat >&2 <<'END'\n{line}\nEND").unwrap();
    }
    format!("{script}exit {code}")
}

fn summary(kind: &str) -> String {
    format!(
        r#"{{"file":null,"help":null,"kind":"{kind}","message":"it is wrong","schema":"edict.cli.diagnostic/v1","severity":"error","span":null,"stage":"cli","type":"diagnostic"}}"#
    )
}

const PLACE: &str = r#"{"column":3,"file":"src/m.edict","help":"do this","kind":"UnknownName","line":2,"message":"no such name","schema":"edict.cli.diagnostic/v1","severity":"error","span":{"end":9,"start":7},"stage":"semantic","type":"diagnostic"}"#;
const FAILED: &str = r#"{"command":"build","event":"failed","exitCode":2,"schema":"edict.cli.event/v1","type":"event"}"#;

fn an_author_error_is_a_refusal_with_its_diagnostics() {
    let failure = failure(&fails(
        2,
        &[PLACE, &summary("InvalidApplicationSource"), FAILED],
    ));
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Build, FailureKind::CompilerRefused)
    );
    assert_eq!(failure.form(), Form::PointThenBail);
    let Some(Detail::Refused {
        failure_kind,
        diagnostics,
    }) = &failure.detail
    else {
        panic!("it has no detail");
    };
    assert_eq!(failure_kind, "InvalidApplicationSource");
    let [diagnostic] = diagnostics.as_slice() else {
        panic!("one diagnostic is about a place");
    };
    assert_eq!(diagnostic.file, "src/m.edict");
    assert_eq!((diagnostic.span.start, diagnostic.span.end), (7, 9));
    assert_eq!((diagnostic.line, diagnostic.column), (2, 3));
    assert_eq!(diagnostic.kind, "UnknownName");
    assert_eq!(diagnostic.help.as_deref(), Some("do this"));
}

fn every_refusal_kind_blames_the_author_and_no_other_does() {
    for name in [
        "InvalidApplicationSource",
        "ApplicationCompilationFailed",
        "ApplicationCoordinateMismatch",
        "TargetLoweringFailed",
        "ResultProjectionUnavailable",
        "ProviderLowererRefused",
    ] {
        let script = fails(2, &[&summary(name), FAILED]);
        assert_eq!(kind(&script), FailureKind::CompilerRefused, "{name}");
    }
    for name in [
        "InvalidApplicationClosure",
        "InternalError",
        "ApplicationOutputWriteFailed",
        "",
    ] {
        let script = fails(2, &[&summary(name), FAILED]);
        assert_eq!(kind(&script), FailureKind::CompilerFailed, "{name}");
    }
}

fn only_the_last_diagnostic_decides() {
    let lines = [
        &summary("InvalidApplicationSource"),
        &summary("InternalError"),
        FAILED,
    ];
    assert_eq!(kind(&fails(2, &lines)), FailureKind::CompilerFailed);
}

fn an_answer_that_is_no_answer_is_a_protocol_failure() {
    let completed = FAILED.replace("failed", "completed");
    for script in [
        "exit 0".to_owned(),
        "exit 2".to_owned(),
        "exit 101".to_owned(),
        "echo hello; exit 0".to_owned(),
        "echo 7; exit 0".to_owned(),
        fails(2, &["thread 'main' panicked"]),
        fails(2, &[&summary("InvalidApplicationSource")]),
        fails(1, &[&summary("InvalidApplicationSource"), FAILED]),
        fails(2, &[&completed]),
        fails(2, &[FAILED, "[]"]),
        fails(2, &[FAILED, "{"]),
        fails(2, &[r#"{"a":1,"a":2}"#, FAILED]),
        format!("{GOOD}exit 1"),
        GOOD.replace("completed", "failed"),
        GOOD.replace("\"exitCode\":0", "\"exitCode\":1"),
        GOOD.replace("edict.cli.event/v1", "edict.cli.event/v2"),
    ] {
        assert_eq!(kind(&script), FailureKind::CompilerProtocol, "{script}");
    }
}

fn b10_noise_on_standard_output_is_a_protocol_failure_with_an_excerpt() {
    let failure = failure(&format!("echo 'not ok 1'; echo 1..9; echo 3\n{GOOD}"));
    assert_eq!(failure.kind, FailureKind::CompilerProtocol);
    assert!(
        failure
            .excerpt
            .as_ref()
            .unwrap()
            .text
            .starts_with("not ok 1\n1..9\n3\n")
    );
}

fn b10_noise_on_standard_error_of_a_good_build_is_nothing() {
    Space::new(&format!("echo 'not ok 1' >&2; echo 1..9 >&2\n{GOOD}"))
        .build(&request())
        .unwrap();
}

fn b25_a_flood_on_standard_error_is_bounded() {
    let failure = failure("/usr/bin/yes x | /usr/bin/head -c 314572800 >&2; exit 1");
    assert_eq!(failure.kind, FailureKind::CompilerProtocol);
    let excerpt = failure.excerpt.as_ref().unwrap();
    assert!(excerpt.truncated);
    assert!(excerpt.byte_length >= 314_572_800);
    assert!(excerpt.text.len() <= 4096);
}

fn a_long_list_of_diagnostics_is_still_a_refusal() {
    let script = format!(
        "line=$(cat <<'END'\n{PLACE}\nEND\n)\n\
         i=0; while [ $i -lt 2000 ]; do printf '%s\\n' \"$line\" >&2; i=$((i+1)); done\n{}",
        fails(2, &[&summary("ApplicationCompilationFailed"), FAILED]),
    );
    let failure = failure(&script);
    assert_eq!(failure.kind, FailureKind::CompilerRefused);
    let Some(Detail::Refused { diagnostics, .. }) = &failure.detail else {
        panic!("it has no detail");
    };
    assert_eq!(diagnostics.len(), 100);
}

fn death_by_a_signal_is_a_crash_whatever_was_printed() {
    let failure = failure(&format!("{GOOD}kill -SEGV $$"));
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Build, FailureKind::CompilerCrashed)
    );
    let Some(Detail::Child(child)) = &failure.detail else {
        panic!("it has no detail");
    };
    assert_eq!((child.exit_code, child.signal), (None, Some(11)));
}

fn a_program_that_cannot_start_is_a_spawn_failure() {
    let space = Space::new("");
    let broken = edict_test_process::ToolDir::create(space.path(), [("edict", b"".as_slice())]);
    let compiler = edict_test_compiler::EdictCompiler {
        provider: Vec::new(),
        program: broken.as_ref().unwrap().program("absent"),
        staging: edict_test_process::Staging::below(space.path()).into(),
        isolation: edict_test_process::Isolation::BestEffort,
        stop: space.stop.clone(),
        notices: edict_test_model::ports::Notices::default(),
    };
    let failure = edict_test_model::ports::Compiler::build(&compiler, &request()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::CompilerSpawnFailed);
}

fn a_slow_build_times_out() {
    let request = BuildRequest {
        wall_timeout_ms: 100,
        ..request()
    };
    let failure = Space::new("while :; do :; done")
        .build(&request)
        .unwrap_err();
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Build, FailureKind::BuildTimeout)
    );
}

fn a_stop_interrupts_the_build() {
    let space = Space::new("while :; do :; done");
    space.stop.stop(15);
    let failure = space.build(&request()).unwrap_err();
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Interrupt, FailureKind::Interrupted)
    );
    assert_eq!(failure.detail, Some(Detail::Signal("TERM".to_owned())));
}

fn b32_a_background_child_does_not_delay_the_build() {
    let script = format!("(while :; do :; done) &\n{GOOD}");
    Space::new(&script).build(&request()).unwrap();
}

fn a_missing_output_is_named() {
    for name in [
        "core",
        "target-ir",
        "result-projection",
        "executable-operation-package",
    ] {
        let failure = failure(&format!("{GOOD}rm output/{name}.cbor"));
        assert_eq!(failure.kind, FailureKind::BuildOutputMissing);
        assert_eq!(failure.detail, Some(Detail::Name(format!("{name}.cbor"))));
    }
    assert_eq!(
        kind(&format!("{GOOD}rm -r output")),
        FailureKind::BuildOutputMissing
    );
    let elsewhere = format!("{GOOD}mv output moved; ln -s moved output");
    assert_eq!(kind(&elsewhere), FailureKind::BuildOutputMissing);
}

fn an_additional_output_is_named() {
    for name in ["a", "verification-report.cbor", ".hidden"] {
        let failure = failure(&format!("{GOOD}echo > output/{name}"));
        assert_eq!(failure.kind, FailureKind::BuildOutputUnexpected);
        assert_eq!(failure.detail, Some(Detail::Name(name.to_owned())));
    }
}

fn an_output_that_is_no_regular_file_is_unexpected() {
    for make in ["ln -s ../src/m.edict", "mkdir", "mkfifo"] {
        let failure = failure(&format!(
            "{GOOD}rm output/core.cbor; {make} output/core.cbor"
        ));
        assert_eq!(failure.kind, FailureKind::BuildOutputUnexpected, "{make}");
        assert_eq!(failure.detail, Some(Detail::Name("core.cbor".to_owned())));
    }
}

fn an_output_that_is_not_canonical_is_invalid() {
    for bytes in ["", "\\200\\200", "\\030\\001", "\\237\\377"] {
        let failure = failure(&format!("{GOOD}printf '{bytes}' > output/target-ir.cbor"));
        assert_eq!(failure.kind, FailureKind::ArtifactInvalid, "{bytes}");
        assert_eq!(
            failure.detail,
            Some(Detail::Name("target-ir.cbor".to_owned()))
        );
    }
}

fn a_manifest_without_exports_is_invalid() {
    let mut request = request();
    request.files[2] = file("pack/manifest.cbor", b"\xa0");
    let failure = Space::new(GOOD).build(&request).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ArtifactInvalid);
    assert_eq!(
        request.lawpacks[0].manifest,
        Locator::parse("pack/manifest.cbor").unwrap()
    );
}

fn the_byte_limit_holds_for_one_file_and_for_all() {
    let with = |limit, script: &str| {
        let request = BuildRequest {
            artifact_bytes: ByteLimit::new(limit),
            ..request()
        };
        Space::new(script).build(&request)
    };
    with(4, GOOD).unwrap();
    let over = with(3, GOOD).unwrap_err();
    assert_eq!(
        (over.stage, over.kind),
        (Stage::Report, FailureKind::ArtifactBytesExceeded)
    );
    let detail = Detail::Limit {
        limit: 3,
        actual: None,
    };
    assert_eq!(over.detail, Some(detail));
    let large = format!("{GOOD}exec /usr/bin/head -c 5000 /bin/sh > output/core.cbor");
    assert_eq!(
        with(4096, &large).unwrap_err().kind,
        FailureKind::ArtifactBytesExceeded
    );
}

fn upstream_leaves_package_and_report() {
    let lines = "
cat ../provider/manifest.json > /dev/null || exit 9
mkdir output
for name in executable-operation-package verification-report; do printf '\\200' > output/$name.cbor; done
echo '{\"schema\":\"edict.cli.build-result/v1\",\"type\":\"buildResult\"}'
echo '{\"command\":\"build\",\"event\":\"completed\",\"exitCode\":0,\"schema\":\"edict.cli.event/v1\",\"type\":\"event\"}'
";
    let mut request = request();
    request.recipe.shape = Shape::Upstream;
    request.provider_package = Some(crate::support::locator("provider"));
    let provider = [("manifest.json", b"{}".as_slice())];
    let built = Space::new(lines).build_with(&request, &provider).unwrap();
    assert_eq!(
        (built.core, built.target_ir, built.projection),
        (None, None, None)
    );
    assert_eq!(built.package.identity.domain(), "echo.operation-package/v1");
    let report = built.report.unwrap();
    assert_eq!(
        report.identity.domain(),
        "echo.operation-package-verifier-report/v1"
    );
    // A bundled build leaves other files, and the other way round.
    let failure = Space::new(GOOD)
        .build_with(&request, &provider)
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::BuildOutputMissing);
    // What is there already must be the pinned bytes.
    request
        .files
        .push(crate::support::file("provider/manifest.json", b"{ }"));
    let failure = Space::new(lines)
        .build_with(&request, &provider)
        .unwrap_err();
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Toolchain, FailureKind::ProviderPackageMismatch)
    );
}
