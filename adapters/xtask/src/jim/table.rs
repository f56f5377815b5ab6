// SPDX-License-Identifier: Apache-2.0
//! The table of cases: data of the application, read in full or refused.

use super::{JimError, model::Edit};
use edict_codec::hex;
use serde_json::Value as Json;
use std::{collections::BTreeMap, path::Path};

/// All cases in their order.
#[derive(Clone, Debug)]
pub struct Table {
    /// The rows.
    pub cases: Vec<Case>,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its id, also that of the suite case.
    pub id: String,
    /// What it is there for.
    pub why: String,
    /// Whether a flat buffer can be in the situation at all.
    pub required: bool,
    /// The key the buffer id is derived from.
    pub buffer_key: String,
    /// The text the buffer is created with.
    pub initial: String,
    /// Edits before the judged one.
    pub setup: Vec<Edit>,
    /// The retained state that no edit reaches, or nothing.
    pub seed: Option<Seed>,
    /// Which basis the judged edit claims.
    pub basis: Basis,
    /// The judged edit.
    pub edit: Edit,
    /// What must come out.
    pub expect: Expect,
}

/// How a state is seeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seed {
    /// Nothing is there.
    Absent,
    /// A value of another type is there.
    Foreign,
    /// Named fields of the state have these values.
    Fields(BTreeMap<String, u64>),
}

/// The basis of the judged edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// That after the setup.
    Current,
    /// That right after creation.
    Initial,
    /// That of a second buffer.
    ForeignBuffer,
    /// Bytes that were never a basis.
    Unknown,
}

/// The expectation of a row.
#[derive(Clone, Debug)]
pub enum Expect {
    /// The edit settles.
    Committable {
        /// Length and digest of the text, and the text itself when it is short.
        text: Described,
        /// The number fields of the result by name.
        numbers: BTreeMap<String, u64>,
    },
    /// The edit ends without effect.
    Obstructed {
        /// The short code.
        code: String,
        /// The authored coordinate.
        coordinate: String,
        /// The payload without the buffer id; absent where the slice cannot run the case.
        payload: Option<BTreeMap<String, String>>,
    },
}

/// A text by its measures.
#[derive(Clone, Debug)]
pub struct Described {
    /// Its UTF-8 bytes.
    pub byte_length: u64,
    /// The plain SHA-256 of them.
    pub sha256: [u8; 32],
    /// The bytes, of short texts only.
    pub bytes: Option<Vec<u8>>,
}

