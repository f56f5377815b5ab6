// SPDX-License-Identifier: Apache-2.0
//! A2 to A8: a hit is checked in full, and everything else is a miss that tells itself.

use crate::support::{Space, built, recipe, verified, verify_recipe};
use edict_codec::json::{JsonLimits, Node, parse};
use edict_test_model::{
    built::{VerificationOutcome, blob},
    diagnostic::WarningKind,
    ports::{ActionStore as _, Lookup},
    recipe::key,
};
use std::fs;

#[test]
fn a_build_is_found_under_exactly_its_recipe() {
    let space = Space::new();
    assert_eq!(space.store.built(&recipe()), Lookup::miss());
    assert_eq!(space.store.keep_built(&recipe(), &built()), []);
    let hit = space.store.built(&recipe());
    assert_eq!(hit.found, Some(built()));
    assert_eq!(hit.notices, []);
    let mut other = recipe();
    other.compiler = blob(b"another compiler");
    assert_eq!(space.store.built(&other), Lookup::miss());
    let mut moved = recipe();
    moved.application.sources[0].locator = "elsewhere/m.edict".parse_locator();
    assert_eq!(space.store.built(&moved).found, Some(built()));
}

trait ParseLocator {
    fn parse_locator(self) -> edict_test_model::ids::Locator;
}

impl ParseLocator for &str {
    fn parse_locator(self) -> edict_test_model::ids::Locator {
        edict_test_model::ids::Locator::parse(self).unwrap()
    }
}

#[test]
fn only_accepted_verifications_are_kept() {
    let space = Space::new();
    space
        .store
        .keep_verified(&verify_recipe(), &verified(VerificationOutcome::Rejected));
    assert_eq!(space.files("action").len(), 0);
    let accepted = verified(VerificationOutcome::Accepted);
    assert_eq!(space.store.keep_verified(&verify_recipe(), &accepted), []);
    assert_eq!(space.store.verified(&verify_recipe()).found, Some(accepted));
    assert_eq!(space.store.built(&recipe()), Lookup::miss());
}

#[test]
fn a_record_has_the_members_of_the_contract() {
    let space = Space::new();
    space.store.keep_built(&recipe(), &built());
    let [path] = space.files("action").try_into().unwrap();
    let hex = key(&recipe()).hex();
    assert!(path.ends_with(format!("action/{}/{}", &hex[..2], &hex[2..])));
    let bytes = fs::read(path).unwrap();
    let node = parse(&bytes, JsonLimits::document(1_048_576)).unwrap();
    let names: Vec<&str> = node
        .as_object()
        .unwrap()
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "schema", "kind", "key", "leaves", "outputs", "producer", "self"
        ]
    );
    let leaves = node.get("leaves").unwrap().as_array().unwrap();
    let label = |at: usize| leaves[at].get("label").and_then(Node::as_text).unwrap();
    assert_eq!(
        (label(0), label(1), label(2)),
        ("adapter", "shape", "application.buildKind")
    );
    let outputs = node.get("outputs").unwrap().as_array().unwrap();
    let roles: Vec<&str> = outputs
        .iter()
        .map(|it| it.get("role").unwrap().as_text().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "core",
            "target-ir",
            "result-projection",
            "executable-operation-package",
            "source",
            "lawpack-exports",
        ],
    );
}

/// Keeps a build, changes its record, and expects a miss that tells itself and cleans up.
fn spoiled(change: impl Fn(&mut String)) {
    let space = Space::new();
    space.store.keep_built(&recipe(), &built());
    let [path] = space.files("action").try_into().unwrap();
    let mut text = fs::read_to_string(&path).unwrap();
    let before = text.clone();
    change(&mut text);
    assert_ne!(text, before);
    fs::write(&path, text).unwrap();
    let miss = space.store.built(&recipe());
    assert_eq!(miss.found, None);
    assert_eq!(miss.notices[0].kind, WarningKind::CacheEntryQuarantined);
    assert_eq!(space.files("action").len(), 0);
    assert_eq!(space.files("quarantine").len(), 1);
    // The action runs and is kept anew.
    assert_eq!(space.store.keep_built(&recipe(), &built()), []);
    assert_eq!(space.store.built(&recipe()).found, Some(built()));
}

