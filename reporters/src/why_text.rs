// SPDX-License-Identifier: Apache-2.0
//! An explanation for people: what changed a verdict, link by link (section 9.5).

mod leaf;
mod unchanged;

use crate::why_json::RunName;
use edict_test_model::{
    Stage,
    why::{Cause, Ending, Explanation, Proof, Side, Step, StepName},
};
use leaf::{leaf_lines, short};
use std::fmt::Write as _;
use unchanged::{compared, unchanged};

/// What is never pinned, so that no comparison can speak of it.
const NOT_PINNED: &str = "kernel, load, wall time";

/// The explanation of one case between two runs that are called `names`.
pub fn write(explanation: &Explanation, names: [&RunName; 2]) -> String {
    let mut text = heading(explanation, names);
    for step in &explanation.steps {
        write_step(&mut text, explanation, step);
    }
    text.push('\n');
    if explanation.causes == [Cause::None] {
        line(&mut text, "compared", &compared(explanation));
        line(&mut text, "not pinned", NOT_PINNED);
    } else {
        line(&mut text, "unchanged", &unchanged(explanation));
    }
    for cause in &explanation.causes {
        let remark = cause_remark(explanation, *cause);
        line(&mut text, "cause", &format!("{}   {remark}", cause.name()));
    }
    if let Some(proof) = &explanation.proof {
        line(&mut text, "proof", &proof_text(explanation, proof));
    }
    for what in &explanation.unverified {
        line(&mut text, "unverified", what);
    }
    text
}

fn heading(explanation: &Explanation, [from, to]: [&RunName; 2]) -> String {
    let verdict = |side: &Side, exists: bool| match side.ending {
        Some(ending) => ending.verdict.name(),
        None if exists => "notRun",
        None => "absent",
    };
    let added = explanation.causes.contains(&Cause::CaseAdded);
    let removed = explanation.causes.contains(&Cause::CaseRemoved);
    format!(
        "{}: {} -> {}   ({from} -> {to})\n\n",
        explanation.case,
        verdict(&explanation.from, !added),
        verdict(&explanation.to, !removed),
    )
}

/// One line of the part below the links.
fn line(text: &mut String, name: &str, remark: &str) {
    // Writing into a string cannot fail.
    _ = writeln!(text, "  {name:<10} {remark}");
}

/// Suite and case are shown only when something in them differs; the other links always.
fn write_step(text: &mut String, explanation: &Explanation, step: &Step) {
    let quiet = matches!(step.name, StepName::Suite | StepName::Case);
    if quiet && step.differing.is_empty() {
        return;
    }
    let remark = step_remark(explanation, step);
    let row = format!("  {:<10} {:<11} {remark}", step.name.name(), step.decision);
    _ = writeln!(text, "{}", row.trim_end());
    text.push_str(&leaf_lines(explanation, &step.differing));
}

fn step_remark(explanation: &Explanation, step: &Step) -> String {
    let differing = match step.differing.len() {
        0 => format!("none of {} inputs differs", step.inputs),
        1 => format!("1 of {} inputs differs", step.inputs),
        count => format!("{count} of {} inputs differ", step.inputs),
    };
    match step.name {
        StepName::Suite | StepName::Case | StepName::Build => differing,
        StepName::Verify if !step.differing.is_empty() => differing,
        StepName::Verify => verify_remark(explanation).to_owned(),
        StepName::Execute => execute_remark(explanation, step),
        StepName::Verdict => verdict_remark(explanation),
    }
}

fn verify_remark(explanation: &Explanation) -> &'static str {
    let build = explanation
        .steps
        .iter()
        .find(|it| it.name == StepName::Build);
    let (before, after) = (&explanation.from.core, &explanation.to.core);
    match (before, after) {
        (_, None) => "nothing was built",
        (Some(before), Some(after)) if before == after => {
            if build.is_some_and(|it| !it.differing.is_empty()) {
                "Core is equal; the report names every input of the build"
            } else {
                "nothing it reads changed"
            }
        }
        _ => "the package changed",
    }
}

fn execute_remark(explanation: &Explanation, step: &Step) -> String {
    if step.decision != "executed" {
        return match explanation.to.ending {
            Some(Ending { stage, kind, .. }) => {
                format!("ended before: stage {}, {}", stage.name(), kind.name())
            }
            None => "not reached".to_owned(),
        };
    }
    let context = explanation.to.context.as_deref();
    let context = context.map_or(String::new(), |it| format!(" {}", short(it)));
    let always = format!("always: context{context} is new; executions are never reused");
    match step.differing.len() {
        0 => always,
        count => format!("{always}; {count} of {} inputs differ", step.inputs),
    }
}

