//! The ways between the stages of a definition, each with the words that stand on it.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Counter, CounterName, Edge, Outcome, Run, Stage, Target, Way, Work};

use crate::diagram::Chart;
use crate::limits;
use crate::safe::line;

/// Why a run may go this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LinkKind {
    /// An outcome, or an agent that ended.
    Way,
    /// The counter of an outcome is full.
    Full,
    /// An artifact has commands that nobody approved.
    Commands,
    /// The change no longer meets the rule of a route.
    Outgrown,
}

/// One way from a stage to another, by their places in the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub from: usize,
    pub to: usize,
    pub kind: LinkKind,
    /// The outcome first, then what it counts, resets and approves.
    pub words: Vec<String>,
    /// How far this is from the way on which all goes well.
    pub cost: u32,
}

/// A way back to where an escalation interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WayBack {
    pub from: usize,
    pub words: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Links {
    pub all: Vec<Link>,
    pub back: Vec<WayBack>,
}

/// The cost of a way that is not taken when all goes well.
pub(super) const NOT_PASSING: u32 = 100;
const FAULT: u32 = 10_000;
const ESCALATION: u32 = 50;
const OTHER_CHOICE: u32 = 1;

impl Links {
    pub(super) fn of(chart: &Chart<'_>, run: Option<&Run>) -> Self {
        let mut links = Self::default();
        for (from, stage) in chart.stages() {
            for (way, edge) in stage.edges() {
                links.edge(chart, run, from, &way, edge);
            }
            links.full(chart, run, from, stage);
            links.commands(chart, from, stage);
        }
        links.outgrown(chart);
        links
    }

    fn edge(
        &mut self,
        chart: &Chart<'_>,
        run: Option<&Run>,
        from: usize,
        way: &Way<'_>,
        edge: &Edge,
    ) {
        let Some(stage) = chart.definition.stages.get(from) else {
            return;
        };
        let words = words(chart, run, way, edge);
        let cost = cost(stage, way);
        match &edge.to {
            Target::Interrupted => self.back.push(WayBack { from, words }),
            Target::Stage(to) => {
                if let Some(to) = chart.place(to) {
                    self.push(chart, from, to, words, cost);
                }
            }
            Target::Param(param) => {
                let usual = chart.definition.params.get(param);
                let usual = usual.and_then(|param| param.default.as_deref());
                for (to, choice) in chart.choices(param) {
                    let mut words = words.clone();
                    words.insert(1, format!("by {param}"));
                    let other = u32::from(usual.is_some_and(|usual| usual != choice));
                    self.push(chart, from, to, words, cost + other * OTHER_CHOICE);
                }
            }
        }
    }

    fn push(&mut self, chart: &Chart<'_>, from: usize, to: usize, words: Vec<String>, cost: u32) {
        let target = chart.definition.stages.get(to);
        let escalates =
            target.is_some_and(|stage| stage.work.as_ask().is_some() && stage.resumes());
        self.all.push(Link {
            from,
            to,
            kind: LinkKind::Way,
            words,
            cost: cost + u32::from(escalates) * ESCALATION,
        });
    }

    /// One for each counter that this stage counts, however many outcomes count it.
    fn full(&mut self, chart: &Chart<'_>, run: Option<&Run>, from: usize, stage: &Stage) {
        let edges = stage.edges();
        let counted: BTreeMap<&CounterName, &Counter> = edges
            .iter()
            .filter_map(|(_, edge)| chart.counter(edge))
            .collect();
        for (name, counter) in counted {
            let limit = limits::word(&counter.max, chart.definition, run);
            if let Some(to) = chart.place(&counter.then) {
                self.special(from, to, LinkKind::Full, format!("{name} > {limit}"));
            }
        }
    }

    fn commands(&mut self, chart: &Chart<'_>, from: usize, stage: &Stage) {
        let outcomes = stage.on.keys().map(Some).chain([None]);
        let left: BTreeSet<_> = outcomes
            .flat_map(|outcome| stage.delivers(outcome))
            .collect();
        let asked = left.into_iter().filter_map(|name| {
            let artifact = chart.definition.artifacts.get(name)?;
            chart.place(&artifact.approved.as_ref()?.then)
        });
        for to in asked.collect::<BTreeSet<_>>() {
            if to != from {
                self.special(from, to, LinkKind::Commands, "new commands".to_owned());
            }
        }
    }

    fn outgrown(&mut self, chart: &Chart<'_>) {
        for way in chart.outgrown() {
            if let (Some(from), Some(to)) = (chart.place(&way.from), chart.place(&way.to)) {
                let words = format!("outgrown {}", way.route);
                self.special(from, to, LinkKind::Outgrown, words);
            }
        }
    }

    fn special(&mut self, from: usize, to: usize, kind: LinkKind, words: String) {
        self.all.push(Link {
            from,
            to,
            kind,
            words: vec![words],
            cost: FAULT,
        });
    }
}

/// The outcome, then what the way counts, resets and approves; one short line each.
fn words(chart: &Chart<'_>, run: Option<&Run>, way: &Way<'_>, edge: &Edge) -> Vec<String> {
    let mut words = vec![line(&way.to_string())];
    if let Some((name, counter)) = chart.counter(edge) {
        let limit = limits::word(&counter.max, chart.definition, run);
        words.push(match run {
            None => format!("{name} ≤ {limit}"),
            Some(run) => {
                let used = run.counters.get(name).copied().unwrap_or(0);
                format!("{name} {used}/{limit}")
            }
        });
    }
    words.extend(crate::diagram::effects(edge));
    words
}

fn cost(stage: &Stage, way: &Way<'_>) -> u32 {
    let other_route = match &stage.work {
        Work::Route(_) => way.outcome() != Some(&Outcome::Otherwise),
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Review(_)
        | Work::Steps(_)
        | Work::End(_) => false,
    };
    let fault = way.outcome().is_some_and(Outcome::is_fault);
    u32::from(fault) * FAULT
        + u32::from(!fault && !stage.passes(way)) * NOT_PASSING
        + u32::from(other_route) * OTHER_CHOICE
}
