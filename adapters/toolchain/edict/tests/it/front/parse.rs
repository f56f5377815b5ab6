// SPDX-License-Identifier: Apache-2.0
//! Tokens, grammar and limits of the parser.

use super::{check, judge, module, program, show};
use edict::syntax::{self, ast::Declaration};

fn r(value: &str) -> String {
    program(
        "{ a: U64 }",
        "{ r: U64 }",
        &format!("return {{ r: {value} }};"),
    )
}

fn nested(open: &str, close: &str, levels: usize) -> String {
    r(&format!(
        "{}1u64{}",
        open.repeat(levels),
        close.repeat(levels)
    ))
}

#[test]
fn tokens_are_read_as_section_1_1_says() {
    check(&[
        ("underscores", r("1_000"), "accepted"),
        ("suffix after underscore", r("5_u64"), "parse/Lex at 4:13"),
        (
            "letters after digits",
            r("0x1f"),
            "parse/InvalidInteger at 4:13",
        ),
        (
            "digit after dot",
            r("1.5"),
            "parse/ExpectedIdentifier at 4:15",
        ),
        ("unicode name", r("é"), "parse/Lex at 4:13"),
        (
            "raw carriage return",
            r("len(\"a\rb\")"),
            "parse/Lex at 4:19",
        ),
        ("raw line feed", r("len(\"a\nb\")"), "accepted"),
        (
            "seven digits",
            r("len(\"\\u{0000041}\")"),
            "parse/Lex at 4:18",
        ),
        ("scalar escape", r("len(\"\\u{1F680}\")"), "accepted"),
        ("byte escape", r("len(b\"\\xff\")"), "accepted"),
        (
            "half a byte escape",
            r("len(b\"\\xf\")"),
            "parse/Lex at 4:19",
        ),
        (
            "scalar escape in bytes",
            r("len(b\"\\u{41}\")"),
            "parse/Lex at 4:19",
        ),
        ("unclosed bytes", r("len(b\"abc)"), "parse/Lex at 4:17"),
        ("nul", r("1\0"), "parse/Lex at 4:14"),
        ("comment", r("/* b */ 1 // c\n"), "accepted"),
        (
            "comments do not nest",
            r("/* /* */ 1 */"),
            "parse/ExpectedToken at 4:25",
        ),
    ]);
}

#[test]
fn an_earlier_mistake_wins_over_a_later_bad_token() {
    let source = module("type A = ;\n#");
    assert_eq!(
        judge(&source),
        "parse/ExpectedToken at 3:10".replace("Token", "Identifier")
    );
}

#[test]
fn bytes_that_are_no_text_are_refused_at_their_place() {
    for (source, expected) in [
        (&b"package a@1;\n\xff"[..], "parse/Lex at 2:1"),
        (&b"\xef\xbb\xbfpackage a@1;"[..], "parse/Lex at 1:1"),
        (&b""[..], "parse/ExpectedKeyword at 1:1"),
        (&b"package a@1;"[..], "accepted"),
        (&b"package a@x;"[..], "parse/InvalidVersion at 1:11"),
        (&b"package a@1.2.0-rc.1;"[..], "accepted"),
    ] {
        assert_eq!(show(&super::compile(source, &[])), expected, "{source:?}");
    }
}

#[test]
fn a_source_may_have_one_mebibyte_and_not_a_byte_more() {
    let mut source = b"package a@1;".to_vec();
    source.resize(1_048_576, b' ');
    assert_eq!(show(&super::compile(&source, &[])), "accepted");
    source.push(b' ');
    let found = show(&super::compile(&source, &[]));
    assert_eq!(found, "parse/LimitExceeded at 1:1");
}

#[test]
fn nesting_ends_at_256_levels_for_every_kind_of_level() {
    check(&[
        ("254 parentheses", nested("(", ")", 254), "accepted"),
        (
            "255 parentheses",
            nested("(", ")", 255),
            "parse/NestingTooDeep at 4:267",
        ),
        (
            "5000 parentheses",
            nested("(", ")", 5000),
            "parse/NestingTooDeep at 4:267",
        ),
        (
            "5000 lists",
            nested("[", "]", 5000),
            "parse/NestingTooDeep at 4:267",
        ),
        (
            "5000 minus",
            r(&"-".repeat(5000)),
            "parse/NestingTooDeep at 4:267",
        ),
        (
            "5000 not",
            r(&"!".repeat(5000)),
            "parse/NestingTooDeep at 4:267",
        ),
    ]);
    let sum = format!("a{}", " + a".repeat(300));
    assert!(judge(&r(&sum)).starts_with("parse/NestingTooDeep"));
    let dots = format!("input{}", ".a".repeat(300));
    assert!(judge(&r(&dots)).starts_with("parse/NestingTooDeep"));
    let blocks = format!("{}{}", "if true {".repeat(300), "}".repeat(300));
    let blocks = program("{ a: U64 }", "{ r: U64 }", &blocks);
    assert!(judge(&blocks).starts_with("parse/NestingTooDeep"));
    let types = format!("{}U64{}", "List<".repeat(300), ", max=1>".repeat(300));
    assert!(judge(&module(&format!("type A = {types};"))).starts_with("parse/NestingTooDeep"));
}

#[test]
fn a_left_spine_counts_every_level_it_has() {
    // 200 parentheses inside the first operand of a chain of 100 are 300 levels.
    let source = r(&format!(
        "{}1{}{}",
        "(".repeat(200),
        ")".repeat(200),
        " + 1".repeat(100)
    ));
    assert!(judge(&source).starts_with("parse/NestingTooDeep"));
}

