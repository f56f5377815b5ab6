// SPDX-License-Identifier: Apache-2.0
//! A suite of one case put together from the leaves of two runs, for diagnostic executions only.
//!
//! Locators bind nothing, so every file gets a name of its own here and only content decides.

use super::{
    sides::{Side, Sides},
    verify::leaf_bytes,
};
use edict_codec::{
    bounded::ByteLimit,
    json::{Json, write_document},
};
use edict_test_model::{
    Locator,
    built::blob,
    limits::Limit,
    ports::{FileBytes, ReadError, SnapshotPort},
    recipe::{Leaf, LeafValue},
    suite::{Shape, SuiteDocument, document::CASE_RESULT},
    why::Explanation,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Limits that say how documents are read, which a suite of one case need not obey.
const OF_DOCUMENTS: [Limit; 2] = [Limit::ManifestBytes, Limit::Cases];

/// Files by locator, from the store alone.
#[derive(Debug, Default)]
pub(super) struct Files(BTreeMap<String, Arc<[u8]>>);

impl SnapshotPort for Files {
    fn read(&self, locator: &Locator, limit: ByteLimit) -> Result<FileBytes, ReadError> {
        let missing = || ReadError {
            kind: Some(edict_test_model::FailureKind::InputMissing),
            message: format!("the mixture has no `{locator}`"),
        };
        let bytes = self.0.get(locator.as_str()).ok_or_else(missing)?;
        if bytes.len() as u64 > limit.get() {
            return Err(ReadError {
                kind: None,
                message: format!("`{locator}` is larger than its limit"),
            });
        }
        Ok(FileBytes {
            bytes: Arc::clone(bytes),
            blob: blob(bytes),
            hard_linked: false,
        })
    }
}

/// The leaves of a mixture: those of the earlier run, some of them as in the later one.
#[derive(Debug)]
pub(super) struct Mixture<'a> {
    sides: &'a Sides,
    explanation: &'a Explanation,
    leaves: BTreeMap<String, LeafValue>,
}

impl<'a> Mixture<'a> {
    /// The earlier run with the differing leaves at `swapped` as in the later one.
    pub(super) fn of(
        sides: &'a Sides,
        explanation: &'a Explanation,
        swapped: &BTreeSet<usize>,
    ) -> Self {
        let from = &sides.from.record;
        let own = from.case(&explanation.case).map(|it| it.leaves.as_slice());
        let limits = from
            .leaves
            .iter()
            .filter(|it| it.label.starts_with("limits."));
        let row = |leaf: &Leaf| (leaf.label.clone(), leaf.value.clone());
        let mut leaves: BTreeMap<String, LeafValue> =
            limits.chain(own.unwrap_or_default()).map(row).collect();
        for (position, leaf) in explanation.differing().into_iter().enumerate() {
            if swapped.contains(&position) {
                let label = leaf.difference.label.clone();
                match &leaf.difference.to {
                    Some(value) => leaves.insert(label, value.clone()),
                    None => leaves.remove(&label),
                };
            }
        }
        Self {
            sides,
            explanation,
            leaves,
        }
    }

    /// The suite and its files; `None` for a mixture that is no case, or whose bytes are lost.
    pub(super) fn suite(&self, shape: Shape, lock: &Locator) -> Option<(Vec<u8>, Files)> {
        let mut files = Files::default();
        let mut case = vec![
            ("id".to_owned(), Json::text(self.explanation.case.as_str())),
            (
                "application".to_owned(),
                self.application("application", shape, &mut files)?,
            ),
            (
                "input".to_owned(),
                self.file("input", "input.bin", &mut files)?,
            ),
            ("setup".to_owned(), self.setup(shape, &mut files)?),
            ("expect".to_owned(), self.expectation(&mut files)?),
        ];
        if let Some(reason) = self.text("skip.reason") {
            let reference = self.text("skip.trackingReference")?;
            let skip = [("reason", reason), ("trackingReference", reference)];
            case.push((
                "skip".to_owned(),
                Json::object(skip.map(|(name, text)| (name, Json::text(text)))),
            ));
        }
        let limits = Limit::ALL.iter().filter(|it| !OF_DOCUMENTS.contains(it));
        let limits =
            limits.filter_map(
                |limit| match self.leaves.get(&format!("limits.{}", limit.name())) {
                    Some(LeafValue::Number(number)) => {
                        Some((limit.name(), Json::unsigned(*number)))
                    }
                    _ => None,
                },
            );
        let manifest = write_document(&Json::object([
            ("schema", Json::text("edict.test-suite/v1")),
            ("id", Json::text("diagnostic")),
            ("toolchainLock", Json::text(lock.as_str())),
            ("limits", Json::object(limits)),
            ("cases", Json::Array(vec![Json::object(case)])),
        ]));
        let bytes = manifest.into_bytes();
        SuiteDocument::decode(&bytes).ok()?;
        Some((bytes, files))
    }

