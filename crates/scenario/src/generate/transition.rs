//! Every transition of a definition.

use std::collections::BTreeSet;
use std::fmt;

use engine::{
    ArtifactName, CounterName, Definition, Edge, Entry, Fact, Move, MoveReason, Rule, Stage,
    StageName, Target, Way, Work,
};

/// One transition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transition {
    Move {
        from: StageName,
        way: String,
        to: StageName,
        cause: MoveCause,
    },
    /// A reviewer has a finding, and the owner must fix it.
    Finding { stage: StageName, reviewer: u32 },
}

/// Why a move has its target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MoveCause {
    Edge,
    Full(CounterName),
    Unapproved(ArtifactName),
    Interrupted,
}

impl Transition {
    /// The stage in which it happens.
    pub fn stage(&self) -> &StageName {
        match self {
            Self::Move { from, .. } => from,
            Self::Finding { stage, .. } => stage,
        }
    }
}

impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move {
                from,
                way,
                to,
                cause,
            } => {
                write!(f, "{from} → {to}: {way}")?;
                match cause {
                    MoveCause::Edge => Ok(()),
                    MoveCause::Full(counter) => write!(f, ", {counter} is full"),
                    MoveCause::Unapproved(artifact) => write!(f, ", {artifact} adds commands"),
                    MoveCause::Interrupted => write!(f, ", back to where it was going"),
                }
            }
            Self::Finding { stage, reviewer } => {
                write!(f, "{stage}: reviewer {} finds something", reviewer + 1)
            }
        }
    }
}

/// All transitions, in the order of the file.
pub(super) fn all(definition: &Definition) -> Vec<Transition> {
    let mut all = Vec::new();
    for stage in &definition.stages {
        for (way, edge) in stage.edges() {
            all.extend(along(definition, stage, way, edge));
        }
        if let Work::Review(work) = &stage.work {
            let name = &stage.name;
            let reviewers = (0..).zip(&work.panel).map(|(reviewer, _)| reviewer);
            all.extend(reviewers.map(|reviewer| Transition::Finding {
                stage: name.clone(),
                reviewer,
            }));
        }
    }
    let mut seen = BTreeSet::new();
    all.retain(|one| seen.insert(one.clone()));
    all
}

fn along(definition: &Definition, stage: &Stage, way: Way<'_>, edge: &Edge) -> Vec<Transition> {
    let (cause, targets) = match &edge.to {
        Target::Interrupted => (MoveCause::Interrupted, returns(definition, &stage.name)),
        Target::Stage(_) | Target::Param(_) => (
            MoveCause::Edge,
            engine::edge_targets(definition, edge, None),
        ),
    };
    let moved = |to: &StageName, cause: MoveCause| Transition::Move {
        from: stage.name.clone(),
        way: way.to_string(),
        to: to.clone(),
        cause,
    };
    let mut all: Vec<Transition> = targets.iter().map(|to| moved(to, cause.clone())).collect();
    if let Some(counter) = &edge.count
        && let Some(declared) = definition.counters.get(counter)
    {
        all.push(moved(&declared.then, MoveCause::Full(counter.clone())));
    }
    let asked = asked_about(definition, stage, way);
    all.extend(asked.map(|(artifact, then)| moved(then, MoveCause::Unapproved(artifact.clone()))));
    all
}

/// The artifacts with commands that this way delivers, with the stage that asks about them.
fn asked_about<'d>(
    definition: &'d Definition,
    stage: &'d Stage,
    way: Way<'_>,
) -> impl Iterator<Item = (&'d ArtifactName, &'d StageName)> {
    stage
        .delivers(way.outcome())
        .into_iter()
        .filter_map(|name| {
            let approved = definition.artifacts.get(name)?.approved.as_ref()?;
            Some((name, &approved.then))
        })
}

/// Where `@interrupted` can lead from this stage: to the target that a full counter blocked, or
/// back to where the run came from.
fn returns(definition: &Definition, stage: &StageName) -> Vec<StageName> {
    let mut all = Vec::new();
    for from in &definition.stages {
        for (way, edge) in from.edges() {
            if asked_about(definition, from, way).any(|(_, then)| then == stage) {
                all.extend(engine::edge_targets(definition, edge, None));
            }
            if engine::edge_targets(definition, edge, None).contains(stage) {
                all.push(from.name.clone());
            }
            let counter = edge
                .count
                .as_ref()
                .and_then(|counter| definition.counters.get(counter));
            if counter.is_some_and(|counter| counter.then == *stage) {
                all.extend(engine::edge_targets(definition, edge, None));
            }
        }
    }
    all
}

/// The transitions in these entries.
pub(super) fn taken_in(definition: &Definition, entries: &[Entry]) -> Vec<Transition> {
    let taken = entries.iter().filter_map(|entry| {
        if let Fact::ReviewerFound { stage, reviewer } = &entry.fact {
            return Some(Transition::Finding {
                stage: stage.clone(),
                reviewer: *reviewer,
            });
        }
        let Fact::Moved(step) = &entry.fact else {
            return None;
        };
        moved(definition, step, entry.rule)
    });
    taken.collect()
}

fn moved(definition: &Definition, step: &Move, rule: Rule) -> Option<Transition> {
    let cause = match &step.along {
        // A step that a full counter had blocked counts as taken for the first time.
        MoveReason::Edge if rule == Rule::Interrupted => MoveCause::Interrupted,
        MoveReason::Edge => MoveCause::Edge,
        MoveReason::Full(counter) => MoveCause::Full(counter.clone()),
        MoveReason::Unapproved(artifact) => MoveCause::Unapproved(artifact.clone()),
        MoveReason::Interrupted => MoveCause::Interrupted,
        MoveReason::StaleGate | MoveReason::Outgrown(_) => return None,
    };
    let way = match step.outcome.strip_prefix("after ") {
        Some(agent) => {
            let stage = definition
                .stages
                .iter()
                .find(|stage| stage.name == step.from)?;
            let mut after = stage.after().iter();
            let after = after.find(|after| definition.covers(&after.agent, agent))?;
            Way::After(&after.agent).to_string()
        }
        None => step.outcome.clone(),
    };
    Some(Transition::Move {
        from: step.from.clone(),
        way,
        to: step.to.clone(),
        cause,
    })
}
