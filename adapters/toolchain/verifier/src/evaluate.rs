// SPDX-License-Identifier: Apache-2.0
//! A second evaluation of a program, straight from Core; of one with effects on given atoms.

mod atoms;
mod builtin;
mod datum;
mod effect;
mod machine;
mod meter;

use crate::closure::{LawpackFiles, canonical, load};
use crate::cost::Cost;
use crate::decode::core::{Core, Function, Intent, Node, core as read_core};
use crate::decode::reader::{Defect, Under};
use crate::decode::types::Definition;
use crate::table::TypeTable;
use crate::visit::{self, Visitor};
use atoms::Atoms;
use datum::Datum;
use edict_codec::cbor::{Value, encode};
use edict_codec::digest::{TypedDigest, derive_typed};
use effect::World;
use machine::{Frame, Machine, Stop};
use meter::{Exhausted, Meter};
use std::collections::BTreeMap;

/// A program and its input.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// `core.cbor`.
    pub core: Vec<u8>,
    /// The lawpacks whose helpers the program calls.
    pub lawpacks: Vec<LawpackFiles>,
    /// The canonical input.
    pub input: Vec<u8>,
    /// Name of the intent.
    pub intent: String,
    /// The atoms that are there before, as a canonical list ascending by space and key; `None` for
    /// a program without effects.
    pub atoms: Option<Vec<u8>>,
}

/// What an invocation ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The obstruction; `None` for a result.
    pub obstruction: Option<String>,
    /// The canonical result or payload.
    pub body: Vec<u8>,
    /// Steps consumed.
    pub steps: u64,
    /// Bytes allocated.
    pub allocated_bytes: u64,
    /// Encoded length of a result or authored payload.
    pub output_bytes: u64,
    /// The atoms that are there afterwards, if there were any to see: those before after an
    /// obstruction.
    pub atoms: Option<Vec<u8>>,
}

impl Evaluation {
    /// The typed digest of the body.
    pub fn digest(&self) -> TypedDigest {
        derive_typed("echo/body/v1", &self.body)
    }
}

/// Why a program cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// Core or a lawpack cannot be read.
    #[error("read {artifact}{path}: {message}")]
    Artifact {
        /// Which one.
        artifact: &'static str,
        /// Where in it, as a JSON Pointer.
        path: String,
        /// What is wrong there.
        message: String,
    },
    /// No intent of that name.
    #[error("evaluate `{0}`: Core has no such intent")]
    UnknownIntent(String),
    /// The program calls an effect, and no atoms were given.
    #[error("evaluate a program that calls `{0}`: no atoms are given")]
    Effect(String),
    /// The input is no canonical value of the declared type.
    #[error("read the input at `{path}`: {message}")]
    Input {
        /// Where in it, as a JSON Pointer.
        path: String,
        /// What is wrong there.
        message: String,
    },
    /// The program breaks a promise that verification checks.
    #[error("evaluate: {0}; verify the program first")]
    Fault(String),
}

impl EvaluateError {
    /// The stable kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Artifact { .. } => "InvalidArtifact",
            Self::UnknownIntent(_) => "UnknownIntent",
            Self::Effect(_) => "EffectsUnsupported",
            Self::Input { .. } => "InputRefused",
            Self::Fault(_) => "EvaluationFault",
        }
    }
}

/// Evaluates a program on an input.
///
/// # Errors
/// Everything that is neither a result nor an obstruction.
pub fn evaluate(inputs: &Inputs) -> Result<Evaluation, EvaluateError> {
    let artifact = |artifact| {
        move |defect: Defect| EvaluateError::Artifact {
            artifact,
            path: defect.path(),
            message: defect.message().to_owned(),
        }
    };
    let core = canonical(&inputs.core)
        .and_then(|item| read_core(&item))
        .map_err(artifact("core"))?;
    let closure = load(&inputs.lawpacks).map_err(artifact("closure"))?;
    let Some(intent) = core.intents.get(&inputs.intent) else {
        return Err(EvaluateError::UnknownIntent(inputs.intent.clone()));
    };
    let before = inputs.atoms.as_deref().map(Atoms::read).transpose();
    let before = before.map_err(artifact("atoms"))?;
    if before.is_none()
        && let Some(effect) = first_effect(intent)
    {
        return Err(EvaluateError::Effect(effect));
    }
    let table = table(&core, closure.definitions()).map_err(artifact("core"))?;
    let mut functions: BTreeMap<String, &Function> = closure.helpers();
    for (name, function) in &core.functions {
        functions.insert(format!("{}.{name}", core.coordinate), function);
    }
    let input = canonical(&inputs.input)
        .and_then(|item| Datum::read(&item, &intent.parameter.ty, &table))
        .map_err(|defect| EvaluateError::Input {
            path: defect.path(),
            message: defect.message().to_owned(),
        })?;
    let mut machine = Machine {
        meter: Meter::new(intent.budget),
        table: &table,
        functions: &functions,
        depth: 0,
        world: before.clone().map(|atoms| World {
            closure: &closure,
            atoms,
        }),
    };
    let outcome = invoke(&mut machine, intent, input);
    let mut evaluation = finish(machine.meter, outcome)?;
    // Writes settle with a result only, all of them or none.
    let after = match evaluation.obstruction {
        None => machine.world.map(|world| world.atoms),
        Some(_) => before,
    };
    evaluation.atoms = after.map(|atoms| atoms.to_bytes());
    Ok(evaluation)
}

