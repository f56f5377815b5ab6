// SPDX-License-Identifier: Apache-2.0
//! Two reports of one suite, link by link in the order of the chain: pins, source, artifacts, input,
//! execution, verdict.

use super::ReadReport;
use crate::{
    ids::CaseId,
    limits::Limit,
    run::{CaseReport, ExecutionOutcome, ProgramReport, semantic::semantic_digest},
};
use edict_codec::{digest::TypedDigest, json::Json};

/// One link that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name, such as `source` or `execution`.
    pub name: String,
    /// What the first report says; `None` when it says nothing.
    pub from: Option<String>,
    /// What the second one says.
    pub to: Option<String>,
}

/// What differs about one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseDiff {
    /// The id.
    pub id: String,
    /// Every differing link in chain order; the first one comes first.
    pub links: Vec<Link>,
}

/// What differs between two reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportDiff {
    /// Whether the semantic digests, recomputed, are equal.
    pub equal: bool,
    /// Differing links of the whole suite: manifest, pins, limits.
    pub suite: Vec<Link>,
    /// Every case of either report, in the order of the first, then of the second.
    pub cases: Vec<CaseDiff>,
}

/// Why two reports cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// One of them knows no suite.
    #[error("one of the reports ended before its suite was known")]
    NoSuite,
    /// They are of two suites.
    #[error("the reports are of two suites, `{0}` and `{1}`")]
    OtherSuite(String, String),
}

/// Compares two reports.
///
/// # Errors
/// [`NotComparable`].
pub fn diff(from: &ReadReport, to: &ReadReport) -> Result<ReportDiff, NotComparable> {
    let (Some(left), Some(right)) = (&from.semantic.suite, &to.semantic.suite) else {
        return Err(NotComparable::NoSuite);
    };
    if left.id != right.id {
        return Err(NotComparable::OtherSuite(
            left.id.to_string(),
            right.id.to_string(),
        ));
    }
    let absent = |report: &ReadReport, case: &CaseReport| {
        !report
            .semantic
            .cases
            .iter()
            .any(|other| other.id == case.id)
    };
    let added = to.semantic.cases.iter().filter(|case| absent(from, case));
    let ids = from.semantic.cases.iter().chain(added).map(|case| &case.id);
    let find = |report: &ReadReport, id: &CaseId| {
        let found = report.semantic.cases.iter().find(|case| case.id == *id);
        found
            .map(|case| case_links(report, case))
            .unwrap_or_default()
    };
    let cases = ids
        .map(|id| CaseDiff {
            id: id.to_string(),
            links: differing(&find(from, id), &find(to, id)),
        })
        .collect();
    Ok(ReportDiff {
        equal: digest(&from.semantic_tree) == digest(&to.semantic_tree),
        suite: differing(&suite_links(from), &suite_links(to)),
        cases,
    })
}

fn digest(tree: &Json) -> Option<TypedDigest> {
    semantic_digest(tree)
}

type Links = Vec<(String, String)>;

fn differing(from: &Links, to: &Links) -> Vec<Link> {
    let value = |links: &Links, name: &str| {
        let found = links.iter().find(|(candidate, _)| candidate == name);
        found.map(|(_, value)| value.clone())
    };
    let added = to.iter().filter(|(name, _)| value(from, name).is_none());
    let names = from.iter().chain(added).map(|(name, _)| name);
    names
        .map(|name| Link {
            name: name.clone(),
            from: value(from, name),
            to: value(to, name),
        })
        .filter(|link| link.from != link.to)
        .collect()
}

fn suite_links(report: &ReadReport) -> Links {
    let semantic = &report.semantic;
    let mut links = Links::new();
    let mut add = |name: &str, value: String| links.push((name.to_owned(), value));
    for producer in &semantic.producers {
        let name = format!("toolchain.{}", producer.role.name());
        add(&name, shown(&producer.identity));
        if let Some(coordinate) = &producer.coordinate {
            add(&format!("{name}.coordinate"), coordinate.clone());
        }
        if let (Some(revision), Some(tree)) = (&producer.revision, &producer.tree) {
            add(
                &format!("{name}.source"),
                format!("{revision} {}", shown(tree)),
            );
        }
    }
    if let Some(package) = &semantic.provider_package {
        add("toolchain.providerPackage", shown(&package.identity));
    }
    if let Some(limits) = &semantic.limits {
        for limit in Limit::ALL {
            add(
                &format!("limits.{}", limit.name()),
                limits.get(limit).to_string(),
            );
        }
    }
    let order: Vec<&str> = semantic.cases.iter().map(|case| case.id.as_str()).collect();
    add("order", order.join(" "));
    if let Some(suite) = &semantic.suite {
        add("manifest", shown(&suite.manifest));
        for (name, value) in [("lock", &suite.lock_file), ("suite", &suite.identity)] {
            if let Some(value) = value {
                add(name, shown(value));
            }
        }
    }
    let outcome = &semantic.summary.outcome;
    add("outcome", outcome.class.name().to_owned());
    if let Some(primary) = &outcome.primary {
        let case = primary
            .case
            .as_ref()
            .map_or("no case", |case| case.as_str());
        let (stage, kind) = (primary.stage.name(), primary.kind.name());
        add("primary", format!("{stage} {kind} {case}"));
    }
    links
}

