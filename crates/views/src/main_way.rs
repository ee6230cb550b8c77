//! The main way: the stages from one stage to the end, if all goes well.

use std::collections::{BTreeMap, VecDeque};

use engine::{End, Pipeline, Run, Stage, StageName, Target, Way, Work};

/// The stages after this one on the shortest path to `completed`; none if there is no path.
pub(crate) fn to_completion(pipeline: &Pipeline, run: &Run, start: &StageName) -> Vec<StageName> {
    let mut before: BTreeMap<StageName, StageName> = BTreeMap::new();
    let mut queue = VecDeque::from([start.clone()]);
    while let Some(name) = queue.pop_front() {
        let Some(stage) = pipeline.stage(&name) else {
            continue;
        };
        if is_completed(stage) {
            return way_back(&before, start, name);
        }
        for next in onward(stage, run) {
            if next != *start && !before.contains_key(&next) {
                before.insert(next.clone(), name.clone());
                queue.push_back(next);
            }
        }
    }
    Vec::new()
}

fn is_completed(stage: &Stage) -> bool {
    matches!(&stage.work, Work::End(end) if end.end == End::Completed)
}

/// Where the stage leads, the good outcomes first: they win between two paths of the same length.
fn onward(stage: &Stage, run: &Run) -> Vec<StageName> {
    let mut edges = stage.edges();
    edges.retain(|(way, _)| !is_fault(way));
    edges.sort_by_key(|(way, _)| !stage.passes(way));
    let targets = edges.into_iter().filter_map(|(_, edge)| match &edge.to {
        Target::Stage(stage) => Some(stage.clone()),
        Target::Interrupted => run.position.resume.as_ref().map(|to| to.to.clone()),
        Target::Param(name) => StageName::parse(run.params.get(name)?).ok(),
    });
    targets.collect()
}

fn is_fault(way: &Way<'_>) -> bool {
    match way {
        Way::Outcome(outcome) => engine::Fault::parse(outcome.as_str()).is_some(),
        Way::After(_) => false,
    }
}

fn way_back(
    before: &BTreeMap<StageName, StageName>,
    start: &StageName,
    end: StageName,
) -> Vec<StageName> {
    let mut way = Vec::new();
    let mut at = Some(&end);
    while let Some(stage) = at.filter(|stage| *stage != start) {
        way.push(stage.clone());
        at = before.get(stage);
    }
    way.reverse();
    way
}