/// The types of Core, with those of the given lawpacks for what helpers use.
fn table(core: &Core, exported: BTreeMap<String, Definition>) -> Result<TypeTable, Defect> {
    let mut definitions = exported;
    for (name, definition) in &core.types {
        definitions.insert(name.clone(), definition.clone());
    }
    TypeTable::new(definitions).under("types")
}

fn first_effect(intent: &Intent) -> Option<String> {
    struct First(Option<String>);
    impl Visitor for First {
        fn node(&mut self, node: &Node) {
            if let Node::Effect { effect, .. } = node {
                self.0.get_or_insert_with(|| effect.clone());
            }
        }
    }
    let mut first = First(None);
    visit::intent(&mut first, intent);
    first.0
}

/// Start, basis, constraints, body, result; the result encoded.
fn invoke(machine: &mut Machine<'_>, intent: &Intent, input: Datum) -> Result<Datum, Stop> {
    let mut frame = Frame::from([(intent.parameter.local, input)]);
    machine.meter.charge(Cost::VISIT)?;
    if let Some(basis) = &intent.basis {
        machine.expression(basis, &mut frame)?;
    }
    for (number, constraint) in intent.constraints.iter().enumerate() {
        if !machine.predicate(constraint, &mut frame)? {
            return Err(Stop::Constraint(number));
        }
    }
    machine.statements(&intent.body.nodes, &mut frame)?;
    machine.expression(&intent.body.result, &mut frame)
}

fn finish(mut meter: Meter, outcome: Result<Datum, Stop>) -> Result<Evaluation, EvaluateError> {
    let ended = |meter: &Meter, obstruction: Option<String>, body: Vec<u8>| Evaluation {
        obstruction,
        body,
        steps: meter.steps,
        allocated_bytes: meter.allocated_bytes,
        output_bytes: meter.output_bytes,
        atoms: None,
    };
    let (obstruction, value) = match outcome {
        Ok(value) => (None, value),
        Err(Stop::Raised {
            obstruction,
            payload,
        }) => (Some(obstruction), payload),
        Err(Stop::Constraint(number)) => {
            let payload = Value::text_map([("constraint", Value::Text(format!("where.{number}")))]);
            let coordinate = "echo.obstruction.input-constraint/v1".to_owned();
            return Ok(ended(&meter, Some(coordinate), encode(&payload)));
        }
        Err(Stop::Exhausted(exhausted)) => return Ok(exhaustion(&meter, exhausted)),
        Err(Stop::Fault(message)) => return Err(EvaluateError::Fault(message)),
    };
    let body = encode(&value.to_value());
    match meter.output(&body) {
        Ok(()) => Ok(ended(&meter, obstruction, body)),
        Err(exhausted) => Ok(exhaustion(&meter, exhausted)),
    }
}

fn exhaustion(meter: &Meter, exhausted: Exhausted) -> Evaluation {
    let payload = Value::text_map([
        ("limit", Value::unsigned(exhausted.limit)),
        ("resource", Value::text(exhausted.resource)),
    ]);
    Evaluation {
        obstruction: Some("echo.obstruction.budget-exhausted/v1".to_owned()),
        body: encode(&payload),
        steps: meter.steps,
        allocated_bytes: meter.allocated_bytes,
        output_bytes: meter.output_bytes,
        atoms: None,
    }
}
