// SPDX-License-Identifier: Apache-2.0
//! Names of locals, parameters and local types mean nothing: same outcome, same counters.

use super::support::{edit, programs, tools};
use edict_codec::cbor::Value;
use xtask::host::Host;
use xtask::jim::{home, lane::Programs, model::State, random::Buffer, story, suite};

/// Locals, parameters, failure binders and types of `replace-range`, with other names of any length.
const NAMES: [(&str, &str); 16] = [
    ("Input", "Given"),
    ("Edited", "WhatComesOut"),
    ("input", "q"),
    ("open", "retained"),
    ("old", "presentText"),
    ("removed", "cutOut"),
    ("sequence", "nextSequenceNumber"),
    ("version", "v"),
    ("joined", "assembled"),
    ("fitted", "narrowed"),
    ("keptUnits", "ku"),
    ("keptBreaks", "kb"),
    ("utf16Length", "units"),
    ("lineBreaks", "feeds"),
    ("lineCount", "lines"),
    ("next", "successor"),
];

/// The source with other names. Fields keep theirs: they are part of values and of their size.
fn renamed(source: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let mut text = false;
    let signs: Vec<char> = source.chars().chain([' ']).collect();
    for (index, sign) in signs.iter().enumerate() {
        if sign.is_ascii_alphanumeric() || *sign == '_' {
            word.push(*sign);
            continue;
        }
        let field = out.ends_with('.') || (*sign == ':' && signs.get(index + 1) != Some(&':'));
        let local = field && *sign == ':' && word == "input" && out.ends_with('(');
        let other = NAMES
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, other)| *other);
        match other {
            Some(other) if !text && (!field || local) => out.push_str(other),
            _ => out.push_str(&word),
        }
        word.clear();
        text ^= *sign == '"';
        out.push(*sign);
    }
    out
}

/// Programs in which `replace-range` has other names.
fn other() -> Programs {
    let space = tempfile::tempdir().unwrap();
    suite::copy(&home().join("programs"), space.path()).unwrap();
    let path = space.path().join("src/replace-range.edict");
    let source = std::fs::read_to_string(&path).unwrap();
    let other = renamed(&source);
    for word in [
        "let open ",
        "let old ",
        "intent replaceRange(input",
        "let sequence ",
    ] {
        assert!(source.contains(word) && !other.contains(word), "{word}");
    }
    std::fs::write(&path, other).unwrap();
    let mut all = programs().clone();
    let built = tools().build(space.path(), "replace-range").unwrap();
    assert_ne!(built.package, all["replace-range"].package);
    all.insert("replace-range".to_owned(), built);
    all
}

/// Every outcome with what it consumed.
fn outcomes(programs: &Programs) -> Vec<(Option<String>, Value, Value)> {
    let root = tempfile::tempdir().unwrap();
    let mut host = Host::start(&tools().path("echo-host"), Some(root.path()), None).unwrap();
    let mut buffer = Buffer::create(&mut host, programs, 1, "aé€😀\n").unwrap();
    let mut full = State::created("abc");
    full.version = u64::MAX;
    let mut found = Vec::new();
    for (start, end, replacement) in [
        (0, 1, "xyz"),
        (9, 1, ""),
        (0, 99, ""),
        (1, 2, "q"),
        (2, 2, ""),
        (4, 4, ""),
        (1, 3, "\n"),
    ] {
        let edit = edit(start, end, replacement);
        let claimed = story::current(&buffer.id, &buffer.fact);
        let step = story::replace(&buffer.id, &claimed, &edit);
        let ended = buffer.lane.run(&mut host, &step).unwrap();
        let expected = xtask::jim::model::judge(&buffer.fact, true, &edit);
        buffer.compare(&ended, &expected).unwrap();
        if let Ok(state) = expected {
            buffer.fact = xtask::jim::model::Fact::Buffer(state);
        }
        let consumed = ended.record.get("consumed").unwrap().clone();
        found.push((ended.coordinate, ended.body, consumed));
    }
    let seed = story::seed(&xtask::jim::identity::buffer_id("full"), &full);
    buffer.lane.run(&mut host, &seed).unwrap();
    found
}

#[test]
fn bt_022_other_names_give_the_same_outcomes_and_counters() {
    let expected = outcomes(programs());
    assert!(
        expected
            .iter()
            .any(|(coordinate, _, _)| coordinate.is_none())
    );
    assert!(
        expected
            .iter()
            .filter(|(coordinate, _, _)| coordinate.is_some())
            .count()
            >= 4
    );
    assert_eq!(outcomes(&other()), expected);
}
