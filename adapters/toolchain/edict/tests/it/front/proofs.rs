// SPDX-License-Identifier: Apache-2.0
//! What facts and intervals prove (section 2.5).

use super::{check, program};

const REFUSED: &str = "typeCheck/UnsupportedSourceShape";

fn body(text: &str) -> String {
    program("{ a: U64, b: U64, c: U64, n: U32, x: I32, y: I32, s: Bytes<max=8>, k: kit.Key, o: Option<U64>, p: { q: U64 } }".replace("{ q: U64 }", "kit.Note").as_str(), "{ r: U64 }", &format!("{text}\nreturn {{ r: 1 }};"))
}

#[test]
fn intervals_prove_arithmetic() {
    check(&[
        (
            "widened",
            body("let v = toU64(input.n) + toU64(input.n);"),
            "accepted",
        ),
        (
            "product",
            body("let v = toU64(input.n) * toU64(input.n);"),
            "accepted",
        ),
        (
            "third power",
            body("let v = toU64(input.n) * toU64(input.n) * toU64(input.n);"),
            &format!("{REFUSED} at 4:9"),
        ),
        (
            "let keeps its range",
            body("let l = len(input.s) + 1; let m: U32 = 1; let v = l - 1;"),
            "accepted",
        ),
        (
            "exact length",
            body("let v = len(input.k) - 4;"),
            "accepted",
        ),
        (
            "bytes of a loop",
            body("for b in input.s bounded 8 { require b + 1 <= 256 else kit.Rejected; }"),
            "accepted",
        ),
        (
            "hull",
            body("let v = (if input.a < 9 then input.a else 9) + 1;"),
            "accepted",
        ),
        (
            "default is the width",
            body("let v = default(input.o, 0) + 1;"),
            &format!("{REFUSED} at 4:9"),
        ),
        ("constant", body("let v = kit.four - 4;"), "accepted"),
        (
            "division by a literal",
            body("let v = input.a / 2;"),
            "accepted",
        ),
        (
            "quotient",
            body("let v = input.a / 2 + input.b / 2;"),
            "accepted",
        ),
        ("remainder", body("let v = input.a % 10 + 1;"), "accepted"),
        (
            "least by minus one",
            body("let v = input.x / -1;"),
            &format!("{REFUSED} at 4:9"),
        ),
        (
            "least excluded",
            body("require input.x > -5 else kit.Rejected; let v = input.x / -1;"),
            "accepted",
        ),
        (
            "minus",
            body("let v = -input.x;"),
            &format!("{REFUSED} at 4:9"),
        ),
        (
            "minus guarded",
            body("require input.x >= 0 else kit.Rejected; let v = -input.x;"),
            "accepted",
        ),
        (
            "signed difference",
            body("let v = input.x - input.y;"),
            &format!("{REFUSED} at 4:9"),
        ),
    ]);
}

#[test]
fn facts_hold_where_their_condition_does() {
    check(&[
        (
            "equality both ways",
            body(
                "require input.a == input.b else kit.Rejected; let v = input.a - input.b; let w = input.b - input.a;",
            ),
            "accepted",
        ),
        (
            "inequality that fails",
            body("let v = if input.a != input.b then 0 else input.a - input.b;"),
            "accepted",
        ),
        (
            "negated or",
            body(
                "if input.a < input.b || input.b < input.c { } else { let v = input.a - input.c; }",
            ),
            "accepted",
        ),
        (
            "not",
            body("require !(input.a < input.b) else kit.Rejected; let v = input.a - input.b;"),
            "accepted",
        ),
        (
            "right of and",
            body("require input.b <= input.a && input.a - input.b < 5 else kit.Rejected;"),
            "accepted",
        ),
        (
            "inner facts end",
            body(
                "if input.b <= input.a { let u = input.a - input.b; }\nlet v = input.a - input.b;",
            ),
            &format!("{REFUSED} at 5:9"),
        ),
        (
            "else-if knows what failed",
            body("if input.a < input.b { } else if true { let v = input.a - input.b; }"),
            "accepted",
        ),
        (
            "strict chain",
            body("require input.a < input.b else kit.Rejected; let v = input.a + 1;"),
            "accepted",
        ),
        (
            "chain to a literal",
            body(
                "require input.a <= input.b && input.b < 10 else kit.Rejected; let v = input.a + 5;",
            ),
            "accepted",
        ),
        (
            "alias of a path",
            body(
                "let n = input.p; require n.count < 9 else kit.Rejected; let v = input.p.count + 1;",
            ),
            "accepted",
        ),
        (
            "a conditional tells nothing",
            body(
                "let f = input.b <= input.a; require f else kit.Rejected;\nlet v = input.a - input.b;",
            ),
            &format!("{REFUSED} at 5:9"),
        ),
        (
            "unwrap needs a path",
            body("let v = unwrap(checkedAdd(input.a, 1));"),
            &format!("{REFUSED} at 4:9"),
        ),
        (
            "unwrap of an alias",
            body("let o = input.o; require isSome(input.o) else kit.Rejected; let v = unwrap(o);"),
            "accepted",
        ),
        (
            "slice by length",
            body("let l = len(input.s); let v = slice(input.s, l, l);"),
            "accepted",
        ),
        (
            "slice to an exact length",
            body("let v = slice(input.k, 1, 4);"),
            "accepted",
        ),
        (
            "slice beyond",
            body("let v = slice(input.k, 1, 5);"),
            &format!("{REFUSED} at 4:9"),
        ),
    ]);
}

#[test]
fn at_most_256_facts_are_kept() {
    let guarded = |before: usize| {
        let noise = "require input.c < 5 else kit.Rejected; ".repeat(before);
        body(&format!(
            "{noise}\nrequire input.b <= input.a else kit.Rejected;\nlet v = input.a - input.b;"
        ))
    };
    check(&[
        ("255 before", guarded(255), "accepted"),
        ("256 before", guarded(256), &format!("{REFUSED} at 6:9")),
    ]);
}
