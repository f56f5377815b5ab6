// SPDX-License-Identifier: Apache-2.0
//! Programs beyond the case table: what the compiler accepts must type again.

use crate::support::Workshop;
use edict_verifier::verify::verify;
use serde_json::Value as Json;

const HEAD: &str = "package example.a@1;\n\
use lawpack case.kit@1 digest \"sha256:0000000000000000000000000000000000000000000000000000000000000000\" as kit;\n";

/// An input of every kind of type, and a result of one number.
const TYPES: &str = "enum Level { Low, Mid, High }\n\
type Token = variant { Digit(U64), Name(String<max=8>), End };\n\
type Pair = { left: U64, right: Option<U32> };\n\
type Input = { a: U64, b: U64, i: I32, o: Option<U64>, s: Bytes<max=8>, t: String<max=8>, l: List<U32, max=4>, ps: List<Pair, max=3>, p: Pair, v: Token, e: Level, k: kit.Key, id: kit.Id };\n\
type Out = { r: U64 };\n";

fn accept(name: &str, functions: &str, header: &str, body: &str) {
    let source = format!(
        "{HEAD}{TYPES}{functions}\nintent run(input: Input) returns Out {header} budget <= kit.roomy\n{{\n{body}\n}}\n"
    );
    let mut workshop = Workshop::new();
    let built = workshop
        .build(&source, &Json::Null)
        .unwrap_or_else(|said| panic!("{name}: {}", said.stderr));
    let report = verify(&built.inputs()).unwrap();
    assert_eq!(report.rejection, None, "{name}");
}

const PURE: &str = "profile kit.pure basis none";

#[test]
fn facts_and_intervals_show_what_the_compiler_shows() {
    for (name, body) in [
        (
            "if hull",
            "let c = if input.a > 5 then 3u64 else 4u64; return { r: c + 1 };",
        ),
        (
            "match hull",
            "let c = match input.o { Some(v) => 3u64, None => 4u64 }; let d = default(checkedAdd(c, 1), 0); return { r: d };",
        ),
        (
            "alias",
            "let x = input.p; let y = x.left; require y < 10 else kit.Rejected; return { r: input.p.left + 1 };",
        ),
        (
            "length alias",
            "let n = len(input.s); require input.a <= n else kit.Rejected; let x = slice(input.s, input.a, n); return { r: len(x) };",
        ),
        (
            "chain",
            "require input.a < input.b else kit.Rejected; require input.b < 100 else kit.Rejected; return { r: input.a + 18446744073709551515u64 };",
        ),
        (
            "equal",
            "require input.a == input.b else kit.Rejected; require input.b >= 4 else kit.Rejected; return { r: input.a - 4 };",
        ),
        (
            "or",
            "if input.a < 5 || input.b < 5 { require false else kit.Rejected; } else { let x = input.a - 5; require x >= 0 else kit.Rejected; } return { r: 1 };",
        ),
        (
            "lazy and",
            "let x = if input.b <= input.a && input.a - input.b > 3 then 1u64 else 2u64; return { r: x };",
        ),
        (
            "lazy or",
            "let x = if input.a < input.b || input.a - input.b > 3 then 1u64 else 2u64; return { r: x };",
        ),
        (
            "not",
            "require !(input.a < input.b) else kit.Rejected; return { r: input.a - input.b };",
        ),
        (
            "divide",
            "require input.b > 0 else kit.Rejected; return { r: input.a / input.b % 7 + 1 };",
        ),
        (
            "signed",
            "require input.i > -5 else kit.Rejected; require input.i < 5 else kit.Rejected; let n = -input.i; let q = input.i / 2 + n % 3 - 1; return { r: if q < 0 then 1 else 0 };",
        ),
        (
            "some",
            "require isSome(input.o) else kit.Rejected; let o = input.o; let x = unwrap(o); return { r: x };",
        ),
        (
            "some in if",
            "let x = if isSome(input.p.right) then toU64(unwrap(input.p.right)) + 1 else 0; return { r: x };",
        ),
        (
            "wide product",
            "let x = toU64(5u32) * len(input.s); return { r: x };",
        ),
        (
            "branch facts",
            "let c = if input.a <= len(input.s) { let part = slice(input.s, 0, input.a); yield len(part); } else { yield 0; }; return { r: c };",
        ),
        (
            "loop byte",
            "let c = for byte in input.s bounded 8 with sum: U64 = 0 { let wide = byte + 1; yield if wide > 3 then toU64(wide) * 2 else sum; }; return { r: c };",
        ),
    ] {
        accept(name, "", PURE, body);
    }
}

