// SPDX-License-Identifier: Apache-2.0
//! `check`: validates a suite and everything it names, executes nothing, and reports all problems.

use super::{Answer, Problems};
use crate::{
    args::CheckArgs,
    wire::{OpenedSuite, Surroundings, Wired},
};
use edict_codec::{digest::TypedDigest, json::Json};
use edict_test_model::{CaseId, Failure, ports::StopFlag, run::semantic::digest_json};
use edict_test_queries::{ReusePolicy, Runner, check_closure};
use edict_test_reporters::diagnostics::Documents;
use std::{fmt::Write as _, sync::Arc};

/// Answers with the suite identity and the ordered case ids and identities.
pub(super) fn check(arguments: &CheckArgs, documents: &mut Documents) -> Result<Answer, Problems> {
    let opened = OpenedSuite::open(&arguments.suite, documents);
    let suite = opened.map_err(|failure| vec![failure])?;
    let bytes = match suite.read_lock(documents) {
        Ok((bytes, _)) => bytes,
        Err(failure) => {
            let mut problems = vec![failure];
            problems.extend(check_closure(&suite.root, &suite.document, None));
            return Err(problems);
        }
    };
    let around = Surroundings {
        temporary: None,
        isolation_required: false,
        process_per_case: false,
        policy: ReusePolicy::default(),
        actions: super::state::actions_at(arguments.state.as_deref())?,
    };
    let place = arguments.state.as_deref();
    let mut problems: Vec<Failure> = Vec::new();
    problems.extend(super::state::clear_of_manifest(place, &suite).err());
    let wired = match Wired::of(&suite.root, &bytes, &around, &StopFlag::new()) {
        Ok(wired) => wired,
        Err(failure) => {
            // The closure is checked also without a toolchain, so that one run names both.
            problems.push(failure);
            problems.extend(check_closure(
                &suite.root,
                &bytes.document,
                Some(&bytes.lock),
            ));
            return Err(problems);
        }
    };
    let mut runner = Runner::new(wired.ports.clone());
    let lock = Arc::clone(&bytes.lock);
    if let Err(failure) = runner.load(&suite.root, bytes) {
        drop(runner);
        let found = check_closure(&suite.root, &suite.document, Some(&lock));
        problems.push(failure);
        let first = |it: &Failure| problems.iter().all(|old| old.message != it.message);
        let others: Vec<Failure> = found.into_iter().filter(first).collect();
        problems.extend(others);
        problems.extend(wired.end().err());
        return Err(problems);
    }
    if problems.is_empty() {
        let apart = super::state::clear_of_closure(place, &suite, &lock, &runner);
        problems.extend(apart.err());
    }
    if arguments.build {
        problems.extend(built(&runner)?);
    }
    let identities = runner.case_identities().map_err(|failure| vec![failure])?;
    let plan = runner.run_plan().map_err(|failure| vec![failure])?;
    drop(runner);
    problems.extend(wired.end().err());
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
        Json::object([
            ("id", Json::text(id.as_str())),
            ("identity", digest_json(identity)),
        ])
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
        // Writing into a string cannot fail.
        _ = writeln!(text, "case {id} {identity}");
    }
    text
}