/// The fields of the result that differ, then stage and kind of an end that is no comparison.
fn verdict_remark(explanation: &Explanation) -> String {
    let (from, to) = (&explanation.from, &explanation.to);
    let mut parts = Vec::new();
    for (name, value) in &to.outcome {
        let old = from.outcome.iter().find(|(it, _)| it == name);
        match old.map(|(_, old)| old.as_str()) {
            Some(old) if old == value => {}
            Some("\"\"") | None => parts.push(format!("{name} {value}")),
            Some(old) => parts.push(format!("{name} {old} -> {value}")),
        }
    }
    let gone = |name: &str| !to.outcome.iter().any(|(it, _)| it == name);
    for (name, value) in from.outcome.iter().filter(|(name, _)| gone(name)) {
        parts.push(format!("no {name}, which was {value}"));
    }
    let kind = |side: &Side| side.ending.map(|it| (it.stage, it.kind));
    if kind(from) != kind(to)
        && let Some((stage, kind)) = kind(to).filter(|(stage, _)| *stage != Stage::Compare)
    {
        parts.push(format!("{}: {}", stage.name(), kind.name()));
    }
    if parts.is_empty() {
        return "the same result".to_owned();
    }
    parts.join(", ")
}

fn cause_remark(explanation: &Explanation, cause: Cause) -> String {
    let leaves = explanation.differing().len();
    match cause {
        Cause::None if explanation.verdict_changed() => {
            "nothing you pinned changed, and the verdict did".to_owned()
        }
        Cause::None => "nothing you pinned changed, nor did the verdict".to_owned(),
        Cause::SuiteOrder if explanation.is_defect() => {
            "order alone must change no verdict: this is a defect of the runner or the host"
                .to_owned()
        }
        Cause::SuiteOrder => "cases stand in another order".to_owned(),
        Cause::Presentation => "only the label".to_owned(),
        Cause::CaseAdded => "the earlier run has no such case".to_owned(),
        Cause::CaseRemoved => "the later run has no such case".to_owned(),
        Cause::CacheIntegrity => {
            "equal inputs gave another Core; run with --verify-cache".to_owned()
        }
        Cause::Unverified => "something printed could not be verified again".to_owned(),
        Cause::Infrastructure(stage, kind) => {
            format!("stage {}, {}", stage.name(), kind.name())
        }
        Cause::Toolchain(_)
        | Cause::ProviderPackage
        | Cause::Limits
        | Cause::SourceSemantic
        | Cause::SourceNonsemantic
        | Cause::Lawpack
        | Cause::Fixture
        | Cause::Expectation
        | Cause::Setup
        | Cause::Skip => match leaves {
            1 => "the only differing leaf".to_owned(),
            count => format!("among {count} differing leaves"),
        },
    }
}

/// What is said of a smallest set of changes.
const fn found(changes: usize, necessary: Option<bool>) -> &'static str {
    match (changes, necessary) {
        (1, Some(true)) => "alone is sufficient and necessary",
        (1, Some(false)) => "alone is sufficient; the other changes are without it too",
        (1, None) => {
            "alone is sufficient; the limit of executions was reached before it was seen whether \
             it is necessary"
        }
        (_, Some(true)) => "are sufficient together and each is necessary",
        (_, Some(false)) => {
            "are sufficient together and no fewer of them; other changes are sufficient too"
        }
        (_, None) => {
            "are sufficient together and no fewer of them; the limit of executions was reached \
             before it was seen whether each is necessary"
        }
    }
}

/// What the diagnostic executions found.
fn proof_text(explanation: &Explanation, proof: &Proof) -> String {
    let labels = |changes: &[usize]| {
        let leaves = explanation.differing();
        let labels = changes
            .iter()
            .filter_map(|position| leaves.get(*position))
            .map(|leaf| leaf.difference.label.as_str());
        labels.collect::<Vec<_>>().join(", ")
    };
    let (found, executions) = match proof {
        Proof::Found {
            changes,
            necessary,
            executions,
        } => (
            format!("{} {}", labels(changes), found(changes.len(), *necessary)),
            executions,
        ),
        Proof::Nondeterministic { executions } => (
            "nondeterministic: the same inputs did not give the same verdict again".to_owned(),
            executions,
        ),
        Proof::Held { executions } => (
            "no change that can be swapped is necessary: the old inputs end like the new ones \
             under the present toolchain"
                .to_owned(),
            executions,
        ),
        Proof::LimitReached {
            changes,
            executions,
        } if changes.is_empty() => (
            "the limit of executions was reached before anything was confirmed".to_owned(),
            executions,
        ),
        Proof::LimitReached {
            changes,
            executions,
        } => (
            format!(
                "{} are sufficient; the limit of executions was reached",
                labels(changes)
            ),
            executions,
        ),
    };
    let plural = if *executions == 1 { "" } else { "s" };
    format!("{found}   ({executions} diagnostic execution{plural}, counted nowhere)")
}
