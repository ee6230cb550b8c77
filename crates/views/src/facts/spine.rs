//! The spine: the stages of a pipeline in one column, with the present place of a run and the loops that it has used.

use std::collections::BTreeSet;

use engine::{End, Pipeline, Run, Stage, StageName, Standing, Work};

use super::evidence::{GateState, gates};
use super::timeline::Timeline;
use crate::{limits, main_way};

/// A stage, and where it stands on the way of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpineStage {
    pub name: StageName,
    pub kind: &'static str,
    /// Does a person answer there?
    pub asks: bool,
    pub place: StagePlace,
    /// How often the run was there.
    pub visits: u32,
    /// The loops that lead out of it.
    pub loops: Vec<LoopUse>,
    /// How far it can be relied on, where it is a gate.
    pub gate: Option<GateState>,
}

/// Where a stage stands on the way of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagePlace {
    Passed,
    Here,
    Ahead,
    /// The run has completed with it.
    Completed,
    /// The run ended here without a completion.
    Ended,
}

impl StagePlace {
    /// Tells the places apart without a colour.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Passed | Self::Completed => "✓",
            Self::Here => "●",
            Self::Ahead => "○",
            Self::Ended => "✗",
        }
    }
}

/// How much of a loop's limit is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopUse {
    pub name: String,
    pub used: u32,
    pub max: Option<u32>,
}

impl LoopUse {
    /// `fixes 2/3`.
    pub fn text(&self) -> String {
        match self.max {
            Some(max) => format!("{} {}/{max}", self.name, self.used),
            None => format!("{} {}", self.name, self.used),
        }
    }
}

/// The stages of the main way, and every other one that the run has been to, in the order of the file.
pub fn spine(pipeline: &Pipeline, run: &Run, timeline: &Timeline) -> Vec<SpineStage> {
    let definition = pipeline.definition();
    let mut main = main_way::to_completion(pipeline, run, &definition.start);
    main.push(definition.start.clone());
    let here = &run.position.stage;
    let ahead = main_way::to_completion(pipeline, run, here);
    let gates = gates(pipeline, run, timeline);
    let visited = |stage: &Stage| timeline.visits_of(&stage.name);
    let stages = definition.stages.iter().filter(|stage| {
        let name = &stage.name;
        name == here || main.contains(name) || ahead.contains(name) || visited(stage) > 0
    });
    let shown = stages.map(|stage| SpineStage {
        name: stage.name.clone(),
        kind: crate::words::stage_kind(stage),
        asks: stage.work.as_ask().is_some(),
        place: place(run, stage, visited(stage), &ahead),
        visits: visited(stage),
        loops: loops(pipeline, run, stage),
        gate: gates
            .iter()
            .find(|gate| gate.stage == stage.name)
            .map(|gate| gate.state),
    });
    shown.collect()
}

fn place(run: &Run, stage: &Stage, visits: u32, ahead: &[StageName]) -> StagePlace {
    if stage.name != run.position.stage {
        return match visits {
            0 => StagePlace::Ahead,
            _ if ahead.contains(&stage.name) => StagePlace::Ahead,
            _ => StagePlace::Passed,
        };
    }
    match (&run.standing, &stage.work) {
        (Standing::Cancelled { .. }, _) => StagePlace::Ended,
        (_, Work::End(end)) if end.end == End::Completed => StagePlace::Completed,
        (_, Work::End(_)) => StagePlace::Ended,
        _ => StagePlace::Here,
    }
}

/// The counters of its edges that are used, and the rounds of its review.
fn loops(pipeline: &Pipeline, run: &Run, stage: &Stage) -> Vec<LoopUse> {
    let definition = pipeline.definition();
    let mut loops = Vec::new();
    if let Work::Review(review) = &stage.work
        && let Some(panel) = run.panels.get(&stage.name)
    {
        loops.push(LoopUse {
            name: "round".to_owned(),
            used: panel.round,
            max: limits::value(&review.rounds, definition, Some(run)),
        });
    }
    let edges = stage.edges();
    let counted: BTreeSet<_> = edges
        .iter()
        .filter_map(|(_, edge)| edge.count.as_ref())
        .collect();
    for name in counted {
        let used = run.counters.get(name).copied().unwrap_or(0);
        let max = definition.counters.get(name);
        let max = max.and_then(|counter| limits::value(&counter.max, definition, Some(run)));
        if used > 0 {
            let name = name.to_string();
            loops.push(LoopUse { name, used, max });
        }
    }
    loops
}
