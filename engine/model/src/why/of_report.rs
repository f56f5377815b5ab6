// SPDX-License-Identifier: Apache-2.0
//! Two report files as run records, so that runs of two machines can be compared.
//!
//! A report names an application by its identity and by the source and exports it was built from.
//! What else differs in an application is therefore one leaf, `application.lawpacks`.

use super::record::{CaseRecord, Ending, RunRecord};
use crate::{
    built::ArtifactRole,
    failure::{FailureKind, Stage},
    ids::CaseId,
    limits::Limit,
    recipe::{Leaf, LeafValue},
    run::{BuildDecision, Class, VerifyDecision, semantic_digest},
    suite::Role,
    verdict::Verdict,
};
use edict_codec::{
    digest::{Algorithm, TypedDigest},
    hex,
    json::{Json, JsonLimits, Node, parse},
};

/// The schema of reports.
const SCHEMA: &str = "edict.test.run/v1";
/// The application as a whole, until [`settle`] has looked at both sides.
const IDENTITY: &str = "application.identity";
/// What is left of an application when source, exports and coordinate are equal.
const REST: &str = "application.lawpacks";

/// Why a file is no report that can be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is no report of a run that can be compared: {0}")]
pub struct NoReport(String);

/// The record that a report amounts to, and whether its content is what its own digest says.
///
/// # Errors
/// [`NoReport`].
pub fn report_record(bytes: &[u8]) -> Result<(RunRecord, bool), NoReport> {
    let node = parse(bytes, JsonLimits::document(bytes.len()))
        .map_err(|error| NoReport(error.to_string()))?;
    if node.get("schema").and_then(Node::as_text) != Some(SCHEMA) {
        return Err(NoReport(format!("its schema is not `{SCHEMA}`")));
    }
    let record = record(&node)
        .ok_or_else(|| NoReport("a suite that was loaded, or a member, is missing".to_owned()))?;
    let semantic = node.get("semantic").map(Json::from);
    let holds = semantic.and_then(|it| semantic_digest(&it)) == Some(record.semantic.clone());
    Ok((record, holds))
}

/// Makes the leaves of two reports comparable: an application that differs only in what a report
/// does not tell apart gets one differing leaf for it.
pub fn settle(from: &mut RunRecord, to: &mut RunRecord) {
    for after in &mut to.cases {
        let Some(before) = from.cases.iter_mut().find(|case| case.id == after.id) else {
            continue;
        };
        let parts = |case: &CaseRecord| {
            let leaves = case.leaves.iter();
            let parts =
                leaves.filter(|it| it.label.starts_with("application.") && it.label != IDENTITY);
            parts.cloned().collect::<Vec<_>>()
        };
        let (old, new) = (parts(before), parts(after));
        let told = old != new;
        let built = !old.is_empty() && !new.is_empty();
        for case in [before, after] {
            if told && built {
                case.leaves.retain(|leaf| leaf.label != IDENTITY);
            } else if built {
                let leaf = case.leaves.iter_mut().find(|leaf| leaf.label == IDENTITY);
                if let Some(leaf) = leaf {
                    REST.clone_into(&mut leaf.label);
                }
            }
        }
    }
}

fn record(node: &Node) -> Option<RunRecord> {
    let semantic = node.get("semantic")?;
    let outcome = semantic.get("outcome")?;
    let primary = outcome.get("primary")?;
    Some(RunRecord {
        number: 0,
        suite: digest(semantic.get("suite")?.get("identity")?)?,
        leaves: suite_leaves(semantic)?,
        cases: semantic
            .get("cases")?
            .as_array()?
            .iter()
            .map(|case| case_record(node, semantic, case))
            .collect::<Option<_>>()?,
        class: [Class::Passed, Class::Failed, Class::Infrastructure]
            .into_iter()
            .find(|class| outcome.get("class").and_then(Node::as_text) == Some(class.name()))?,
        primary: match primary.get("stage") {
            Some(_) => Some((
                Stage::from_name(text(primary, "stage")?)?,
                FailureKind::from_name(text(primary, "kind")?)?,
            )),
            None => None,
        },
        semantic: digest(node.get("semanticDigest")?)?,
        files: Vec::new(),
    })
}

