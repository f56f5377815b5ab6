// SPDX-License-Identifier: Apache-2.0
//! Reports of real runs read back by the command line: judged, compared, exported, and spoiled.

use crate::{
    project::{SUITE, project},
    support::{Run, Space, root},
    why::break_source,
};
use edict_codec::{digest::sha256, hex};
use serde_json::Value;
use std::{fs, path::PathBuf};

const MANIFEST: &str = "suite/edict.test-suite.json";

/// A suite that was run: `run.json` with its bodies, and `out.tap`, its standard output.
fn ran(name: &str, code: i32) -> (Space, Value) {
    let space = Space::of(name);
    let (run, report) = space.run(&["--no-state"]);
    assert_eq!(run.code, code, "{}", run.stderr);
    fs::write(at(&space, "out.tap"), &run.stdout).unwrap();
    (space, report)
}

fn at(space: &Space, name: &str) -> PathBuf {
    space.directory.path().join(name)
}

fn verify(space: &Space, more: &[&str]) -> Run {
    space.edict_test(&[&["report", "verify", "run.json"], more].concat())
}

/// The lines of a verification that neither passed nor were recorded.
fn open_lines(run: &Run) -> Vec<String> {
    let settled = |line: &&str| line.starts_with("passed ") || line.starts_with("recorded ");
    run.stdout
        .lines()
        .filter(|line| !settled(line))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_fresh_report_of_the_tour_holds_alone_and_beside_suite_and_stream() {
    let (space, report) = ran("tour", 0);
    let beside = ["--suite", MANIFEST, "--tap", "out.tap", "--require-green"];
    for more in [&[][..], &["--require-green"], &beside] {
        let run = verify(&space, more);
        assert_eq!(open_lines(&run), Vec::<String>::new());
        assert_eq!(run.code, 0, "{}", run.stderr);
        let operations: usize = report["evidence"]["cases"]
            .as_array()
            .unwrap()
            .iter()
            .map(|case| case["operations"].as_array().unwrap().len())
            .sum();
        let recorded = run
            .stdout
            .lines()
            .filter(|line| line.starts_with("recorded "));
        assert_eq!(recorded.count(), operations);
    }
    let run = verify(&space, &["--json", "--suite", MANIFEST]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["green"], true);
    assert_eq!(answer["complete"], true);
    let results = answer["checks"].as_array().unwrap().iter();
    assert!(
        results
            .map(|it| &it["result"])
            .all(|it| it == "passed" || it == "recorded")
    );
}

#[test]
fn sound_reports_of_other_classes_hold_and_are_not_green() {
    for (name, code) in [("failing", 1), ("broken", 2)] {
        let (space, _) = ran(name, code);
        for more in [&[][..], &["--suite", MANIFEST, "--tap", "out.tap"]] {
            let run = verify(&space, more);
            assert_eq!(open_lines(&run), Vec::<String>::new(), "{name}");
            assert_eq!(run.code, 0, "{name}");
            assert_eq!(
                verify(&space, &[more, &["--require-green"]].concat()).code,
                1,
                "{name}"
            );
        }
        let tap = space.edict_test(&["report", "export", "run.json", "--to", "tap"]);
        assert_eq!(
            tap.stdout,
            fs::read_to_string(at(&space, "out.tap")).unwrap()
        );
    }
}

#[test]
fn an_incomplete_report_is_never_green() {
    let space = Space::of("tour");
    space.edit(
        "edict.test-toolchain-lock.json",
        "\"byteLength\": ",
        "\"byteLength\": 1",
    );
    let (run, report) = space.run(&["--no-state"]);
    assert_eq!(run.code, 2);
    assert_eq!(report["complete"], false);
    for more in [&[][..], &["--require-green"]] {
        let run = verify(&space, more);
        assert_eq!(run.code, 2, "{}", run.stdout);
        assert!(open_lines(&run)[0].starts_with("notMade report complete: incomplete"));
    }
    let page = space.edict_test(&["report", "export", "run.json", "--to", "html"]);
    assert_eq!(page.code, 0, "{}", page.stderr);
    assert!(page.stdout.contains("infrastructure"));
}

#[test]
fn of_a_killed_run_only_a_journal_is_left_and_it_is_incomplete() {
    let space = Space::of("tour");
    let (run, _) = space.run(&["--no-state", "--keep-journal"]);
    assert_eq!(run.code, 0);
    fs::remove_file(at(&space, "run.json")).unwrap();
    let journal = fs::read(at(&space, "run.json.journal")).unwrap();
    let lines: Vec<&[u8]> = journal.split_inclusive(|byte| *byte == b'\n').collect();
    for kept in [0, 1, lines.len() / 2, lines.len()] {
        let mut bytes = lines[..kept].concat();
        for torn in [false, true] {
            if torn {
                bytes.extend_from_slice(b"{\"seq\":");
            }
            fs::write(at(&space, "run.json.journal"), &bytes).unwrap();
            for more in [&[][..], &["--require-green"], &["--json"]] {
                let run = verify(&space, more);
                assert_eq!(run.code, 2, "{kept}");
                assert!(run.stdout.contains("incomplete"), "{kept}: {}", run.stdout);
            }
        }
    }
    let export = space.edict_test(&["report", "export", "run.json", "--to", "tap"]);
    assert_eq!((export.code, export.stdout.as_str()), (2, ""));
    fs::remove_file(at(&space, "run.json.journal")).unwrap();
    assert_eq!(verify(&space, &[]).code, 2);
}

#[test]
fn what_is_spoiled_on_disk_is_found() {
    let (space, report) = ran("failing", 1);
    let entry = &report["evidence"]["bodies"][0];
    let body = at(&space, "run.json.artifacts").join(entry["path"].as_str().unwrap());
    let right = fs::read(&body).unwrap();
    let mut other = right.clone();
    other[0] ^= 1;
    for bytes in [&other[..], &right[1..], &[&right[..], b"x"].concat(), b""] {
        fs::remove_file(&body).unwrap();
        fs::write(&body, bytes).unwrap();
        let run = verify(&space, &[]);
        assert_eq!(run.code, 1, "{}", run.stdout);
        assert!(
            open_lines(&run)[0].starts_with("failed report bodies: "),
            "{}",
            run.stdout
        );
        let export = space.edict_test(&["report", "export", "run.json", "--to", "junit"]);
        assert_eq!((export.code, export.stdout.as_str()), (2, ""));
    }
    fs::remove_file(&body).unwrap();
    assert_eq!(verify(&space, &[]).code, 2);
    fs::write(&body, right).unwrap();
    assert_eq!(verify(&space, &[]).code, 0);

    let elsewhere = verify(&space, &["--artifact-store", "nowhere"]);
    assert_eq!(elsewhere.code, 2);
    fs::rename(at(&space, "run.json.artifacts"), at(&space, "kept")).unwrap();
    assert_eq!(verify(&space, &["--artifact-store", "kept"]).code, 0);
    assert_eq!(verify(&space, &[]).code, 2);
}

#[test]
fn a_report_beside_another_suite_or_stream_is_unsound() {
    let (space, _) = ran("failing", 1);
    let stream = fs::read_to_string(at(&space, "out.tap")).unwrap();
    fs::write(at(&space, "out.tap"), stream.replacen("not ok", "ok", 1)).unwrap();
    let run = verify(&space, &["--tap", "out.tap"]);
    assert_eq!(run.code, 1);
    assert!(
        open_lines(&run)[0].starts_with("failed report tap: line "),
        "{}",
        run.stdout
    );

    space.edit("edict.test-suite.json", "\"cases\"", " \"cases\"");
    let run = verify(&space, &["--suite", MANIFEST]);
    assert_eq!(run.code, 1);
    assert!(open_lines(&run)[0].starts_with("failed suite documents: the manifest is "));
    let golden = root().join("testdata/golden-report/suite/edict.test-suite.json");
    assert_eq!(
        verify(&space, &["--suite", golden.to_str().unwrap()]).code,
        1
    );
    assert_eq!(verify(&space, &["--suite", "suite/nothing.json"]).code, 2);
}

#[test]
fn what_is_no_report_is_refused_with_its_place() {
    let (space, _) = ran("failing", 1);
    let text = fs::read_to_string(at(&space, "run.json")).unwrap();
    for (bytes, kind) in [
        (String::new(), "EmptyDocument"),
        ("{}".to_owned(), "MissingField"),
        (
            text.replacen("edict.test.run/v1", "edict.test.run/v2", 1),
            "UnsupportedSchema",
        ),
        (
            text.replacen("\"complete\"", "\"finished\"", 1),
            "UnknownField",
        ),
        (
            text.replacen("\"complete\": true", "\"complete\": 1", 1),
            "WrongType",
        ),
        (text[..text.len() / 2].to_owned(), "UnexpectedEnd"),
    ] {
        fs::write(at(&space, "run.json"), bytes).unwrap();
        for action in [
            &["verify", "run.json"][..],
            &["diff", "run.json", "run.json"],
        ] {
            let run = space.edict_test(&[&["report"], action].concat());
            assert_eq!((run.code, run.stdout.as_str()), (2, ""));
            assert_eq!(
                run.primary(),
                Some(format!("report/{kind}")),
                "{}",
                run.stderr
            );
        }
    }
}

#[test]
fn two_runs_of_one_suite_are_equal_and_an_edit_is_named_first() {
    let space = Space::of("tour");
    space.run(&["--no-state"]);
    fs::rename(at(&space, "run.json"), at(&space, "first.json")).unwrap();
    space.run(&["--no-state"]);
    let compare = |more: &[&str]| {
        space.edict_test(&[&["report", "diff", "first.json", "run.json"], more].concat())
    };
    let same = compare(&[]);
    assert_eq!(same.code, 0, "{}", same.stdout);
    assert!(
        same.stdout.starts_with("equal semantics\nsuite: same\n"),
        "{}",
        same.stdout
    );

    let suite: Value =
        serde_json::from_slice(&fs::read(space.path("edict.test-suite.json")).unwrap()).unwrap();
    let case = &suite["cases"][0];
    let document = case["application"].as_str().unwrap();
    let application: Value =
        serde_json::from_slice(&fs::read(space.path(document)).unwrap()).unwrap();
    let source = PathBuf::from(document)
        .parent()
        .unwrap()
        .join(application["sources"][0].as_str().unwrap());
    let source = source.to_str().unwrap();
    let text = fs::read_to_string(space.path(source)).unwrap();
    fs::write(space.path(source), format!("{text}\n")).unwrap();
    let (run, _) = space.run(&["--no-state"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let other = compare(&[]);
    assert_eq!(other.code, 1);
    let id = case["id"].as_str().unwrap();
    let line = format!("case {id}: first `source`, ");
    assert!(other.stdout.contains(&line), "{}", other.stdout);
    let answer: Value = serde_json::from_str(&compare(&["--json"]).stdout).unwrap();
    assert_eq!(answer["equal"], false);
    assert_eq!(answer["cases"][0]["first"], "source");

    let golden = root().join("testdata/golden-report/report.json");
    let foreign = space.edict_test(&["report", "diff", "run.json", golden.to_str().unwrap()]);
    assert_eq!((foreign.code, foreign.stdout.as_str()), (2, ""));
    assert!(
        foreign.stderr.contains("of two suites"),
        "{}",
        foreign.stderr
    );
}

#[test]
fn an_export_is_written_once_and_names_the_packages_that_ran() {
    let (space, report) = ran("tour", 0);
    let export = |to: &str, out: &str| {
        space.edict_test(&["report", "export", "run.json", "--to", to, "--out", out])
    };
    for format in ["tap", "junit", "markdown", "github", "html", "in-toto"] {
        let run = export(format, format);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
        assert!(fs::metadata(at(&space, format)).unwrap().len() > 100);
        let printed = space.edict_test(&["report", "export", "run.json", "--to", format]);
        assert_eq!(
            printed.stdout,
            fs::read_to_string(at(&space, format)).unwrap()
        );
    }
    assert_eq!(export("tap", "junit").code, 2);
    let statement: Value =
        serde_json::from_slice(&fs::read(at(&space, "in-toto")).unwrap()).unwrap();
    let programs = report["semantic"]["programs"].as_array().unwrap();
    let subjects = statement["subject"].as_array().unwrap();
    assert_eq!(subjects.len(), programs.len());
    for (index, subject) in subjects.iter().enumerate() {
        let package = space.artifact(&report, index, "executable-operation-package");
        assert_eq!(subject["digest"]["sha256"], hex::encode(&sha256(&package)));
        assert_eq!(subject["name"], programs[index]["coordinate"]);
    }
}

#[test]
fn a_page_against_an_earlier_report_says_why() {
    let space = project();
    let report = |name: &str, code| {
        let run = space.edict_test(&["--suite", SUITE, "--report-json", name]);
        assert_eq!(run.code, code, "{}", run.stderr);
    };
    report("before.json", 0);
    break_source(&space);
    report("after.json", 1);
    let export = |more: &[&str]| {
        space.edict_test(&[&["report", "export", "after.json", "--to"], more].concat())
    };
    let page = export(&["html", "--against", "before.json"]);
    assert_eq!(page.code, 0, "{}", page.stderr);
    let told = [
        "<summary>why: <bdi>source.semantic</bdi></summary>",
        "adds-up: passed -&gt; assertion_failed   (before.json -&gt; after.json)",
    ];
    for text in told {
        assert!(page.stdout.contains(text), "{text}: {}", page.stdout);
    }
    assert!(!export(&["html"]).stdout.contains("<summary>why"));
    for refused in [
        ["markdown", "--against", "before.json"],
        ["html", "--against", "absent.json"],
        ["html", "--against", SUITE],
    ] {
        let run = export(&refused);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{refused:?}");
        assert_eq!(run.primary().as_deref(), Some("arguments/UsageError"));
    }
}
