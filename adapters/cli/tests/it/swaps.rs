// SPDX-License-Identifier: Apache-2.0
//! Anything in the chain exchanged for something else, one at a time: the refusal names the link that
//! broke, and no host is asked.

use crate::{
    standin::{perl_bytes, refused},
    support::{Space, verdicts},
};
use serde_json::Value;

/// A suite of one case, and the artifacts that a real run left of another program.
fn space() -> (Space, Value) {
    let space = Space::of("tour");
    space.only(&["choose-left", "branch-loud"]);
    let (run, report) = space.run(&["--no-state"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    space.only(&["choose-left"]);
    (space, report)
}

/// Perl that overwrites `$file` in the output directory of the tool, wherever that is.
fn overwrite(file: &str, bytes: &[u8]) -> String {
    format!(
        "\"$real\" \"$@\" || exit $?\nf=$(find . -name {file} -path '*output*')\n\
         perl -e 'open my $f, \">\", $ARGV[0] or die; print $f {};' \"$f\"",
        perl_bytes(bytes).replace('\'', "\"")
    )
}

/// The compiler writes one file of another program.
#[test]
fn bt_006_every_exchanged_build_output_has_its_own_refusal() {
    let rows = [
        ("core", "core.cbor", "CoreMismatch"),
        ("target-ir", "target-ir.cbor", "TargetIrMismatch"),
        (
            "result-projection",
            "result-projection.cbor",
            "ProjectionMismatch",
        ),
    ];
    for (role, file, kind) in rows {
        let (space, report) = space();
        let other = space.artifact(&report, 1, role);
        assert_ne!(other, space.artifact(&report, 0, role));
        space.wrap("compiler", &overwrite(file, &other));
        let (run, report) = space.run(&["--no-state"]);
        refused(&run, &report, &format!("verify/{kind}"));
        assert_eq!(
            verdicts(&report)["choose-left"],
            format!("build_failed/{kind}")
        );
        assert_eq!(
            report["semantic"]["outcome"]["primary"]["caseId"],
            "choose-left"
        );
    }
}

#[test]
fn bt_006_a_package_of_another_program_or_with_a_changed_byte_is_refused() {
    let (space, report) = space();
    let other = space.artifact(&report, 1, "executable-operation-package");
    space.wrap(
        "compiler",
        &overwrite("executable-operation-package.cbor", &other),
    );
    let (run, refusal) = space.run(&["--no-state"]);
    refused(&run, &refusal, "verify/PackageMismatch");
    // The budget raised inside of the package: Core and Target IR still say less.
    let own = space.artifact(&report, 0, "executable-operation-package");
    let mark = b"\x66budget\xa3\x68maxSteps";
    let at = own.windows(mark.len()).position(|it| it == mark).unwrap() + mark.len();
    let mut raised = own;
    assert_eq!(raised[at], 0x1a, "a number of four bytes follows");
    raised[at + 1] ^= 1;
    space.wrap(
        "compiler",
        &overwrite("executable-operation-package.cbor", &raised),
    );
    let (run, refusal) = space.run(&["--no-state"]);
    refused(&run, &refusal, "verify/VerifierRejected");
}

#[test]
fn bt_006_bytes_that_are_no_artifact_are_refused_before_verification() {
    for (bytes, kind) in [
        (b"\xa0\xa0".as_slice(), "ArtifactInvalid"),
        (b"".as_slice(), "ArtifactInvalid"),
    ] {
        let (space, _) = space();
        space.wrap("compiler", &overwrite("core.cbor", bytes));
        let (run, report) = space.run(&["--no-state"]);
        refused(&run, &report, &format!("build/{kind}"));
    }
    let (space, _) = space();
    space.wrap(
        "compiler",
        "\"$real\" \"$@\" || exit $?\nrm output/core.cbor",
    );
    let (run, report) = space.run(&["--no-state"]);
    refused(&run, &report, "build/BuildOutputMissing");
    space.wrap(
        "compiler",
        "\"$real\" \"$@\" || exit $?\n: > output/extra.cbor",
    );
    let (run, report) = space.run(&["--no-state"]);
    refused(&run, &report, "build/BuildOutputUnexpected");
}

#[test]
fn bt_006_a_compiler_that_reads_another_source_breaks_the_closure() {
    let (space, _) = space();
    space.wrap(
        "compiler",
        "read -r line
mkdir copy
for it in ../*; do [ \"$it\" = ../private ] || cp -r \"$it\" copy; done
perl -pi -e 's/== input.right/!= input.right/' copy/src/choose-left.edict
printf '%s\\n' \"$line\" | sed 's,\"\\.\\./,\"copy/,' | \"$real\" \"$@\" || exit $?
mv copy/private/output output",
    );
    space.edit("programs/src/choose-left.edict", "==", "==");
    let (run, report) = space.run(&["--no-state"]);
    refused(&run, &report, "verify/ClosureMismatch");
}

#[test]
fn bt_006_a_lawpack_that_is_not_the_pinned_one_is_refused_by_the_compiler() {
    for file in ["manifest", "exports", "adapter", "configuration"] {
        let (space, _) = space();
        let path = space.path(&format!("programs/vendor/tour-kit/{file}.cbor"));
        let mut bytes = std::fs::read(&path).unwrap();
        // The last byte of each is inside of a text or a digest.
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(path, bytes).unwrap();
        let (run, report) = space.run(&["--no-state"]);
        assert_eq!(run.code, 2, "{file}");
        let verdict = &verdicts(&report)["choose-left"];
        assert!(verdict.starts_with("build_failed/"), "{file}: {verdict}");
        assert_eq!(report["semantic"]["counts"]["executed"], 0);
        assert_eq!(report["evidence"]["cases"], serde_json::json!([]));
    }
}

#[test]
fn bt_006_an_exchanged_report_is_refused_whatever_the_answer_says() {
    let (space, report) = space();
    // The report file of another program, and the answer about the right one.
    let other = space.artifact(&report, 1, "verification-report");
    space.wrap("verifier", &overwrite("verification-report.cbor", &other));
    let (run, refusal) = space.run(&["--no-state"]);
    refused(&run, &refusal, "verify/VerifierProtocol");
    // The answer agrees with the exchanged report: it is a true report of another subject.
    let digest = report["semantic"]["programs"][1]["verification"]["report"]["bytes"]
        .as_str()
        .unwrap();
    let lines = format!(
        "{}\n",
        overwrite("verification-report.cbor", &other).replace(
            "\"$real\" \"$@\" || exit $?",
            &format!(
                "answer=$(\"$real\" \"$@\") || exit $?\nprintf '%s\\n' \"$answer\" | \
                 perl -pe 's/\"bytes\":\"[0-9a-f]+\"/\"bytes\":\"{digest}\"/'"
            )
        )
    );
    space.wrap("verifier", &lines);
    let (run, refusal) = space.run(&["--no-state"]);
    refused(&run, &refusal, "verify/VerificationReportMismatch");
}

#[test]
fn bt_006_a_verifier_that_rejects_or_does_not_judge_is_no_verification() {
    let rows = [
        ("exit 3", "VerifierProtocol"),
        ("\"$real\" \"$@\" >/dev/null", "VerifierProtocol"),
        (
            "\"$real\" \"$@\" || exit $?\nrm output/verification-report.cbor",
            "VerificationReportMissing",
        ),
        ("kill -9 $$", "VerifierCrashed"),
        ("\"$real\" \"$@\"; exit 1", "VerifierProtocol"),
    ];
    for (lines, kind) in rows {
        let (space, _) = space();
        space.wrap("verifier", lines);
        let (run, report) = space.run(&["--no-state"]);
        refused(&run, &report, &format!("verify/{kind}"));
    }
}

#[test]
fn bt_006_compilers_that_break_the_protocol_are_no_refusals() {
    let rows = [
        ("kill -9 $$", "CompilerCrashed"),
        ("echo not json; exit 0", "CompilerProtocol"),
        ("\"$real\" \"$@\"; exit 1", "CompilerProtocol"),
        ("exit 0", "CompilerProtocol"),
    ];
    for (lines, kind) in rows {
        let (space, _) = space();
        space.wrap("compiler", lines);
        let (run, report) = space.run(&["--no-state"]);
        refused(&run, &report, &format!("build/{kind}"));
    }
}

#[test]
fn bt_006_a_changed_input_byte_is_another_case_and_another_execution() {
    let (space, before) = space();
    let path = space.path("fixtures/choose-left.input.bin");
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let (run, after) = space.run(&["--no-state"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let case = |report: &Value, name: &str| report["semantic"]["cases"][0][name].clone();
    for name in ["case", "input"] {
        assert_ne!(case(&before, name), case(&after, name), "{name}");
    }
    assert_eq!(case(&after, "verdict"), "assertion_failed");
    // Bytes that are no canonical value never reach an execution.
    for spoiled in [
        b"".as_slice(),
        b"\xa0",
        b"\xa2\x61a\x01\x61a\x01",
        b"\x9f\xff",
    ] {
        std::fs::write(&path, spoiled).unwrap();
        let (run, report) = space.run(&["--no-state"]);
        assert_eq!(
            verdicts(&report)["choose-left"],
            "runtime_failed/InputRefused"
        );
        assert_eq!(run.code, 2);
        assert_eq!(report["semantic"]["cases"][0]["executed"], false);
    }
}

#[test]
fn bt_006_an_exchanged_source_is_another_program_and_never_a_reused_one() {
    let (space, _) = space();
    let (run, _) = space.run(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let branch = std::fs::read(space.path("programs/src/branch.edict")).unwrap();
    std::fs::write(space.path("programs/src/choose-left.edict"), branch).unwrap();
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, 2);
    assert_eq!(
        verdicts(&report)["choose-left"],
        "build_failed/CompilerRefused"
    );
    let primary = run
        .records()
        .into_iter()
        .find(|it| it["primary"] == true)
        .unwrap();
    assert_eq!(
        primary["detail"]["failureKind"],
        "ApplicationCoordinateMismatch"
    );
}
