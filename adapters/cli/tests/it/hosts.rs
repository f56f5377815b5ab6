// SPDX-License-Identifier: Apache-2.0
//! Hosts that lie: they answer for the real host and change one thing. Nothing of that is evidence.

use crate::support::Space;
use serde_json::Value;

/// Replies pass unchanged.
const ASK: &str = "relay(sub { my ($kind, $n, $sequence, $body, $bytes) = @_;";
/// Requests pass unchanged.
const BEND: &str = "relay(\\&unchanged, sub { my ($kind, $n, $sequence, $body, $bytes) = @_;
return $bytes unless $kind == 0x8005;";

/// Runs one case of a suite on a relay; gives the verdict, stage and kind of the case, and the run
/// must have bailed out with that kind and without a point of it.
fn lie(suite: &str, case: &str, lines: &str) -> String {
    let space = Space::of(suite);
    space.only(&[case]);
    space.relay(lines);
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    let case = &report["semantic"]["cases"][0];
    let word = |name: &str| case[name].as_str().unwrap_or("-");
    let primary = format!("{}/{}", word("stage"), word("kind"));
    assert_eq!(
        run.primary().as_deref(),
        Some(primary.as_str()),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.starts_with(&format!(
            "TAP version 14\n1..1\nBail out! {}: ",
            word("kind")
        )),
        "{}",
        run.stdout
    );
    assert_eq!(report["complete"], false);
    assert_eq!(report["semantic"]["counts"]["passed"], 0);
    // The report of a rejected lie is sound, and incomplete: read back, it says so of itself.
    let verified = space.edict_test(&["report", "verify", "run.json"]);
    assert_eq!(verified.code, 2, "{}", verified.stdout);
    assert_eq!(case["assertions"], Value::Null);
    format!("{} {primary}", word("verdict"))
}

/// A relay that bends the outcome with these lines; they have `$m`, the parsed body.
fn bent(lines: &str) -> String {
    format!(
        "{BEND}\nmy $m = parse($body);\n{lines}\nreturn frame($kind, $sequence, encode($m)); }});"
    )
}

/// A relay that rewrites record, result and receipt, all digests made right again.
fn rewritten(record: &str, result: &str, receipt: &str) -> String {
    format!(
        "{BEND}\nreturn frame($kind, $sequence, rewrite($body, {record}, {result}, {receipt})); }});"
    )
}

