//! Goals: ratios and counts of one run of the bench, each with the limit that it must keep.

use serde_json::{Value, json};

use super::cost::Calls;
use super::crowd::Crowd;
use super::hooks::{LARGE, SMALL};
use super::large_project::FILES;
use super::peers::{LONG, SHORT};
use super::report::{Row, rounded};
use super::subject::{Kind, Load};

/// A measured number and its limit.
pub(super) struct Goal {
    pub name: String,
    /// Nothing where what it is made of was not measured.
    pub measured: Option<f64>,
    pub limit: Limit,
    unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// A ratio. Both of its parts were measured in this run, so it holds on other machines.
    Times,
    /// A number of instructions or calls, which no machine changes.
    Count,
    /// A part of one core, of which both parts were measured in this run.
    Percent,
}

impl Unit {
    fn shown(self, number: f64) -> String {
        match self {
            Self::Times => format!("{number:.2}×"),
            Self::Count => format!("{number:.0}"),
            Self::Percent => format!("{number:.2} %"),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Times => "times",
            Self::Count => "count",
            Self::Percent => "percent",
        }
    }
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
            unit: Unit::Times,
        }
    }

    /// A count that must not be exceeded.
    pub(super) fn counted(name: impl Into<String>, counted: Option<u64>, limit: u64) -> Self {
        Self {
            name: name.into(),
            measured: counted.map(|counted| counted as f64),
            limit: Limit::AtMost(limit as f64),
            unit: Unit::Count,
        }
    }

    /// A change of a run is one statement, so one round trip.
    pub(super) fn statements(counted: f64) -> Self {
        Self {
            name: "statements of a change".to_owned(),
            measured: Some(counted),
            limit: Limit::AtMost(1.0),
            unit: Unit::Count,
        }
    }

    /// A screen on which nothing happens costs nothing.
    pub(super) fn watch_idle(measured: Option<f64>) -> Self {
        Self {
            name: "watch while nothing happens, of a core".to_owned(),
            measured,
            limit: Limit::AtMost(0.5),
            unit: Unit::Percent,
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
            Some(measured) => self.unit.shown(measured),
            None => "–".to_owned(),
        };
        let limit = match self.limit {
            Limit::AtMost(limit) => format!("≤ {}", self.unit.shown(limit)),
            Limit::AtLeast(limit) => format!("≥ {}", self.unit.shown(limit)),
        };
        let met = match self.is_met() {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "not measured",
        };
        format!("{:<66} {measured:>9} {limit:>11}  {met}\n", self.name)
    }

    pub(super) fn json(&self) -> Value {
        let (least, most) = match self.limit {
            Limit::AtMost(limit) => (None, Some(limit)),
            Limit::AtLeast(limit) => (Some(limit), None),
        };
        json!({
            "goal": self.name,
            "unit": self.unit.word(),
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
    goals.extend(table.counted());
    goals.extend(table.large_project());
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

    /// What no machine changes.
    fn counted(&self) -> Vec<Goal> {
        let noop = self.row(Kind::Noop, Load::Nothing);
        let floor = noop.and_then(|row| row.cost.instructions);
        let elsewhere = self.row(Kind::HookElsewhere, Load::Nothing);
        let mut goals = vec![Goal::counted(
            "hook elsewhere, instructions (≤ 1.25 × no-op + 100,000)",
            elsewhere
                .and_then(|row| row.cost.instructions)
                .filter(|_| floor.is_some()),
            floor.unwrap_or_default() * 5 / 4 + 100_000,
        )];
        for (kind, instructions, calls, syncs) in [
            (Kind::HookDecides, 800_000, 130, 0),
            (Kind::HookAdvances, 1_500_000, 220, 1),
        ] {
            let cost = self.shortest(kind).map(|row| row.cost).unwrap_or_default();
            let named = |what: &str| format!("{}, {what}", kind.name());
            let of_calls =
                |number: fn(&Calls) -> usize| cost.calls.map(|calls| number(&calls) as u64);
            goals.extend([
                Goal::counted(named("instructions"), cost.instructions, instructions),
                Goal::counted(named("system calls"), of_calls(|calls| calls.all), calls),
                Goal::counted(named("syncs"), of_calls(|calls| calls.syncs), syncs),
            ]);
        }
        goals
    }

    /// A tool call in a stage that restricts what its workers may change.
    fn large_project(&self) -> Vec<Goal> {
        let files = Load::Files(FILES);
        let status = self.seconds(Kind::GitStatus, files);
        let against = |kind| divided(self.seconds(kind, files), status);
        vec![
            Goal::new(
                "tool call that looks at 100,000 files / git status",
                against(Kind::HookLooks),
                Limit::AtMost(1.2),
            ),
            Goal::new(
                "the tool call after it, which does not look / git status",
                against(Kind::HookRests),
                Limit::AtMost(0.2),
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
        self.row(kind, load).map(Row::seconds)
    }

    fn row(&self, kind: Kind, load: Load) -> Option<&Row> {
        let mut rows = self.0.iter();
        rows.find(|row| row.kind == kind && row.load == load)
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
    fn a_screen_on_which_nothing_happens_may_take_half_a_percent() {
        for (measured, met) in [
            (None, None),
            (Some(0.5), Some(true)),
            (Some(0.51), Some(false)),
        ] {
            assert_eq!(Goal::watch_idle(measured).is_met(), met);
        }
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
            assert_eq!(found(&rows, None, "hook elsewhere / no-op"), expected);
        }
    }

    #[test]
    fn counts_are_held_to_their_limit() {
        let counted = |kind, load, instructions, all| Row {
            cost: Cost {
                instructions: Some(instructions),
                calls: Some(Calls { all, syncs: 1 }),
            },
            ..row(kind, load, 100)
        };
        let rows = [
            counted(Kind::Noop, Load::Nothing, 160_000, 9),
            counted(Kind::HookElsewhere, Load::Nothing, 300_000, 40),
            counted(Kind::HookDecides, Load::Entries(10), 800_001, 130),
            counted(Kind::HookAdvances, Load::Entries(10), 1_500_000, 221),
        ];
        for (name, measured, met) in [
            ("hook elsewhere, instructions", 300_000.0, true),
            ("hook decides, instructions", 800_001.0, false),
            ("hook decides, system calls", 130.0, true),
            ("hook decides, syncs", 1.0, false),
            ("hook advances, instructions", 1_500_000.0, true),
            ("hook advances, system calls", 221.0, false),
            ("hook advances, syncs", 1.0, true),
        ] {
            let expected = (Some(measured), Some(met));
            assert_eq!(found(&rows, None, name), expected, "{name}");
        }
        // Without its floor nobody can say whether it is met.
        assert_eq!(
            found(&rows[1..], None, "hook elsewhere, inst"),
            (None, None)
        );
    }

    #[test]
    fn a_large_project_is_compared_with_git() {
        let files = Load::Files(FILES);
        let rows = [
            row(Kind::GitStatus, files, 1_000),
            row(Kind::HookLooks, files, 1_300),
            row(Kind::HookRests, files, 100),
        ];
        let looks = found(&rows, None, "tool call that looks");
        assert_eq!(looks, (Some(1.3), Some(false)));
        let rests = found(&rows, None, "the tool call after it");
        assert_eq!(rests, (Some(0.1), Some(true)));
    }

    #[test]
    fn what_was_not_measured_is_not_met_and_not_missed() {
        let rows = [row(Kind::HookDecides, Load::Entries(10), 100)];
        assert_eq!(found(&rows, None, "bash+jq"), (None, None));
        assert_eq!(found(&rows, None, "hook decides / no-op"), (None, None));
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
