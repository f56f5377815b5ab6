// SPDX-License-Identifier: Apache-2.0
//! Exports of the golden report, as it is and with hostile texts in it.

use edict_codec::json::{JsonLimits, Node, parse};
use edict_test_model::{
    FailureKind, Stage, Verdict,
    report::{BodyBytes, ReadReport, ReportDocument},
    run::{CaseEnding, Class, Counts, ExitCode, Primary},
};
use edict_test_reporters::export::{Format, Why, agrees, export, page};
use expect_test::expect;
use std::{collections::BTreeMap, io::Write as _, process::Stdio};

const STREAM: &str = include_str!("../../../testdata/golden-report/stdout.tap");

fn golden() -> ReadReport {
    let bytes = include_bytes!("../../../testdata/golden-report/report.json");
    let document = ReportDocument::parse(bytes).unwrap();
    document.read(&BodyBytes::new()).unwrap()
}

const HOSTILE: &str = "a\u{1b}[31m\u{0}b\u{fffe} ]]> <script>alert(1)</script> & \"q\" 'r'\r\n\
    ::error::x 100% | `c` *d* @e \u{202e}f\u{2028}g\tend {";

fn ending(verdict: Verdict, stage: Stage, kind: FailureKind) -> CaseEnding {
    CaseEnding {
        verdict,
        stage,
        kind,
        detail: None,
    }
}

/// One failed, one errored, one not reached and one skipped case, with hostile texts everywhere.
fn hostile() -> ReadReport {
    let mut report = golden();
    report.complete = false;
    let cases = &mut report.semantic.cases;
    for case in cases.iter_mut() {
        HOSTILE.clone_into(&mut case.label);
    }
    let (verdict, kind) = (Verdict::AssertionFailed, FailureKind::AssertionFailed);
    cases[0].ending = Some(ending(verdict, Stage::Compare, kind));
    HOSTILE.clone_into(&mut cases[0].result.as_mut().unwrap().message);
    let (verdict, kind) = (Verdict::RuntimeFailed, FailureKind::HostLost);
    cases[1].ending = Some(ending(verdict, Stage::Host, kind));
    cases[2].ending = None;
    cases[2].result = None;
    HOSTILE.clone_into(&mut cases[3].skip.as_mut().unwrap().reason);
    let summary = &mut report.semantic.summary;
    summary.counts = Counts::of(cases);
    summary.outcome.class = Class::Infrastructure;
    summary.outcome.exit_code = ExitCode::Unfaithful;
    summary.outcome.primary = Some(Primary {
        stage: Stage::Host,
        kind,
        case: Some(cases[1].id.clone()),
    });
    report
}