#[test]
fn a_relay_that_changes_nothing_is_a_host_like_any_other() {
    let space = Space::of("tour");
    let (straight, wanted) = space.run(&["--no-state"]);
    space.relay("relay(\\&unchanged, \\&unchanged);");
    let (run, report) = space.run(&["--no-state"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout, straight.stdout);
    assert_eq!(report["semantic"]["cases"], wanted["semantic"]["cases"]);
    // A rewriting that changes nothing neither: what the other tests bend is the only difference.
    space.relay(&rewritten("\\&none", "\\&same", "\\&none"));
    space.only(&["choose-left", "branch-loud"]);
    let (run, _) = space.run(&["--no-state"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn bt_010_a_canned_result_is_no_result_of_this_execution() {
    // A passing value in place of the failing one that the record binds.
    let canned = bent(
        "my $passing = member($m, 'body')->[1][1] =~ s/status\\x01/status\\x00/r;
member($m, 'body')->[1] = [bytes => $passing];",
    );
    assert_eq!(
        lie("failing", "assertion-fails", &canned),
        "invalid_evidence evidence/ResultBindingMismatch"
    );
    // The record is changed as well, but the receipt still names the one that was executed.
    let stale = bent(
        "my $old = member($m, 'receipt')->[1];
$m = parse(rewrite($body, \\&none, sub { $_[0] =~ s/status\\x01/status\\x00/r }, \\&none));
member($m, 'receipt')->[1] = $old;",
    );
    assert_eq!(
        lie("failing", "assertion-fails", &stale),
        "invalid_evidence evidence/SemanticDigestMismatch"
    );
    // Bytes that are no canonical value of the declared type.
    let loose = rewritten("\\&none", "sub { $_[0] . \"\\0\" }", "\\&none");
    assert_eq!(
        lie("tour", "choose-left", &loose),
        "invalid_evidence evidence/ResultBindingMismatch"
    );
}

#[test]
fn bt_010_evidence_of_another_context_is_foreign() {
    let nonce = format!(
        "{ASK} return $bytes unless $kind == 4; my $m = parse($body);
member($m, 'nonce')->[1] = [bytes => \"\\7\" x 32]; return frame($kind, $sequence, encode($m)); }}, \\&unchanged);"
    );
    assert_eq!(
        lie("tour", "choose-left", &nonce),
        "invalid_evidence evidence/ForeignContext"
    );
    let receipt = rewritten(
        "\\&none",
        "\\&same",
        "sub { member($_[0], 'nonce')->[1] = [bytes => \"\\7\" x 32] }",
    );
    assert_eq!(
        lie("tour", "choose-left", &receipt),
        "invalid_evidence evidence/ForeignContext"
    );
}

#[test]
fn bt_010_every_link_of_record_and_receipt_is_checked() {
    let zeros = "[bytes => \"\\0\" x 32]";
    let text = |member: &str, value: &str| {
        let set = format!("sub {{ member($_[0], '{member}')->[1] = {value} }}");
        rewritten(&set, "\\&same", "\\&none")
    };
    let receipt = |member: &str, value: &str| {
        let set = format!("sub {{ member($_[0], '{member}')->[1] = {value} }}");
        rewritten("\\&none", "\\&same", &set)
    };
    let rows = [
        (receipt("invocation", zeros), "ForeignInvocation"),
        (
            receipt("request", "typed('echo/invocation/v1', 'x')"),
            "ForeignInvocation",
        ),
        (
            receipt("build", "typed('echo/host-build/v1', 'x')"),
            "HostBuildMismatch",
        ),
        (receipt("ordinal", "[unsigned => 1]"), "ReplayedContext"),
        (
            receipt("previous", "typed('echo/receipt/v1', 'x')"),
            "ReplayedContext",
        ),
        (
            receipt("abi", "[text => 'echo.receipt/v2']"),
            "EvidenceVersionUnsupported",
        ),
        (
            text("input", "typed('echo/input/v1', 'x')"),
            "InputMismatch",
        ),
        (
            text("installation", "typed('echo/installation/v1', 'x')"),
            "SubjectMismatch",
        ),
        (
            text("operation", "[text => 'tour.choose@1.other']"),
            "SubjectMismatch",
        ),
        (
            rewritten(
                "sub { member(member($_[0], 'budget')->[1], 'maxSteps')->[1] = [unsigned => 65537] }",
                "\\&same",
                "\\&none",
            ),
            "BudgetMismatch",
        ),
        (
            rewritten(
                "sub { member(member($_[0], 'consumed')->[1], 'steps')->[1] = [unsigned => 65537] }",
                "\\&same",
                "\\&none",
            ),
            "BudgetMismatch",
        ),
        (
            rewritten("sub { pop @{ $_[0][1] } }", "\\&same", "\\&none"),
            "EvidenceMalformed",
        ),
        (
            bent("member($m, 'recalled')->[1] = [simple => 21];"),
            "ReplayedContext",
        ),
    ];
    for (lines, kind) in rows {
        assert_eq!(
            lie("tour", "choose-left", &lines),
            format!("invalid_evidence evidence/{kind}"),
            "{lines}"
        );
    }
}

#[test]
fn bt_010_a_stale_basis_or_another_settlement_is_refused() {
    let tick = "sub { member(member($_[0], 'before')->[1], 'tick')->[1] = [unsigned => 7] }";
    assert_eq!(
        lie("tour", "create", &rewritten(tick, "\\&same", "\\&none")),
        "invalid_evidence evidence/BasisMismatch"
    );
    let root = "sub { member(member($_[0], 'after')->[1], 'stateRoot')->[1] = typed('echo/state-root/v1', 'x') }";
    assert_eq!(
        lie("tour", "create", &rewritten(root, "\\&same", "\\&none")),
        "invalid_evidence evidence/SettlementMismatch"
    );
    let footprint = "sub { member($_[0], 'declaredFootprint')->[1] = typed('echo/footprint-declared/v1', 'x') }";
    assert_eq!(
        lie(
            "tour",
            "create",
            &rewritten(footprint, "\\&same", "\\&none")
        ),
        "invalid_evidence evidence/FootprintMismatch"
    );
}

#[test]
fn bt_010_terminal_outcomes_come_exactly_once() {
    let twice = format!("{BEND} return $bytes . $bytes; }});");
    assert_eq!(
        lie("tour", "choose-left", &twice),
        "invalid_evidence execute/OutcomeDuplicate"
    );
    let unknown = bent("member($m, 'invocation')->[1] = [bytes => \"\\0\" x 32];");
    assert_eq!(
        lie("tour", "choose-left", &unknown),
        "invalid_evidence execute/OutcomeUnknown"
    );
}

#[test]
fn bt_010_an_outcome_of_an_earlier_case_is_not_taken_for_the_next() {
    let space = Space::of("tour");
    space.only(&["branch-loud", "branch-quiet"]);
    space.relay(&format!(
        "my $recorded;
{BEND} $recorded //= $body; return frame($kind, $sequence, $recorded); }});"
    ));
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, 2);
    let cases = &report["semantic"]["cases"];
    assert_eq!(cases[0]["verdict"], "passed");
    assert_eq!(cases[1]["verdict"], "invalid_evidence");
    assert_eq!(cases[1]["execution"], Value::Null);
    assert_eq!(
        run.primary().as_deref(),
        Some("execute/OutcomeLate"),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout
            .starts_with("TAP version 14\n1..2\nok 1 - the loud branch\nBail out! ")
    );
}

#[test]
fn bt_010_equal_executions_are_equal_and_still_not_exchangeable() {
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    space.manifest(|manifest| {
        let mut again = manifest["cases"][0].clone();
        again["id"] = "again".into();
        manifest["cases"].as_array_mut().unwrap().push(again);
    });
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let cases = &report["semantic"]["cases"];
    assert_eq!(cases[0]["execution"], cases[1]["execution"]);
    let evidence = &report["evidence"]["cases"];
    assert_eq!(
        evidence[0]["operations"][0]["record"],
        evidence[1]["operations"][0]["record"]
    );
    assert_ne!(
        evidence[0]["operations"][0]["receipt"],
        evidence[1]["operations"][0]["receipt"]
    );
}