#[test]
fn a_record_that_is_not_itself_is_quarantined() {
    spoiled(String::clear);
    spoiled(|text| text.truncate(text.len() / 2));
    spoiled(|text| *text = text.replace("example.a@1", "example.b@1"));
    spoiled(|text| *text = text.replace("\"build\"", "\"verify\""));
    spoiled(|text| *text = text.replace("\"byteLength\": 1", "\"byteLength\": 2"));
    spoiled(|text| text.push_str(&" ".repeat(1_048_577)));
    spoiled(|text| *text = text.replace("edict.core.module/v1", "edict.core.module/v2"));
}

#[test]
fn a_record_of_other_leaves_is_quarantined_even_when_it_is_intact() {
    let space = Space::new();
    let mut other = recipe();
    other.application.coordinate = "example.b@1".to_owned();
    space.store.keep_built(&other, &built());
    let [from] = space.files("action").try_into().unwrap();
    let hex = key(&recipe()).hex();
    let to = space
        .path()
        .join(format!("action/{}/{}", &hex[..2], &hex[2..]));
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::rename(from, to).unwrap();
    let miss = space.store.built(&recipe());
    assert_eq!((miss.found, miss.notices.len()), (None, 1));
}

#[test]
fn lost_and_corrupt_blobs_are_misses() {
    for spoil in ["remove", "corrupt", "shorten"] {
        let space = Space::new();
        space.store.keep_built(&recipe(), &built());
        for path in space.files("blob") {
            let bytes = fs::read(&path).unwrap();
            match spoil {
                "remove" => fs::remove_file(&path).unwrap(),
                "corrupt" => fs::write(&path, vec![b'x'; bytes.len()]).unwrap(),
                _ => fs::write(&path, b"").unwrap(),
            }
            let miss = space.store.built(&recipe());
            assert_eq!(
                (miss.found, miss.notices.len()),
                (None, 1),
                "{spoil} {path:?}"
            );
            space.store.keep_built(&recipe(), &built());
            assert_eq!(space.store.built(&recipe()).found, Some(built()), "{spoil}");
        }
    }
}

#[test]
fn a_forged_record_for_other_inputs_is_a_miss() {
    // The source that the outputs name must be the source that the key names.
    let space = Space::new();
    let mut recipe = recipe();
    recipe.application.sources[0].blob = blob(b"another source");
    space.store.keep_built(&recipe, &built());
    let miss = space.store.built(&recipe);
    assert_eq!((miss.found, miss.notices.len()), (None, 1));
}

#[test]
fn two_writers_of_one_key_leave_one_entry() {
    let space = Space::new();
    let second = crate::support::open(space.path());
    assert_eq!(space.store.keep_built(&recipe(), &built()), []);
    assert_eq!(second.keep_built(&recipe(), &built()), []);
    assert_eq!(space.files("action").len(), 1);
    assert_eq!(second.built(&recipe()).found, Some(built()));
}

#[test]
fn an_explanation_finds_the_outputs_of_a_key_and_believes_no_other_bytes() {
    let space = Space::new();
    let key = key(&recipe());
    assert_eq!(space.store.outputs(&key), None);
    space.store.keep_built(&recipe(), &built());
    let outputs = space.store.outputs(&key).unwrap();
    let roles: Vec<&str> = outputs.iter().map(|it| it.role.name()).collect();
    assert_eq!(roles[..2], ["core", "target-ir"]);
    for path in space.files("blob") {
        fs::write(path, "other bytes").unwrap();
    }
    assert_eq!(space.store.outputs(&key), None);
}