fn suite_leaves(semantic: &Node) -> Option<Vec<Leaf>> {
    let suite = semantic.get("suite")?;
    let mut leaves = vec![
        leaf("suite.id", text_value(suite, "id")),
        leaf("suite.lock", value(suite.get("lock")?)),
    ];
    for limit in Limit::ALL {
        let number = semantic.get("limits")?.get(limit.name())?;
        leaves.push(leaf(&format!("limits.{}", limit.name()), value(number)));
    }
    leaves.push(leaf("shape", text_value(suite, "shape")));
    let package = semantic.get("providerPackage")?.get("identity");
    leaves.push(leaf(
        "toolchain.providerPackage",
        package.map_or(LeafValue::Absent, value),
    ));
    for (role, producer) in Role::ALL.iter().zip(semantic.get("producers")?.as_array()?) {
        let label = format!("toolchain.{}", role.name());
        leaves.push(leaf(&format!("{label}.kind"), text_value(producer, "kind")));
        leaves.push(leaf(
            &format!("{label}.coordinate"),
            text_value(producer, "coordinate"),
        ));
        leaves.push(leaf(&label, value(producer.get("identity")?)));
        leaves.push(leaf(
            &format!("{label}.source.revision"),
            text_value(producer, "revision"),
        ));
        leaves.push(leaf(
            &format!("{label}.source.tree"),
            value(producer.get("tree")?),
        ));
    }
    Some(leaves)
}

fn case_record(report: &Node, semantic: &Node, case: &Node) -> Option<CaseRecord> {
    let index = case.get("index")?.as_integer()?;
    let of_index = |part: &str| {
        let entries = report.get(part)?.get("cases")?.as_array()?;
        entries
            .iter()
            .find(|it| it.get("index").and_then(Node::as_integer) == Some(index))
    };
    let decision = |name: &str| of_index("telemetry").and_then(|it| text(it, name));
    let program = program(semantic, case);
    let artifacts = program.and_then(|it| it.get("artifacts")?.as_array());
    let core = artifacts
        .unwrap_or_default()
        .iter()
        .find(|it| is_role(it, ArtifactRole::Core))
        .and_then(|it| digest(it.get("identity")?));
    let execution = case.get("execution")?;
    let context = of_index("evidence").and_then(|it| text(it.get("context")?, "nonce"));
    Some(CaseRecord {
        id: CaseId::parse(text(case, "id")?).ok()?,
        label: text(case, "label")?.to_owned(),
        case: digest(case.get("case")?)?,
        leaves: case_leaves(case, program, artifacts.unwrap_or_default())?,
        locators: Vec::new(),
        build_key: program.and_then(|it| digest(it.get("buildKey")?)),
        build: decision("buildDecision")
            .and_then(BuildDecision::from_name)
            .unwrap_or(BuildDecision::NotBuilt),
        verify_key: None,
        verify: decision("verifyDecision")
            .and_then(VerifyDecision::from_name)
            .unwrap_or(VerifyDecision::NotVerified),
        core,
        ending: ending(case),
        execution: execution.get("semanticDigest").and_then(digest),
        context: context.map(str::to_owned),
        outcome: outcome(case, execution),
    })
}

fn program<'a>(semantic: &'a Node, case: &Node) -> Option<&'a Node> {
    let position = usize::try_from(case.get("program")?.as_integer()?).ok()?;
    semantic.get("programs")?.as_array()?.get(position)
}

