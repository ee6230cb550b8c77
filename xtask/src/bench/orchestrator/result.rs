//! The result: a table for people, JSON for machines, and which goals are met.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::loops::{MANY, Who};
use crate::bench::goals::{Goal, Limit};
use crate::bench::report::rounded;

/// What an orchestrator may hold, in bytes.
const MEMORY: f64 = 30e6;

pub(super) struct Report {
    pub rounds: usize,
    pub rows: Vec<Row>,
    /// Who was not measured, and why.
    pub missing: Vec<(Who, String)>,
    pub versions: Vec<String>,
}

/// One loop, measured.
pub(super) struct Row {
    pub who: Who,
    pub runs: usize,
    /// Transitions a second.
    pub rate: f64,
    /// Seconds of CPU a transition.
    pub cpu: f64,
    /// At most, in bytes.
    pub resident: f64,
    /// A transition.
    pub syncs: Option<f64>,
    /// Seconds up to the first durable decision.
    pub cold: Option<f64>,
}

impl Report {
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "{:<12} {:>5} {:>14} {:>8} {:>8} {:>10} {:>10} {:>10}\n",
            "loop", "runs", "transitions/s", "×floor", "syncs", "CPU µs", "MB", "cold ms"
        );
        for row in &self.rows {
            text.push_str(&self.line(row));
        }
        for (who, why) in &self.missing {
            let _ = writeln!(text, "{:<12} {:>5} not measured: {why}", who.name(), 1);
        }
        text.push('\n');
        for goal in self.goals() {
            text.push_str(&goal.line());
        }
        let (rounds, versions) = (self.rounds, self.versions.join(", "));
        let _ = write!(text, "\n{rounds} rounds; peers: {versions}");
        text
    }

    fn line(&self, row: &Row) -> String {
        let shown = |number: Option<f64>| match number {
            Some(number) if number.is_finite() => format!("{number:.2}"),
            _ => "–".to_owned(),
        };
        format!(
            "{:<12} {:>5} {:>14.0} {:>8} {:>8} {:>10} {:>10} {:>10}\n",
            row.who.name(),
            row.runs,
            row.rate,
            shown(self.times_floor(row)),
            shown(row.syncs),
            shown(Some(row.cpu * 1e6)),
            shown(Some(row.resident / 1e6)),
            shown(row.cold.map(|cold| cold * 1e3)),
        )
    }

    pub(super) fn json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "loop": row.who.name(),
                "runs": row.runs,
                "transitions_per_second": rounded(row.rate),
                "times_floor": self.times_floor(row).map(rounded),
                "syncs": row.syncs.map(rounded),
                "cpu_us": rounded(row.cpu * 1e6),
                "resident_bytes": row.resident,
                "cold_ms": row.cold.map(|cold| rounded(cold * 1e3)),
            })
        };
        let missing = |(who, why): &(Who, String)| json!({ "loop": who.name(), "why": why });
        json!({
            "rounds": self.rounds,
            "peers": self.versions,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "not_measured": self.missing.iter().map(missing).collect::<Vec<_>>(),
            "goals": self.goals().iter().map(Goal::json).collect::<Vec<_>>(),
        })
    }

    fn goals(&self) -> Vec<Goal> {
        let all = [self.rates(), self.costs(), self.cold_starts()];
        all.into_iter().flatten().collect()
    }

    fn rates(&self) -> Vec<Goal> {
        let rate = |who, runs| self.row(who, runs).map(|row| row.rate);
        let (one, many) = (rate(Who::Ours, 1), rate(Who::Ours, MANY));
        let (graph, dbos) = (rate(Who::LangGraph, 1), rate(Who::Dbos, 1));
        let least = Limit::AtLeast;
        vec![
            ratio("transitions, one run / LangGraph", (one, graph), least(3.0)),
            ratio("transitions, one run / DBOS", (one, dbos), least(6.0)),
            ratio(
                "transitions, 64 runs at once / one run",
                (many, one),
                least(10.0),
            ),
        ]
    }

    fn costs(&self) -> Vec<Goal> {
        let cpu = |who, runs| self.row(who, runs).map(|row| row.cpu);
        let (one, many) = (cpu(Who::Ours, 1), cpu(Who::Ours, MANY));
        let graph = cpu(Who::LangGraph, 1);
        let resident = self.row(Who::Ours, MANY).map(|row| row.resident);
        let (least, most) = (Limit::AtLeast(7.0), Limit::AtMost(1.0));
        vec![
            ratio("CPU of LangGraph / of one run", (graph, one), least),
            ratio(
                "CPU of LangGraph / of 64 runs at once",
                (graph, many),
                least,
            ),
            ratio(
                "memory of 64 runs at once / 30 MB",
                (resident, Some(MEMORY)),
                most,
            ),
        ]
    }

    fn cold_starts(&self) -> Vec<Goal> {
        let cold = |who| self.row(who, 1).and_then(|row| row.cold);
        let (ours, least) = (cold(Who::Ours), Limit::AtLeast(150.0));
        let (graph, dbos) = (cold(Who::LangGraph), cold(Who::Dbos));
        vec![
            ratio("cold start of LangGraph / ours", (graph, ours), least),
            ratio("cold start of DBOS / ours", (dbos, ours), least),
        ]
    }

    fn row(&self, who: Who, runs: usize) -> Option<&Row> {
        self.rows
            .iter()
            .find(|row| row.who == who && row.runs == runs)
    }

    fn times_floor(&self, row: &Row) -> Option<f64> {
        Some(row.rate / self.row(Who::Floor, 1)?.rate)
    }
}

fn ratio(name: &str, (above, below): (Option<f64>, Option<f64>), limit: Limit) -> Goal {
    let measured = above.zip(below).map(|(above, below)| above / below);
    Goal::new(name, measured, limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(who: Who, runs: usize, rate: f64, cold: Option<f64>) -> Row {
        Row {
            who,
            runs,
            rate,
            cpu: 1.0 / rate,
            resident: 15e6,
            syncs: Some(1.0),
            cold,
        }
    }

    fn report() -> Report {
        Report {
            rounds: 3,
            rows: vec![
                row(Who::Floor, 1, 1_000.0, None),
                row(Who::Ours, 1, 600.0, Some(0.004)),
                row(Who::Ours, MANY, 5_400.0, None),
                row(Who::LangGraph, 1, 200.0, Some(0.8)),
            ],
            missing: vec![(Who::Dbos, "install it".to_owned())],
            versions: Vec::new(),
        }
    }

    #[test]
    fn goals_compare_what_belongs_together() {
        let goals = report().goals();
        let found: Vec<_> = goals
            .iter()
            .map(|goal| (goal.measured.map(rounded), goal.is_met()))
            .collect();
        let expected = [
            (Some(3.0), Some(true)),
            (None, None),
            (Some(9.0), Some(false)),
            (Some(3.0), Some(false)),
            (Some(27.0), Some(true)),
            (Some(0.5), Some(true)),
            (Some(200.0), Some(true)),
            (None, None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_was_not_measured_is_said() {
        let text = report().text();
        let line = text.lines().find(|line| line.starts_with("DBOS"));
        assert!(
            line.unwrap().ends_with("not measured: install it"),
            "{text}"
        );
        let json = report().json();
        assert_eq!(json["not_measured"][0]["loop"], "DBOS");
        assert_eq!(json["rows"][1]["times_floor"], json!(0.6));
    }
}
