// SPDX-License-Identifier: Apache-2.0
//! A9: the plan is a pure function of the listing, roots stay, the least recently used goes first.

use crate::support::{Space, built, recipe, verified, verify_recipe};
use edict_test_model::{
    built::{VerificationOutcome, blob},
    ports::{ActionStore as _, BlobStore as _, RunStore as _},
    recipe::key,
};
use edict_test_store::{
    Store,
    gc::{Entry, EntryKind, Policy, Reason, plan},
};
use proptest::prelude::*;
use std::{collections::BTreeSet, iter::once};

fn entry(
    kind: EntryKind,
    name: &str,
    bytes: u64,
    age_seconds: u64,
    references: &[(EntryKind, &str)],
) -> Entry {
    Entry {
        kind,
        path: format!("{}/{name}", kind.name()),
        name: name.to_owned(),
        bytes,
        age_seconds,
        references: references
            .iter()
            .map(|(kind, name)| (*kind, (*name).to_owned()))
            .collect(),
    }
}

fn policy(max_bytes: Option<u64>, max_age_days: Option<u64>, keep_runs: u64) -> Policy {
    Policy {
        max_bytes,
        max_age_days,
        keep_runs,
    }
}

fn gone(listing: &[Entry], policy: &Policy) -> Vec<(String, Reason)> {
    let plan = plan(listing, policy);
    plan.deletions
        .into_iter()
        .map(|it| (it.path, it.reason))
        .collect()
}

fn listing() -> Vec<Entry> {
    use EntryKind::{Action, Blob, Run};
    vec![
        entry(
            Run,
            "000000000001",
            5,
            900,
            &[(Action, "old"), (Blob, "shared")],
        ),
        entry(
            Run,
            "000000000002",
            5,
            100,
            &[(Action, "new"), (Blob, "shared")],
        ),
        entry(Action, "old", 10, 900, &[(Blob, "old")]),
        entry(Action, "new", 10, 100, &[(Blob, "new")]),
        entry(Blob, "old", 20, 900, &[]),
        entry(Blob, "new", 20, 100, &[]),
        entry(Blob, "shared", 20, 900, &[]),
        entry(Blob, "stray", 20, 500, &[]),
    ]
}

#[test]
fn without_limits_only_old_runs_and_leftovers_go() {
    assert_eq!(gone(&listing(), &policy(None, None, 2)), []);
    let old = [("run/000000000001".to_owned(), Reason::OldRun)];
    assert_eq!(gone(&listing(), &policy(None, None, 1)), old);
    let temporary = |age| vec![entry(EntryKind::Temporary, "x", 1, age, &[])];
    assert_eq!(gone(&temporary(3600), &policy(None, None, 1)), []);
    assert_eq!(gone(&temporary(3601), &policy(None, None, 1)).len(), 1);
}

#[test]
fn bytes_are_freed_oldest_use_first_and_never_from_roots() {
    let paths = |max_bytes| -> Vec<String> {
        let gone = gone(&listing(), &policy(Some(max_bytes), None, 1));
        gone.into_iter().map(|(path, _)| path).collect()
    };
    let all = ["run/000000000001", "action/old", "blob/old", "blob/stray"];
    assert_eq!(paths(105), all[..1]);
    assert_eq!(paths(104), all[..2]);
    assert_eq!(paths(95), all[..2]);
    assert_eq!(paths(94), all[..3]);
    assert_eq!(paths(0), all);
    assert_eq!(plan(&listing(), &policy(Some(0), None, 1)).kept_bytes, 55);
}

#[test]
fn age_is_counted_in_days_since_the_last_use() {
    let day = 86_400;
    let listing = [
        entry(EntryKind::Blob, "a", 1, day, &[]),
        entry(EntryKind::Blob, "b", 1, day + 1, &[]),
        entry(EntryKind::Quarantined, "c", 1, day + 2, &[]),
    ];
    let expected = [
        ("quarantined/c".to_owned(), Reason::Age),
        ("blob/b".to_owned(), Reason::Age),
    ];
    assert_eq!(gone(&listing, &policy(None, Some(1), 0)), expected);
}

