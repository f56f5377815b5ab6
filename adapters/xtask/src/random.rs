// SPDX-License-Identifier: Apache-2.0
//! Random well-typed programs through compiler, verifier, second evaluator and host, which must
//! agree in everything that can be observed.

mod condition;
mod effect;
mod expression;
mod integer;
mod program;
mod scope;
mod statement;
mod tape;
mod types;
mod value;

pub use program::{Program, program};
pub use tape::Tape;

use crate::chain::{Atoms, ChainError, Host, Programs, Workshop};
use std::fmt;

/// Spaces of the effects of the lawpack.
const SPACES: [&str; 2] = ["rand.kit.cell/v1", "rand.kit.label/v1"];
/// Programs after which the host is replaced: it keeps the nonce of every context it ever had.
const HOST_PROGRAMS: u64 = 20_000;

/// How a program ended that the programs of the chain judge alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Programs.
    pub programs: u64,
    /// Invocations that ended in a result.
    pub results: u64,
    /// Invocations that ended in an authored obstruction.
    pub authored: u64,
    /// Invocations that ended in a constraint.
    pub constraints: u64,
    /// Invocations that exhausted their budget.
    pub exhausted: u64,
    /// Invocations of programs with effects, among all of these.
    pub effectful: u64,
    /// Invocations that changed atoms.
    pub settled: u64,
}

/// A program that is not judged alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// Which link of the chain it is about; a shrunk program keeps it.
    pub link: &'static str,
    /// What was said.
    pub message: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.link, self.message)
    }
}

/// Builds the lawpack of the programs, `rand.kit@1`.
///
/// # Errors
/// When the compiler refuses it.
pub fn lawpack(workshop: &Workshop) -> Result<(), ChainError> {
    let helpers = include_bytes!("../testdata/random-kit/kit.edict");
    workshop.write("src/kit.edict", helpers)?;
    let definition = include_str!("../testdata/random-kit/lawpack.json");
    let definition = serde_json::from_str(definition)
        .map_err(|error| ChainError::new(format!("the lawpack: {error}")))?;
    workshop.lawpack(&definition)
}

/// The chain, ready for one program after the other.
#[derive(Debug)]
pub struct Judge {
    programs: Programs,
    workshop: Workshop,
    host: Host,
    /// Where the host keeps the contexts of programs with effects; it outlives the host.
    state: tempfile::TempDir,
    judged: u64,
}

fn serve(programs: &Programs) -> Result<(Host, tempfile::TempDir), ChainError> {
    let state = tempfile::tempdir()?;
    let host = Host::serve(programs, Some(state.path()))?;
    Ok((host, state))
}

impl Judge {
    /// Starts the host and builds the lawpack of the programs.
    ///
    /// # Errors
    /// When a program cannot be started or the lawpack is refused.
    pub fn new(programs: &Programs) -> Result<Self, ChainError> {
        let workshop = Workshop::new(programs)?;
        lawpack(&workshop)?;
        let (host, state) = serve(programs)?;
        Ok(Self {
            host,
            state,
            programs: programs.clone(),
            workshop,
            judged: 0,
        })
    }

