// SPDX-License-Identifier: Apache-2.0
//! An explanation as a document: `edict.test.why/v1` (A14).

use crate::json_parts::{digest, text_or_null};
use edict_codec::json::Json;
use edict_test_model::{
    recipe::LeafValue,
    why::{Cause, DifferingLeaf, Ending, Explanation, Proof, Step},
};
use std::fmt;

/// What a side of an explanation is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunName {
    /// A run of a state directory.
    Number(u64),
    /// A report file.
    Report(String),
}

impl fmt::Display for RunName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "run {number}"),
            Self::Report(path) => write!(formatter, "{path}"),
        }
    }
}

impl RunName {
    /// The number, or the path of the report as a text.
    pub fn json(&self) -> Json {
        match self {
            Self::Number(number) => Json::unsigned(*number),
            Self::Report(path) => Json::text(path.as_str()),
        }
    }
}

/// The document.
pub fn document(explanation: &Explanation, [from, to]: [&RunName; 2]) -> Json {
    let texts = |texts: &[String]| Json::Array(texts.iter().map(Json::text).collect());
    let causes = explanation.causes.iter().copied().map(Cause::name);
    Json::object([
        ("schema", Json::text("edict.test.why/v1")),
        ("case", Json::text(explanation.case.as_str())),
        ("from", from.json()),
        ("to", to.json()),
        (
            "verdicts",
            Json::object([
                ("from", Json::optional(explanation.from.ending, ending)),
                ("to", Json::optional(explanation.to.ending, ending)),
            ]),
        ),
        (
            "steps",
            Json::Array(explanation.steps.iter().map(step).collect()),
        ),
        ("unchanged", texts(&explanation.unchanged)),
        ("causes", Json::Array(causes.map(Json::text).collect())),
        (
            "proof",
            Json::optional(explanation.proof.as_ref(), |it| proof(explanation, it)),
        ),
        ("unverified", texts(&explanation.unverified)),
    ])
}

fn ending(ending: Ending) -> Json {
    Json::object([
        ("verdict", Json::text(ending.verdict.name())),
        ("stage", Json::text(ending.stage.name())),
        ("kind", Json::text(ending.kind.name())),
    ])
}

fn step(step: &Step) -> Json {
    Json::object([
        ("name", Json::text(step.name.name())),
        ("decision", Json::text(step.decision)),
        (
            "differing",
            Json::Array(step.differing.iter().map(leaf).collect()),
        ),
    ])
}

fn leaf(leaf: &DifferingLeaf) -> Json {
    let locator = |index: usize| {
        let locator = leaf.locators.get(index).and_then(Option::as_ref);
        text_or_null(locator.map(edict_test_model::Locator::as_str))
    };
    let difference = &leaf.difference;
    Json::object([
        ("label", Json::text(difference.label.as_str())),
        ("from", Json::optional(difference.from.as_ref(), value)),
        ("to", Json::optional(difference.to.as_ref(), value)),
        ("locators", Json::Array(vec![locator(0), locator(1)])),
    ])
}

fn value(value: &LeafValue) -> Json {
    match value {
        LeafValue::Digest(it) => digest(it),
        LeafValue::Text(text) => Json::text(text.as_str()),
        LeafValue::Number(number) => Json::unsigned(*number),
        LeafValue::Absent => Json::Null,
    }
}

/// `result`, the labels of the changes, and how many executions were made.
fn proof(explanation: &Explanation, proof: &Proof) -> Json {
    let (result, changes, executions) = match proof {
        Proof::Found {
            changes,
            executions,
            ..
        } => ("found", changes.as_slice(), executions),
        Proof::Nondeterministic { executions } => ("nondeterministic", &[][..], executions),
        Proof::Held { executions } => ("held", &[][..], executions),
        Proof::LimitReached {
            changes,
            executions,
        } => ("limitReached", changes.as_slice(), executions),
    };
    let necessary = match proof {
        Proof::Found { necessary, .. } => *necessary,
        Proof::Nondeterministic { .. } | Proof::Held { .. } | Proof::LimitReached { .. } => None,
    };
    let leaves = explanation.differing();
    let labels = changes
        .iter()
        .filter_map(|position| leaves.get(*position))
        .map(|leaf| Json::text(leaf.difference.label.as_str()));
    Json::object([
        ("result", Json::text(result)),
        ("changes", Json::Array(labels.collect())),
        ("necessary", Json::optional(necessary, Json::Bool)),
        ("executions", Json::unsigned(u64::from(*executions))),
    ])
}