impl Table {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or the place in it that is not as the schema says.
    pub fn read(path: &Path) -> Result<Self, JimError> {
        let bytes = std::fs::read(path)
            .map_err(|error| JimError::new(format!("read {}: {error}", path.display())))?;
        Self::parse(&bytes).map_err(|error| JimError::new(format!("{}: {error}", path.display())))
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// The place that is not as the schema says.
    pub fn parse(bytes: &[u8]) -> Result<Self, JimError> {
        let root: Json = serde_json::from_slice(bytes)
            .map_err(|error| JimError::new(format!("no JSON: {error}")))?;
        let schema = text(&root, "schema")?;
        if schema != "replace-range-case-table/v2" {
            return Err(JimError::new(format!("unknown schema `{schema}`")));
        }
        let mut cases = Vec::new();
        for row in list(&root, "cases")? {
            let id = text(row, "id")?;
            let case = case(row).map_err(|error| JimError::new(format!("case {id}: {error}")))?;
            cases.push(case);
        }
        Ok(Self { cases })
    }

    /// The rows with these ids, in the order of the table.
    #[must_use]
    pub fn only(&self, ids: &[&str]) -> Self {
        let cases = self.cases.iter().filter(|it| ids.contains(&it.id.as_str()));
        Self {
            cases: cases.cloned().collect(),
        }
    }

    /// The ids that this slice cannot run.
    pub fn uncovered(&self) -> Vec<&str> {
        let uncovered = self.cases.iter().filter(|it| !it.required);
        uncovered.map(|it| it.id.as_str()).collect()
    }
}

fn case(row: &Json) -> Result<Case, JimError> {
    let required = match text(row, "flatSlice")?.as_str() {
        "required" => true,
        "uncovered" => false,
        other => return Err(JimError::new(format!("unknown flatSlice `{other}`"))),
    };
    let mut setup = Vec::new();
    for step in list(row, "setupEdits")? {
        setup.push(edit(step)?);
    }
    Ok(Case {
        id: text(row, "id")?,
        why: text(row, "why")?,
        required,
        buffer_key: text(row, "bufferKey")?,
        initial: segments(member(row, "initialText")?)?,
        setup,
        seed: row.get("flatSeed").map(seed).transpose()?,
        basis: basis(&text(row, "basis")?)?,
        edit: edit(row)?,
        expect: expect(member(row, "expect")?)?,
    })
}

fn basis(word: &str) -> Result<Basis, JimError> {
    Ok(match word {
        "current" => Basis::Current,
        "initial" => Basis::Initial,
        "foreign-buffer-head" => Basis::ForeignBuffer,
        "unknown" => Basis::Unknown,
        other => return Err(JimError::new(format!("unknown basis `{other}`"))),
    })
}

fn seed(value: &Json) -> Result<Seed, JimError> {
    let members = value
        .as_object()
        .ok_or_else(|| JimError::new("flatSeed is no object"))?;
    if let [(name, Json::Bool(true))] = members.iter().collect::<Vec<_>>().as_slice() {
        match name.as_str() {
            "absent" => return Ok(Seed::Absent),
            "foreignShape" => return Ok(Seed::Foreign),
            _ => {}
        }
    }
    let mut fields = BTreeMap::new();
    for name in members.keys() {
        if !["sequence", "version", "utf16Length", "lineBreaks"].contains(&name.as_str()) {
            return Err(JimError::new(format!(
                "flatSeed has unknown field `{name}`"
            )));
        }
        fields.insert(name.clone(), number(value, name)?);
    }
    Ok(Seed::Fields(fields))
}

fn edit(value: &Json) -> Result<Edit, JimError> {
    Ok(Edit {
        start: number(value, "startByte")?,
        end: number(value, "endByte")?,
        replacement: segments(member(value, "replacement")?)?.into_bytes(),
    })
}

fn expect(value: &Json) -> Result<Expect, JimError> {
    match text(value, "posture")?.as_str() {
        "committable" => {
            let mut numbers = BTreeMap::new();
            for name in [
                "byteLength",
                "utf16Length",
                "lineCount",
                "sequence",
                "version",
            ] {
                numbers.insert(name.to_owned(), number(value, name)?);
            }
            let text = described(member(value, "resultText")?)?;
            Ok(Expect::Committable { text, numbers })
        }
        "obstructed" => {
            if member(value, "stateUnchanged")? != &Json::Bool(true) {
                return Err(JimError::new(
                    "an obstruction must leave the state unchanged",
                ));
            }
            Ok(Expect::Obstructed {
                code: text(value, "code")?,
                coordinate: text(value, "coordinate")?,
                payload: value.get("payload").map(payload).transpose()?,
            })
        }
        other => Err(JimError::new(format!("unknown posture `{other}`"))),
    }
}

fn payload(value: &Json) -> Result<BTreeMap<String, String>, JimError> {
    let members = value
        .as_object()
        .ok_or_else(|| JimError::new("payload is no object"))?;
    members
        .keys()
        .map(|name| Ok((name.clone(), text(value, name)?)))
        .collect()
}

/// A text of repeated segments, compared with its description.
fn segments(value: &Json) -> Result<String, JimError> {
    let mut whole = String::new();
    for segment in list(value, "segments")? {
        let times = usize::try_from(number(segment, "times")?).unwrap_or(usize::MAX);
        let part = text(segment, "text")?;
        // Far above any bound of the operation; texts beyond it are no cases but accidents.
        if part.len().saturating_mul(times).saturating_add(whole.len()) > 4_194_304 {
            return Err(JimError::new("a text has more than 4194304 bytes"));
        }
        whole.push_str(&part.repeat(times));
    }
    let described = described(value)?;
    if !described.describes(whole.as_bytes()) {
        return Err(JimError::new(
            "segments disagree with byteLength, sha256 or utf8Hex",
        ));
    }
    Ok(whole)
}

impl Described {
    /// Whether `bytes` have these measures.
    pub fn describes(&self, bytes: &[u8]) -> bool {
        self.byte_length == bytes.len() as u64
            && self.sha256 == edict_codec::digest::sha256(bytes)
            && self.bytes.as_ref().is_none_or(|it| it == bytes)
    }
}

fn described(value: &Json) -> Result<Described, JimError> {
    let sha256 = text(value, "sha256")?;
    let bytes = match value.get("utf8Hex").and_then(Json::as_str) {
        None => None,
        Some(digits) => {
            Some(hex::decode(digits).ok_or_else(|| JimError::new("utf8Hex is no hex"))?)
        }
    };
    Ok(Described {
        byte_length: number(value, "byteLength")?,
        sha256: hex::decode_32(&sha256).ok_or_else(|| JimError::new("sha256 is no digest"))?,
        bytes,
    })
}

fn member<'a>(value: &'a Json, name: &str) -> Result<&'a Json, JimError> {
    value
        .get(name)
        .ok_or_else(|| JimError::new(format!("member `{name}` is missing")))
}

fn text(value: &Json, name: &str) -> Result<String, JimError> {
    let text = member(value, name)?.as_str();
    text.map(str::to_owned)
        .ok_or_else(|| JimError::new(format!("member `{name}` is no text")))
}

fn list<'a>(value: &'a Json, name: &str) -> Result<&'a [Json], JimError> {
    let list = member(value, name)?.as_array();
    list.map(Vec::as_slice)
        .ok_or_else(|| JimError::new(format!("member `{name}` is no list")))
}

/// An unsigned number, as a JSON integer or as decimal text.
fn number(value: &Json, name: &str) -> Result<u64, JimError> {
    let found = match member(value, name)? {
        Json::String(digits) => digits.parse().ok(),
        other => other.as_u64(),
    };
    found.ok_or_else(|| JimError::new(format!("member `{name}` is no unsigned number")))
}
