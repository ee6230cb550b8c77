//! Differences between two texts, line by line, like `diff -u`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices_deadline, group_diff_ops};

/// How many context lines are shown.
const AROUND: usize = 3;

/// After this time the rest of two long texts counts as replaced.
const PATIENCE: Duration = Duration::from_secs(1);

/// The changes with context lines; empty if there are none.
pub fn unified(before: &str, after: &str) -> String {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let deadline = Some(Instant::now() + PATIENCE);
    let changes = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, deadline);
    let mut text = String::new();
    for hunk in group_diff_ops(changes, AROUND) {
        text.push_str(&heading(&hunk));
        let pieces = hunk.iter().flat_map(|op| op.iter_slices(&before, &after));
        for (tag, lines) in pieces {
            let sign = match tag {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            for line in lines {
                let _ = writeln!(text, "{sign}{line}");
            }
        }
    }
    text
}

/// The position of a hunk in both texts, and its number of lines.
fn heading(hunk: &[DiffOp]) -> String {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
        return String::new();
    };
    let old = first.old_range().start..last.old_range().end;
    let new = first.new_range().start..last.new_range().end;
    format!(
        "@@ -{},{} +{},{} @@\n",
        old.start + 1,
        old.len(),
        new.start + 1,
        new.len(),
    )
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
