// SPDX-License-Identifier: Apache-2.0
//! The identities of a record, computed again from its own leaves: what is printed is then what the
//! identities bind (A11).

use super::record::{CaseRecord, RunRecord};
use crate::{
    limits::Limit,
    recipe::{APPLICATION, Leaf, LeafValue},
    suite::{
        Role, document,
        identity::{CASE, EXPECTATION, SUITE, TOOLCHAIN_LOCK},
        lock,
    },
};
use edict_codec::{
    cbor::{Value, encode},
    digest::{TypedDigest, derive_typed},
};

/// More entries of a list than any document may have.
const MAX_ENTRIES: usize = 4_096;

impl RunRecord {
    /// Whether suite, lock and case identities are those of the leaves.
    pub fn holds(&self) -> bool {
        let parts = Parts(&self.leaves);
        let bound = |(index, case): (usize, &CaseRecord)| {
            let leaf = parts.get(&format!("cases[{index}].case"));
            leaf == Some(&LeafValue::Digest(case.case.clone())) && case.holds()
        };
        parts.lock() == parts.digest("suite.lock")
            && parts.suite().as_ref() == Some(&self.suite)
            && self.cases.iter().enumerate().all(bound)
    }
}

impl CaseRecord {
    /// Whether the case identity is that of the leaves.
    fn holds(&self) -> bool {
        Parts(&self.leaves).case().as_ref() == Some(&self.case)
    }
}

/// Leaves by label, and the preimages they stand in.
struct Parts<'a>(&'a [Leaf]);

impl Parts<'_> {
    fn get(&self, label: &str) -> Option<&LeafValue> {
        let leaf = self.0.iter().find(|leaf| leaf.label == label);
        leaf.map(|leaf| &leaf.value)
    }

    fn digest(&self, label: &str) -> Option<TypedDigest> {
        match self.get(label)? {
            LeafValue::Digest(digest) => Some(digest.clone()),
            LeafValue::Text(_) | LeafValue::Number(_) | LeafValue::Absent => None,
        }
    }

    fn value(&self, label: &str) -> Option<Value> {
        Some(match self.get(label)? {
            LeafValue::Digest(digest) => digest.to_value(),
            LeafValue::Text(text) => Value::text(text.as_str()),
            LeafValue::Number(number) => Value::unsigned(*number),
            LeafValue::Absent => Value::Null,
        })
    }

    fn array(&self, labels: &[&str]) -> Option<Value> {
        let values = labels.iter().map(|label| self.value(label));
        Some(Value::Array(values.collect::<Option<_>>()?))
    }

    /// The entries of a list for as long as `first` of them is there.
    fn list(
        &self,
        first: impl Fn(usize) -> String,
        entry: impl Fn(usize) -> Option<Value>,
    ) -> Option<Value> {
        let there = |index: &usize| self.get(&first(*index)).is_some();
        let entries = (0..MAX_ENTRIES).take_while(there).map(entry);
        Some(Value::Array(entries.collect::<Option<_>>()?))
    }

    fn application(&self, prefix: &str) -> Option<Value> {
        let label = |part: &str| format!("{prefix}.{part}");
        let files = |part: &str| {
            let at = |index: usize| label(&format!("{part}[{index}]"));
            self.list(at, |index| self.value(&at(index)))
        };
        let lawpack = |index: usize, part: &str| label(&format!("lawpack[{index}].{part}"));
        let lawpacks = self.list(
            |index| lawpack(index, "manifest"),
            |index| {
                let parts = ["manifest", "exports", "adapter", "targetConfiguration"];
                let values = parts.map(|part| self.value(&lawpack(index, part)));
                Some(Value::Array(values.into_iter().collect::<Option<_>>()?))
            },
        )?;
        let preimage = Value::Array(vec![
            Value::text("edict.application/v1"),
            self.value(&label("buildKind"))?,
            self.value(&label("coordinate"))?,
            files("source")?,
            lawpacks,
            files("resource")?,
            self.value(&label("targetProfile"))?,
        ]);
        Some(derive_typed(APPLICATION, &encode(&preimage)).to_value())
    }

    fn expectation(&self) -> Option<Value> {
        let preimage = match self.get("expectation.coordinate") {
            None => self.array(&["expectation.kind", "expectation.schema"])?,
            Some(_) => self.array(&[
                "expectation.kind",
                "expectation.stage",
                "expectation.coordinate",
                "expectation.payload",
            ])?,
        };
        Some(derive_typed(EXPECTATION, &encode(&preimage)).to_value())
    }

    fn case(&self) -> Option<TypedDigest> {
        let setup = self.list(
            |index| format!("setup[{index}].input"),
            |index| {
                Some(Value::Array(vec![
                    self.application(&format!("setup[{index}].application"))?,
                    self.value(&format!("setup[{index}].input"))?,
                ]))
            },
        )?;
        let skip = match self.get("skip") {
            Some(_) => self.value("skip")?,
            None => self.array(&["skip.reason", "skip.trackingReference"])?,
        };
        let preimage = Value::Array(vec![
            self.value("id")?,
            self.application("application")?,
            self.value("input")?,
            self.expectation()?,
            setup,
            skip,
        ]);
        Some(derive_typed(CASE, &encode(&preimage)))
    }

    fn suite(&self) -> Option<TypedDigest> {
        let limits = Limit::ALL.map(|limit| self.value(&format!("limits.{}", limit.name())));
        let cases = self.list(
            |index| format!("cases[{index}].case"),
            |index| {
                let label = format!("cases[{index}].label");
                self.array(&[&label, &format!("cases[{index}].case")])
            },
        )?;
        let preimage = Value::Array(vec![
            Value::text(document::SCHEMA),
            self.value("suite.id")?,
            self.value("suite.lock")?,
            Value::Array(limits.into_iter().collect::<Option<_>>()?),
            cases,
        ]);
        Some(derive_typed(SUITE, &encode(&preimage)))
    }

    fn lock(&self) -> Option<TypedDigest> {
        let package = "toolchain.providerPackage";
        let coordinate = format!("{package}.coordinate");
        let provider = match self.get(&coordinate) {
            None => self.value(package)?,
            Some(_) => self.array(&[&coordinate, package])?,
        };
        let roles = Role::ALL.iter().map(|role| self.role(*role));
        let preimage = Value::Array(vec![
            Value::text(lock::SCHEMA),
            self.value("shape")?,
            provider,
            Value::Array(roles.collect::<Option<_>>()?),
        ]);
        Some(derive_typed(TOOLCHAIN_LOCK, &encode(&preimage)))
    }

    fn role(&self, role: Role) -> Option<Value> {
        let label = format!("toolchain.{}", role.name());
        let source = format!("{label}.source");
        let source = match self.get(&source) {
            Some(_) => self.value(&source)?,
            None => self.array(&[&format!("{source}.revision"), &format!("{source}.tree")])?,
        };
        Some(Value::Array(vec![
            Value::text(role.name()),
            self.value(&format!("{label}.kind"))?,
            self.value(&format!("{label}.coordinate"))?,
            self.value(&label)?,
            source,
        ]))
    }
}