fn case_links(report: &ReadReport, case: &CaseReport) -> Links {
    let semantic = &report.semantic;
    let mut links = Links::new();
    if let Some(program) = case
        .program
        .and_then(|index| semantic.programs.get(index.0))
    {
        program_links("", program, &mut links);
    }
    identity("application", case.application.as_ref(), &mut links);
    identity("input", case.input.as_ref(), &mut links);
    identity("expectation", case.expectation.as_ref(), &mut links);
    for (position, entry) in case.setup.iter().enumerate() {
        let name = format!("setup[{position}]");
        let program = entry
            .program
            .and_then(|index| semantic.programs.get(index.0));
        if let Some(program) = program {
            program_links(&format!("{name}."), program, &mut links);
        }
        identity(
            &format!("{name}.application"),
            entry.application.as_ref(),
            &mut links,
        );
        identity(&format!("{name}.input"), entry.input.as_ref(), &mut links);
        if let Some((kind, digest)) = &entry.outcome {
            let value = format!("{} {}", kind.name(), shown(digest));
            links.push((format!("{name}.execution"), value));
        }
    }
    if let Some(skip) = &case.skip {
        let value = format!("{} ({})", skip.reason, skip.tracking_reference);
        links.push(("skip".to_owned(), value));
    }
    identity("case", case.case.as_ref(), &mut links);
    ends(case, &mut links);
    links.push(("label".to_owned(), case.label.clone()));
    links
}

fn identity(name: &str, digest: Option<&TypedDigest>, links: &mut Links) {
    if let Some(digest) = digest {
        links.push((name.to_owned(), shown(digest)));
    }
}

/// Source and lawpacks first, then what was made of them.
fn program_links(prefix: &str, program: &ProgramReport, links: &mut Links) {
    let closure = |role: &str| matches!(role, "source" | "lawpack-exports");
    let mut rows = Links::new();
    for artifact in &program.artifacts {
        let role = artifact.role.name();
        let count = rows
            .iter()
            .filter(|(name, _)| name.starts_with(role))
            .count();
        rows.push((format!("{role}[{count}]"), shown(&artifact.identity)));
    }
    let (inputs, outputs): (Links, Links) = rows
        .into_iter()
        .partition(|(name, _)| closure(name.split('[').next().unwrap_or_default()));
    let key = vec![("build-key".to_owned(), shown(&program.build_key))];
    for (name, value) in [inputs, key, outputs].into_iter().flatten() {
        let single = name.strip_suffix("[0]").unwrap_or(&name);
        links.push((format!("{prefix}{single}"), value));
    }
    if let Some(verification) = &program.verification {
        let value = verification.outcome.name().to_owned();
        links.push((format!("{prefix}verification"), value));
    }
}

fn ends(case: &CaseReport, links: &mut Links) {
    let mut add = |name: &str, value: String| links.push((name.to_owned(), value));
    if let Some(execution) = &case.execution {
        add("execution", shown(&execution.semantic_digest));
        let [steps, allocated, output] = execution.consumed;
        add(
            "consumed",
            format!("{steps} steps, {allocated} and {output} bytes"),
        );
        let value = match &execution.outcome {
            ExecutionOutcome::Result(body) => format!("result {}", shown(&body.blob)),
            ExecutionOutcome::Obstruction {
                coordinate,
                payload,
            } => format!("obstruction {coordinate} {}", shown(&payload.blob)),
        };
        add("outcome", value);
    }
    if let Some(result) = &case.result {
        add("assertions", result.assertions.to_string());
        add("message", result.message.clone());
    }
    let verdict = match &case.ending {
        None => "notRun".to_owned(),
        Some(ending) => {
            let detail = ending.detail.as_ref().map(|detail| format!(" {detail}"));
            let (stage, kind) = (ending.stage.name(), ending.kind.name());
            format!(
                "{} {stage} {kind}{}",
                ending.verdict.name(),
                detail.unwrap_or_default()
            )
        }
    };
    add("verdict", verdict);
}

/// A digest as people compare it: domain and the whole 64 digits.
fn shown(digest: &TypedDigest) -> String {
    format!("{} {}", digest.domain(), digest.hex())
}
