// SPDX-License-Identifier: Apache-2.0
//! The table check: the oracle recomputes every expectation before anything is built.

use super::{
    JimError,
    model::{Field, Obstruction, State},
    story::Story,
    table::{Case, Expect, Table},
};
use std::collections::{BTreeMap, BTreeSet};

/// Compares every row that the slice can run with the oracle.
///
/// # Errors
/// Every disagreement, a line each: a defect of the table or of the oracle, never of a program.
pub fn check(table: &Table) -> Result<(), JimError> {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for case in &table.cases {
        if !seen.insert(&case.id) {
            wrong.push(format!("{}: the id stands twice", case.id));
        }
        if case.required {
            match Story::of(case) {
                Err(error) => wrong.push(format!("{}: {error}", case.id)),
                Ok(story) => wrong.extend(compare(case, &story)),
            }
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(JimError::new(format!(
            "table and oracle disagree; nothing was built\n{}",
            wrong.join("\n")
        )))
    }
}

fn compare(case: &Case, story: &Story) -> Option<String> {
    let reason = match (&case.expect, &story.outcome) {
        (Expect::Committable { text, numbers }, Ok(state)) => {
            if !text.describes(&state.text) {
                Some("resultText".to_owned())
            } else if *numbers == measures(state) {
                None
            } else {
                Some(format!(
                    "numbers: {numbers:?} against {:?}",
                    measures(state)
                ))
            }
        }
        (
            Expect::Obstructed {
                code,
                coordinate,
                payload,
            },
            Err(found),
        ) => {
            let fields = payload_text(found);
            if coordinate != found.coordinate || *code != short(found.coordinate) {
                Some(format!("{code}, {coordinate} against {}", found.coordinate))
            } else if payload.as_ref() == Some(&fields) {
                None
            } else {
                Some(format!("payload: {payload:?} against {fields:?}"))
            }
        }
        (Expect::Committable { .. }, Err(found)) => {
            Some(format!("committable against {}", found.coordinate))
        }
        (Expect::Obstructed { coordinate, .. }, Ok(_)) => {
            Some(format!("{coordinate} against a settled edit"))
        }
    };
    reason.map(|it| format!("{}: {it}", case.id))
}

fn measures(state: &State) -> BTreeMap<String, u64> {
    BTreeMap::from([
        ("byteLength".to_owned(), state.text.len() as u64),
        ("utf16Length".to_owned(), state.utf16_length),
        ("lineCount".to_owned(), state.line_breaks.saturating_add(1)),
        ("sequence".to_owned(), state.sequence),
        ("version".to_owned(), state.version),
    ])
}

fn payload_text(obstruction: &Obstruction) -> BTreeMap<String, String> {
    let fields = obstruction.fields.iter();
    fields
        .map(|(name, field)| {
            let value = match field {
                Field::Number(value) => value.to_string(),
                Field::Word(word) => (*word).to_owned(),
            };
            ((*name).to_owned(), value)
        })
        .collect()
}

/// The short code of a coordinate: its last part in lower case, with hyphens.
fn short(coordinate: &str) -> String {
    let name = coordinate.rsplit('.').next().unwrap_or_default();
    let mut code = String::new();
    for sign in name.chars() {
        if sign.is_ascii_uppercase() && !code.is_empty() {
            code.push('-');
        }
        code.push(sign.to_ascii_lowercase());
    }
    code
}
