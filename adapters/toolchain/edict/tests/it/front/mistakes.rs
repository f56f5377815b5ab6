// SPDX-License-Identifier: Apache-2.0
//! The table of mistakes (section 7): each gives its stage and kind, covers exactly the marked
//! text, and says what to do.

use super::{compile, contexts, module, program};

/// Rows of four parts: a name, the kind with a piece of the message, a piece of the help (nothing
/// stands for no help), and the source, which begins with the frame it is set into and marks what
/// the diagnostic covers with `«` and `»`.
const ROWS: &str = include_str!("mistakes.txt");

fn body(body: &str) -> String {
    let input = "{ a: U64, o: Option<U64>, b: Bytes<max=8> }";
    program(input, "{ r: U64 }", body)
}

/// The source of a row in its frame.
fn framed(text: &str) -> String {
    let (frame, text) = text.split_once(' ').unwrap();
    match frame {
        "whole" => text.to_owned(),
        "module" => module(text),
        "body" => body(text),
        "reading" => body(text).replace("kit.writing", "kit.reading"),
        "value" => body(&format!("return {{ r: {text} }};")),
        "clauses" => module(&format!(
            "type In = {{ a: U64 }}; type Out = {{ r: U64 }};\nintent {text} {{ return {{ r: 1 }}; }}"
        )),
        other => panic!("no frame `{other}`"),
    }
}

/// What is wrong with the judgement of a row.
fn wrong(row: &str, contexts: &[edict::lawpack::context::LawpackContext]) -> Option<String> {
    let mut parts = row.splitn(4, '\n');
    let mut part = || parts.next().unwrap();
    let name = part();
    let (kind, message) = part().split_once(": ").unwrap();
    let help = part().strip_prefix("help:").unwrap().trim();
    let marked = framed(part());
    let (before, rest) = marked.split_once('«').unwrap();
    let (inside, after) = rest.split_once('»').unwrap();
    let source = format!("{before}{inside}{after}");
    let Err(found) = compile(source.as_bytes(), contexts) else {
        return Some(format!("{name}: accepted"));
    };
    let [found] = found.as_slice() else {
        return Some(format!("{name}: {found:#?}"));
    };
    let span = (found.span.start as usize, found.span.end as usize);
    let said = format!("{}/{}", found.stage.as_str(), found.kind.as_str());
    let given = found.help.as_deref().unwrap_or_default();
    let holds = said == kind
        && span == (before.len(), before.len() + inside.len())
        && found.message.contains(message)
        && given.contains(help)
        && help.is_empty() == given.is_empty();
    (!holds).then(|| format!("{name}: at `{}`: {found:?}", &source[span.0..span.1]))
}

#[test]
fn every_mistake_of_the_table_has_its_kind_its_place_and_its_help() {
    let contexts = contexts(None);
    let rows: Vec<&str> = ROWS.trim_end().split("\n\n").collect();
    assert!(rows.len() > 90, "{}", rows.len());
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|row| wrong(row, &contexts))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
