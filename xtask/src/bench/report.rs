//! The result of a bench: a table for people, JSON for machines.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::cost::Cost;
use super::crowd::Crowd;
use super::goals::{self, Goal, growth, times};
use super::peers::Missing;
use super::rounds::{Times, percentile};
use super::subject::{Kind, Load, Subject};
use crate::dist::Program;

pub(super) struct Report {
    pub program: Program,
    pub rounds: usize,
    pub rows: Vec<Row>,
    /// What could not be measured.
    pub missing: Vec<Missing>,
    /// The interpreters of the peers.
    pub versions: Vec<String>,
    pub crowd: Option<Crowd>,
    /// How much of a core `watch` takes while nothing happens, in percent.
    pub watch_idle: Option<f64>,
}

/// One subject, measured.
pub(super) struct Row {
    pub kind: Kind,
    pub load: Load,
    pub median: Duration,
    pub p99: Duration,
    pub cost: Cost,
}

impl Row {
    pub(super) fn seconds(&self) -> f64 {
        self.median.as_secs_f64()
    }
}

pub(super) fn rows(subjects: &[Subject], times: &[Times], costs: &[Cost]) -> Vec<Row> {
    let measured = subjects.iter().zip(times).zip(costs);
    let row = |((subject, times), cost): ((&Subject, &Times), &Cost)| Row {
        kind: subject.kind,
        load: subject.load,
        median: percentile(times, 50),
        p99: percentile(times, 99),
        cost: *cost,
    };
    measured.map(row).collect()
}

/// More digits than these would be noise.
pub(super) fn rounded(ratio: f64) -> f64 {
    (ratio * 1000.0).round() / 1000.0
}

impl Report {
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "{:<16} {:>16} {:>10} {:>10} {:>8} {:>8} {:>13} {:>6} {:>6}\n",
            "process",
            "with",
            "p50 µs",
            "p99 µs",
            "×no-op",
            "×append",
            "instructions",
            "calls",
            "syncs"
        );
        for row in &self.rows {
            text.push_str(&self.line(row));
        }
        for missing in &self.missing {
            let name = missing.kind.name();
            let _ = writeln!(
                text,
                "{name:<16} {:>16} not measured: {}",
                missing.load, missing.why
            );
        }
        for kind in [Kind::Decide, Kind::Advance] {
            if let Some(growth) = growth(&self.rows, kind) {
                let name = kind.name();
                let _ = writeln!(
                    text,
                    "{name} grows {growth:.2}× from the shortest to the longest history"
                );
            }
        }
        text.push_str(&self.crowd_line());
        text.push('\n');
        for goal in self.goals() {
            text.push_str(&goal.line());
        }
        let _ = write!(
            text,
            "\nprogram: {} bytes, static; {} rounds; peers: {}",
            self.program.bytes,
            self.rounds,
            self.versions.join(", ")
        );
        text
    }

    fn goals(&self) -> Vec<Goal> {
        let mut goals = goals::all(&self.rows, self.crowd.as_ref());
        goals.push(Goal::watch_idle(self.watch_idle));
        goals
    }

    /// The goals that this run missed.
    pub(super) fn missed(&self) -> Vec<String> {
        let goals = self.goals();
        let missed = goals
            .into_iter()
            .filter(|goal| goal.is_met() == Some(false));
        missed.map(|goal| goal.name).collect()
    }

    fn crowd_line(&self) -> String {
        let Some(crowd) = &self.crowd else {
            return String::new();
        };
        let complaint = crowd.complaint.as_ref();
        let complaint = complaint.map(|complaint| format!("; one said: {complaint}"));
        format!(
            "{} hooks at once, {} events: {} lost, {} doubled; p50 {:.1?}, p99 {:.1?}{}\n",
            crowd.members,
            crowd.events,
            crowd.lost,
            crowd.doubled,
            crowd.median,
            crowd.p99,
            complaint.unwrap_or_default()
        )
    }

    fn line(&self, row: &Row) -> String {
        let shown = |number: Option<u64>| number.map_or_else(|| "–".to_owned(), |n| n.to_string());
        let calls = row.cost.calls.map(|calls| calls.all as u64);
        let syncs = row.cost.calls.map(|calls| calls.syncs as u64);
        let times = |floor| times(&self.rows, row, floor).unwrap_or(f64::NAN);
        format!(
            "{:<16} {:>16} {:>10} {:>10} {:>8.2} {:>8.2} {:>13} {:>6} {:>6}\n",
            row.kind.name(),
            row.load,
            row.median.as_micros(),
            row.p99.as_micros(),
            times(Kind::Noop),
            times(Kind::Append),
            shown(row.cost.instructions),
            shown(calls),
            shown(syncs),
        )
    }

    pub(super) fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(|row| self.row_json(row)).collect();
        let missing: Vec<Value> = self.missing.iter().map(missing_json).collect();
        let goals = self.goals();
        json!({
            "rounds": self.rounds,
            "program_bytes": self.program.bytes,
            "peers": self.versions,
            "rows": rows,
            "not_measured": missing,
            "growth": {
                "decide": growth(&self.rows, Kind::Decide).map(rounded),
                "advance": growth(&self.rows, Kind::Advance).map(rounded),
            },
            "crowd": self.crowd.as_ref().map(crowd_json),
            "goals": goals.iter().map(Goal::json).collect::<Vec<_>>(),
        })
    }

    fn row_json(&self, row: &Row) -> Value {
        let times = |floor| times(&self.rows, row, floor).map(rounded);
        json!({
            "process": row.kind.name(),
            "entries": row.load.entries(),
            "payload_bytes": row.load.bytes(),
            "files": row.load.files(),
            "p50_us": row.median.as_micros() as u64,
            "p99_us": row.p99.as_micros() as u64,
            "times_noop": times(Kind::Noop),
            "times_append": times(Kind::Append),
            "instructions": row.cost.instructions,
            "system_calls": row.cost.calls.map(|calls| calls.all),
            "syncs": row.cost.calls.map(|calls| calls.syncs),
        })
    }
}

