//! The figures as Prometheus reads them.

use std::fmt::Write as _;

use runtime::failure::Failure;
use views::metrics::{Durations, Metrics};

use crate::reading::{Glance, MOST_COUNTED, Reading};

pub(crate) const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(crate) fn text(reading: &mut Reading<'_>) -> Result<String, Failure> {
    let waiting = reading.waiting()?;
    let figures = reading.figures(|_| true)?.0.figures;
    let mut sheet = Sheet::default();
    sheet.family("gatewright_waiting_runs", "Runs that wait for a person.");
    sheet.sample("gatewright_waiting_runs", &[], waiting as u64);
    fleet(&mut sheet, reading);
    runs(&mut sheet, &figures);
    stages(&mut sheet, &figures);
    agents(&mut sheet, &figures);
    checks(&mut sheet, &figures);
    Ok(sheet.0)
}

/// Are the runs of the fleet counted, too? Only a machine that has joined one says so.
fn fleet(sheet: &mut Sheet, reading: &Reading<'_>) {
    let is_counted = match reading.glance {
        Glance::Alone => return,
        Glance::Read(_) => reading.fleet_figures.missing.is_none(),
        Glance::Away(_) => false,
    };
    let about = "1 if the runs of the fleet are counted, 0 if they cannot be read.";
    sheet.family("gatewright_fleet_counted", about);
    sheet.sample("gatewright_fleet_counted", &[], u64::from(is_counted));
}

fn runs(sheet: &mut Sheet, figures: &Metrics) {
    let about = format!("The latest {MOST_COUNTED} runs by status.");
    sheet.family("gatewright_runs", &about);
    for (status, number) in &figures.runs.statuses {
        sheet.sample("gatewright_runs", &[("status", status)], *number);
    }
    sheet.family(
        "gatewright_overridden_runs",
        "Runs in which a person overrode something.",
    );
    sheet.sample("gatewright_overridden_runs", &[], figures.runs.overridden);
    sheet.family("gatewright_tokens", "Tokens of all workers.");
    sheet.sample("gatewright_tokens", &[], figures.runs.usage.tokens);
    sheet.family("gatewright_cost_cents", "Cost of all workers, in cents.");
    sheet.sample("gatewright_cost_cents", &[], figures.runs.usage.cost_cents);
    sheet.family("gatewright_refusals", "Refusals by the rule.");
    for (rule, number) in &figures.refusals {
        sheet.sample("gatewright_refusals", &[("rule", rule)], *number);
    }
    sheet.family(
        "gatewright_wait_seconds",
        "How long runs waited for a person.",
    );
    for (wait, waited) in &figures.people.waits {
        sheet.durations(
            "gatewright_wait_seconds",
            &[("why", wait.word())],
            &waited.time,
        );
    }
}

fn stages(sheet: &mut Sheet, figures: &Metrics) {
    sheet.family(
        "gatewright_stage_seconds",
        "How long a stay in a stage took.",
    );
    for (key, stage) in &figures.stages {
        let labels = [
            ("pipeline", key.pipeline.as_str()),
            ("stage", key.stage.as_str()),
        ];
        sheet.durations("gatewright_stage_seconds", &labels, &stage.time);
    }
}

fn agents(sheet: &mut Sheet, figures: &Metrics) {
    sheet.family("gatewright_agent_dispatches", "Pieces of work of an agent.");
    for (agent, work) in &figures.agents {
        sheet.sample(
            "gatewright_agent_dispatches",
            &[("agent", agent.as_str())],
            work.dispatches,
        );
    }
    sheet.family(
        "gatewright_agent_retries",
        "Retries of an agent's work after a fault.",
    );
    for (agent, work) in &figures.agents {
        sheet.sample(
            "gatewright_agent_retries",
            &[("agent", agent.as_str())],
            work.retries,
        );
    }
    sheet.family("gatewright_agent_seconds", "How long a piece of work took.");
    for (agent, work) in &figures.agents {
        sheet.durations(
            "gatewright_agent_seconds",
            &[("agent", agent.as_str())],
            &work.time,
        );
    }
}

fn checks(sheet: &mut Sheet, figures: &Metrics) {
    sheet.family("gatewright_checks", "Runs of a check by their verdict.");
    for (key, check) in &figures.checks {
        for (verdict, number) in [
            ("passed", check.passed),
            ("failed", check.failed),
            ("void", check.void),
        ] {
            let labels = [
                ("pipeline", key.pipeline.as_str()),
                ("stage", key.stage.as_str()),
                ("verdict", verdict),
            ];
            sheet.sample("gatewright_checks", &labels, number);
        }
    }
}

/// The text as it grows.
#[derive(Default)]
struct Sheet(String);

impl Sheet {
    fn family(&mut self, name: &str, about: &str) {
        let _ = writeln!(self.0, "# HELP {name} {about}\n# TYPE {name} gauge");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        let _ = writeln!(self.0, "{name}{} {value}", shown(labels));
    }

    fn durations(&mut self, name: &str, labels: &[(&str, &str)], durations: &Durations) {
        for (quantile, value) in [("0.5", durations.median()), ("0.9", durations.p90())] {
            let Some(value) = value else { continue };
            let labels: Vec<_> = labels
                .iter()
                .copied()
                .chain([("quantile", quantile)])
                .collect();
            let (seconds, rest) = (value / 1_000, value % 1_000);
            let _ = writeln!(self.0, "{name}{} {seconds}.{rest:03}", shown(&labels));
        }
    }
}

fn shown(labels: &[(&str, &str)]) -> String {
    let escaped = |text: &str| {
        text.replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n")
    };
    let pairs = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    match labels {
        [] => String::new(),
        _ => format!("{{{}}}", pairs.collect::<Vec<_>>().join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_leave_its_quotes() {
        let mut sheet = Sheet::default();
        sheet.sample("x", &[("a", "q\"} 1\ny\\")], 2);
        assert_eq!(sheet.0, "x{a=\"q\\\"} 1\\ny\\\\\"} 2\n");
        let mut durations = Durations::default();
        durations.push(1_500);
        sheet.0.clear();
        sheet.durations("t", &[], &durations);
        assert_eq!(
            sheet.0,
            "t{quantile=\"0.5\"} 1.500\nt{quantile=\"0.9\"} 1.500\n"
        );
    }
}
