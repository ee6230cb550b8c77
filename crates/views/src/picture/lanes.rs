//! Lanes: the lines in a gutter or above a row, side by side where they would lie on each other.

use std::collections::BTreeMap;

/// Who runs in a lane: arrows to the same place share one.
pub(super) type LaneKey = (usize, i32);

/// The spans that want a lane, by their keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Lanes {
    spans: BTreeMap<LaneKey, (i32, i32)>,
}

/// Two lines in one lane keep this distance.
const APART: i32 = 8;

impl Lanes {
    pub(super) fn add(&mut self, key: LaneKey, from: i32, to: i32) {
        let span = self.spans.entry(key).or_insert((i32::MAX, i32::MIN));
        span.0 = span.0.min(from).min(to);
        span.1 = span.1.max(from).max(to);
    }

    /// The lane of each key, the short ones first, and how many lanes there are.
    pub(super) fn assigned(&self) -> (BTreeMap<LaneKey, i32>, i32) {
        let mut spans: Vec<_> = self.spans.iter().collect();
        spans.sort_by_key(|(key, span)| (span.1 - span.0, **key));
        let mut lanes: Vec<Vec<(i32, i32)>> = Vec::new();
        let mut assigned = BTreeMap::new();
        for (key, span) in spans {
            let is_free = |lane: &Vec<(i32, i32)>| {
                let mut taken = lane.iter();
                taken.all(|other| span.1 + APART < other.0 || other.1 + APART < span.0)
            };
            let lane = lanes.iter().position(is_free).unwrap_or_else(|| {
                lanes.push(Vec::new());
                lanes.len() - 1
            });
            lanes[lane].push(*span);
            assigned.insert(*key, count(lane));
        }
        (assigned, count(lanes.len()))
    }
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
