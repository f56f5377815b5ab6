// SPDX-License-Identifier: Apache-2.0
//! `cache`: measures a state directory, or bounds it by a plan that is printed before it is
//! carried out (A9).

use super::{Answer, Problems, state};
use crate::args::CacheCommand;
use edict_codec::json::Json;
use edict_test_model::{Failure, FailureKind, Stage};
use edict_test_store::gc::{Entry, EntryKind, Plan, Policy, plan};
use std::{fmt::Write as _, path::Path};

/// Answers with counts, or with a plan and what became of it.
pub(super) fn cache(command: &CacheCommand) -> Result<Answer, Problems> {
    let answer = match command {
        CacheCommand::Stats { state, json } => stats(state, *json),
        CacheCommand::Gc {
            state,
            max_bytes,
            max_age_days,
            keep_runs,
            dry_run,
        } => {
            let policy = Policy {
                max_bytes: *max_bytes,
                max_age_days: *max_age_days,
                keep_runs: *keep_runs,
            };
            collect(state, &policy, *dry_run)
        }
    };
    answer.map_err(|failure| vec![failure])
}

fn stats(place: &Path, json: bool) -> Result<Answer, Failure> {
    let listing = state::existing(place)?.list();
    let of = |kind: EntryKind| listing.iter().filter(move |entry| entry.kind == kind);
    let rows = EntryKind::ALL.map(|kind| (kind, of(kind).count() as u64, bytes(of(kind))));
    let total = bytes(listing.iter());
    if json {
        let row = |(kind, count, bytes): (EntryKind, u64, u64)| {
            let counts = [("count", count), ("bytes", bytes)];
            let counts = counts.map(|(name, number)| (name, Json::unsigned(number)));
            (kind.name(), Json::object(counts))
        };
        return Ok(Answer::json(&Json::object([
            ("schema", Json::text("edict.test.cache-stats/v1")),
            ("kinds", Json::object(rows.map(row))),
            ("bytes", Json::unsigned(total)),
        ])));
    }
    let mut text = String::new();
    for (kind, count, bytes) in rows {
        // Writing into a string cannot fail.
        _ = writeln!(text, "{:<12} {count:>8} {bytes:>14} bytes", kind.name());
    }
    _ = writeln!(
        text,
        "{:<12} {:>8} {total:>14} bytes",
        "total",
        listing.len()
    );
    Ok(Answer::text(text))
}

fn bytes<'a>(entries: impl Iterator<Item = &'a Entry>) -> u64 {
    entries.fold(0, |sum: u64, entry| sum.saturating_add(entry.bytes))
}

fn collect(place: &Path, policy: &Policy, dry_run: bool) -> Result<Answer, Failure> {
    let store = state::exclusive(place)?;
    let plan = plan(&store.list(), policy);
    if dry_run {
        return Ok(Answer::text(
            planned(&plan) + "nothing was deleted: --dry-run\n",
        ));
    }
    // The plan is on standard output before anything of it is done.
    super::say_part(&planned(&plan))?;
    let failed = store.collect(&plan);
    if let Some((path, error)) = failed.first() {
        let message = format!(
            "{} of {} deletions failed; first `{path}`: {error}",
            failed.len(),
            plan.deletions.len()
        );
        let kind = FailureKind::StateUnusable;
        return Err(Failure::new(Stage::Arguments, kind, message));
    }
    let freed = plan
        .deletions
        .iter()
        .fold(0, |sum: u64, it| sum.saturating_add(it.bytes));
    Ok(Answer::text(format!(
        "deleted {} entries, {freed} bytes\n",
        plan.deletions.len()
    )))
}

fn planned(plan: &Plan) -> String {
    let mut text = String::new();
    for deletion in &plan.deletions {
        _ = writeln!(
            text,
            "delete {} ({} bytes, {})",
            deletion.path,
            deletion.bytes,
            deletion.reason.name()
        );
    }
    _ = writeln!(
        text,
        "plan: delete {} entries, keep {} bytes",
        plan.deletions.len(),
        plan.kept_bytes
    );
    text
}
