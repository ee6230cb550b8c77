//! Goals: ratios of one run of the bench, each with the limit that it must keep.

use serde_json::{Value, json};

use super::crowd::Crowd;
use super::hooks::{LARGE, SMALL};
use super::peers::{LONG, SHORT};
use super::report::{Row, rounded};
use super::subject::{Kind, Load};

/// A ratio and its limit.
pub(super) struct Goal {
    pub name: String,
    /// Nothing where one of the two was not measured.
    pub measured: Option<f64>,
    pub limit: Limit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    pub(super) fn new(name: impl Into<String>, measured: Option<f64>, limit: Limit) -> Self {
        Self {
            name: name.into(),
            measured,
            limit,
        }
    }

    pub(super) fn is_met(&self) -> Option<bool> {
        self.measured.map(|measured| match self.limit {
            Limit::AtMost(limit) => measured <= limit,
            Limit::AtLeast(limit) => measured >= limit,
        })
    }

    pub(super) fn line(&self) -> String {
        let measured = match self.measured {
            Some(measured) => format!("{measured:.2}×"),
            None => "–".to_owned(),
        };
        let limit = match self.limit {
            Limit::AtMost(limit) => format!("≤ {limit}×"),
            Limit::AtLeast(limit) => format!("≥ {limit}×"),
        };
        let met = match self.is_met() {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "not measured",
        };
        format!("{:<66} {measured:>9} {limit:>9}  {met}\n", self.name)
    }

    pub(super) fn json(&self) -> Value {
        let (least, most) = match self.limit {
            Limit::AtMost(limit) => (None, Some(limit)),
            Limit::AtLeast(limit) => (Some(limit), None),
        };
        json!({
            "goal": self.name,
            "measured": self.measured.map(rounded),
            "at_most": most,
            "at_least": least,
            "met": self.is_met(),
        })
    }
}

/// Everything that hooks are held to.
pub(super) fn all(rows: &[Row], crowd: Option<&Crowd>) -> Vec<Goal> {
    let table = Table(rows);
    let mut goals = table.own();
    for (peer, check, advance, limits) in [
        (
            "bash+jq",
            Kind::ShellCheck,
            Kind::ShellAdvance,
            [12.0, 400.0],
        ),
        (
            "Python",
            Kind::PythonCheck,
            Kind::PythonAdvance,
            [20.0, 20.0],
        ),
    ] {
        for (entries, limit) in [SHORT, LONG].into_iter().zip(limits) {
            let limit = Limit::AtLeast(limit);
            goals.push(table.against_peer((peer, check, advance), entries, limit));
        }
    }
    goals.extend(crowd.map(|crowd| table.crowd(crowd)));
    goals
}

struct Table<'a>(&'a [Row]);

impl Table<'_> {
    fn own(&self) -> Vec<Goal> {
        let elsewhere = self.ratio((Kind::HookElsewhere, Load::Nothing), Kind::Noop);
        let decides = self.shortest(Kind::HookDecides).map(|row| row.seconds());
        let advances = self.shortest(Kind::HookAdvances).map(|row| row.seconds());
        let write = |bytes| self.seconds(Kind::HookWrites, Load::Bytes(bytes));
        let floor = |kind| self.seconds(kind, Load::Nothing);
        vec![
            Goal::new("hook elsewhere / no-op", elsewhere, Limit::AtMost(1.5)),
            Goal::new(
                "hook decides / no-op",
                divided(decides, floor(Kind::Noop)),
                Limit::AtMost(3.5),
            ),
            Goal::new(
                "hook advances / append",
                divided(advances, floor(Kind::Append)),
                Limit::AtMost(2.75),
            ),
            Goal::new(
                "hook advances, longest history / shortest",
                self.growth(Kind::HookAdvances),
                Limit::AtMost(1.1),
            ),
            Goal::new(
                "hook on a Write of 2 MB / of 2 KB",
                divided(write(LARGE), write(SMALL)),
                Limit::AtMost(3.0),
            ),
        ]
    }

    /// An agent starts and ends: both get the same two events. The peer stores the second, and we both. A long history of a peer is compared with our longest, which is longer.
    fn against_peer(
        &self,
        (peer, check, advance): (&str, Kind, Kind),
        entries: usize,
        limit: Limit,
    ) -> Goal {
        let ours = |kind| match entries {
            SHORT => self.shortest(kind),
            _ => self.longest(kind),
        };
        let (admits, advances) = (ours(Kind::HookAdmits), ours(Kind::HookAdvances));
        let ours = [admits, advances].map(|row| row.map(Row::seconds));
        let theirs = [check, advance].map(|kind| self.seconds(kind, Load::Entries(entries)));
        let name = format!("{peer} check + advance, {entries} entries / hook admits + advances");
        Goal::new(name, divided(sum(theirs), sum(ours)), limit)
    }

    fn crowd(&self, crowd: &Crowd) -> Goal {
        let name = format!("p99 of {} hooks at once / hook advances", crowd.members);
        let single = self.shortest(Kind::HookAdvances).map(Row::seconds);
        let p99 = Some(crowd.p99.as_secs_f64());
        Goal::new(name, divided(p99, single), Limit::AtMost(100.0))
    }

    fn ratio(&self, (kind, load): (Kind, Load), floor: Kind) -> Option<f64> {
        divided(self.seconds(kind, load), self.seconds(floor, Load::Nothing))
    }

    fn seconds(&self, kind: Kind, load: Load) -> Option<f64> {
        let mut rows = self.0.iter();
        let row = rows.find(|row| row.kind == kind && row.load == load);
        row.map(Row::seconds)
    }

    fn shortest(&self, kind: Kind) -> Option<&Row> {
        let rows = self.0.iter().filter(|row| row.kind == kind);
        rows.min_by_key(|row| row.load.entries())
    }

    fn longest(&self, kind: Kind) -> Option<&Row> {
        let rows = self.0.iter().filter(|row| row.kind == kind);
        rows.max_by_key(|row| row.load.entries())
    }

    /// How many times as long with the longest history as with the shortest.
    fn growth(&self, kind: Kind) -> Option<f64> {
        let longest = self.longest(kind).map(Row::seconds);
        divided(longest, self.shortest(kind).map(Row::seconds))
    }
}

