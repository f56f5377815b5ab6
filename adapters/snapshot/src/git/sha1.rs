// SPDX-License-Identifier: Apache-2.0
//! SHA-1, only to recognize the objects that a Git index names. It protects nothing: what is pinned
//! is a tree identity of its own.

/// Words of the schedule and rounds.
const ROUNDS: usize = 80;

/// The SHA-1 of parts that follow one another.
pub(super) fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    let mut message = parts.concat();
    let bits = (message.len() as u64).wrapping_mul(8);
    message.push(0x80);
    let filled = message.len().wrapping_add(8).next_multiple_of(64);
    message.resize(filled - 8, 0);
    message.extend(bits.to_be_bytes());
    let mut state: [u32; 5] = [
        0x6745_2301,
        0xefcd_ab89,
        0x98ba_dcfe,
        0x1032_5476,
        0xc3d2_e1f0,
    ];
    for block in message.chunks_exact(64) {
        let mixed = rounds(state, block);
        for (word, more) in state.iter_mut().zip(mixed) {
            *word = word.wrapping_add(more);
        }
    }
    let mut digest = [0; 20];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

#[expect(
    clippy::many_single_char_names,
    reason = "the five words have these names in the standard"
)]
fn rounds([mut a, mut b, mut c, mut d, mut e]: [u32; 5], block: &[u8]) -> [u32; 5] {
    let words = block.chunks_exact(4);
    let mut schedule: Vec<u32> = words
        .map(|word| word.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
        .collect();
    for round in 0..ROUNDS {
        let word = schedule.get(round).copied().unwrap_or_else(|| {
            let back = |by: usize| schedule.get(round - by).copied().unwrap_or_default();
            let next = (back(3) ^ back(8) ^ back(14) ^ back(16)).rotate_left(1);
            schedule.push(next);
            next
        });
        let (choice, constant) = match round {
            0..20 => ((b & c) | (!b & d), 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let next = [choice, e, constant, word]
            .into_iter()
            .fold(a.rotate_left(5), u32::wrapping_add);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    [a, b, c, d, e]
}

#[cfg(test)]
mod tests {
    use super::*;
    use edict_codec::hex;

    #[test]
    fn known_digests() {
        for (parts, digest) in [
            (
                &[b"" as &[u8]] as &[&[u8]],
                "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            ),
            (&[b"ab", b"c"], "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                &[b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"],
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            ),
            // An empty object, as every Git knows it.
            (&[b"blob 0\0"], "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        ] {
            assert_eq!(hex::encode(&sha1(parts)), digest);
        }
        let million = vec![b'a'; 1_000_000];
        let digest = "34aa973cd4c4daa4f61eeb2bdbad27316534016f";
        assert_eq!(hex::encode(&sha1(&[&million])), digest);
    }
}
