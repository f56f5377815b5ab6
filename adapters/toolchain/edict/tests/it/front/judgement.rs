// SPDX-License-Identifier: Apache-2.0
//! Rules of sections 2.2 to 2.4 and 3, one row a rule.

use super::{check, compile, contexts, module, program};

fn body(text: &str) -> String {
    program(
        "{ a: U64, n: U32, s: Bytes<max=8>, t: String<max=4>, f: Bool, o: Option<U64>, k: kit.Key, x: List<U32, max=4> }",
        "{ r: U64 }",
        text,
    )
}

fn value(text: &str) -> String {
    body(&format!("let v = {text};\nreturn {{ r: 1 }};"))
}

#[test]
fn literals_take_their_width_from_their_place() {
    check(&[
        ("other operand", value("1 == input.a"), "accepted"),
        (
            "other operand of checked",
            value("checkedAdd(1, input.n)"),
            "accepted",
        ),
        (
            "other branch",
            value("if input.f then 1 else input.n"),
            "accepted",
        ),
        (
            "other arm",
            value("match input.o { None => 0, Some(v) => v }"),
            "accepted",
        ),
        ("other item", value("[1, input.n]"), "accepted"),
        (
            "empty list beside a list",
            value("[] == input.x"),
            "accepted",
        ),
        ("built-in parameter", value("toU64(7)"), "accepted"),
        (
            "some in a place",
            body("let v: Option<U32> = some(1); return { r: 1 };"),
            "accepted",
        ),
        ("sum in a place", body("return { r: 1 + 2 };"), "accepted"),
        (
            "sum of sums in a place",
            body("return { r: 1 + 2 * 3 - 4 / 2 };"),
            "accepted",
        ),
        (
            "sum with a choice in a place",
            body("return { r: 1 + (if true then 2 else 3) };"),
            "accepted",
        ),
        (
            "no place",
            value("if input.f then 1 else 2"),
            "typeCheck/TypeMismatch at 4:25",
        ),
        (
            "argument without width",
            value("decimal(1)"),
            "typeCheck/TypeMismatch at 4:17",
        ),
        (
            "left first",
            value("(1 + 2) == input.a"),
            "typeCheck/TypeMismatch at 4:10",
        ),
        (
            "huge",
            body("return { r: 99999999999999999999999999999999999999999999 };"),
            "typeCheck/TypeMismatch at 4:13",
        ),
        (
            "negative width",
            value("-2147483649i32"),
            "typeCheck/TypeMismatch at 4:9",
        ),
        (
            "byte string against integer",
            value("input.s == 5"),
            "typeCheck/TypeMismatch at 4:20",
        ),
    ]);
}

#[test]
fn a_hint_of_another_kind_hides_nothing() {
    check(&[
        (
            "list",
            value("input.a == [input.a]"),
            "typeCheck/TypeMismatch at 4:20",
        ),
        (
            "bare items",
            value("input.a == [1]"),
            "typeCheck/TypeMismatch at 4:21",
        ),
        (
            "empty list",
            value("input.a == []"),
            "typeCheck/TypeMismatch at 4:20",
        ),
        (
            "record",
            value("input.a == { q: 1 }"),
            "typeCheck/TypeMismatch at 4:20",
        ),
        (
            "branches",
            value("if input.f then input.a else { q: 1 }"),
            "typeCheck/TypeMismatch at 4:38",
        ),
        (
            "items",
            value("[input.a, [1u64]]"),
            "typeCheck/TypeMismatch at 4:19",
        ),
    ]);
}