/// How many times as long with the longest history as with the shortest.
pub(super) fn growth(rows: &[Row], kind: Kind) -> Option<f64> {
    Table(rows).growth(kind)
}

/// How many times as long as this floor.
pub(super) fn times(rows: &[Row], row: &Row, floor: Kind) -> Option<f64> {
    divided(
        Some(row.seconds()),
        Table(rows).seconds(floor, Load::Nothing),
    )
}

fn sum([one, other]: [Option<f64>; 2]) -> Option<f64> {
    Some(one? + other?)
}

fn divided(above: Option<f64>, below: Option<f64>) -> Option<f64> {
    Some(above? / below?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::bench::cost::Cost;

    fn row(kind: Kind, load: Load, median_us: u64) -> Row {
        let median = Duration::from_micros(median_us);
        Row {
            kind,
            load,
            median,
            p99: median * 2,
            cost: Cost::default(),
        }
    }

    fn found(rows: &[Row], crowd: Option<&Crowd>, name: &str) -> (Option<f64>, Option<bool>) {
        let goals = all(rows, crowd);
        let goal = goals
            .iter()
            .find(|goal| goal.name.starts_with(name))
            .unwrap();
        (goal.measured.map(rounded), goal.is_met())
    }

    #[test]
    fn goals_are_met_up_to_their_limit() {
        for (median, expected) in [
            (150, (Some(1.5), Some(true))),
            (151, (Some(1.51), Some(false))),
        ] {
            let rows = [
                row(Kind::Noop, Load::Nothing, 100),
                row(Kind::HookElsewhere, Load::Nothing, median),
            ];
            assert_eq!(found(&rows, None, "hook elsewhere"), expected);
        }
    }

    #[test]
    fn what_was_not_measured_is_not_met_and_not_missed() {
        let rows = [row(Kind::HookDecides, Load::Entries(10), 100)];
        assert_eq!(found(&rows, None, "bash+jq"), (None, None));
        assert_eq!(found(&rows, None, "hook decides"), (None, None));
        let goals = all(&rows, None);
        assert!(
            goals
                .iter()
                .all(|goal| goal.line().contains("not measured") || goal.measured.is_some())
        );
    }

    #[test]
    fn a_long_history_of_a_peer_meets_our_longest() {
        let rows = [
            row(Kind::HookAdmits, Load::Entries(10), 100),
            row(Kind::HookAdvances, Load::Entries(10), 100),
            row(Kind::HookAdmits, Load::Entries(1_000_000), 110),
            row(Kind::HookAdvances, Load::Entries(1_000_000), 110),
            row(Kind::ShellCheck, Load::Entries(SHORT), 1_000),
            row(Kind::ShellAdvance, Load::Entries(SHORT), 1_000),
            row(Kind::ShellCheck, Load::Entries(LONG), 30_000),
            row(Kind::ShellAdvance, Load::Entries(LONG), 80_000),
        ];
        for (name, expected) in [
            (
                "bash+jq check + advance, 10 entries",
                (Some(10.0), Some(false)),
            ),
            (
                "bash+jq check + advance, 100000 entries",
                (Some(500.0), Some(true)),
            ),
            ("hook advances, longest", (Some(1.1), Some(true))),
        ] {
            assert_eq!(found(&rows, None, name), expected, "{name}");
        }
    }
}
