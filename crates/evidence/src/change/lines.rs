//! The least number of lines that must be added and removed to make one text of another.

/// More than this is not counted.
const MOST: usize = 5_000;

/// The added and removed lines. A line that changed counts twice, as git counts it.
pub(super) fn distance(old: &[u8], new: &[u8]) -> Option<u32> {
    let (old, new) = (lines(old), lines(new));
    let same = |(one, other): &(&&[u8], &&[u8])| one == other;
    let start = old.iter().zip(&new).take_while(same).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev());
    let end = end.take_while(same).count();
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    shortest_edit(old, new).and_then(|lines| u32::try_from(lines).ok())
}

/// The last line counts with and without its line feed, which makes a difference.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The greedy algorithm of Myers: for each number of edits, how far each diagonal gets.
fn shortest_edit(old: &[&[u8]], new: &[&[u8]]) -> Option<usize> {
    if old.is_empty() || new.is_empty() {
        let lines = old.len() + new.len();
        return (lines <= MOST).then_some(lines);
    }
    let most = (old.len() + new.len()).min(MOST);
    // Diagonal k, which is removed minus added lines, is at `k + most + 1`.
    let mut reach = vec![0_usize; 2 * most + 3];
    for edits in 0..=most {
        for at in (most + 1 - edits..=most + 1 + edits).step_by(2) {
            let adds =
                at == most + 1 - edits || (at != most + 1 + edits && reach[at - 1] < reach[at + 1]);
            let mut x = if adds {
                reach[at + 1]
            } else {
                reach[at - 1] + 1
            };
            // On its way a diagonal may leave the texts; it ends where it began.
            let Some(mut y) = (x + most + 1).checked_sub(at) else {
                continue;
            };
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            reach[at] = x;
            if x >= old.len() && y >= new.len() {
                return Some(edits);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(old: &str, new: &str) -> Option<u32> {
        distance(old.as_bytes(), new.as_bytes())
    }

    #[test]
    fn lines_are_counted_as_added_and_removed() {
        for (old, new, expected) in [
            ("", "", 0),
            ("a\nb\n", "a\nb\n", 0),
            ("", "a\nb\n", 2),
            ("a\nb\n", "", 2),
            ("a\nb\nc\n", "a\nB\nc\n", 2),
            ("a\nb\nc\n", "a\nc\n", 1),
            ("a\nb\nc\nd\n", "x\na\nc\nd\ny\n", 3),
            // A line that moves is removed here and added there.
            ("a\nb\n", "b\na\n", 2),
            ("a\nb\nc\nd\ne\n", "e\nd\nc\nb\na\n", 8),
            ("a", "a\n", 2),
        ] {
            assert_eq!(count(old, new), Some(expected), "{old:?} {new:?}");
        }
    }

    #[test]
    fn the_number_is_the_least_possible() {
        let text = |seed: u32, length: u32| -> String {
            let word =
                |n: u32| (seed.wrapping_mul(31).wrapping_add(n * n * 7) % 5).to_string() + "\n";
            (0..length).map(word).collect()
        };
        for seed in 0..200 {
            let (old, new) = (text(seed, seed % 13), text(seed * 3 + 1, seed % 11));
            let (a, b) = (lines(old.as_bytes()), lines(new.as_bytes()));
            let common = longest_common(&a, &b);
            let expected = u32::try_from(a.len() + b.len() - 2 * common).unwrap();
            assert_eq!(count(&old, &new), Some(expected), "{old:?} {new:?}");
        }
    }

    fn longest_common(old: &[&[u8]], new: &[&[u8]]) -> usize {
        let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
        for i in 0..old.len() {
            for j in 0..new.len() {
                table[i + 1][j + 1] = if old[i] == new[j] {
                    table[i][j] + 1
                } else {
                    table[i][j + 1].max(table[i + 1][j])
                };
            }
        }
        table[old.len()][new.len()]
    }

    #[test]
    fn too_many_lines_are_not_counted() {
        let many: String = (0..MOST + 1).map(|n| format!("{n}\n")).collect();
        let other: String = (0..MOST + 1).map(|n| format!("x{n}\n")).collect();
        assert_eq!(count("", &many), None);
        assert_eq!(count(&many, &other), None);
        assert_eq!(count(&many, &many), Some(0));
    }
}