#[test]
fn more_facts_than_are_kept_change_nothing() {
    let mut body = String::from("require input.b <= input.a else kit.Rejected;\n");
    for _ in 0..300 {
        body += "require input.a != 9 || input.b <= 3 else kit.Rejected;\n";
        body += "require input.a >= 0 else kit.Rejected;\n";
    }
    body += "return { r: input.a - input.b };";
    accept("many facts", "", PURE, &body);
}

#[test]
fn binders_are_numbered_as_the_source_introduces_them() {
    for (name, header, body) in [
        (
            "implicit last",
            PURE,
            "let x = match input.o { Some(v) => v, None => 1 }; return { r: match input.o { Some(w) => w, None => x } };",
        ),
        (
            "basis between",
            "profile kit.pure where match input.o { Some(v) => v, None => 1 } < 9 basis match input.o { Some(v) => v, None => 2 } where match input.v { Digit(d) => d, Name(n) => len(n), End => 0 } < 9",
            "return { r: match input.v { Digit(d) => d, Name(n) => len(n), End => 0 } };",
        ),
        (
            "loop",
            PURE,
            "let c = for x in input.l bounded 4 with acc: U64 = match input.o { Some(v) => v, None => 0 } { let y = match input.o { Some(v) => v, None => 0 }; yield default(checkedAdd(acc, y), toU64(x)); }; return { r: c };",
        ),
        (
            "explicit last",
            PURE,
            "let x = match input.o { Some(v) => v, None => 1 }; let y = match input.o { Some(v) => v, None => 1 }; return { r: y };",
        ),
        (
            "require",
            PURE,
            "require match input.o { Some(v) => v, None => 1 } < 4 else kit.OutOfRange({ limit: match input.o { Some(v) => v, None => 1 }, actual: 2 }); return { r: 1 };",
        ),
        (
            "effect arms",
            "profile kit.writing basis input.k",
            "kit.replaceNote({ key: input.k, note: { text: b\"x\", count: 1 }, expected: b\"01234567012345670123456701234567\" }) else { missing(key) => kit.OutOfRange({ limit: match input.o { Some(v) => v, None => 1 }, actual: 2 }), conflict(key) => kit.OutOfRange({ limit: match input.o { Some(v) => v, None => 3 }, actual: match input.o { Some(w) => w, None => 4 } }) }; let after = match input.o { Some(v) => v, None => 1 }; return { r: after };",
        ),
        (
            "nested",
            "profile kit.writing basis none",
            "if input.a < 3 { for x in input.l bounded 6 { if x < 2 { let got = kit.readNote(input.k) else kit.Rejected; require got.note.count < 9 else kit.NoteMissing({ key: input.k }); } else { let y = x; require y > 1 else kit.Conflict; } } } else if input.a < 9 { require input.b > 1 else kit.Rejected; } return { r: len(input.l) };",
        ),
        (
            "own name",
            PURE,
            "let none1 = none<U64>(); let one = some<U64>(1); return { r: default(none1, default(one, 3)) };",
        ),
    ] {
        accept(name, "", header, body);
    }
}

