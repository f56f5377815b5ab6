// SPDX-License-Identifier: Apache-2.0
//! H70: what the sources must not contain.

use std::path::Path;

/// Parts of identifiers and words that name an application and not a host.
const APPLICATION_WORDS: &[&str] = &[
    "test", "tests", "assert", "tap", "rope", "editor", "suite", "verdict",
];

/// Ways to what would make an execution depend on more than its inputs.
const SOURCES_OF_CHANCE: &[&str] = &[
    "std::time",
    "Instant",
    "SystemTime",
    "std::env::var",
    "env::vars",
    "getrandom",
    "HashMap",
    "HashSet",
    "RandomState",
    " f32",
    " f64",
    " rand::",
];

fn visit(directory: &Path, judge: &mut dyn FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(&path, judge);
        } else {
            judge(&path, &std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// Words of a text, identifiers taken apart at underscores and capitals.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for sign in text.chars() {
        if !sign.is_ascii_alphabetic() || (was_lower && sign.is_ascii_uppercase()) {
            words.push(String::new());
        }
        if sign.is_ascii_alphabetic() {
            words.last_mut().unwrap().push(sign.to_ascii_lowercase());
        }
        was_lower = sign.is_ascii_lowercase();
    }
    words
}

#[test]
fn h70_no_application_words_and_no_sources_of_chance() {
    let mut files = 0;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    visit(&root, &mut |path, text| {
        files += 1;
        for word in words(text) {
            assert!(
                !APPLICATION_WORDS.contains(&word.as_str()),
                "{word} in {}",
                path.display()
            );
        }
        for source in SOURCES_OF_CHANCE {
            assert!(!text.contains(source), "{source} in {}", path.display());
        }
    });
    assert!(files > 30, "{files}");
}