    /// Builds, verifies, evaluates and executes; adds the endings to `tally`.
    ///
    /// # Errors
    /// The first link that disagrees.
    pub fn judge(&mut self, program: &Program, tally: &mut Tally) -> Result<(), Disagreement> {
        let at = |link| move |error: ChainError| disagreement(link, error.to_string());
        let compiled = self
            .workshop
            .compile(&program.source)
            .map_err(at("build"))?;
        let mut built = compiled.map_err(|found| disagreement("build", format!("{found:?}")))?;
        self.workshop.verify(&mut built).map_err(at("verify"))?;
        self.judged += 1;
        if self.judged.is_multiple_of(HOST_PROGRAMS) {
            (self.host, self.state) = serve(&self.programs).map_err(at("host"))?;
        }
        let is_effectful = built.is_effectful();
        let mut atoms = is_effectful.then(Atoms::new);
        let mut evaluated = Vec::new();
        for input in &program.inputs {
            let ending = self
                .workshop
                .evaluate(&built, input, atoms.as_ref())
                .map_err(at("evaluate"))?;
            atoms.clone_from(&ending.atoms);
            evaluated.push(ending);
        }
        self.workshop.discard(&built).map_err(at("build"))?;
        let installed = self.host.install(&built.package, &built.report);
        let installation = installed.map_err(at("install"))?;
        let grants = std::slice::from_ref(&installation);
        let name = format!("program-{}", self.judged);
        let durable = is_effectful.then_some(name.as_str());
        let mut context = self.host.open(grants, durable).map_err(at("host"))?;
        let mut differs = Ok(());
        let mut before = Atoms::new();
        for (input, second) in program.inputs.iter().zip(evaluated) {
            let invoked = self
                .host
                .invoke(&mut context, (&installation, is_effectful), input);
            let outcome = match invoked.map_err(at("invoke"))? {
                Ok(outcome) => outcome,
                Err(refusal) => {
                    differs = Err(disagreement("invoke", format!("{refusal:?}")));
                    break;
                }
            };
            let first = (&outcome.coordinate, &outcome.body, outcome.consumed);
            if first != (&second.coordinate, &second.body, second.consumed) {
                differs = Err(disagreement(
                    "outcome",
                    format!("{outcome:?} against {second:?}"),
                ));
                break;
            }
            tally.add(outcome.coordinate.as_deref());
            if let Some(after) = second.atoms {
                let found = self.host.atoms(&context, &SPACES).map_err(at("host"))?;
                if found != after {
                    let told = format!("{found:?} against {after:?}");
                    differs = Err(disagreement("atoms", told));
                    break;
                }
                tally.effectful += 1;
                tally.settled += u64::from(found != before);
                before = found;
            }
        }
        self.host.close(&context).map_err(at("host"))?;
        self.host.uninstall(&installation).map_err(at("host"))?;
        differs?;
        tally.programs += 1;
        Ok(())
    }

    /// The smallest program found that fails in the same link, within `attempts` attempts.
    pub fn shrink(
        &mut self,
        choices: Vec<u32>,
        inputs: usize,
        (found, attempts): (&Disagreement, usize),
    ) -> (Program, Disagreement) {
        let mut best = choices;
        let mut last = found.clone();
        let mut left = attempts;
        let mut size = best.len() / 2;
        while size > 0 && left > 0 {
            let mut at = 0;
            while at < best.len() && left > 0 {
                left -= 1;
                let end = (at + size).min(best.len());
                let Some(shorter) = self.shorter(&best, (at, end), inputs, &mut last) else {
                    at += size;
                    continue;
                };
                best = shorter;
            }
            size /= 2;
        }
        (program(&mut Tape::replay(best), inputs), last)
    }

    /// The choices without a part, or with zeros there, if that program still fails alike.
    fn shorter(
        &mut self,
        choices: &[u32],
        (start, end): (usize, usize),
        inputs: usize,
        last: &mut Disagreement,
    ) -> Option<Vec<u32>> {
        let (head, tail) = (choices.get(..start)?, choices.get(end..)?);
        let zeros = vec![0; end - start];
        let lower = [head, tail].concat();
        let zeroed = [head, &zeros, tail].concat();
        for candidate in [lower, zeroed] {
            if candidate == choices {
                continue;
            }
            let mut tape = Tape::replay(candidate);
            let smaller = program(&mut tape, inputs);
            if let Err(found) = self.judge(&smaller, &mut Tally::default())
                && found.link == last.link
            {
                *last = found;
                return Some(tape.read());
            }
        }
        None
    }
}

impl Tally {
    fn add(&mut self, coordinate: Option<&str>) {
        match coordinate {
            None => self.results += 1,
            Some("echo.obstruction.input-constraint/v1") => self.constraints += 1,
            Some("echo.obstruction.budget-exhausted/v1") => self.exhausted += 1,
            Some(_) => self.authored += 1,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} programs, {} results, {} authored obstructions, {} constraints, {} exhausted \
             budgets; {} invocations with effects, {} of them settled",
            self.programs,
            self.results,
            self.authored,
            self.constraints,
            self.exhausted,
            self.effectful,
            self.settled
        )
    }
}

fn disagreement(link: &'static str, message: String) -> Disagreement {
    Disagreement { link, message }
}