fn case_leaves(case: &Node, program: Option<&Node>, artifacts: &[Node]) -> Option<Vec<Leaf>> {
    let mut leaves = vec![leaf("id", text_value(case, "id"))];
    if let Some(program) = program {
        leaves.push(leaf(
            "application.coordinate",
            text_value(program, "coordinate"),
        ));
        let blobs = |role: ArtifactRole| {
            let rows = artifacts.iter().filter(move |it| is_role(it, role));
            rows.filter_map(|it| it.get("blob")).enumerate()
        };
        for (index, blob) in blobs(ArtifactRole::Source) {
            leaves.push(leaf(&format!("application.source[{index}]"), value(blob)));
        }
        for (index, blob) in blobs(ArtifactRole::LawpackExports) {
            let label = format!("application.lawpack[{index}].exports");
            leaves.push(leaf(&label, value(blob)));
        }
    }
    leaves.push(leaf(IDENTITY, value(case.get("application")?)));
    leaves.push(leaf("input", value(case.get("input")?)));
    leaves.push(leaf(
        "expectation.identity",
        value(case.get("expectation")?),
    ));
    for (index, entry) in case.get("setup")?.as_array()?.iter().enumerate() {
        let label = format!("setup[{index}]");
        let application = value(entry.get("application")?);
        leaves.push(leaf(&format!("{label}.application"), application));
        leaves.push(leaf(&format!("{label}.input"), value(entry.get("input")?)));
    }
    match case.get("skip")?.as_object() {
        None => leaves.push(leaf("skip", LeafValue::Absent)),
        Some(_) => {
            for member in ["reason", "trackingReference"] {
                let text = text_value(case.get("skip")?, member);
                leaves.push(leaf(&format!("skip.{member}"), text));
            }
        }
    }
    Some(leaves)
}

fn ending(case: &Node) -> Option<Ending> {
    Some(Ending {
        verdict: Verdict::from_name(text(case, "verdict")?)?,
        stage: Stage::from_name(text(case, "stage")?)?,
        kind: FailureKind::from_name(text(case, "kind")?)?,
    })
}

/// What the case ended in, as far as a report says it without its bodies.
fn outcome(case: &Node, execution: &Node) -> Vec<(String, String)> {
    let row = |name: &str, value: String| (name.to_owned(), value);
    let blob = |body: Option<&Node>| {
        let digest = body.and_then(|it| digest(it.get("blob")?));
        digest.map_or_else(String::new, |it| it.hex())
    };
    if let Some(message) = case.get("message").and_then(|it| text(it, "text")) {
        let passed = text(case, "verdict") == Some(Verdict::Passed.name());
        let assertions = case.get("assertions").and_then(Node::as_integer);
        return vec![
            row("status", if passed { "0" } else { "1" }.to_owned()),
            row("assertions", assertions.unwrap_or(0).to_string()),
            row("message", format!("{message:?}")),
        ];
    }
    match text(execution, "outcome") {
        Some("obstruction") => {
            let obstruction = execution.get("obstruction");
            let coordinate = obstruction.and_then(|it| text(it, "coordinate"));
            vec![
                row("obstruction", coordinate.unwrap_or_default().to_owned()),
                row(
                    "payload",
                    blob(obstruction.and_then(|it| it.get("payload"))),
                ),
            ]
        }
        Some(_) => vec![row("value", blob(execution.get("value")))],
        None => Vec::new(),
    }
}

fn is_role(artifact: &Node, role: ArtifactRole) -> bool {
    text(artifact, "role") == Some(role.name())
}

fn leaf(label: &str, value: LeafValue) -> Leaf {
    Leaf {
        label: label.to_owned(),
        value,
    }
}

fn text<'a>(node: &'a Node, name: &str) -> Option<&'a str> {
    node.get(name)?.as_text()
}

fn text_value(node: &Node, name: &str) -> LeafValue {
    node.get(name).map_or(LeafValue::Absent, value)
}

fn value(node: &Node) -> LeafValue {
    if let Some(digest) = digest(node) {
        return LeafValue::Digest(digest);
    }
    let number = node.as_integer().and_then(|it| u64::try_from(it).ok());
    match (node.as_text(), number) {
        (Some(text), _) => LeafValue::Text(text.to_owned()),
        (None, Some(number)) => LeafValue::Number(number),
        (None, None) => LeafValue::Absent,
    }
}

fn digest(node: &Node) -> Option<TypedDigest> {
    Some(TypedDigest::new(
        text(node, "domain")?,
        Algorithm::from_name(text(node, "algorithm")?)?,
        hex::decode_32(text(node, "bytes")?)?,
    ))
}