fn any_listing() -> impl Strategy<Value = Vec<Entry>> {
    let reference = (any::<bool>(), 0_u32..6);
    let one = (
        0_usize..5,
        0_u64..50,
        0_u64..10_000,
        prop::collection::vec(reference, 0..3),
    );
    prop::collection::vec(one, 0..12).prop_map(|entries| {
        let entries = entries.into_iter().enumerate();
        entries
            .map(|(index, (kind, bytes, age, references))| Entry {
                kind: EntryKind::ALL[kind],
                path: format!("{index}"),
                name: format!("{index}"),
                bytes,
                age_seconds: age,
                references: references
                    .into_iter()
                    .map(|(action, name)| {
                        let kind = if action {
                            EntryKind::Action
                        } else {
                            EntryKind::Blob
                        };
                        (kind, name.to_string())
                    })
                    .collect(),
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn a_plan_accounts_for_every_byte_and_repeats_itself(
        listing in any_listing(),
        max_bytes in prop::option::of(0_u64..200),
        keep_runs in 0_u64..4,
    ) {
        let policy = policy(max_bytes, None, keep_runs);
        let first = plan(&listing, &policy);
        let freed: u64 = first.deletions.iter().map(|it| it.bytes).sum();
        let total: u64 = listing.iter().map(|it| it.bytes).sum();
        prop_assert_eq!(first.kept_bytes, total - freed);
        let paths: BTreeSet<&String> = first.deletions.iter().map(|it| &it.path).collect();
        prop_assert_eq!(paths.len(), first.deletions.len());
        let mut shuffled = listing.clone();
        shuffled.reverse();
        let second = plan(&shuffled, &policy);
        let again: BTreeSet<&String> = second.deletions.iter().map(|it| &it.path).collect();
        prop_assert_eq!(&paths, &again);
        // What a plan leaves, it leaves again.
        let rest: Vec<Entry> = listing.iter().filter(|it| !paths.contains(&it.path)).cloned().collect();
        prop_assert_eq!(plan(&rest, &policy).deletions, vec![]);
    }
}

#[test]
fn a_collection_keeps_what_the_newest_run_needs() {
    let space = Space::new();
    let store = &space.store;
    store.keep_built(&recipe(), &built());
    store.keep_verified(&verify_recipe(), &verified(VerificationOutcome::Accepted));
    store.put(b"input").unwrap();
    store.put(b"stray").unwrap();
    let number = store.begin().unwrap();
    let digest = |digest: &edict_codec::digest::TypedDigest| {
        let (domain, hex) = (digest.domain(), digest.hex());
        format!(r#"{{"domain": "{domain}", "algorithm": "blake3", "bytes": "{hex}"}}"#)
    };
    let document = format!(
        r#"{{"cases": [{{"build": {}}}], "inputs": [{}]}}"#,
        digest(&key(&recipe())),
        digest(&blob(b"input")),
    );
    store.finish(number, &mut once(document)).unwrap();
    let root = space.close();
    let store = Store::open_exclusive(root.path(), blob(b"runner")).unwrap();
    let before = store.list();
    assert_eq!(
        before
            .iter()
            .filter(|it| it.kind == EntryKind::Blob)
            .count(),
        9
    );
    let everything = policy(Some(0), None, 1);
    assert_eq!(store.collect(&plan(&before, &everything)).len(), 0);
    let after = store.list();
    let count = |kind| after.iter().filter(|it| it.kind == kind).count();
    let left = [EntryKind::Run, EntryKind::Action, EntryKind::Blob].map(count);
    assert_eq!(left, [1, 1, 7]);
    assert_eq!(store.built(&recipe()).found, Some(built()));
    assert_eq!(store.verified(&verify_recipe()).found, None);
    assert_eq!(plan(&after, &everything).deletions, []);
}

#[test]
fn leftovers_and_quarantined_entries_are_listed() {
    let space = Space::new();
    std::fs::create_dir(space.path().join("blob/ab")).unwrap();
    std::fs::write(space.path().join("blob/ab/.edict-test-XyZ"), "torn").unwrap();
    std::fs::write(space.path().join("quarantine/old-1-0"), "bad").unwrap();
    let listing = space.store.list();
    let kinds: Vec<EntryKind> = listing.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Temporary, EntryKind::Quarantined]);
    assert_eq!(listing[0].path, "blob/ab/.edict-test-XyZ");
    assert_eq!(listing[0].bytes, 4);
}
