// SPDX-License-Identifier: Apache-2.0
//! Whole modules: types, functions, one intent and inputs for it.

use super::{
    scope::{Callee, Fact, Generator},
    statement::Place,
    tape::Tape,
    types::{Ty, Types, Width},
    value,
};
use edict_codec::cbor::encode;
use std::fmt::Write as _;

/// A program and what to run it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The module.
    pub source: String,
    /// Canonical inputs of its intent, in the order in which they are invoked.
    pub inputs: Vec<Vec<u8>>,
}

/// Budgets of the lawpack that a program may exhaust; the first one never is.
const BUDGETS: [&str; 6] = ["roomy", "tiny", "short", "narrow", "lean", "mute"];

/// The program that a tape describes, with `inputs` inputs.
pub fn program(tape: &mut Tape, inputs: usize) -> Program {
    let mut source = String::from("package rand.m@1;\n");
    source.push_str("use lawpack rand.kit@1 digest \"sha256:…\" as kit;\n");
    // Only a module without functions and loops may declare less than its static bound.
    let is_plain = tape.chance(30);
    let budget = if is_plain {
        tape.pick(&BUDGETS).copied().unwrap_or("roomy")
    } else {
        "roomy"
    };
    let effects = tape.chance(40);
    // What one invocation leaves, the next one finds.
    let inputs = if effects { inputs + 2 } else { inputs };
    let (mut types, mut declared) = Types::declare(tape);
    types.record(tape, "Input", &mut declared);
    let input = Ty::Record(types.records.len().saturating_sub(1));
    types.record(tape, "Output", &mut declared);
    let output = match types.draw(tape, 1) {
        other if tape.chance(15) => other,
        _ => Ty::Record(types.records.len().saturating_sub(1)),
    };
    let mut generator = Generator {
        callees: helpers(),
        tape,
        types,
        places: Vec::new(),
        facts: Vec::new(),
        fuel: 0,
        loops: 0,
        effects,
        made: Vec::new(),
        fresh: 0,
    };
    let mut functions = String::new();
    if !is_plain {
        for number in 0..generator.tape.below(4) {
            generator.function(number, &mut functions);
        }
    }
    let intent = generator.intent(&input, &output, budget, if is_plain { 0 } else { 3 });
    let types = generator.types;
    // Declarations may come in any order.
    let parts = if tape.chance(30) {
        [intent, functions, declared]
    } else {
        [declared, functions, intent]
    };
    source.push_str(&parts.concat());
    let inputs = (0..inputs).map(|_| encode(&value::value(tape, &types, &input)));
    Program {
        inputs: inputs.collect(),
        source,
    }
}

/// The helpers of the lawpack.
fn helpers() -> Vec<Callee> {
    let callee = |name: &str, parameters: &[Ty], result: Ty| Callee {
        name: format!("kit.{name}"),
        parameters: parameters.to_vec(),
        result,
    };
    let bytes = Ty::Bytes(0, 16);
    let (wide, flag) = (Ty::Int(Width::U64), Ty::Bool);
    vec![
        callee("half", std::slice::from_ref(&wide), wide.clone()),
        callee("label", &[Ty::Str(8), wide.clone()], Ty::Str(29)),
        callee("lines", std::slice::from_ref(&bytes), Ty::Int(Width::U32)),
        callee("flip", &[Ty::Variant(0)], Ty::Variant(0)),
        callee("pair", &[wide.clone(), flag.clone()], Ty::Record(0)),
        callee("within", &[wide.clone(), wide.clone(), wide], flag),
        callee("first", &[bytes], Ty::Opt(Box::new(Ty::Int(Width::U32)))),
    ]
}

impl Generator<'_> {
    /// A function that later ones may call.
    fn function(&mut self, number: usize, text: &mut String) {
        self.fuel = 40;
        self.loops = 2;
        let name = format!("fn{number}");
        let parameters: Vec<(String, Ty)> = (0..self.tape.below(4))
            .map(|_| (self.name(), self.types.draw(self.tape, 2)))
            .collect();
        let result = self.types.draw(self.tape, 2);
        let mut body = String::new();
        let value = self.inner(|it| {
            for (name, ty) in &parameters {
                it.bind(name, ty, None);
            }
            it.statements(Place::Function, 3, &mut body);
            it.expression(&result, 3, true)
        });
        let shown: Vec<String> = parameters
            .iter()
            .map(|(name, ty)| format!("{name}: {}", self.types.text(ty)))
            .collect();
        // Writing into a string cannot fail.
        _ = writeln!(
            text,
            "fn {name}({}) -> {} {{\n{body}  return {value};\n}}",
            shown.join(", "),
            self.types.text(&result)
        );
        self.callees.push(Callee {
            name,
            parameters: parameters.into_iter().map(|it| it.1).collect(),
            result,
        });
    }

    fn intent(&mut self, input: &Ty, output: &Ty, budget: &str, loops: usize) -> String {
        self.bind("input", input, None);
        self.fuel = 30;
        let basis = if self.tape.chance(25) {
            let ty = self.types.draw(self.tape, 1);
            self.expression(&ty, 2, false)
        } else {
            "none".to_owned()
        };
        let profile = if self.effects { "atoms" } else { "pure" };
        let mut text = format!(
            "intent run(input: Input) returns {} profile kit.{profile} basis {basis} budget <= kit.{budget}\n",
            self.types.text(output)
        );
        let mut known = Vec::new();
        for _ in 0..self.tape.below(5).saturating_sub(2) {
            let clauses: Vec<(String, Option<Fact>)> = (0..=self.tape.below(2))
                .map(|_| self.condition_with_fact())
                .collect();
            let shown: Vec<&str> = clauses.iter().map(|it| it.0.as_str()).collect();
            _ = writeln!(text, "  where {}", shown.join(", "));
            known.extend(clauses.into_iter().filter_map(|it| it.1));
        }
        self.facts = known;
        self.fuel = 90;
        self.loops = loops;
        let mut body = String::new();
        if self.effects {
            // What stands behind requirements and in branches is rarely reached.
            for _ in 0..=self.tape.below(4) {
                self.effect(&mut body);
            }
        }
        self.statements(Place::Intent, 6, &mut body);
        let result = self.expression(output, 4, true);
        _ = writeln!(text, "{{\n{body}  return {result};\n}}");
        text
    }
}
