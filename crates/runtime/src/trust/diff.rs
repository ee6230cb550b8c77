//! What has changed between two texts, line by line, as people know it from `diff -u`.

use std::fmt::Write as _;

/// How many lines around a change are shown.
const AROUND: usize = 3;

/// Two middles of more lines than this together would take too long to compare: then the one is
/// shown as gone and the other as new.
const MOST_CELLS: usize = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The changes with the lines around them; nothing if there are none.
pub fn unified(before: &str, after: &str) -> String {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let lines = compare(&before, &after);
    let mut text = String::new();
    for (from, to) in hunks(&lines) {
        let count = |kept: fn(&Line<'_>) -> bool, lines: &[Line<'_>]| {
            lines.iter().filter(|line| kept(line)).count()
        };
        let old = |line: &Line<'_>| !matches!(line, Line::New(_));
        let new = |line: &Line<'_>| !matches!(line, Line::Gone(_));
        let (above, hunk) = (&lines[..from], &lines[from..to]);
        let _ = writeln!(
            text,
            "@@ -{},{} +{},{} @@",
            count(old, above) + 1,
            count(old, hunk),
            count(new, above) + 1,
            count(new, hunk),
        );
        for line in hunk {
            let _ = match line {
                Line::Same(line) => writeln!(text, " {line}"),
                Line::Gone(line) => writeln!(text, "-{line}"),
                Line::New(line) => writeln!(text, "+{line}"),
            };
        }
    }
    text
}

/// From where to where something is shown: changes that are near each other go together.
fn hunks(lines: &[Line<'_>]) -> Vec<(usize, usize)> {
    let mut hunks: Vec<(usize, usize)> = Vec::new();
    let changes = lines.iter().enumerate();
    for (at, _) in changes.filter(|(_, line)| !matches!(line, Line::Same(_))) {
        let (from, to) = (
            at.saturating_sub(AROUND),
            (at + AROUND + 1).min(lines.len()),
        );
        match hunks.last_mut() {
            Some(last) if from <= last.1 => last.1 = to,
            _ => hunks.push((from, to)),
        }
    }
    hunks
}

fn compare<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Line<'a>> {
    let both = before.iter().zip(after);
    let head = both.take_while(|(old, new)| old == new).count();
    let (old, new) = (&before[head..], &after[head..]);
    let both = old.iter().rev().zip(new.iter().rev());
    let tail = both.take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);

    let same = |lines: &[&'a str]| lines.iter().copied().map(Line::Same).collect::<Vec<_>>();
    let mut lines = same(&before[..head]);
    lines.extend(middle(old, new));
    lines.extend(same(&before[before.len() - tail..]));
    lines
}

/// Keeps as many lines as possible: the longest list of lines that both have in the same order.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    if (old.len() + 1).saturating_mul(new.len() + 1) > MOST_CELLS {
        let gone = old.iter().copied().map(Line::Gone);
        return gone.chain(new.iter().copied().map(Line::New)).collect();
    }
    let longest = longest(old, new);
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        match (old.get(i), new.get(j)) {
            (Some(gone), Some(come)) if gone == come => {
                lines.push(Line::Same(gone));
                (i, j) = (i + 1, j + 1);
            }
            (Some(gone), come) if come.is_none() || longest[i + 1][j] >= longest[i][j + 1] => {
                lines.push(Line::Gone(gone));
                i += 1;
            }
            (_, Some(come)) => {
                lines.push(Line::New(come));
                j += 1;
            }
            (_, None) => break,
        }
    }
    lines
}

/// How many lines the rests of both have in common, from each pair of lines on.
fn longest(old: &[&str], new: &[&str]) -> Vec<Vec<u32>> {
    let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            table[i][j] = match old[i] == new[j] {
                true => table[i + 1][j + 1] + 1,
                false => table[i + 1][j].max(table[i][j + 1]),
            };
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_the_lines_around_them() {
        let check = |before: &str, after: &str, expected: &str| {
            let words = |text: &str| text.replace(' ', "\n");
            let found = unified(&words(before), &words(after)).replace('\n', "|");
            assert_eq!(found, expected, "{before} → {after}");
        };
        check("a b c", "a b c", "");
        check("", "a b", "@@ -1,0 +1,2 @@|+a|+b|");
        check("a b", "", "@@ -1,2 +1,0 @@|-a|-b|");
        check("a b c", "a x c", "@@ -1,3 +1,3 @@| a|-b|+x| c|");
        check("a b c d", "b c x d", "@@ -1,4 +1,4 @@|-a| b| c|+x| d|");
        check(
            "1 2 3 4 5 6 7 8",
            "x 2 3 4 5 6 7 y",
            "@@ -1,8 +1,8 @@|-1|+x| 2| 3| 4| 5| 6| 7|-8|+y|",
        );
        check(
            "1 2 3 4 5 6 7 8 9",
            "x 2 3 4 5 6 7 8 y",
            "@@ -1,4 +1,4 @@|-1|+x| 2| 3| 4|@@ -6,4 +6,4 @@| 6| 7| 8|-9|+y|",
        );
    }

    #[test]
    fn what_is_too_long_to_be_compared_is_shown_as_replaced() {
        let lines = |word: &str| {
            (0..3_000)
                .map(|n| format!("{word}{n}\n"))
                .collect::<String>()
        };
        let found = unified(&lines("a"), &lines("b"));
        assert!(
            found.starts_with("@@ -1,3000 +1,3000 @@\n-a0\n"),
            "{}",
            &found[..40]
        );
        assert!(found.ends_with("+b2999\n"));
    }
}
