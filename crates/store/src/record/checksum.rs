//! A checksum that detects accidents, in a twentieth of the time of a SHA-256: every hook computes two.
//!
//! It does not stop attackers, and neither would a SHA-256 that they can compute, too. That is the task
//! of `verify`.

/// Both are odd, so that no bit of a word is lost.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];

/// The checksum of these parts, in this order and with these borders.
pub(super) fn of(parts: &[&[u8]]) -> [u8; 16] {
    let mut lanes = FACTORS;
    for part in parts {
        add(&mut lanes, part);
        turn(&mut lanes, part.len() as u64);
    }
    // The words of one lane reach the other half of the result, too.
    turn(&mut lanes, 0);
    turn(&mut lanes, 0);
    let [first, second] = lanes.map(u64::to_be_bytes);
    std::array::from_fn(|at| if at < 8 { first[at] } else { second[at - 8] })
}

fn add(lanes: &mut [u64; 2], bytes: &[u8]) {
    let mut pairs = bytes.chunks_exact(16);
    for pair in &mut pairs {
        let (first, second) = pair.split_at(8);
        lanes[0] = mixed(lanes[0] ^ word(first), FACTORS[0]);
        lanes[1] = mixed(lanes[1] ^ word(second), FACTORS[1]);
    }
    for rest in pairs.remainder().chunks(8) {
        turn(lanes, word(rest));
    }
}

/// Adds a word and exchanges the lanes.
fn turn(lanes: &mut [u64; 2], word: u64) {
    let [first, second] = *lanes;
    let mixed = mixed(first ^ word, FACTORS[0]);
    *lanes = [second ^ mixed.rotate_left(23), mixed];
}

/// Each value has its own result: a change of a single word always changes the checksum.
fn mixed(value: u64, factor: u64) -> u64 {
    let product = value.wrapping_mul(factor);
    product ^ (product >> 32)
}

/// Up to eight bytes as a number.
fn word(bytes: &[u8]) -> u64 {
    match bytes.try_into() {
        Ok(eight) => u64::from_le_bytes(eight),
        Err(_) => bytes
            .iter()
            .rev()
            .fold(0, |word, byte| (word << 8) | u64::from(*byte)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_flipped_bit_and_every_length_shows() {
        let bytes: Vec<u8> = (1..=100u8).map(|byte| byte.wrapping_mul(37)).collect();
        let mut sums = BTreeSet::from([of(&[&bytes])]);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(sums.insert(of(&[&flipped])), "{bit}");
        }
        for length in 0..bytes.len() {
            assert!(sums.insert(of(&[&bytes[..length]])), "{length}");
            assert!(sums.insert(of(&[&[0].repeat(length + 1)])), "{length}");
        }
        // A change reaches both halves.
        let halves = |at: usize| {
            sums.iter()
                .map(|sum| &sum[at..at + 8])
                .collect::<BTreeSet<_>>()
        };
        assert_eq!((halves(0).len(), halves(8).len()), (sums.len(), sums.len()));
    }

    #[test]
    fn swapped_words_and_moved_borders_show() {
        let words: Vec<[u8; 8]> = (1..=6u64).map(u64::to_le_bytes).collect();
        let of_words = |order: &[usize]| {
            let bytes: Vec<u8> = order.iter().flat_map(|at| words[*at]).collect();
            of(&[&bytes])
        };
        assert_ne!(of_words(&[0, 1, 2, 3]), of_words(&[2, 1, 0, 3]));
        assert_ne!(of_words(&[0, 1, 2, 3]), of_words(&[1, 0, 3, 2]));
        assert_ne!(of_words(&[0, 1, 2, 3, 4]), of_words(&[4, 1, 2, 3, 0]));
        let parts: [&[&[u8]]; 4] = [&[b"ab", b"c"], &[b"a", b"bc"], &[b"abc"], &[b"abc", b""]];
        assert_eq!(parts.map(of).into_iter().collect::<BTreeSet<_>>().len(), 4);
    }
}
