// SPDX-License-Identifier: Apache-2.0
//! The shared table of labels, row by row.

use edict_codec::json::{JsonLimits, Node, Tree, parse};
use edict_test_reporters::label::render;

/// A text of the table: a string, a repetition or a concatenation of those.
fn text(node: &Node) -> String {
    match &node.tree {
        Tree::Text(text) => text.clone(),
        Tree::Array(parts) => parts.iter().map(text).collect(),
        Tree::Object(_) => {
            let times = node.get("$times").and_then(Node::as_integer).unwrap();
            text(node.get("$repeat").unwrap()).repeat(usize::try_from(times).unwrap())
        }
        _ => panic!("the table holds no other text"),
    }
}

#[test]
fn every_label_of_the_table_is_rendered_exactly() {
    let bytes = include_bytes!("../../../testdata/contracts/label-cases.json");
    let table = parse(bytes, JsonLimits::document(1 << 20)).unwrap();
    let fallback = table.get("fallback").unwrap().as_text().unwrap();
    let cases = table.get("cases").unwrap().as_array().unwrap();
    assert_eq!(cases.len(), 56);
    for case in cases {
        let label = text(case.get("label").unwrap());
        let wanted = text(case.get("rendered").unwrap());
        assert_eq!(render(&label, fallback), wanted, "label {label:?}");
    }
}
