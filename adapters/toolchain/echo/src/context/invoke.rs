// SPDX-License-Identifier: Apache-2.0
//! One invocation: admission in its order, evaluation, then settlement (sections 2.4 and 4.1).

use super::{Context, total::StateTotal};
use crate::{
    executable::{Executable, Kind},
    fault_point::FaultPoints,
    limits,
    pin::Budget,
    refusal::Refusal,
    settle,
    wire::{
        frame::ReplyType,
        reply::{Reply, optional_bytes},
        request::Invoke,
    },
};
use edict_codec::{cbor::Value, digest::TypedDigest};

/// What an invocation needs of the host.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Build of this process.
    pub build: &'a TypedDigest,
    /// Greatest whole frame the client reads.
    pub max_frame_bytes: u64,
    /// Value bytes of all contexts.
    pub total: &'a StateTotal,
    /// Points of failure.
    pub fault_points: &'a FaultPoints,
}

/// The members of the reply `outcome`.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// The worldline.
    pub worldline: &'a TypedDigest,
    /// The consumed id.
    pub invocation: &'a [u8; 32],
    /// `result` or `obstruction`.
    pub kind: &'a str,
    /// Record bytes.
    pub record: &'a [u8],
    /// Receipt bytes.
    pub receipt: &'a [u8],
    /// Canonical output value or payload.
    pub body: &'a [u8],
    /// Footprint body; none if pure.
    pub footprint: Option<&'a [u8]>,
    /// Patch body, if it settled.
    pub patch: Option<&'a [u8]>,
    /// Read back from the log.
    pub recalled: bool,
}

impl Outcome<'_> {
    /// The reply.
    pub fn to_reply(self) -> Reply {
        let value = Value::text_map([
            ("worldline", self.worldline.to_value()),
            ("invocation", Value::bytes(*self.invocation)),
            ("kind", Value::text(self.kind)),
            ("record", Value::bytes(self.record)),
            ("receipt", Value::bytes(self.receipt)),
            ("body", Value::bytes(self.body)),
            ("footprint", optional_bytes(self.footprint)),
            ("patch", optional_bytes(self.patch)),
            ("recalled", Value::Bool(self.recalled)),
        ]);
        Reply::new(ReplyType::Outcome, &value)
    }
}

impl Context {
    /// Decides `request`, or refuses it with its id not consumed. `executable` is the
    /// installation it names, if the host has it.
    ///
    /// # Errors
    /// The refusals of section 2.4 from `context-poisoned` on, in their order; one of scope
    /// context poisons this context.
    pub fn invoke(
        &mut self,
        request: &Invoke,
        executable: Option<&dyn Executable>,
        surroundings: &Surroundings<'_>,
    ) -> Result<Reply, Refusal> {
        let decided = self.decide(request, executable, surroundings);
        if let Err(refusal) = &decided {
            self.poisoned |= refusal.scope == crate::refusal::Scope::Context;
        }
        decided
    }

    fn decide(
        &mut self,
        request: &Invoke,
        executable: Option<&dyn Executable>,
        surroundings: &Surroundings<'_>,
    ) -> Result<Reply, Refusal> {
        self.usable()?;
        let executable = executable.ok_or_else(|| {
            Refusal::at(
                "installation-unknown",
                ".installation",
                "no such installation",
            )
        })?;
        let budget = self.admit(request, executable)?;
        let input = executable.decode_input(&request.input)?;
        surroundings.fault_points.reach("invoke-admitted");
        let settlement = settle::evaluate(
            &self.store,
            executable,
            input,
            budget,
            surroundings.fault_points,
        )?;
        self.settle(request, executable.facts(), settlement, surroundings)
    }

    /// Everything judged before the input is decoded; gives the effective budget.
    fn admit(&self, request: &Invoke, executable: &dyn Executable) -> Result<Budget, Refusal> {
        let facts = executable.facts();
        if !self.grants(&request.installation) {
            return Err(Refusal::at(
                "installation-not-granted",
                ".installation",
                "the context was not granted this installation",
            ));
        }
        if self.decided.contains_key(&request.invocation) {
            return Err(Refusal::at(
                "invocation-replayed",
                ".invocation",
                "the invocation is decided already",
            ));
        }
        match (facts.kind, &request.basis) {
            (Kind::Pure, Some(_)) => {
                return Err(Refusal::at(
                    "basis-not-allowed",
                    ".basis",
                    "a pure program has no basis",
                ));
            }
            (Kind::Effectful | Kind::Anchored, None) => {
                return Err(Refusal::at(
                    "basis-required",
                    ".basis",
                    "an effectful program runs on a basis",
                ));
            }
            (Kind::Effectful | Kind::Anchored, Some(basis)) => basis.meets(&self.basis)?,
            (Kind::Pure, None) => {}
        }
        let budget = request.budget.unwrap_or(facts.budget);
        if let Some(member) = budget.excess(facts.budget) {
            return Err(Refusal::at(
                "budget-above-declared",
                format!(".budget.{member}"),
                "the package declares a lower budget",
            ));
        }
        if !limits::admits(limits::MAX_INPUT_BYTES, request.input.len()) {
            return Err(Refusal::at(
                "input-too-large",
                ".input",
                format!("an input of more than {} bytes", limits::MAX_INPUT_BYTES),
            ));
        }
        Ok(budget)
    }
}