    fn text(&self, label: &str) -> Option<&str> {
        match self.leaves.get(label)? {
            LeafValue::Text(text) => Some(text),
            LeafValue::Digest(_) | LeafValue::Number(_) | LeafValue::Absent => None,
        }
    }

    /// Puts the bytes of a leaf under a name, from whichever run had this value.
    fn file(&self, label: &str, name: &str, files: &mut Files) -> Option<Json> {
        let value = self.leaves.get(label)?;
        let store = self.sides.store.as_deref()?;
        let had = |side: &&Side| {
            let case = side.record.case(&self.explanation.case);
            case.is_some_and(|case| {
                let leaf = case.leaves.iter().find(|it| it.label == label);
                leaf.is_some_and(|leaf| leaf.value == *value)
            })
        };
        let bytes = [&self.sides.from, &self.sides.to]
            .into_iter()
            .filter(had)
            .find_map(|side| leaf_bytes(store, side, self.explanation, label))?;
        files.0.insert(name.to_owned(), bytes);
        Some(Json::text(name))
    }

    /// Writes an application document over the leaves below `prefix`.
    fn application(&self, prefix: &str, shape: Shape, files: &mut Files) -> Option<Json> {
        let directory = prefix.replace(['[', ']', '.'], "-");
        let named = |label: String, name: &str, files: &mut Files| {
            self.file(&label, &format!("{directory}/{name}"), files)?;
            Some(Json::text(name))
        };
        let source = named(format!("{prefix}.source[0]"), "source.edict", files)?;
        let mut lawpacks = Vec::new();
        for index in 0_usize.. {
            let label = format!("{prefix}.lawpack[{index}]");
            if !self.leaves.contains_key(&format!("{label}.manifest")) {
                break;
            }
            let mut members = Vec::new();
            for part in ["manifest", "exports", "adapter", "targetConfiguration"] {
                let leaf = format!("{label}.{part}");
                if self.leaves.get(&leaf) == Some(&LeafValue::Absent) {
                    continue;
                }
                let name = format!("lawpack-{index}-{part}.cbor");
                members.push((part.to_owned(), named(leaf, &name, files)?));
            }
            lawpacks.push(Json::object(members));
        }
        let profile = self.text(&format!("{prefix}.targetProfile"))?;
        let mut target = vec![("profile".to_owned(), Json::text(profile))];
        if shape == Shape::Upstream {
            target.push(("providerPackage".to_owned(), Json::text("provider")));
        }
        let document = write_document(&Json::object([
            ("schema", Json::text("edict.application/v1")),
            (
                "coordinate",
                Json::text(self.text(&format!("{prefix}.coordinate"))?),
            ),
            ("sources", Json::Array(vec![source])),
            ("lawpacks", Json::Array(lawpacks)),
            ("target", Json::object(target)),
            ("outputDirectory", Json::text("out")),
        ]));
        let name = format!("{directory}/application.json");
        files.0.insert(name.clone(), document.into_bytes().into());
        Some(Json::text(name))
    }

    fn setup(&self, shape: Shape, files: &mut Files) -> Option<Json> {
        let mut entries = Vec::new();
        for index in 0_usize.. {
            let label = format!("setup[{index}]");
            if !self.leaves.contains_key(&format!("{label}.input")) {
                break;
            }
            let application = self.application(&format!("{label}.application"), shape, files)?;
            let name = format!("setup-{index}.bin");
            let input = self.file(&format!("{label}.input"), &name, files)?;
            entries.push(Json::object([
                ("application", application),
                ("input", input),
            ]));
        }
        Some(Json::Array(entries))
    }

    fn expectation(&self, files: &mut Files) -> Option<Json> {
        let kind = self.text("expectation.kind")?;
        if kind == "caseResult" {
            return Some(Json::object([
                ("kind", Json::text(kind)),
                ("schema", Json::text(CASE_RESULT)),
            ]));
        }
        let coordinate = self.text("expectation.coordinate")?;
        Some(Json::object([
            ("kind", Json::text(kind)),
            ("stage", Json::text("execution")),
            ("coordinate", Json::text(coordinate)),
            (
                "payload",
                self.file("expectation.payload", "payload.bin", files)?,
            ),
        ]))
    }
}