#[test]
fn one_mistake_gives_one_diagnostic() {
    check(&[
        (
            "unknown field in a sum",
            value("input.zz + 1"),
            "typeCheck/UnknownField at 4:15",
        ),
        (
            "unexpected bare field",
            body("return { r: 1, q: 2 };"),
            "typeCheck/TypeMismatch at 4:8",
        ),
        (
            "record for an integer",
            body("return { r: { q: 1 } };"),
            "typeCheck/TypeMismatch at 4:13",
        ),
        (
            "both operands wrong",
            value("input.f < input.f"),
            "typeCheck/TypeMismatch at 4:9",
        ),
        (
            "unknown case",
            value("match input.o { Some(v) => v, Non => 0 }"),
            "typeCheck/UnknownCase at 4:39",
        ),
        (
            "unknown callee",
            value("nope(1) + 2"),
            "typeCheck/UnresolvedFunction at 4:9",
        ),
        (
            "failed call",
            value("len(input.a) == 3"),
            "typeCheck/TypeMismatch at 4:13",
        ),
        (
            "integer as a condition",
            body("require 5 else kit.Rejected; return { r: 1 };"),
            "typeCheck/ExpectedPredicate at 4:9",
        ),
        (
            "two mistakes",
            value("[input.zz, input.yy]"),
            "typeCheck/UnknownField at 4:16, typeCheck/UnknownField at 4:26",
        ),
    ]);
}

#[test]
fn statements_stand_where_the_contract_allows_them() {
    check(&[
        (
            "pure call",
            body("len(input.s); return { r: 1 };"),
            "typeCheck/UnsupportedSourceShape at 4:1",
        ),
        (
            "handler of a pure call",
            body("let v = toU64(input.n) else kit.Rejected; return { r: 1 };"),
            "typeCheck/UnsupportedSourceShape at 4:9",
        ),
        (
            "branch in a function",
            module(
                "fn f(a: Bool) -> U64 {\nlet x = if a { yield 1u64; } else { yield 2u64; };\nreturn x; }",
            ),
            "typeCheck/UnsupportedSourceShape at 4:1",
        ),
        (
            "effect in a function",
            module(
                "fn f(k: kit.Key) -> U64 {\nlet x = kit.readNote(k) else kit.Rejected;\nreturn 1; }",
            ),
            "typeCheck/UnsupportedSourceShape at 4:9",
        ),
        (
            "require in a function loop",
            module(
                "fn f(x: List<U32, max=2>) -> U64 {\nlet n = for i in x bounded 2 with a: U64 = 0 { require true else kit.Rejected; yield a; };\nreturn n; }",
            ),
            "typeCheck/UnsupportedSourceShape at 4:48",
        ),
        (
            "after return",
            module("fn f() -> U64 { return 1u64;\nlet x = 2u64; }"),
            "typeCheck/UnsupportedSourceShape at 4:1",
        ),
        (
            "basis effect",
            module(
                "type In = { k: kit.Key }; intent run(i: In) returns In profile kit.reading budget <= kit.roomy\nbasis kit.readNote(i.k) { return i; }",
            ),
            "typeCheck/UnsupportedSourceShape at 4:7",
        ),
        (
            "basis facts",
            module(
                "type In = { a: U64, b: U64 }; intent run(i: In) returns In profile kit.pure budget <= kit.roomy where i.a <= i.b\nbasis i.b - i.a { return i; }",
            ),
            "typeCheck/UnsupportedSourceShape at 4:7",
        ),
    ]);
}

#[test]
fn effects_and_obstructions_agree_with_the_lawpack() {
    check(&[
        (
            "two arguments",
            body("let v = kit.readNote(input.k, 1u64) else kit.Rejected; return { r: 1 };"),
            "typeCheck/SignatureMismatch at 4:9",
        ),
        (
            "short form for two",
            body(
                "kit.deleteNote({ key: input.k, expected: wrap<kit.Nope>(1) }) else kit.Conflict; return { r: 1 };",
            ),
            "typeCheck/MissingFailureHandler at 4:1, typeCheck/UnresolvedType at 4:47",
        ),
        (
            "annotation",
            body("let v: kit.Key = kit.readNote(input.k) else kit.Rejected; return { r: 1 };"),
            "typeCheck/TypeMismatch at 4:18",
        ),
        (
            "payload not literal",
            body(
                "let p = { limit: 1u64, actual: 2u64 }; require input.f else kit.OutOfRange(p); return { r: 1 };",
            ),
            "typeCheck/UnsupportedSourceShape at 4:76",
        ),
        (
            "payload fields",
            body("require input.f else kit.OutOfRange({ limit: 1 }); return { r: 1 };"),
            "typeCheck/TypeMismatch at 4:37",
        ),
        (
            "unqualified",
            body("require input.f else Rejected; return { r: 1 };"),
            "typeCheck/UnknownObstruction at 4:22",
        ),
        (
            "other kind of binder",
            body(
                "kit.readNote(input.k) else { missing(id) => kit.OutOfRange({ limit: id, actual: 1 }) }; return { r: 1 };",
            ),
            "typeCheck/TypeMismatch at 4:69",
        ),
    ]);
}

