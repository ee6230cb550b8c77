//! The result of a bench: a table for people, JSON for machines.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::cost::Cost;
use super::rounds::{Times, percentile};
use super::subject::{Kind, Subject};
use crate::dist::Program;

pub struct Report {
    pub program: Program,
    pub rounds: usize,
    pub rows: Vec<Row>,
}

/// One subject, measured.
pub struct Row {
    pub kind: Kind,
    pub entries: usize,
    pub median: Duration,
    pub p99: Duration,
    pub cost: Cost,
}

pub fn rows(subjects: &[Subject], times: &[Times], costs: &[Cost]) -> Vec<Row> {
    let measured = subjects.iter().zip(times).zip(costs);
    let row = |((subject, times), cost): ((&Subject, &Times), &Cost)| Row {
        kind: subject.kind,
        entries: subject.entries,
        median: percentile(times, 50),
        p99: percentile(times, 99),
        cost: *cost,
    };
    measured.map(row).collect()
}

impl Report {
    pub fn text(&self) -> String {
        let mut text = format!(
            "{:<8} {:>9} {:>10} {:>10} {:>8} {:>8} {:>13} {:>6} {:>6}\n",
            "process",
            "entries",
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
        for kind in [Kind::Decide, Kind::Advance] {
            if let Some(growth) = self.growth(kind) {
                let _ = writeln!(
                    text,
                    "{} grows {growth:.2}× from the shortest to the longest history",
                    kind.name()
                );
            }
        }
        let _ = write!(
            text,
            "program: {} bytes, static; {} rounds",
            self.program.bytes, self.rounds
        );
        text
    }

    fn line(&self, row: &Row) -> String {
        let shown = |number: Option<u64>| number.map_or_else(|| "–".to_owned(), |n| n.to_string());
        let calls = row.cost.calls.map(|calls| calls.all as u64);
        let syncs = row.cost.calls.map(|calls| calls.syncs as u64);
        format!(
            "{:<8} {:>9} {:>10} {:>10} {:>8.2} {:>8.2} {:>13} {:>6} {:>6}\n",
            row.kind.name(),
            row.entries,
            row.median.as_micros(),
            row.p99.as_micros(),
            self.ratio(row, Kind::Noop),
            self.ratio(row, Kind::Append),
            shown(row.cost.instructions),
            shown(calls),
            shown(syncs),
        )
    }

    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({
                "process": row.kind.name(),
                "entries": row.entries,
                "p50_us": row.median.as_micros() as u64,
                "p99_us": row.p99.as_micros() as u64,
                "times_noop": rounded(self.ratio(row, Kind::Noop)),
                "times_append": rounded(self.ratio(row, Kind::Append)),
                "instructions": row.cost.instructions,
                "system_calls": row.cost.calls.map(|calls| calls.all),
                "syncs": row.cost.calls.map(|calls| calls.syncs),
            })
        });
        json!({
            "rounds": self.rounds,
            "program_bytes": self.program.bytes,
            "rows": rows.collect::<Vec<_>>(),
            "growth": {
                "decide": self.growth(Kind::Decide).map(rounded),
                "advance": self.growth(Kind::Advance).map(rounded),
            },
        })
    }

    /// How many times as long as this floor.
    fn ratio(&self, row: &Row, floor: Kind) -> f64 {
        let floor = self.rows.iter().find(|row| row.kind == floor);
        floor.map_or(f64::NAN, |floor| {
            row.median.as_secs_f64() / floor.median.as_secs_f64()
        })
    }

    /// How many times as long with the longest history as with the shortest.
    fn growth(&self, kind: Kind) -> Option<f64> {
        let of_kind = || self.rows.iter().filter(|row| row.kind == kind);
        let shortest = of_kind().min_by_key(|row| row.entries)?;
        let longest = of_kind().max_by_key(|row| row.entries)?;
        Some(longest.median.as_secs_f64() / shortest.median.as_secs_f64())
    }
}

/// More digits than these would be noise.
fn rounded(ratio: f64) -> f64 {
    (ratio * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cost::Calls;

    fn row(kind: Kind, entries: usize, median_us: u64) -> Row {
        let calls = Some(Calls { all: 7, syncs: 1 });
        let median = Duration::from_micros(median_us);
        Row {
            kind,
            entries,
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
            row(Kind::Noop, 0, 100),
            row(Kind::Append, 0, 200),
            row(Kind::Decide, 10, 300),
            row(Kind::Decide, 1000, 330),
        ];
        Report {
            program: Program {
                path: "gatewright".into(),
                bytes: 9,
            },
            rounds: 3,
            rows,
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
        assert_eq!(
            report
                .growth(Kind::Decide)
                .map(|growth| (growth * 100.0).round()),
            Some(110.0)
        );
        assert_eq!(report.growth(Kind::Advance), None);
        assert!(
            report.text().contains("decide grows 1.10×"),
            "{}",
            report.text()
        );
    }
}
