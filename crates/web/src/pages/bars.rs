//! The latest runs as bars: how long each took, and how it ended.

use engine::{Seconds, Status, Time};
use maud::{Markup, html};
use store::RunSummary;

use crate::bits;
use crate::reading::Reading;

/// How many of the latest runs have a bar.
const MOST: usize = 30;

/// The place of each bar, and its parts.
const STEP: u64 = 12;
const WIDTH: u64 = 9;
const TALLEST: u64 = 34;
const LOWEST: u64 = 3;
/// Below the bars is the sign of how each run ended.
const SIGN: u64 = 13;

/// Takes runs in the order of the list, the latest first, and draws the latest on the right.
pub(super) fn of<'s>(
    reading: &Reading<'_>,
    summaries: impl Iterator<Item = &'s RunSummary>,
) -> Markup {
    let mut runs: Vec<&RunSummary> = summaries.take(MOST).collect();
    runs.reverse();
    let longest = runs.iter().map(|run| lasted(run, reading.now).0).max();
    let longest = longest.unwrap_or(0).max(1);
    let width = runs.len() as u64 * STEP;
    let height = TALLEST + SIGN;
    let label = format!("The latest {}, by duration", bits::count(runs.len(), "run"));
    html! {
        svg.bars role="group" aria-label=(label) width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) {
            @for (place, run) in runs.iter().enumerate() { (bar(reading, run, place as u64 * STEP, longest)) }
        }
    }
}

fn bar(reading: &Reading<'_>, run: &RunSummary, left: u64, longest: u64) -> Markup {
    let lasted = lasted(run, reading.now);
    let height = height(lasted.0, longest);
    let (mark, class) = bits::status_sign(&run.status);
    let link = reading.base.to(&format!("run/{}", run.id));
    let title = format!(
        "{}: {} ({}, {})",
        views::line(&run.task),
        run.status.word(),
        bits::rough(lasted),
        run.id
    );
    html! {
        a href=(link) class=(format!("bar {class}")) {
            title { (title) }
            rect.reach x=(left) y="0" width=(STEP) height=(TALLEST + SIGN) {}
            rect x=(left + 1) y=(TALLEST - height) width=(WIDTH) height=(height) rx="1.5" {}
            text x=(left + 1 + WIDTH / 2) y=(TALLEST + SIGN - 3) text-anchor="middle" { (mark) }
        }
    }
}

/// Until its last event; what still lasts grows in steps, so that an idle page stays as it is.
fn lasted(run: &RunSummary, now: Time) -> Seconds {
    match run.status {
        Status::Completed | Status::Failed | Status::Cancelled => {
            run.updated_at.since(run.started_at)
        }
        Status::Queued | Status::Running | Status::Waiting(_) => {
            Time(now.0 - now.0 % 60_000).since(run.started_at)
        }
    }
}

/// The square root: a run of a minute can be seen beside one of an hour.
fn height(lasted: u64, longest: u64) -> u64 {
    let whole = TALLEST - LOWEST;
    let square = lasted.min(longest).saturating_mul(whole * whole) / longest.max(1);
    LOWEST + square.isqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bar_can_be_seen_and_none_is_too_tall() {
        for (lasted, longest, expected) in [
            (0, 1, LOWEST),
            (1, 1, TALLEST),
            (60, 3_600, LOWEST + 4),
            (7, 3, TALLEST),
            (u64::MAX, u64::MAX, LOWEST + 4),
        ] {
            let height = height(lasted, longest);
            assert!((LOWEST..=TALLEST).contains(&height), "{height}");
            if longest < u64::MAX {
                assert_eq!(height, expected, "{lasted} of {longest}");
            }
        }
    }
}
