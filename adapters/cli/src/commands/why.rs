// SPDX-License-Identifier: Apache-2.0
//! `why`: what changed the verdict of a case, read from run records or reports alone (A11-A15).

mod file;
mod prove;
mod sides;
mod swap;
mod verify;

use super::{Answer, Problems};
use crate::args::{WhyArgs, WhyNotArgs};
use edict_test_model::{
    CaseId, Failure, FailureKind, Stage,
    why::{Cause, Explanation, explain_case},
};
use edict_test_reporters::{export::Why, why_json, why_text};
use sides::Sides;
use std::{collections::BTreeMap, path::Path};

/// Where the records of a command are.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    suite: Option<&'a Path>,
    state: Option<&'a Path>,
}

/// Explains a case, tells what a file decides, or says why an edit changed nothing.
pub(super) fn why(arguments: &WhyArgs) -> Result<Answer, Problems> {
    let place = Place {
        suite: arguments.suite.as_deref(),
        state: arguments.state.as_deref(),
    };
    let answer = if let Some(path) = &arguments.file {
        file::depends(place, path, arguments.json)
    } else if let (Some(case), Some(edited)) = (&arguments.not, &arguments.edited) {
        file::not_changed(place, case, edited, arguments.json)
    } else if let Some(case) = &arguments.case {
        explain(place, case, arguments)
    } else {
        Err(refused(
            "name a case, --file PATH, or --not CASE --edited PATH",
        ))
    };
    answer.map_err(|failure| vec![failure])
}

/// `why-not CASE --edited PATH`, the other spelling of `why --not`.
pub(super) fn why_not(arguments: &WhyNotArgs) -> Result<Answer, Problems> {
    let place = Place {
        suite: arguments.suite.as_deref(),
        state: arguments.state.as_deref(),
    };
    file::not_changed(place, &arguments.case, &arguments.edited, arguments.json)
        .map_err(|failure| vec![failure])
}

/// What changed each case of the later of two reports, beside the earlier one.
pub(super) fn between(earlier: &Path, later: &Path) -> Result<BTreeMap<CaseId, Why>, Failure> {
    let sides = Sides::of_reports(earlier, later)?;
    let names = [&sides.from.name, &sides.to.name];
    let cases = sides.to.record.cases.iter().map(|it| &it.id);
    let explained = cases.filter_map(|id| {
        let explanation = explained(&sides, id)?;
        let causes: Vec<_> = explanation.causes.iter().map(|it| it.name()).collect();
        let why = Why {
            causes: causes.join(", "),
            text: why_text::write(&explanation, names),
            changed: explanation.verdict_changed(),
        };
        Some((id.clone(), why))
    });
    Ok(explained.collect())
}

/// The explanation of a case, in which what cannot be verified again is marked; `None` when neither
/// side has it.
fn explained(sides: &Sides, id: &CaseId) -> Option<Explanation> {
    let (from, to) = (&sides.from.record, &sides.to.record);
    let first = explain_case(from, to, id, Vec::new())?;
    explain_case(from, to, id, verify::unverified(sides, &first))
}

fn explain(place: Place<'_>, case: &str, arguments: &WhyArgs) -> Result<Answer, Failure> {
    let id = case_id(case)?;
    let sides = Sides::read(place, [&arguments.from, &arguments.to])?;
    let unknown = || {
        refused(&format!(
            "neither {} nor {} has a case `{case}`",
            sides.from.name, sides.to.name
        ))
    };
    let mut explanation = explained(&sides, &id).ok_or_else(unknown)?;
    if arguments.prove {
        explanation.proof = Some(prove::prove(
            place,
            &sides,
            &explanation,
            arguments.prove_max,
        )?);
    }
    let names = [&sides.from.name, &sides.to.name];
    let answer = if arguments.json {
        Answer::json(&why_json::document(&explanation, names))
    } else {
        Answer::text(why_text::write(&explanation, names))
    };
    Ok(answer.with_status(status(&explanation)))
}

/// 1 only for a changed verdict of which nothing that is pinned is the cause.
fn status(explanation: &Explanation) -> u8 {
    u8::from(explanation.verdict_changed() && explanation.causes == [Cause::None])
}

fn case_id(text: &str) -> Result<CaseId, Failure> {
    CaseId::parse(text).map_err(|error| refused(&format!("`{text}` is no case id: {error}")))
}

fn refused(message: &str) -> Failure {
    Failure::new(Stage::Arguments, FailureKind::UsageError, message)
}
