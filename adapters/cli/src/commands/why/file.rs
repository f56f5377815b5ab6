// SPDX-License-Identifier: Apache-2.0
//! What depends on a file, where its last change was cut off, and why an edit changed nothing.

use super::{
    Place, case_id, refused,
    sides::{Records, Side},
};
use crate::{commands::Answer, wire::read_argument};
use edict_codec::json::Json;
use edict_test_model::{
    Failure, Locator,
    limits::Limit,
    run::VerifyDecision,
    why::{
        CaseRecord, Dependent, NotChanged, RunRecord, StepName, dependents, not_changed as compare,
    },
};
use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// How far the last change of a file reached in one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// No earlier run, or none that had the case.
    Unknown,
    /// The file was the same in both runs.
    Same,
    /// It changed and Core stayed equal.
    CutOff,
    /// It changed everything after it.
    All,
}

impl Reach {
    const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Same => "same",
            Self::CutOff => "cutOff",
            Self::All => "all",
        }
    }
}

/// What a file of the snapshot is that is no leaf of any case.
const DOCUMENT: &str = "it is the manifest, the lock or an application document, and what it says \
                        stands in the leaves of suite, toolchain and cases";

/// `--file PATH`.
pub(super) fn depends(place: Place<'_>, path: &str, json: bool) -> Result<Answer, Failure> {
    let records = Records::open(place)?;
    let run = records.latest()?;
    let before = records.before(&run.record);
    let file = known(place, path, &run.record)?;
    let found: Vec<(Dependent, Reach)> = dependents(&run.record, &file)
        .into_iter()
        .map(|it| {
            let reach = reach(before.as_ref(), &run.record, &it);
            (it, reach)
        })
        .collect();
    Ok(if json {
        Answer::json(&depends_json(&file, &run, &found))
    } else {
        Answer::text(depends_text(&file, &run, &found))
    })
}

fn reach(before: Option<&Side>, run: &RunRecord, dependent: &Dependent) -> Reach {
    let before = before.and_then(|side| side.record.case(&dependent.case));
    let (Some(before), Some(after)) = (before, run.case(&dependent.case)) else {
        return Reach::Unknown;
    };
    let value = |case: &CaseRecord, label: &str| {
        let leaf = case.leaves.iter().find(|leaf| leaf.label == label);
        leaf.map(|leaf| leaf.value.clone())
    };
    let same = dependent
        .labels
        .iter()
        .all(|label| value(before, label) == value(after, label));
    let builds = dependent.steps.contains(&StepName::Build);
    if same {
        Reach::Same
    } else if builds && before.core.is_some() && before.core == after.core {
        Reach::CutOff
    } else {
        Reach::All
    }
}

fn depends_text(file: &Locator, run: &Side, found: &[(Dependent, Reach)]) -> String {
    let count = match found.len() {
        0 if run.record.file(file).is_some() => {
            format!("decides no case by its bytes; {DOCUMENT}")
        }
        0 => "decides no case".to_owned(),
        1 => "decides 1 case".to_owned(),
        count => format!("decides {count} cases"),
    };
    let mut text = format!("{file}: {count}   ({})\n", run.name);
    for (dependent, reach) in found {
        let case = run.record.case(&dependent.case);
        // Writing into a string cannot fail.
        _ = writeln!(text, "\n  {}", dependent.case);
        _ = writeln!(text, "    as       {}", dependent.labels.join(", "));
        let steps: Vec<&str> = dependent.steps.iter().map(|it| it.name()).collect();
        _ = writeln!(text, "    reaches  {}", steps.join(", "));
        if let Some(case) = case {
            _ = writeln!(text, "    {}  {}", run.name, remark(case, *reach));
        }
    }
    text
}

fn remark(case: &CaseRecord, reach: Reach) -> String {
    let (build, verify) = (case.build.name(), case.verify.name());
    let execute = if case.execution.is_some() {
        "execute executed"
    } else {
        "execute notExecuted"
    };
    let decisions = format!("build {build}, verify {verify}, {execute}");
    match reach {
        Reach::Unknown => decisions,
        Reach::Same if case.verify == VerifyDecision::Reused => format!(
            "{decisions}: the file is the one of the run before; cut off at build, executed \
             afresh as always"
        ),
        Reach::Same => format!("{decisions}: the file is the one of the run before"),
        Reach::CutOff => format!(
            "{decisions}: the file changed and Core did not; cut off after verify, whose report \
             names the file"
        ),
        Reach::All => format!("{decisions}: the file changed; nothing was cut off"),
    }
}

