//! The time axis: even, except that long times in which nobody works are shortened.

use super::{BarKind, GanttRow};
use crate::picture::Area;

/// A piece of the axis that is even in itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    from: u64,
    until: u64,
    x: i32,
    width: i32,
    is_shortened: bool,
}

/// From milliseconds to pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scale {
    stretches: Vec<Stretch>,
}

/// Idle time that is longer than this part of all work is shortened.
const LONG: u64 = 3;
/// To this part of all work.
const SHORT: u64 = 8;
const MOST_TICKS: u64 = 9;
const STEPS: [u64; 18] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200,
    86_400,
];

impl Scale {
    /// The axis for all bars, in this place.
    pub(super) fn of(rows: &[GanttRow], plot: Area) -> Self {
        let bars = || rows.iter().flat_map(|row| &row.bars);
        let Some(begin) = bars().map(|bar| bar.begin.0).min() else {
            return Self::default();
        };
        let end = bars()
            .map(|bar| bar.end.0)
            .max()
            .unwrap_or(begin)
            .max(begin + 1);
        let busy = bars().filter(|bar| bar.kind != BarKind::Waiting);
        let busy = united(busy.map(|bar| (bar.begin.0, bar.end.0)).collect());
        let worked: u64 = busy.iter().map(|(from, until)| until - from).sum();
        let mut pieces = Vec::new();
        let mut at = begin;
        for (from, until) in busy.into_iter().chain([(end, end)]) {
            let is_long = worked > 0 && from.saturating_sub(at) > worked / LONG;
            pieces.push((at, from, is_long));
            pieces.push((from, until, false));
            at = until;
        }
        pieces.retain(|(from, until, _)| from < until);
        Self::placed(&pieces, (worked / SHORT).max(1), plot)
    }

    fn placed(pieces: &[(u64, u64, bool)], short: u64, plot: Area) -> Self {
        let weight = |piece: &(u64, u64, bool)| match piece {
            (_, _, true) => short,
            (from, until, false) => until - from,
        };
        let all: u64 = pieces.iter().map(weight).sum();
        let mut before = 0;
        let mut stretches = Vec::new();
        for piece in pieces {
            let x = plot.x + part(before, all, plot.width);
            before += weight(piece);
            stretches.push(Stretch {
                from: piece.0,
                until: piece.1,
                x,
                width: plot.x + part(before, all, plot.width) - x,
                is_shortened: piece.2,
            });
        }
        Self { stretches }
    }

    pub(super) fn x(&self, time: u64) -> i32 {
        let stretch = self.stretches.iter().rfind(|stretch| stretch.from <= time);
        let Some(stretch) = stretch.or(self.stretches.first()) else {
            return 0;
        };
        let inside = time.clamp(stretch.from, stretch.until) - stretch.from;
        stretch.x + part(inside, stretch.until - stretch.from, stretch.width)
    }

    /// The shortened pieces: where they begin and end, and how many seconds they stand for.
    pub(super) fn breaks(&self) -> Vec<(i32, i32, u64)> {
        let shortened = self.stretches.iter().filter(|stretch| stretch.is_shortened);
        let seconds = |stretch: &Stretch| (stretch.until - stretch.from) / 1_000;
        shortened
            .map(|stretch| (stretch.x, stretch.x + stretch.width, seconds(stretch)))
            .collect()
    }

    /// Round times since the beginning, in seconds, with their places.
    pub(super) fn ticks(&self) -> Vec<(u64, i32)> {
        let even = || {
            self.stretches
                .iter()
                .filter(|stretch| !stretch.is_shortened)
        };
        let shown: u64 = even().map(|stretch| stretch.until - stretch.from).sum();
        let step = STEPS
            .iter()
            .find(|step| shown / 1_000 / **step <= MOST_TICKS);
        let step = step.copied().unwrap_or(shown / 1_000 / MOST_TICKS + 1);
        let Some(begin) = self.stretches.first().map(|stretch| stretch.from) else {
            return Vec::new();
        };
        let of_stretch = |stretch: &Stretch| {
            let first = (stretch.from - begin).div_ceil(1_000 * step);
            let last = (stretch.until - begin) / (1_000 * step);
            (first..=last).map(move |number| number * step)
        };
        let mut seconds: Vec<u64> = even().flat_map(of_stretch).collect();
        seconds.dedup();
        seconds
            .into_iter()
            .map(|second| (second, self.x(begin + second * 1_000)))
            .collect()
    }
}

/// Spans without overlaps, in their order.
fn united(mut spans: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    spans.sort_unstable();
    let mut united: Vec<(u64, u64)> = Vec::new();
    for (from, until) in spans {
        match united.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(until),
            Some(_) | None => united.push((from, until.max(from))),
        }
    }
    united
}

/// `width × share / all`, without overflow.
fn part(share: u64, all: u64, width: i32) -> i32 {
    let width = u128::try_from(width).unwrap_or(0);
    let pixels = (u128::from(share) * width).checked_div(u128::from(all));
    i32::try_from(pixels.unwrap_or(0)).unwrap_or(0)
}
