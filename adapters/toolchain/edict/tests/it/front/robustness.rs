// SPDX-License-Identifier: Apache-2.0
//! Any text gives an answer: damaged sources, deep trees, chains inside chains.

use super::{compile, contexts, judge, program, show};
use crate::support::contract;

fn value(text: &str) -> String {
    let body = format!("let v = {text};\nreturn {{ r: 1 }};");
    program("{ a: U64, o: Option<U64>, f: Bool }", "{ r: U64 }", &body)
}

#[test]
fn damaged_sources_are_judged_with_spans_inside_them() {
    let file = contract("language-cases.json");
    let contexts = contexts(None);
    let noise = [
        "", "(", "}", "<", "\"", "1", " if ", "é", "input", "::", "-", "/*",
    ];
    for (number, case) in file["cases"].as_array().unwrap().iter().enumerate() {
        let source = case["source"].as_str().unwrap();
        let cuts = (number % 5..source.len()).step_by(61);
        for (turn, cut) in cuts.filter(|it| source.is_char_boundary(*it)).enumerate() {
            let (head, tail) = source.split_at(cut);
            let tail = tail.get(turn % 3..).unwrap_or("");
            let damaged = format!("{head}{}{tail}", noise[turn % noise.len()]);
            for text in [head, damaged.as_str()] {
                for it in compile(text.as_bytes(), &contexts)
                    .err()
                    .into_iter()
                    .flatten()
                {
                    let (start, end) = (it.span.start as usize, it.span.end as usize);
                    assert!(start <= end && end <= text.len(), "{it:?} in {text}");
                    assert!(it.line >= 1 && it.column >= 1);
                }
            }
        }
    }
}

#[test]
fn trees_of_the_greatest_depth_pass_every_stage() {
    let deep = |open: &str, middle: &str, close: &str, levels: usize| {
        value(&format!(
            "{}{middle}{}",
            open.repeat(levels),
            close.repeat(levels)
        ))
    };
    let too_deep = "lowerCore/NestingTooDeep at 3:78";
    for (source, expected) in [
        (deep("default(input.o, ", "1", ")", 250), too_deep),
        (deep("(if input.f then 1 else ", "2u64", ")", 120), too_deep),
        (
            deep("match input.o { Some(v) => 1, None => ", "2u64", " }", 250),
            too_deep,
        ),
        (deep("[", "1u64", "]", 127), too_deep),
        (deep("{ q: ", "1u64", " }", 126), too_deep),
        (deep("!", "input.f", "", 250), too_deep),
        (
            deep("[", "1u64", "]", 250),
            "typeCheck/LimitExceeded at 4:131",
        ),
        (deep("(", "1u64", ")", 254), "accepted"),
    ] {
        assert_eq!(judge(&source), expected, "{source}");
    }
}

#[test]
fn chains_inside_chains_do_not_exhaust_the_stack() {
    let chain = "if input.f then 1u64 else ".repeat(60);
    let source = value(&format!(
        "{}2u64{}",
        format!("({chain}").repeat(100),
        ")".repeat(100)
    ));
    assert_eq!(judge(&source), "lowerCore/NestingTooDeep at 3:78");
}

#[test]
fn a_full_mebibyte_is_judged() {
    let line = "  require input.a <= 5 else kit.Rejected;\n";
    let body = line.repeat(1_000_000 / line.len());
    let found = judge(&program(
        "{ a: U64 }",
        "{ r: U64 }",
        &format!("{body}\nreturn {{ r: 1 }};"),
    ));
    assert!(found.starts_with("parse/LimitExceeded"), "{found}");
    let body = line.repeat(16_000);
    let source = program(
        "{ a: U64 }",
        "{ r: U64 }",
        &format!("{body}\nreturn {{ r: 1 }};"),
    );
    assert_eq!(
        show(&compile(source.as_bytes(), &contexts(None))),
        "accepted"
    );
}

