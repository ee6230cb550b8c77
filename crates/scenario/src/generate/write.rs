//! Writes the file: each tour as a scenario, with expectations after each step.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::{CounterName, HostName, Pipeline, Run};

use super::super::expectation::Expectation;
use super::super::player::Player;
use super::super::step::Step;
use super::tour::Tour;
use super::transition::Transition;

pub(super) fn file(
    pipeline: &Pipeline,
    host: &HostName,
    reference: &str,
    tours: &[Tour],
    uncovered: &[(Transition, String)],
) -> String {
    let name = &pipeline.definition().name;
    let mut text = format!("# Every transition of {name}\n\n```pipeline\n{reference}\n```\n");
    for (number, tour) in (1..).zip(tours) {
        let _ = write!(text, "\n## {number}. {}\n\n", title(tour));
        for one in &tour.covers {
            let _ = writeln!(text, "- {one}");
        }
        let _ = write!(
            text,
            "\n```scenario\n{}```\n",
            scenario(pipeline, host, &tour.steps)
        );
    }
    if !uncovered.is_empty() {
        text.push_str("\n## Not covered\n\n");
        for (one, reason) in uncovered {
            let _ = writeln!(text, "- {one} ({reason})");
        }
    }
    text
}

/// The end of the tour.
fn title(tour: &Tour) -> String {
    match tour.covers.as_slice() {
        [] => String::from("nothing new"),
        [only] => only.to_string(),
        [.., last] => last.to_string(),
    }
}

/// The steps, and below each what it has changed.
fn scenario(pipeline: &Pipeline, host: &HostName, steps: &[Step]) -> String {
    let mut player = Player::new(pipeline, host);
    let mut seen = Facts::default();
    let mut text = String::new();
    for step in steps {
        let _ = writeln!(text, "{step}");
        if player.play(step).is_err() {
            break;
        }
        let Some(run) = &player.run else { continue };
        let now = Facts::of(&player, run);
        for expectation in now.changed_since(&seen) {
            let _ = writeln!(text, "  {expectation}");
        }
        seen = now;
    }
    text
}

/// What a reader needs to know after a step.
#[derive(Default)]
struct Facts {
    lines: Vec<Expectation>,
    counters: BTreeMap<CounterName, u32>,
}

impl Facts {
    fn of(player: &Player<'_>, run: &Run) -> Self {
        let stage = run.position.stage.clone();
        let status = engine::status(player.pipeline, run).word();
        let round = run.panels.get(&stage).map(|panel| panel.round);
        let round = round.map(|round| Expectation::Round { stage: None, round });
        let lines = [Expectation::Stage(stage), Expectation::Status(status)];
        Self {
            lines: lines.into_iter().chain(round).collect(),
            counters: run.counters.clone(),
        }
    }

    fn changed_since(&self, before: &Self) -> Vec<Expectation> {
        let lines = self
            .lines
            .iter()
            .filter(|line| !before.lines.contains(line));
        let value =
            |facts: &Self, counter: &CounterName| facts.counters.get(counter).copied().unwrap_or(0);
        let names = before.counters.keys().chain(self.counters.keys());
        let names: std::collections::BTreeSet<&CounterName> = names.collect();
        let counters = names
            .into_iter()
            .filter(|name| value(self, name) != value(before, name));
        let counters = counters.map(|name| Expectation::Counter(name.clone(), value(self, name)));
        lines.cloned().chain(counters).collect()
    }
}