#[test]
fn flat_chains_may_be_long_and_nodes_are_counted() {
    let chain = format!("if true{} then 1 else 2", " && true".repeat(5000));
    assert_eq!(judge(&r(&chain)), "accepted");
    let arms = "if false then 1 else ".repeat(100_000);
    let found = judge(&r(&format!("{arms} 1")));
    assert!(found.starts_with("parse/LimitExceeded"), "{found}");
    let arms = "if false then 1 else ".repeat(20_000);
    let found = judge(&r(&format!("{arms} 1")));
    assert_eq!(found, "lowerCore/NestingTooDeep at 3:53");
}

#[test]
fn statement_chains_beyond_the_encoding_are_refused_without_recursion() {
    let chain = "if input.a == 1 { require false else kit.Rejected; } else ".repeat(9000);
    let body = format!("{chain} {{ }}\nreturn {{ r: 1 }};");
    let found = judge(&program("{ a: U64 }", "{ r: U64 }", &body));
    assert_eq!(found, "lowerCore/NestingTooDeep at 3:53");
}

#[test]
fn words_of_the_upstream_language_are_named() {
    let body = |text: &str| program("{ a: U64 }", "{ r: U64 }", text);
    check(&[
        (
            "const",
            module("const A: U64 = 1;"),
            "parse/UnsupportedSyntax at 3:1",
        ),
        (
            "use shape",
            "package a@1;\nuse shape b@1 as b;".into(),
            "parse/UnsupportedSyntax at 2:5",
        ),
        (
            "assert",
            body("assert true;"),
            "parse/UnsupportedSyntax at 4:1",
        ),
        (
            "request",
            body("let x = request kit.a();"),
            "parse/UnsupportedSyntax at 4:9",
        ),
        (
            "digest",
            body("let x = digest(input);"),
            "parse/UnsupportedSyntax at 4:9",
        ),
        (
            "continue",
            body("kit.readNote(input) else continue obstructed;"),
            "parse/UnsupportedSyntax at 4:26",
        ),
        (
            "generic type",
            module("type A<T> = U64;"),
            "parse/UnsupportedSyntax at 3:7",
        ),
        (
            "generic fn",
            module("fn f<T>() -> U64 { return 1u64; }"),
            "parse/UnsupportedSyntax at 3:5",
        ),
        (
            "type argument",
            module("type A = B<U64>;"),
            "parse/UnsupportedSyntax at 3:11",
        ),
        (
            "field constraint",
            module("type A = { a: U64 where a > 1 };"),
            "parse/UnsupportedSyntax at 3:19",
        ),
        (
            "capability",
            module("type A = CapabilityRef;"),
            "parse/UnsupportedSyntax at 3:10",
        ),
    ]);
}

#[test]
fn reserved_words_are_names_only_where_the_grammar_says() {
    check(&[
        (
            "field",
            module("type A = { type: U64, match: U64 };"),
            "accepted",
        ),
        (
            "path",
            program("{ match: U64 }", "{ r: U64 }", "return { r: input.match };"),
            "accepted",
        ),
        (
            "shorthand",
            program("{ a: U64 }", "{ let: U64 }", "return { let };"),
            "parse/ReservedKeyword at 4:10",
        ),
        (
            "parameter",
            module("fn f(if: U64) -> U64 { return 1u64; }"),
            "parse/ReservedKeyword at 3:6",
        ),
        (
            "soft words",
            program(
                "{ max: U64 }",
                "{ r: U64 }",
                "let min = input.max; return { r: min };",
            ),
            "accepted",
        ),
        (
            "action",
            module("action a(i: U64) returns U64 { return i; }"),
            "semantic/MissingBasis at 3:8, semantic/MissingBudget at 3:8, semantic/MissingOperationMode at 3:8",
        ),
    ]);
}

#[test]
fn type_lists_need_a_call_behind_them() {
    let body = |text: &str| program("{ a: U64, b: U64 }", "{ r: Bool }", text);
    check(&[
        (
            "comparison",
            body("return { r: input.a < input.b };"),
            "accepted",
        ),
        (
            "comparisons of what is no name, in a list",
            body("return { r: len([1 < input.b, (input.a) < 5, input.b > (3)]) > 0 };"),
            "accepted",
        ),
        (
            "type list",
            body("return { r: isSome(narrow<U32>(input.a)) };"),
            "accepted",
        ),
        (
            "nested list",
            body("return { r: isSome(none<List<Bytes<max=3>, max=2>>()) };"),
            "accepted",
        ),
        (
            "split sign",
            body("let x: Bytes<max=3>= b\"a\"; return { r: len(x) > 0 };"),
            "accepted",
        ),
    ]);
}

#[test]
fn digests_are_read_without_regard_to_case() {
    let source = format!(
        "package a@1;\nuse lawpack b@1 digest \"sha256:{}\" as b;",
        "aB".repeat(32)
    );
    let ast = syntax::parse(source.as_bytes()).unwrap();
    assert_eq!(ast.imports[0].digest.unwrap().0, [0xab; 32]);
    let source = "package a@1; type A = { x: U64 }; fn f() -> U64 { return 1u64; }";
    let ast = syntax::parse(source.as_bytes()).unwrap();
    let names: Vec<&str> = ast
        .declarations
        .iter()
        .map(|it| it.name().text.as_str())
        .collect();
    assert_eq!(names, ["A", "f"]);
    assert!(matches!(ast.declarations[1], Declaration::Function(_)));
}