#[test]
fn joined_types_widen_their_bounds() {
    check(&[
        (
            "text",
            body(
                "let v = if input.f then input.t else \"longer\"; let w: String<max=6> = v; return { r: 1 };",
            ),
            "accepted",
        ),
        (
            "bytes",
            body(
                "let v = if input.f then b\"ab\" else b\"abcd\"; let w: Bytes<min=2, max=4> = v; return { r: 1 };",
            ),
            "accepted",
        ),
        (
            "records",
            body(
                "let v = if input.f then { q: b\"ab\" } else { q: b\"\" }; let w: kit.Key = v.q; return { r: 1 };",
            ),
            "typeCheck/TypeMismatch at 4:72",
        ),
        (
            "no join",
            value("if input.f then input.s else input.t"),
            "typeCheck/TypeMismatch at 4:38",
        ),
        (
            "arms",
            value("match input.o { Some(v) => input.s, None => input.a }"),
            "typeCheck/TypeMismatch at 4:53",
        ),
        (
            "too long",
            value("wrap<kit.Head>(input.s)"),
            "typeCheck/TypeMismatch at 4:24",
        ),
        (
            "no nominal",
            value("wrap<U64>(input.a)"),
            "typeCheck/TypeMismatch at 4:14",
        ),
        (
            "some of an Option",
            value("some(input.o)"),
            "typeCheck/UnsupportedSourceShape at 4:9",
        ),
        (
            "overflowing bound",
            module(
                "fn f(a: Bytes<max=18446744073709551615>) -> Bytes<max=3> { return default(narrow<Bytes<max=3>>(\na + a), b\"\"); }",
            ),
            "typeCheck/InvalidBound at 4:1",
        ),
    ]);
}

#[test]
fn every_diagnostic_says_what_to_do() {
    let sources = [
        value("input.zz"),
        value("nope"),
        value("nope(1)"),
        body("require input.f else kit.Rejectd; return { r: 1 };"),
        value("match input.o { None => 0u64 }"),
        value("input.a + input.a"),
    ];
    let contexts = contexts(None);
    for source in sources {
        let diagnostics = compile(source.as_bytes(), &contexts).unwrap_err();
        assert_eq!(diagnostics.len(), 1, "{source}");
        let help = diagnostics[0].help.as_deref().unwrap_or_default();
        assert!(!help.is_empty() && !diagnostics[0].message.is_empty());
    }
    let found = compile(
        body("require input.f else kit.Rejectd; return { r: 1 };").as_bytes(),
        &contexts,
    );
    assert!(
        found.unwrap_err()[0]
            .help
            .as_ref()
            .unwrap()
            .contains("`Rejected`")
    );
}

#[test]
fn a_helper_counts_in_a_chain_of_calls() {
    let chain = |count: usize| {
        let links = (1..count).map(|at| format!("fn f{at}() -> U64 {{ return f{}(); }}", at + 1));
        let links: Vec<String> = links.collect();
        module(&format!(
            "{}\nfn f{count}() -> U64 {{ return kit.answer(); }}",
            links.join("\n")
        ))
    };
    check(&[
        ("a helper as the last", chain(127), "accepted"),
        ("one more", chain(128), "resolve/InvalidBound at 3:25"),
    ]);
}
