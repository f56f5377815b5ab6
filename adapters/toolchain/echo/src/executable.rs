// SPDX-License-Identifier: Apache-2.0
//! The seam between admission and evaluation inside, and contexts and evidence outside.
//!
//! `package::admit(package: &[u8], package_pin: &Pin, report: &[u8], report_pin: &Pin,
//! policy: &Policy) -> Result<impl Executable, Refusal>` makes the only real one.

use crate::{
    pin::{Budget, Consumed},
    refusal::Refusal,
    state::view::{AtomView, FootprintRow},
};
use edict_codec::{cbor::Value, digest::TypedDigest};
use std::fmt::Debug;

/// Whether a package has effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No effects.
    Pure,
    /// Effects on atoms.
    Effectful,
    /// Creates one attachment if there is none; of the profile that has to be asked for.
    Anchored,
}

impl Kind {
    /// The text in messages and packages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Effectful | Self::Anchored => "effectful",
        }
    }

    /// Whether an invocation runs on a basis and may settle.
    pub const fn has_effects(self) -> bool {
        !matches!(self, Self::Pure)
    }

    /// A budget under the names of this kind.
    pub fn budget(self, budget: Budget) -> Value {
        match self {
            Self::Pure | Self::Effectful => budget.to_value(),
            Self::Anchored => anchored(
                budget.max_steps,
                budget.max_allocated_bytes,
                budget.max_output_bytes,
            ),
        }
    }

    /// Counters under the names of this kind.
    pub fn consumed(self, consumed: Consumed) -> Value {
        match self {
            Self::Pure | Self::Effectful => consumed.to_value(),
            Self::Anchored => anchored(
                consumed.steps,
                consumed.allocated_bytes,
                consumed.output_bytes,
            ),
        }
    }
}

/// The three counters of the foreign profile, which stand in the places of ours.
fn anchored(steps: u64, read: u64, written: u64) -> Value {
    Value::text_map([
        ("steps", Value::unsigned(steps)),
        ("readBytes", Value::unsigned(read)),
        ("writeBytes", Value::unsigned(written)),
    ])
}

/// What the outside must know of an admitted package.
#[derive(Clone, Debug)]
pub struct Facts {
    /// dig(echo/installation/v1).
    pub installation: TypedDigest,
    /// dig(echo.program-package/v1).
    pub package: TypedDigest,
    /// dig(edict.verification-report/v1).
    pub report: TypedDigest,
    /// Coordinate of the operation.
    pub operation: String,
    /// Pure or effectful.
    pub kind: Kind,
    /// Declared budget.
    pub budget: Budget,
    /// Static bound; may exceed the budget.
    pub static_bound: Consumed,
    /// Type text of the input.
    pub input_type: String,
    /// Type text of the output.
    pub output_type: String,
    /// Declared footprint, ascending by space and intrinsic.
    pub footprint: Vec<FootprintRow>,
    /// `C(footprint)` of the package: preimage of `declaredFootprint`.
    pub footprint_bytes: Vec<u8>,
    /// Package and report bytes together, for the host total.
    pub size: u64,
}

/// Who raised an obstruction (section 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The program.
    Authored,
    /// An input constraint.
    Constraint,
    /// The meter.
    Budget,
}

impl Origin {
    /// The text in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Authored => "authored",
            Self::Constraint => "constraint",
            Self::Budget => "budget",
        }
    }
}

/// How an evaluation was decided. Bodies are canonical bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The program returned this value.
    Result {
        /// Canonical output value.
        body: Vec<u8>,
    },
    /// The program was obstructed.
    Obstruction {
        /// Who raised it.
        origin: Origin,
        /// Its coordinate.
        coordinate: String,
        /// Canonical payload.
        body: Vec<u8>,
    },
}

/// A decided evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluated {
    /// How it ended.
    pub decision: Decision,
    /// Canonical bytes of the value of the basis expression; `None` if none is declared or the
    /// invocation ended before that value existed.
    pub basis: Option<Vec<u8>>,
    /// What it used.
    pub consumed: Consumed,
}

/// An admitted package, ready to run: immutable, shared by contexts, carrying no authority.
pub trait Executable: Debug + Send + Sync {
    /// What the outside must know.
    fn facts(&self) -> &Facts;

    /// Decodes an input and checks its declared type. The size was judged before.
    ///
    /// # Errors
    /// `input-noncanonical`, `input-type` with path.
    fn decode_input(&self, input: &[u8]) -> Result<Value, Refusal>;

    /// Runs steps (3) to (8) of section 4.1 within `budget`.
    ///
    /// # Errors
    /// `evaluation-fault` with scope context, or `state-limit`; both leave the invocation
    /// undecided. Refusals of `view` are passed on as they are.
    fn run(
        &self,
        input: Value,
        budget: Budget,
        view: &mut dyn AtomView,
    ) -> Result<Evaluated, Refusal>;
}