/// What an independent reader makes of a document.
#[expect(
    clippy::disallowed_types,
    reason = "an independent reader is another program"
)]
fn python(program: &str, input: &str) -> String {
    let mut child = std::process::Command::new("python3")
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{input}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_exported_tap_is_what_the_run_printed() {
    let report = golden();
    assert_eq!(export(&report, Format::Tap), STREAM);
    assert_eq!(agrees(&report, STREAM.as_bytes()), Ok(()));
    for position in 0..STREAM.len() {
        let mut other = STREAM.as_bytes().to_vec();
        other[position] ^= 1;
        assert!(agrees(&report, &other).is_err(), "byte {position}");
        assert!(
            agrees(&report, &STREAM.as_bytes()[..position]).is_err(),
            "cut at {position}"
        );
    }
}

#[test]
fn a_bail_out_agrees_by_its_kind() {
    let report = hostile();
    let stream = export(&report, Format::Tap);
    assert!(
        stream.ends_with("Bail out! HostLost: the run was not faithful\n"),
        "{stream}"
    );
    assert_eq!(stream.lines().count(), 4, "{stream}");
    let other = stream.replace("the run was not faithful", "the host is gone");
    assert_eq!(agrees(&report, other.as_bytes()), Ok(()));
    let other = stream.replace("HostLost", "HostFault");
    assert!(agrees(&report, other.as_bytes()).is_err());
}

#[test]
fn junit_is_xml_whatever_a_label_holds() {
    let counts = "
import sys, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
for suite in root.iter('testsuite'):
    print({name: suite.get(name) for name in ('tests', 'failures', 'errors', 'skipped')})
for case in root.iter('testcase'):
    ends = [(end.tag, end.get('type'), end.get('message')) for end in case][1:]
    print(case.get('name'), ends)
";
    expect![[r"
        {'tests': '4', 'failures': '0', 'errors': '0', 'skipped': '1'}
        pick []
        deny []
        bump []
        later [('skipped', None, 'why # TODO (tracking: EX-7)')]
    "]]
    .assert_eq(&python(counts, &export(&golden(), Format::Junit)));
    expect![[r#"
        {'tests': '4', 'failures': '1', 'errors': '2', 'skipped': '1'}
        pick [('failure', 'AssertionFailed', 'a�[31m�b� ]]> <script>alert(1)</script> & "q" \'r\'\r\n::error::x 100% | `c` *d* @e \u202ef\u2028g\tend {')]
        deny [('error', 'HostLost', '')]
        bump [('error', 'NotRun', 'the run ended before this case')]
        later [('skipped', None, 'a�[31m�b� ]]> <script>alert(1)</script> & "q" \'r\'\r\n::error::x 100% | `c` *d* @e \u202ef\u2028g\tend { (tracking: EX-7)')]
    "#]]
    .assert_eq(&python(counts, &export(&hostile(), Format::Junit)));
}

#[test]
fn workflow_commands_hold_no_second_command() {
    expect![[r"
        ::notice title=later Skipped::skipped: later: why # TODO (tracking: EX-7)
        ::notice title=edict-test demo.golden::passed: 3 passed, 1 skipped
    "]]
    .assert_eq(&export(&golden(), Format::Github));
    let text = export(&hostile(), Format::Github);
    let heads: Vec<&str> = text
        .lines()
        .map(|line| &line[..line.find(" title").unwrap()])
        .collect();
    assert_eq!(
        heads,
        ["::error", "::error", "::error", "::notice", "::error"]
    );
    assert!(text.contains("100%25") && !text.contains('\r') && !text.contains('\u{1b}'));
}

#[test]
fn markdown_keeps_its_table_whatever_a_label_holds() {
    expect![[r"
        # demo.golden

        **passed**: 3 passed, 1 skipped

        | # | case | label | verdict | kind | message |
        |---:|---|---|---|---|---|
        | 1 | pick | pick | passed | Passed |  |
        | 2 | deny | denies a value out of range | passed | Passed |  |
        | 3 | bump | bump | passed | Passed | counted |
        | 4 | later | later | skipped | Skipped | why \# TODO (tracking\: EX-7) |

        Semantic digest: `edict.test/run-semantic/v1:blake3:e93090179c9e67d4843635f3de86f9effbd1d8a4c89905f78916465f95bbb62b`
    "]]
    .assert_eq(&export(&golden(), Format::Markdown));
    let text = export(&hostile(), Format::Markdown);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(rows.len(), 5);
    for row in rows {
        let bars = row.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 7, "{row}");
        assert!(!row.contains("<script"), "{row}");
    }
}

#[test]
fn the_page_has_no_script_and_no_markup_of_a_label() {
    let tags = "
import sys, html.parser
class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.open, self.text = set(), [], ''
    def handle_starttag(self, tag, attributes):
        self.seen.add((tag,) + tuple(name for name, _ in attributes))
        if tag not in ('meta',): self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        self.text += data
reader = Reader()
reader.feed(sys.stdin.read())
assert reader.open == [], reader.open
for tag in sorted(reader.seen): print(*tag)
print(reader.text.count('<script>alert(1)</script>'))
";
    expect![[r"
        bdi
        body
        code
        dd
        details class
        details class open
        dl
        dt
        footer
        h1
        h2
        head
        header
        html lang
        main
        meta charset
        meta http-equiv content
        meta name content
        p
        small
        span class
        strong class
        style
        summary
        table
        td
        th
        title
        tr
        6
    "]]
    .assert_eq(&python(tags, &export(&hostile(), Format::Html)));
}

#[test]
fn the_statement_names_what_was_executed_and_how_it_ended() {
    let parsed = |report: &ReadReport| {
        let text = export(report, Format::InToto);
        parse(text.as_bytes(), JsonLimits::document(1 << 20)).unwrap()
    };
    let at = |node: &Node, path: &[&str]| {
        path.iter()
            .fold(node.clone(), |node, name| node.get(name).unwrap().clone())
    };
    let names = |node: &Node| -> Vec<String> {
        let items = node.as_array().unwrap().iter();
        items
            .map(|it| {
                it.as_text()
                    .map_or_else(|| at(it, &["name"]), |_| it.clone())
            })
            .map(|it| it.as_text().unwrap().to_owned())
            .collect()
    };
    let passed = parsed(&golden());
    assert_eq!(
        at(&passed, &["predicate", "result"]).as_text(),
        Some("PASSED")
    );
    assert_eq!(
        names(&at(&passed, &["subject"])),
        ["demo.choose@1", "demo.bump@1"]
    );
    assert_eq!(
        names(&at(&passed, &["predicate", "passedTests"])),
        ["pick", "deny", "bump"]
    );
    assert_eq!(
        names(&at(&passed, &["predicate", "warnedTests"])),
        ["later"]
    );
    assert_eq!(
        at(&passed, &["predicate", "configuration"])
            .as_array()
            .unwrap()
            .len(),
        15
    );
    let failed = parsed(&hostile());
    assert_eq!(
        at(&failed, &["predicate", "result"]).as_text(),
        Some("FAILED")
    );
    assert_eq!(
        names(&at(&failed, &["predicate", "failedTests"])),
        ["pick", "deny", "bump"]
    );
}

#[test]
fn a_page_says_why_for_each_case_that_has_an_explanation_and_escapes_it() {
    let report = golden();
    let (first, second) = (&report.semantic.cases[0].id, &report.semantic.cases[1].id);
    let why = |causes: &str, text: &str, changed| Why {
        causes: causes.to_owned(),
        text: text.to_owned(),
        changed,
    };
    let hostile = format!("first line\n{HOSTILE}\n");
    let whys = BTreeMap::from([
        (first.clone(), why("source.semantic", &hostile, true)),
        (second.clone(), why("none", "nothing", false)),
    ]);
    let text = page(&report, &whys);
    assert_eq!(text.matches("<details class=\"why\" open>").count(), 1);
    assert_eq!(text.matches("<details class=\"why\">").count(), 1);
    assert!(text.contains("<summary>why: <bdi>source.semantic</bdi></summary>\n<pre><bdi>first line</bdi>\n<bdi>a&lt;U+001B&gt;[31m"), "{text}");
    assert!(!text.contains("<script"), "{text}");
    // Without an explanation the page is the exported one.
    assert_eq!(
        page(&report, &BTreeMap::new()),
        export(&report, Format::Html)
    );
    assert!(!export(&report, Format::Html).contains("class=\"why\""));
}
