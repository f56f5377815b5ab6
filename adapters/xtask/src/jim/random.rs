// SPDX-License-Identifier: Apache-2.0
//! Random edits: program and oracle side by side, compared after every step.

use super::{
    JimError,
    identity::{basis, buffer_id, state_value},
    lane::{Ended, Lane, Programs},
    model::{Edit, Fact, Obstruction, State, judge},
    settlement::{settlement, untouched},
    story,
};
use crate::host::Host;

/// A small generator with a period far above any run; equal seeds give equal runs everywhere.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`, which is above 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }

    /// A text of at most `bytes` bytes with scalars of every width.
    pub fn text(&mut self, bytes: u64) -> String {
        const SCALARS: [&str; 14] = [
            "a",
            "Z",
            " ",
            "\n",
            "\r",
            "\0",
            "é",
            "\u{301}",
            "\u{feff}",
            "€",
            "\u{2028}",
            "猫",
            "😀",
            "\u{10ffff}",
        ];
        let length = self.below(bytes + 1);
        let mut text = String::new();
        loop {
            let index = usize::try_from(self.below(SCALARS.len() as u64)).unwrap_or_default();
            let scalar = SCALARS.get(index).copied().unwrap_or_default();
            if (text.len() + scalar.len()) as u64 > length {
                return text;
            }
            text.push_str(scalar);
        }
    }

    /// An edit of `text`; about half of them are illegal in one way or another.
    pub fn edit(&mut self, text: &str) -> Edit {
        let length = text.len() as u64;
        let legal = self.below(2) == 0;
        let (mut start, mut end) = (self.below(length + 1), self.below(length + 1));
        if legal {
            (start, end) = (boundary(text, start), boundary(text, end));
        } else if self.below(3) == 0 {
            end = [length + 1, 1 << 31, u64::MAX]
                .get(usize::try_from(self.below(3)).unwrap_or_default())
                .copied()
                .unwrap_or_default();
        }
        if start > end && (legal || self.below(3) != 0) {
            (start, end) = (end, start);
        }
        let mut replacement = self.text(40).into_bytes();
        match self.below(12) {
            0 => replacement.clear(),
            1 if end <= length && start <= end => {
                replacement = cut(text.as_bytes(), start, end).to_vec();
            }
            2 if !legal => replacement.push(0xFF),
            _ => {}
        }
        Edit {
            start,
            end,
            replacement,
        }
    }
}

fn cut(bytes: &[u8], start: u64, end: u64) -> &[u8] {
    let index = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    bytes.get(index(start)..index(end)).unwrap_or_default()
}

/// The nearest boundary at or before an offset.
fn boundary(text: &str, offset: u64) -> u64 {
    let mut offset = usize::try_from(offset).unwrap_or_default().min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset as u64
}

/// What a run has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Edits that settled.
    pub settled: u64,
    /// Edits that ended in an obstruction.
    pub obstructed: u64,
}

/// One buffer in one context, with what the oracle says about it.
#[derive(Debug)]
pub struct Buffer {
    /// The context.
    pub lane: Lane,
    /// The buffer id.
    pub id: [u8; 32],
    /// What the oracle says stands there.
    pub fact: Fact,
}

impl Buffer {
    /// Creates a buffer in a context of its own.
    ///
    /// # Errors
    /// The step that does not agree with the oracle.
    pub fn create(
        host: &mut Host,
        programs: &Programs,
        number: u64,
        text: &str,
    ) -> Result<Self, JimError> {
        let name = format!("lane-{number}");
        let mut lane = Lane::open(host, programs, &name, number, false)?;
        let id = buffer_id(&name);
        let state = State::created(text);
        let ended = lane.run(host, &story::create(&id, text))?;
        settlement(&ended, &id, None, Some(&state), "create")?;
        Ok(Self {
            lane,
            id,
            fact: Fact::Buffer(state),
        })
    }

    /// Runs an edit on a basis (none is the current one) and compares everything.
    ///
    /// # Errors
    /// What differs from the oracle.
    pub fn edit(
        &mut self,
        host: &mut Host,
        claimed: Option<[u8; 32]>,
        edit: &Edit,
    ) -> Result<Result<State, Obstruction>, JimError> {
        let present = story::current(&self.id, &self.fact);
        let claimed = claimed.unwrap_or(present);
        let expected = judge(&self.fact, claimed == present, edit);
        let ended = self
            .lane
            .run(host, &story::replace(&self.id, &claimed, edit))?;
        self.compare(&ended, &expected)?;
        if let Ok(state) = &expected {
            self.fact = Fact::Buffer(state.clone());
        }
        if let Fact::Buffer(state) = &self.fact {
            let observed = self.lane.observe(host, &self.id)?;
            if observed.as_ref() != Some(&state_value(state)) {
                return Err(JimError::new(format!(
                    "observed {observed:?} against {state:?}"
                )));
            }
        }
        Ok(expected)
    }

    /// Compares the end of an edit with the oracle.
    ///
    /// # Errors
    /// What differs.
    pub fn compare(
        &self,
        ended: &Ended,
        expected: &Result<State, Obstruction>,
    ) -> Result<(), JimError> {
        let before = match &self.fact {
            Fact::Buffer(state) => Some(basis(&self.id, state)),
            Fact::Absent | Fact::Foreign => None,
        };
        let (coordinate, body) = match expected {
            Ok(state) => (None, story::result(&self.id, state)),
            Err(found) => (Some(found.coordinate), story::payload(&self.id, found)),
        };
        if ended.coordinate.as_deref() != coordinate || ended.body != body {
            return Err(JimError::new(format!(
                "program: {:?} {:?}\noracle: {coordinate:?} {body:?}",
                ended.coordinate, ended.body
            )));
        }
        match expected {
            Ok(state) => settlement(ended, &self.id, before, Some(state), "replace"),
            Err(found) if !found.authored() => untouched(ended),
            Err(_) => settlement(ended, &self.id, before, None, "replace"),
        }
    }

    /// The text of a buffer, as far as it is one.
    pub fn text(&self) -> String {
        match &self.fact {
            Fact::Buffer(state) => String::from_utf8_lossy(&state.text).into_owned(),
            Fact::Absent | Fact::Foreign => String::new(),
        }
    }
}

/// Runs `edits` random edits, twenty in each buffer, and compares each with the oracle.
///
/// # Errors
/// The first step that differs.
pub fn run(host: &mut Host, programs: &Programs, edits: u64, seed: u64) -> Result<Tally, JimError> {
    let mut dice = Dice::new(seed);
    let mut tally = Tally::default();
    let mut done = 0;
    let mut number = 0;
    while done < edits {
        number += 1;
        let text = dice.text(300);
        let mut buffer = Buffer::create(host, programs, number, &text)?;
        let mut old = None;
        for _ in 0..20.min(edits - done) {
            let present = story::current(&buffer.id, &buffer.fact);
            let claimed = if dice.below(10) == 0 { old } else { None };
            let edit = dice.edit(&buffer.text());
            let outcome = buffer.edit(host, claimed, &edit).map_err(|error| {
                JimError::new(format!("seed {seed}, buffer {number}, {edit:?}: {error}"))
            })?;
            if outcome.is_ok() {
                tally.settled += 1;
                old = Some(present);
            } else {
                tally.obstructed += 1;
            }
            done += 1;
        }
        buffer.lane.close(host)?;
    }
    Ok(tally)
}
