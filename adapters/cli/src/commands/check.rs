// SPDX-License-Identifier: Apache-2.0
//! `check`: validates a suite and everything it names, executes nothing, and reports all problems.

use super::{Answer, Problems};
use crate::{
    args::CheckArgs,
    wire::{OpenedSuite, Surroundings, Wired},
};
use edict_codec::{digest::TypedDigest, json::Json};
use edict_test_model::{CaseId, Failure, ports::StopFlag, run::digest_json};
use edict_test_queries::{ReusePolicy, Runner};

/// Answers with the suite identity and the ordered case ids and identities.
pub(super) fn check(arguments: &CheckArgs) -> Result<Answer, Problems> {
    let suite = OpenedSuite::open(&arguments.suite).map_err(|failure| vec![failure])?;
    let bytes = suite.lock().map_err(|failure| vec![failure])?;
    let around = Surroundings {
        temporary: None,
        isolation_required: false,
        policy: ReusePolicy::default(),
        actions: super::state::actions_at(arguments.state.as_deref())?,
    };
    let stop = StopFlag::new();
    let wired = Wired::of(&suite.root, &bytes, &around, &stop);
    // The closure is checked also when the toolchain is not there, so that one run names both.
    let (ports, wired, mut problems) = match wired {
        Ok(wired) => (wired.ports.clone(), Some(wired), Vec::new()),
        Err(failure) => (Wired::absent(around.policy), None, vec![failure]),
    };
    let mut runner = Runner::new(ports);
    if let Err(failure) = runner.load(&suite.root, bytes) {
        problems.push(failure);
        return Err(problems);
    }
    if arguments.build && wired.is_some() {
        problems.extend(built(&runner)?);
    }
    let identities = runner.case_identities().map_err(|failure| vec![failure])?;
    let plan = runner.run_plan().map_err(|failure| vec![failure])?;
    drop(runner);
    if let Some(Err(failure)) = wired.map(Wired::end) {
        problems.push(failure);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let Some(identity) = plan.suite.identity else {
        return Err(vec![Failure::internal("a loaded suite has an identity")]);
    };
    Ok(if arguments.json {
        Answer::json(&document(plan.suite.id.as_str(), &identity, &identities))
    } else {
        Answer::text(text(plan.suite.id.as_str(), &identity, &identities))
    })
}

/// Builds and verifies every program; the failures in suite order, each once.
fn built(runner: &Runner) -> Result<Vec<Failure>, Problems> {
    let prepared = runner.prepare().map_err(|failure| vec![failure])?;
    let mut failures: Vec<Failure> = Vec::new();
    for case in prepared.iter().filter(|case| case.skip.is_none()) {
        if let Err(failure) = &case.plan {
            failures.push(Failure::clone(failure).of_case(&case.id));
        }
    }
    Ok(failures)
}

fn document(id: &str, identity: &TypedDigest, cases: &[(CaseId, TypedDigest)]) -> Json {
    let case = |(id, identity): &(CaseId, TypedDigest)| {
        Json::object([("id", Json::text(id.as_str())), ("identity", digest_json(identity))])
    };
    Json::object([
        ("schema", Json::text("edict.test.check/v1")),
        ("suite", Json::text(id)),
        ("identity", digest_json(identity)),
        ("cases", Json::Array(cases.iter().map(case).collect())),
    ])
}

fn text(id: &str, identity: &TypedDigest, cases: &[(CaseId, TypedDigest)]) -> String {
    let mut text = format!("suite {id} {identity}\n");
    for (id, identity) in cases {
        text.push_str(&format!("case {id} {identity}\n"));
    }
    text
}
