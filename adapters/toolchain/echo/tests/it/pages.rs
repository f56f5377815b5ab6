// SPDX-License-Identifier: Apache-2.0
//! What the pages on the host list is what its code has.

use std::path::Path;

fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs");
    std::fs::read_to_string(docs.join(name)).unwrap()
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[test]
fn the_page_has_every_limit_of_hello() {
    let page = page("host.md");
    for (name, limit) in echo_host::limits::NAMED {
        let row = format!("| `{name}` | {} |", grouped(*limit));
        assert!(page.contains(&row), "docs/host.md lacks `{row}`");
    }
}

/// Kinds in the sources: lower-case words with hyphens in quotes, where a refusal or fault is made.
#[test]
fn the_page_explains_every_refusal_and_fault_of_the_host() {
    let page = page("host.md") + &page("durability.md") + &page("anchored-operations.md");
    let mut pending = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut kinds = std::collections::BTreeSet::new();
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            let words = source.split('"').skip(1).step_by(2).map(str::to_owned);
            kinds.extend(words.filter(|word| {
                word.contains('-')
                    && word.split('-').all(|part| {
                        !part.is_empty() && part.bytes().all(|it| it.is_ascii_lowercase())
                    })
            }));
        }
    }
    assert!(kinds.contains("history-lost") && kinds.contains("frame-magic"));
    for kind in kinds {
        assert!(
            ["echo-host", "fault-points"].contains(&kind.as_str()) || page.contains(&kind),
            "the pages on the host lack `{kind}`"
        );
    }
}