fn depends_json(file: &Locator, run: &Side, found: &[(Dependent, Reach)]) -> Json {
    let case = |(dependent, reach): &(Dependent, Reach)| {
        let record = run.record.case(&dependent.case);
        let steps = dependent.steps.iter().map(|it| Json::text(it.name()));
        Json::object([
            ("case", Json::text(dependent.case.as_str())),
            (
                "labels",
                Json::Array(dependent.labels.iter().map(Json::text).collect()),
            ),
            ("steps", Json::Array(steps.collect())),
            (
                "buildDecision",
                Json::optional(record, |it| Json::text(it.build.name())),
            ),
            (
                "verifyDecision",
                Json::optional(record, |it| Json::text(it.verify.name())),
            ),
            ("change", Json::text(reach.name())),
        ])
    };
    Json::object([
        ("schema", Json::text("edict.test.why-file/v1")),
        ("file", Json::text(file.as_str())),
        ("run", run.name.json()),
        ("cases", Json::Array(found.iter().map(case).collect())),
    ])
}

/// `--not CASE --edited PATH`.
pub(super) fn not_changed(
    place: Place<'_>,
    case: &str,
    path: &str,
    json: bool,
) -> Result<Answer, Failure> {
    let id = case_id(case)?;
    let records = Records::open(place)?;
    let run = records.latest()?;
    let record = run
        .record
        .case(&id)
        .ok_or_else(|| refused(&format!("{} has no case `{case}`", run.name)))?;
    let file = known(place, path, &run.record)?;
    let bytes = read_argument(&on_disk(place, &file, path), Limit::FixtureBytes.ceiling())?;
    let reason = compare(record, &file, &bytes);
    let own = |it: &Dependent| it.case == id;
    let dependent = dependents(&run.record, &file).into_iter().find(own);
    let before = records.before(&run.record);
    let reach = match (&dependent, reason) {
        (Some(dependent), NotChanged::SameContent) => {
            reach(before.as_ref(), &run.record, dependent)
        }
        _ => Reach::Unknown,
    };
    let (name, mut text) = not_changed_text(reason, reach);
    let leaf = !dependents(&run.record, &file).is_empty();
    if reason == NotChanged::NotAnInput && !leaf && run.record.file(&file).is_some() {
        text = DOCUMENT;
    }
    Ok(if json {
        Answer::json(&Json::object([
            ("schema", Json::text("edict.test.why-not/v1")),
            ("case", Json::text(case)),
            ("file", Json::text(file.as_str())),
            ("run", run.name.json()),
            ("reason", Json::text(name)),
        ]))
    } else {
        Answer::text(format!(
            "{case} and {file}   ({})\n\n  {name}   {text}\n",
            run.name
        ))
    })
}

fn not_changed_text(reason: NotChanged, reach: Reach) -> (&'static str, &'static str) {
    match (reason, reach) {
        (NotChanged::NotAnInput, _) => (
            "notAnInput",
            "the case does not depend on the file: no leaf of it is that file",
        ),
        (NotChanged::NotRunSince, _) => (
            "notRunSince",
            "the file is another one now; the case has not been run since",
        ),
        (NotChanged::SameContent, Reach::CutOff) => (
            "nonsemantic",
            "the edit was built and Core stayed equal: the program is the same",
        ),
        (NotChanged::SameContent, Reach::All) => (
            "ranWithIt",
            "the edit was run: whether it changed the verdict is what `why` tells",
        ),
        (NotChanged::SameContent, Reach::Same | Reach::Unknown) => (
            "sameContent",
            "the file has the content that it had in the run: there is no edit to see",
        ),
    }
}

/// The locator of a path as a user types it: relative to the suite, or to where they stand.
fn known(place: Place<'_>, path: &str, run: &RunRecord) -> Result<Locator, Failure> {
    let mut candidates: Vec<Locator> = Locator::parse(path).ok().into_iter().collect();
    let root = place.suite.and_then(Path::parent);
    let absolute = |path: &Path| std::path::absolute(path).ok();
    if let (Some(root), Some(file)) = (root.and_then(absolute), absolute(Path::new(path))) {
        let below = file.strip_prefix(root).ok().and_then(Path::to_str);
        candidates.extend(below.and_then(|it| Locator::parse(it).ok()));
    }
    let used = candidates.iter().find(|it| run.file(it).is_some());
    match used.or(candidates.first()) {
        Some(locator) => Ok(locator.clone()),
        None => Err(refused(&format!(
            "`{path}` is no path below the suite directory"
        ))),
    }
}

/// Where the bytes of a file are now.
fn on_disk(place: Place<'_>, file: &Locator, path: &str) -> PathBuf {
    match place.suite {
        Some(suite) => suite.parent().unwrap_or(Path::new("")).join(file.as_str()),
        None => PathBuf::from(path),
    }
}
