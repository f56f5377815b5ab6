// SPDX-License-Identifier: Apache-2.0
//! Shapes, numbers and bounds of the Core that comes out.

use super::{compile, contexts, judge, program};
use edict::core::tree::{Expr, Intent, Local, Node, Predicate, StaticBound};
use edict::types::Compiled;

fn compiled(source: &str) -> Compiled {
    compile(source.as_bytes(), &contexts(None)).unwrap()
}

fn run(source: &str) -> (Intent, StaticBound) {
    let compiled = compiled(source);
    let bound = compiled.facts["run"].static_bound;
    (compiled.module.intents["run"].clone(), bound)
}

fn input(body: &str) -> String {
    program(
        "{ a: U64, b: U64, f: Bool, s: Bytes<max=200>, x: List<U32, max=3>, k: kit.Key, o: Option<U64> }",
        "{ r: Bool }",
        body,
    )
}

#[test]
fn the_anchor_costs_four_steps_and_48_bytes() {
    let (intent, bound) = run(&program(
        "{ a: U64 }",
        "{ r: U64 }",
        "return { r: input.a };",
    ));
    assert_eq!(intent.body.nodes.len(), 0);
    let expected = StaticBound {
        steps: 4,
        allocated_bytes: 48,
        output_bytes: 12,
    };
    assert_eq!(bound, expected);
}

#[test]
fn conditions_become_values_and_values_conditions() {
    let (intent, bound) = run(&input("return { r: input.s == input.s };"));
    let [
        Node::Let {
            binding,
            value: Expr::If { condition, .. },
        },
    ] = intent.body.nodes.as_slice()
    else {
        panic!("{:?}", intent.body.nodes);
    };
    assert_eq!(binding.local, Local::Local(0));
    assert!(matches!(**condition, Predicate::Compare { .. }));
    // As the case `budget-equality-exact`.
    assert_eq!(
        (bound.steps, bound.allocated_bytes, bound.output_bytes),
        (15, 48, 4)
    );

    let (intent, _) = run(&input(
        "require input.f && !input.f && true else kit.Rejected; return { r: true };",
    ));
    let [
        Node::Require {
            predicate: Predicate::All(parts),
            ..
        },
        Node::Let { .. },
    ] = intent.body.nodes.as_slice()
    else {
        panic!("{:?}", intent.body.nodes);
    };
    let shapes = [
        matches!(&parts[0], Predicate::Compare { .. }),
        matches!(&parts[1], Predicate::Not(part) if matches!(**part, Predicate::Compare { .. })),
        matches!(&parts[2], Predicate::True),
    ];
    assert_eq!(shapes, [true; 3]);
}

#[test]
fn binders_are_numbered_by_their_place_in_the_source() {
    let (intent, _) = run(&input(
        "let total = for item in input.x bounded 3 with sum: U64 = 0 {
           let inner = match input.o { Some(v) => v, None => 0 };
           yield default(checkedAdd(sum, inner), 0);
         };
         kit.deleteNote({ key: input.k, expected: kit.nothing })
           else { missing(id) => kit.NoteMissing({ key: id }), conflict => kit.Conflict };
         let last = total == 3;
         return { r: if last then true else false };"
            .replace(
                "kit.nothing",
                "default(narrow<Bytes<exact=32>>(input.s), b\"01234567890123456789012345678901\")",
            )
            .as_str(),
    ));
    let [fold, effect, last, implicit] = intent.body.nodes.as_slice() else {
        panic!("{:?}", intent.body.nodes);
    };
    let Node::For {
        item,
        fold: Some(fold),
        body,
        ..
    } = fold
    else {
        panic!("{fold:?}");
    };
    assert_eq!(fold.binding.local, Local::Local(0));
    assert_eq!(item.local, Local::Local(1));
    assert_eq!(fold.accumulator.local, Local::Local(2));
    let [
        Node::Let {
            binding,
            value: Expr::Match { arms, .. },
        },
    ] = body.nodes.as_slice()
    else {
        panic!("{body:?}");
    };
    assert_eq!(binding.local, Local::Local(3));
    assert_eq!(arms[0].binding.as_ref().unwrap().local, Local::Local(4));
    let Node::Effect { binding, arms, .. } = effect else {
        panic!("{effect:?}");
    };
    assert_eq!(binding.local, Local::Local(5));
    assert_eq!(arms["conflict"].binding.local, Local::Obstruction(0));
    assert_eq!(arms["missing"].binding.local, Local::Obstruction(1));
    assert!(matches!(last, Node::Let { binding, .. } if binding.local == Local::Local(6)));
    assert!(matches!(implicit, Node::Let { binding, .. } if binding.local == Local::Local(7)));
}

#[test]
fn footprints_multiply_in_loops_and_take_the_greater_branch() {
    let source = program(
        "{ keys: List<kit.Key, max=4>, k: kit.Key, f: Bool }",
        "{ r: U64 }",
        "for key in input.keys bounded 7 {
           if input.f { kit.readNote(key) else kit.Rejected; }
           else { kit.readNote(key) else kit.Rejected; kit.readNote(key) else kit.NoteMissing({ key }); }
         }
         let last = kit.readNote(input.k) else kit.Rejected;
         return { r: last.note.count };",
    );
    let compiled = compiled(&source);
    let facts = &compiled.facts["run"];
    let calls: Vec<u64> = facts.footprint.values().copied().collect();
    assert_eq!(calls, [9]);
    assert_eq!(facts.effect_calls["case.kit@1.readNote"], 9);
    let raised: Vec<String> = facts
        .raised
        .iter()
        .map(|(name, payload)| format!("{name} {payload}"))
        .collect();
    let expected = [
        "case.kit@1.NoteMissing Record<key:Bytes<exact=4>>",
        "case.kit@1.Rejected Record<>",
    ];
    assert_eq!(raised, expected);
}

#[test]
fn helper_bounds_are_known_to_their_callers() {
    let source = program(
        "{ n: U32 }",
        "{ r: U64 }",
        "return { r: kit.twice(input.n) };",
    );
    let (_, bound) = run(&source);
    // start, let, call, field, local; body: let, call, local, add, two locals; record, local.
    assert_eq!((bound.steps, bound.allocated_bytes), (13, 48));
}

#[test]
fn core_deeper_than_the_encoding_is_refused_at_the_name() {
    let nested = |n: usize| {
        let value = format!("{}1u64{}", "{ q: ".repeat(n), " }".repeat(n));
        program(
            "{ a: U64 }",
            "{ r: U64 }",
            &format!("let v = {value};\nreturn {{ r: 1 }};"),
        )
    };
    assert_eq!(judge(&nested(40)), "accepted");
    assert_eq!(judge(&nested(41)), "lowerCore/NestingTooDeep at 3:53");
}
