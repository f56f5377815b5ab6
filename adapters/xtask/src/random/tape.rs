// SPDX-License-Identifier: Apache-2.0
//! The choices of a generator: drawn at random once, then replayed, shortened and lowered. Choice 0
//! is always the simplest one, so a shorter tape of smaller numbers makes a smaller program.

/// A tape of choices.
#[derive(Clone, Debug)]
pub struct Tape {
    choices: Vec<u32>,
    next: usize,
    random: Option<u64>,
}

impl Tape {
    /// A tape that is drawn from `seed` as it is read.
    pub fn random(seed: u64) -> Self {
        Self {
            choices: Vec::new(),
            next: 0,
            random: Some(seed),
        }
    }

    /// A tape of these choices; behind its end every choice is 0.
    pub fn replay(choices: Vec<u32>) -> Self {
        Self {
            choices,
            next: 0,
            random: None,
        }
    }

    /// The choices that were read.
    pub fn read(mut self) -> Vec<u32> {
        self.choices.truncate(self.next);
        self.choices
    }

    /// A number below `count`; 0 when there is nothing to choose from.
    pub fn below(&mut self, count: usize) -> usize {
        let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
        if let Some(state) = &mut self.random {
            let drawn = u32::try_from(draw(state) >> 32).unwrap_or(0);
            self.choices.push(drawn % count);
        }
        let chosen = self.choices.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        // A replayed tape may stand at another question than when it was drawn.
        usize::try_from(chosen.min(count - 1)).unwrap_or(0)
    }

    /// True in about `percent` of 100 draws; false is the simple answer.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100_usize.saturating_sub(percent)
    }

    /// One of `items`, if there is one; the first is the simplest.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }
}

/// `splitmix64`: small, seedable and good enough to spread choices.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
