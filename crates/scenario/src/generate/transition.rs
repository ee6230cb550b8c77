//! Every transition that a definition speaks of.

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
        course: Course,
    },
    /// A reviewer finds something, and the owner has to fix it.
    Finding { stage: StageName, reviewer: u32 },
}

/// Why a move goes where it goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Course {
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
                course,
            } => {
                write!(f, "{from} → {to}: {way}")?;
                match course {
                    Course::Edge => Ok(()),
                    Course::Full(counter) => write!(f, ", {counter} is full"),
                    Course::Unapproved(artifact) => write!(f, ", {artifact} adds commands"),
                    Course::Interrupted => write!(f, ", back to where it was going"),
                }
            }
            Self::Finding { stage, reviewer } => {
                write!(f, "{stage}: reviewer {} finds something", reviewer + 1)
            }
        }
    }
}

/// All of them, in the order of the file.
pub fn all(definition: &Definition) -> Vec<Transition> {
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
    let (course, targets) = match &edge.to {
        Target::Interrupted => (Course::Interrupted, returns(definition, &stage.name)),
        Target::Stage(_) | Target::Param(_) => (Course::Edge, targets(definition, edge)),
    };
    let moved = |to: &StageName, course: Course| Transition::Move {
        from: stage.name.clone(),
        way: way.to_string(),
        to: to.clone(),
        course,
    };
    let mut all: Vec<Transition> = targets.iter().map(|to| moved(to, course.clone())).collect();
    if let Some(counter) = &edge.count
        && let Some(declared) = definition.counters.get(counter)
    {
        all.push(moved(&declared.then, Course::Full(counter.clone())));
    }
    let asked = asked_about(definition, stage, way);
    all.extend(asked.map(|(artifact, then)| moved(then, Course::Unapproved(artifact.clone()))));
    all
}

/// The artifacts that this way delivers and that may bring commands, with who is asked about those.
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

/// Where an edge leads by itself: to a stage, or to one for each choice of a parameter.
fn targets(definition: &Definition, edge: &Edge) -> Vec<StageName> {
    match &edge.to {
        Target::Stage(stage) => vec![stage.clone()],
        Target::Interrupted => Vec::new(),
        Target::Param(param) => {
            let choices = definition
                .params
                .get(param)
                .map(|param| param.choices.as_slice());
            let stages = choices.unwrap_or_default().iter();
            stages
                .filter_map(|choice| StageName::parse(choice).ok())
                .collect()
        }
    }
}

/// Where `@interrupted` can lead from this stage: to where a full counter barred the way, or back to
/// where the run came from.
fn returns(definition: &Definition, stage: &StageName) -> Vec<StageName> {
    let mut all = Vec::new();
    for from in &definition.stages {
        for (way, edge) in from.edges() {
            if asked_about(definition, from, way).any(|(_, then)| then == stage) {
                all.extend(targets(definition, edge));
            }
            if targets(definition, edge).contains(stage) {
                all.push(from.name.clone());
            }
            let counter = edge
                .count
                .as_ref()
                .and_then(|counter| definition.counters.get(counter));
            if counter.is_some_and(|counter| counter.then == *stage) {
                all.extend(targets(definition, edge));
            }
        }
    }
    all
}

/// What these entries tell of.
pub fn told(definition: &Definition, entries: &[Entry]) -> Vec<Transition> {
    let told = entries.iter().filter_map(|entry| match &entry.fact {
        Fact::Moved(step) => moved(definition, step, entry.rule),
        Fact::ReviewerFound { stage, reviewer } => Some(Transition::Finding {
            stage: stage.clone(),
            reviewer: *reviewer,
        }),
        _ => None,
    });
    told.collect()
}

fn moved(definition: &Definition, step: &Move, rule: Rule) -> Option<Transition> {
    let course = match &step.along {
        // A step that a full counter had barred is taken as if for the first time.
        MoveReason::Edge if rule == Rule::Interrupted => Course::Interrupted,
        MoveReason::Edge => Course::Edge,
        MoveReason::Full(counter) => Course::Full(counter.clone()),
        MoveReason::Unapproved(artifact) => Course::Unapproved(artifact.clone()),
        MoveReason::Interrupted => Course::Interrupted,
        MoveReason::StaleGate => return None,
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
        course,
    })
}