#[test]
fn long_chains_of_facts_and_many_mistakes_take_time_by_their_number_only() {
    let fields: Vec<String> = (0..=256).map(|it| format!("f{it}: U64")).collect();
    let facts: Vec<String> = (0..256)
        .map(|it| {
            format!(
                "require input.f{it} <= input.f{} else kit.Rejected;",
                it + 1
            )
        })
        .collect();
    let uses: Vec<String> = (0..4_000)
        .map(|it| format!("let x{it} = input.f256 - input.f{};", it % 256))
        .collect();
    let input = format!("{{ {} }}", fields.join(", "));
    let body = format!(
        "{}\n{}\nreturn {{ r: 1 }};",
        facts.join("\n"),
        uses.join("\n")
    );
    assert_eq!(judge(&program(&input, "{ r: U64 }", &body)), "accepted");
    let lets: Vec<String> = (0..4_000)
        .map(|it| format!("let abcdefgh{it} = input.a; let x{it} = abcdefgi{it};"))
        .collect();
    let body = format!("{}\nreturn {{ r: 1 }};", lets.join("\n"));
    let found = judge(&program("{ a: U64 }", "{ r: U64 }", &body));
    assert_eq!(found.split(", ").count(), 100);
    assert!(
        found.starts_with("typeCheck/UnresolvedType at 4:"),
        "{found}"
    );
}

#[test]
fn advice_lists_a_part_of_many_names() {
    let cases: Vec<String> = (0..60).map(|it| format!("C{it}")).collect();
    let source = super::module(&format!(
        "enum E {{ {} }}\nfn f(e: E) -> U64 {{ return match e {{ C0 => 1 }}; }}",
        cases.join(", ")
    ));
    let found = compile(source.as_bytes(), &contexts(None)).unwrap_err();
    assert_eq!(found.len(), 1);
    assert!(
        found[0].message.ends_with("C27 and 39 more"),
        "{}",
        found[0].message
    );
}

#[test]
fn a_match_costs_its_arms_and_not_the_cases_of_its_type() {
    let cases: Vec<String> = (0..20_000).map(|it| format!("C{it}")).collect();
    let uses: Vec<String> = (0..1_000)
        .map(|it| {
            format!("let m{it} = match e {{ C1 => 1u64 }}; let u{it} = match e {{ D => 1u64 }};")
        })
        .collect();
    let source = super::module(&format!(
        "enum E {{ {} }}\nfn f(e: E) -> U64 {{ {} return 1; }}",
        cases.join(", "),
        uses.join(" ")
    ));
    let found = compile(source.as_bytes(), &contexts(None)).unwrap_err();
    assert_eq!(found.len(), 100);
    let message = &found[0].message;
    assert!(message.ends_with("C10014 and 19979 more"), "{message}");
    let help = found[1].help.as_deref().unwrap();
    assert!(help.ends_with("C10013 and 19980 more"), "{help}");
}

#[test]
fn core_that_no_verifier_reads_is_refused_before_it_is_made() {
    let field = "f".repeat(10_000);
    let copies = |n: usize| {
        let uses = (0..n)
            .map(|it| format!("let x{it} = some(r);"))
            .collect::<Vec<String>>()
            .concat();
        format!("let r = {{ {field}: 1u64 }}; {uses} return {{ r: 1 }};")
    };
    let input = "{ a: U64, b: U64 }";
    let of_types = program(input, "{ r: U64 }", &copies(4_000));
    let name = "E".repeat(100_000);
    let uses = (0..20_000)
        .map(|it| format!("let x{it} = F.A;"))
        .collect::<Vec<String>>()
        .concat();
    let of_names = program(input, "{ r: U64 }", &format!("{uses} return {{ r: 1 }};")).replace(
        "type In",
        &format!("enum {name} {{ A }} type F = {name}; type In"),
    );
    let uses = (0..10_000)
        .map(|it| format!("let x{it} = input.a;"))
        .collect::<Vec<String>>()
        .concat();
    let of_ids = program(input, "{ r: U64 }", &format!("{uses} return {{ r: 1 }};"))
        .replace("run", &"r".repeat(100_000));
    let functions = (0..5_000)
        .map(|it| format!("fn f{it}() -> U64 {{ let x = F.A; return 1; }}\n"))
        .collect::<Vec<String>>()
        .concat();
    let of_functions = super::module(&format!(
        "enum {name} {{ A }}\ntype F = {name};\n{functions}"
    ));
    for (source, place) in [
        (of_types, "3:"),
        (of_names, "3:"),
        (of_ids, "3:"),
        (of_functions, "88:4"),
    ] {
        let found = judge(&source);
        let expected = format!("lowerCore/LimitExceeded at {place}");
        assert!(
            found.starts_with(&expected) && !found.contains(','),
            "{found}"
        );
    }
    let small = program(input, "{ r: U64 }", &copies(100));
    assert_eq!(judge(&small), "accepted");
}