fn missing_json(missing: &Missing) -> Value {
    json!({
        "process": missing.kind.name(),
        "entries": missing.load.entries(),
        "why": missing.why,
    })
}

fn crowd_json(crowd: &Crowd) -> Value {
    json!({
        "members": crowd.members,
        "events": crowd.events,
        "lost": crowd.lost,
        "doubled": crowd.doubled,
        "p50_us": crowd.median.as_micros() as u64,
        "p99_us": crowd.p99.as_micros() as u64,
        "complaint": crowd.complaint,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cost::Calls;

    fn row(kind: Kind, load: Load, median_us: u64) -> Row {
        let calls = Some(Calls { all: 7, syncs: 1 });
        let median = Duration::from_micros(median_us);
        Row {
            kind,
            load,
            median,
            p99: median * 2,
            cost: Cost {
                instructions: None,
                calls,
            },
        }
    }

    fn report() -> Report {
        let rows = vec![
            row(Kind::Noop, Load::Nothing, 100),
            row(Kind::Append, Load::Nothing, 200),
            row(Kind::Decide, Load::Entries(10), 300),
            row(Kind::Decide, Load::Entries(1000), 330),
        ];
        Report {
            program: Program {
                path: "gatewright".into(),
                bytes: 9,
            },
            rounds: 3,
            rows,
            missing: vec![Missing {
                kind: Kind::PythonCheck,
                load: Load::Entries(10),
                why: "install it".to_owned(),
            }],
            versions: Vec::new(),
            crowd: None,
            watch_idle: None,
        }
    }

    #[test]
    fn every_row_is_compared_with_both_floors() {
        let json = report().json();
        let decide = &json["rows"][2];
        assert_eq!(
            (&decide["times_noop"], &decide["times_append"]),
            (&json!(3.0), &json!(1.5))
        );
        assert_eq!(
            (&decide["instructions"], &decide["syncs"]),
            (&Value::Null, &json!(1))
        );
    }

    #[test]
    fn growth_is_from_the_shortest_to_the_longest_history() {
        let report = report();
        let growth = |kind| growth(&report.rows, kind).map(rounded);
        assert_eq!(growth(Kind::Decide), Some(1.1));
        assert_eq!(growth(Kind::Advance), None);
        assert!(
            report.text().contains("decide grows 1.10×"),
            "{}",
            report.text()
        );
    }

    #[test]
    fn what_was_not_measured_is_said() {
        let text = report().text();
        let line = text.lines().find(|line| line.starts_with("Python check"));
        assert!(
            line.unwrap().ends_with("not measured: install it"),
            "{text}"
        );
    }
}
