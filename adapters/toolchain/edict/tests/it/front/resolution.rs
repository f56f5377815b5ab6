// SPDX-License-Identifier: Apache-2.0
//! Names, scopes, declared types and the call graph.

use super::{check, judge, module, program};

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
fn names_share_one_namespace_and_scopes_end() {
    check(&[
        (
            "prelude type",
            module("type List = U64;"),
            "semantic/ShadowedName at 3:6",
        ),
        (
            "prelude binder",
            body("let some = 1u64; return { r: 1 };"),
            "semantic/ShadowedName at 4:5",
        ),
        (
            "alias twice",
            module("type kit = U64;")
                .replace("type kit", "fn kit() -> U64 { return 1u64; } type T"),
            "semantic/DuplicateName at 3:4",
        ),
        (
            "parameters",
            module("fn f(a: U64, a: U64) -> U64 { return a; }"),
            "semantic/ShadowedName at 3:14",
        ),
        (
            "item and accumulator",
            body(
                "let v = for i in input.x bounded 4 with i: U64 = 0 { yield i; };\nreturn { r: v };",
            ),
            "semantic/ShadowedName at 4:41",
        ),
        (
            "failure binder",
            body(
                "kit.readNote(input.k) else { missing(input) => kit.Rejected };\nreturn { r: 1 };",
            ),
            "semantic/ShadowedName at 4:38",
        ),
        (
            "inner block",
            body("if input.f { let q = 1u64; } let q = 2u64; return { r: q };"),
            "accepted",
        ),
        (
            "out of scope",
            body("if input.f { let q = 1u64; require q == 1 else kit.Rejected; } return { r: q };"),
            "typeCheck/UnresolvedType at 4:76",
        ),
        (
            "let is not in its own value",
            body("let q = match input.o { Some(q) => q, None => 0 }; return { r: q };"),
            "accepted",
        ),
    ]);
}

#[test]
fn types_are_resolved_before_bodies() {
    check(&[
        (
            "range",
            module("type A = Bytes<min=4, max=3>;"),
            "resolve/InvalidBound at 3:10",
        ),
        (
            "policy",
            module("type A = String<max=3, canonical=nfc>;"),
            "resolve/UnsupportedSourceShape at 3:10",
        ),
        (
            "default policy",
            module("type A = String<max=3, canonical=raw-utf8>;"),
            "accepted",
        ),
        (
            "constant bound",
            module("type A = Bytes<max=kit.limit>;"),
            "accepted",
        ),
        (
            "unknown bound",
            module("type A = Bytes<max=kit.nope>;"),
            "resolve/MissingContextFact at 3:20",
        ),
        (
            "alias of an Option",
            module("type A = Option<U64>; type B = Option<A>;"),
            "resolve/UnsupportedSourceShape at 3:32",
        ),
        (
            "cycle of aliases",
            module("type A = B; type B = A;"),
            "resolve/RecursiveDefinition at 3:22",
        ),
        (
            "in a body",
            body("let v: Missing = 1; return { r: 1 };"),
            "typeCheck/UnresolvedType at 4:8",
        ),
        (
            "in a type argument",
            value("none<Missing>()"),
            "typeCheck/UnresolvedType at 4:14",
        ),
        (
            "imported",
            module("type A = kit.Missing;"),
            "resolve/UnresolvedType at 3:10",
        ),
        (
            "all of them",
            module("type A = B; type C = { x: D, y: kit.E };"),
            "resolve/UnresolvedType at 3:10, resolve/UnresolvedType at 3:27, resolve/UnresolvedType at 3:33",
        ),
    ]);
}

#[test]
fn a_target_pin_names_nothing() {
    let pin = |text: &str| {
        let digest = super::DIGEST;
        format!("package a@1;\nuse target echo.dpo@1 digest \"{digest}\" as echo;\n{text}")
    };
    let intent = "intent run(i: U64) returns U64 profile echo.pure basis none\nbudget <= echo.roomy { return i; }";
    check(&[
        ("alone", pin(""), "accepted"),
        (
            "type",
            pin("type A = echo.Atom;"),
            "resolve/UnresolvedType at 3:10",
        ),
        (
            "call",
            pin("fn f() -> U64 { return echo.f(); }"),
            "typeCheck/UnresolvedFunction at 3:24",
        ),
        (
            "clauses",
            pin(intent),
            "resolve/MissingContextFact at 3:40, resolve/MissingContextFact at 4:11",
        ),
        (
            "another",
            "package a@1;\nuse target other@1 as o;".to_owned(),
            "resolve/MissingContextFact at 2:12, resolve/UndigestedImport at 2:12",
        ),
    ]);
}

#[test]
fn a_chain_of_calls_may_be_128_deep() {
    let chain = |n: usize| {
        let links: Vec<String> = (0..n)
            .map(|it| format!("fn f{it}() -> U64 {{ return f{}(); }}", it + 1))
            .collect();
        module(&format!(
            "{}\nfn f{n}() -> U64 {{ return 1u64; }}",
            links.join("\n")
        ))
    };
    // What verifier and host count too: functions that are entered inside each other.
    assert_eq!(judge(&chain(127)), "accepted");
    assert_eq!(judge(&chain(128)), "resolve/InvalidBound at 3:25");
    // The walk does not recurse; every 128th link is one too many.
    assert_eq!(judge(&chain(10_000)).split(", ").count(), 78);
}

#[test]
fn long_chains_of_types_are_bounded() {
    let chain = |n: usize| {
        let links: Vec<String> = (0..n)
            .map(|it| format!("type T{it} = {{ l: T{}, r: T{} }};", it + 1, it + 1))
            .collect();
        module(&format!("{} type T{n} = U64;", links.join(" ")))
    };
    assert_eq!(judge(&chain(100)), "accepted");
    assert!(judge(&chain(129)).starts_with("resolve/NestingTooDeep"));
    assert!(judge(&chain(20_000)).starts_with("resolve/NestingTooDeep"));
    // Inferred types cannot double without end either.
    let lets: Vec<String> = (1..20)
        .map(|it| format!("let x{it} = {{ l: x{}, r: x{} }};", it - 1, it - 1))
        .collect();
    let found = judge(&body(&format!(
        "let x0 = 1u64;\n{}\nreturn {{ r: 1 }};",
        lets.join("\n")
    )));
    assert_eq!(found, "typeCheck/LimitExceeded at 15:11");
}
