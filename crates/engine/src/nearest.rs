//! `did you mean …`: the known word that is nearest to one that is not known.

use alloc::vec::Vec;

/// The nearest of these words, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |other: &&'a str| distance(word, other);
    let best = known.into_iter().min_by_key(near)?;
    let longest = word.chars().count().max(best.chars().count());
    (near(&best) * 3 <= longest.max(3)).then_some(best)
}

/// How many letters must be inserted, removed, changed or swapped with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let lower = |text: &str| {
        text.chars()
            .take(80)
            .flat_map(char::to_lowercase)
            .collect::<Vec<_>>()
    };
    let (one, other) = (lower(one), lower(other));
    let mut rows: Vec<Vec<usize>> = Vec::from([(0..=other.len()).collect::<Vec<_>>()]);
    for (i, a) in one.iter().enumerate() {
        let mut row = Vec::from([i + 1]);
        for (j, b) in other.iter().enumerate() {
            let change = rows[i][j] + usize::from(a != b);
            let mut best = change.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_far_one_is_not() {
        let known = ["validating", "linting", "reviewing", "complete"];
        for (word, meant) in [
            ("validatng", Some("validating")),
            ("Complete", Some("complete")),
            ("reveiwing", Some("reviewing")),
            ("deploying", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
        assert_eq!(nearest("anything", []), None);
    }
}
