//! The latest runs as bars: how long each took, and how it ended, by its shape and not only by its colour.

use engine::Status;
use views::Style;
use views::list::RunRow;

use crate::screen::Piece;

/// How many of the latest runs have a bar.
const MOST_BARS: usize = 30;

/// As high as the run took long, beside the longest.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar for each of the latest runs, the oldest first. A run alone has nothing beside it, so it has none.
pub(super) fn bars(rows: &[&RunRow], room: usize) -> Vec<Piece> {
    let mut latest: Vec<&RunRow> = rows.iter().copied().filter(|row| has_begun(row)).collect();
    latest.sort_by_key(|row| std::cmp::Reverse(row.started_at));
    latest.truncate(MOST_BARS.min(room));
    if latest.len() < 2 {
        return Vec::new();
    }
    let longest = latest.iter().map(|row| took(row)).max().unwrap_or(1).max(1);
    let bars = latest.iter().rev().map(|row| bar(row, longest));
    bars.collect()
}

fn has_begun(row: &RunRow) -> bool {
    row.status != Status::Queued
}

fn took(row: &RunRow) -> u64 {
    row.touched_at.since(row.started_at).0
}

fn bar(row: &RunRow, longest: u64) -> Piece {
    let last = HEIGHTS.len() as u64 - 1;
    let place = usize::try_from(took(row).saturating_mul(last) / longest).unwrap_or(0);
    let height = HEIGHTS.get(place).copied().unwrap_or('█');
    match row.status {
        Status::Completed => Piece::new(Style::Good, height),
        Status::Failed => Piece::new(Style::Bad, '✗'),
        Status::Cancelled => Piece::new(Style::Dim, '·'),
        Status::Waiting(_) => Piece::new(Style::Wait, '?'),
        Status::Queued | Status::Running => Piece::new(Style::Normal, '●'),
    }
}