#[test]
fn every_construct_of_the_language_types_again() {
    let functions = "fn size(t: Token) -> U64 { let n = match t { Digit(d) => d, Name(name) => len(name), End => 0 }; return n; }\n\
        fn total(ps: List<Pair, max=3>) -> U64 { let outer = for p in ps bounded 3 with sum: U64 = 0 { let inner = for q in ps bounded 3 with most: U64 = sum { yield if q.left > most then q.left else most; }; yield inner; }; return outer; }\n\
        fn pick(l: Level) -> Token { return match l { Low => Token::End, Mid => Token::Digit(4), High => Token::Name(\"high\") }; }\n";
    for (name, body) in [
        ("calls", "return { r: size(pick(input.e)) };"),
        ("folds", "return { r: total(input.ps) };"),
        (
            "record join",
            "let x = if input.a < 3 then { s: \"a\", n: some(1u64) } else { s: \"abc\", n: input.o }; return { r: len(x.s) };",
        ),
        (
            "list join",
            "let x = [\"a\", \"bcd\", input.t]; let y = at(x, input.a); return { r: match y { Some(text) => len(text), None => 9 } };",
        ),
        (
            "empty list",
            "let x: List<Pair, max=3> = []; return { r: total(x) };",
        ),
        (
            "narrow list",
            "let x = narrow<List<U32, max=2>>(input.l); return { r: match x { Some(l) => len(l), None => 0 } };",
        ),
        (
            "narrow string",
            "let x = narrow<String<max=2>>(input.t + \"x\"); return { r: match x { Some(l) => len(l), None => 0 } };",
        ),
        (
            "narrow integer",
            "let x = narrow<U32>(input.a); return { r: match x { Some(l) => toU64(l), None => 0 } };",
        ),
        (
            "nominal",
            "let h = wrap<kit.Head>(input.id); let same = h == wrap<kit.Head>(b\"abcd\"); let x = len(raw(h)); return { r: if same then 1 else x };",
        ),
        (
            "equality",
            "let same = input.p == { left: 1, right: none<U32>() } && input.v != Token::End && input.l == [1, 2] && input.o != none<U64>(); return { r: if same then 1 else 0 };",
        ),
        (
            "text",
            "let x = hex(input.s) + decimal(input.a) + decimal(input.i) + kit.title; let b = utf8Encode(x); let d = utf8Decode(b); return { r: if validUtf8(b) && isUtf8Boundary(b, input.a) && isSome(d) then len(x) else len(b) };",
        ),
        (
            "checked",
            "let p = checkedSlice(input.s, input.a, input.b); let q = checkedMul(input.a, 3); let z = checkedRem(input.i, -1); return { r: match p { Some(bytes) => len(bytes), None => default(q, 0) } };",
        ),
        (
            "shade",
            "let x = kit.Shade::Dark(3); return { r: match x { Light => 0, Dark(n) => toU64(n) } };",
        ),
        (
            "helpers",
            "return { r: if kit.sameBytes(input.s, b\"ab\") then kit.answer() else kit.twice(3) };",
        ),
        (
            "literal conditions",
            "require true else kit.Rejected; let b = !(input.a < 3); let c = b || false; return { r: if c == true then 1 else 0 };",
        ),
    ] {
        accept(name, functions, PURE, body);
    }
}

#[test]
fn a_failure_may_carry_the_version_in_a_named_record() {
    let mut workshop = Workshop::new();
    let payload = "/lawpack/exports/effects/1/effectFailures/exists/payloadType";
    workshop.redefine("case.kit@1", payload, "case.kit@1.Receipt".into());
    let source = format!(
        "{HEAD}type Input = {{ key: kit.Key }}; type Out = {{ r: U64 }};\n\
         intent run(input: Input) returns Out profile kit.creating basis none budget <= kit.roomy {{\n\
         kit.createNote({{ key: input.key, note: {{ text: b\"\", count: 0 }} }}) else {{ exists(held) => kit.Rejected }};\n\
         return {{ r: 1 }};\n}}\n"
    );
    let built = workshop.build(&source, &Json::Null).unwrap();
    let report = verify(&built.inputs()).unwrap();
    assert_eq!(report.rejection, None);
}

#[test]
fn a_type_of_many_fields_is_compared_entry_by_entry() {
    let fields: Vec<String> = (0..20_000).map(|it| format!("f{it}: U64")).collect();
    let wide = format!("type Wide = {{ {} }};\n", fields.join(", "));
    let body = "let has = isSome(none<Wide>()); return { r: if has then 1 else 2 };";
    accept("wide", &wide, PURE, body);
}
