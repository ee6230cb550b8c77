//! Lists that later stages take from an artifact: where one is missing, does the work lead to the stage that needs it?

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::definition::Definition;
use crate::names::{AgentName, ArtifactName, StageName};
use crate::outcome::Outcome;
use crate::run::Duty;
use crate::stage::{Edge, FieldOf, Questions, Stage, Target, Work};
use crate::transition::edge_targets;

/// The fields of an artifact that a stage works through or asks, each with its stage.
pub fn listed_fields<'a>(
    definition: &'a Definition,
    artifact: &'a ArtifactName,
) -> impl Iterator<Item = (&'a Stage, &'a FieldOf)> {
    let stages = definition.stages.iter();
    let taken = stages.filter_map(|stage| Some((stage, list_of(stage)?)));
    taken.filter(move |(_, field)| field.artifact == *artifact)
}

/// The field from which a stage takes its list.
fn list_of(stage: &Stage) -> Option<&FieldOf> {
    match &stage.work {
        Work::Steps(work) => work.source.field(),
        Work::Ask(work) => match &work.questions {
            Questions::From { field, .. } => Some(field),
            Questions::Choice { .. } => None,
        },
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Review(_)
        | Work::Route(_)
        | Work::End(_) => None,
    }
}

/// Work that ends with an outcome, and one of the lists that later stages take.
pub(crate) struct ListedWork<'a> {
    pub definition: &'a Definition,
    pub stage: &'a Stage,
    pub duty: &'a Duty,
    pub agent: &'a AgentName,
    pub field: &'a FieldOf,
}

/// Where a way leads, as far as the list is concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lead {
    /// To a stage that needs the list.
    Needs,
    /// To nothing: the artifact is written again first, or the run ends or turns back here.
    Nowhere,
    /// To other work, which may do without the list.
    Elsewhere,
}

impl ListedWork<'_> {
    /// Does this outcome lead to a stage that needs the list, before anybody writes the artifact again?
    pub(crate) fn is_needed(&self, outcome: &Outcome) -> bool {
        self.edge(outcome)
            .is_some_and(|edge| self.along(edge, &mut BTreeMap::new()) == Lead::Needs)
    }

    fn edge(&self, outcome: &Outcome) -> Option<&Edge> {
        match self.duty {
            Duty::Work | Duty::Review { .. } => self.stage.on.get(outcome),
            Duty::Fix { .. } => self.stage.on.get(&Outcome::Approved),
            Duty::Step { .. } => self.stage.on.get(&Outcome::Done),
            Duty::Open => {
                let mut after = self.stage.after().iter();
                let covers = |agent: &_| self.definition.covers(agent, self.agent.as_str());
                after
                    .find(|after| covers(&after.agent))
                    .map(|after| &after.edge)
            }
        }
    }

    fn along(&self, edge: &Edge, seen: &mut BTreeMap<StageName, Lead>) -> Lead {
        match &edge.to {
            Target::Interrupted => Lead::Nowhere,
            Target::Stage(stage) => self.from(stage, seen),
            Target::Param(_) => {
                let targets = edge_targets(self.definition, edge, None);
                every(targets.iter().map(|target| self.from(target, seen)))
            }
        }
    }

    /// Where the run goes from a stage that it enters. A way back to a stage that is being looked at adds
    /// nothing.
    fn from(&self, name: &StageName, seen: &mut BTreeMap<StageName, Lead>) -> Lead {
        if let Some(known) = seen.get(name) {
            return *known;
        }
        seen.insert(name.clone(), Lead::Nowhere);
        let mut stages = self.definition.stages.iter();
        let stage = stages.find(|stage| stage.name == *name);
        let lead = stage.map_or(Lead::Nowhere, |stage| self.through(stage, seen));
        seen.insert(name.clone(), lead);
        lead
    }

    fn through(&self, stage: &Stage, seen: &mut BTreeMap<StageName, Lead>) -> Lead {
        if list_of(stage) == Some(self.field) {
            return Lead::Needs;
        }
        if writes_again(stage, &self.field.artifact) {
            return Lead::Nowhere;
        }
        let ways = stage.edges().into_iter();
        let passing: Vec<Lead> = ways
            .filter(|(way, _)| stage.passes(way))
            .map(|(_, edge)| self.along(edge, seen))
            .collect();
        match &stage.work {
            Work::End(_) => Lead::Nowhere,
            // A person who refuses sends it back or ends the run.
            Work::Ask(_) if passing.contains(&Lead::Elsewhere) => Lead::Elsewhere,
            Work::Ask(_) if passing.contains(&Lead::Needs) => Lead::Needs,
            Work::Ask(_) => Lead::Nowhere,
            Work::Agent(_)
            | Work::Open(_)
            | Work::Check(_)
            | Work::Review(_)
            | Work::Steps(_)
            | Work::Route(_) => every(passing.into_iter()),
        }
    }
}

/// Of several ways that the run may go, each must need the list.
fn every(leads: impl Iterator<Item = Lead>) -> Lead {
    let mut leads = leads.peekable();
    if leads.peek().is_some() && leads.all(|lead| lead == Lead::Needs) {
        Lead::Needs
    } else {
        Lead::Elsewhere
    }
}

/// A review is not among them: its owner fixes only what somebody has found.
fn writes_again(stage: &Stage, artifact: &ArtifactName) -> bool {
    match &stage.work {
        Work::Agent(work) => work.leaves.all().contains(&artifact),
        Work::Open(work) => work
            .leaves
            .iter()
            .any(|(_, names)| names.contains(artifact)),
        Work::End(work) => work
            .leaves
            .iter()
            .any(|(_, names)| names.contains(artifact)),
        Work::Review(work) => work.panel.iter().any(|one| one.leaves == *artifact),
        Work::Steps(work) => work.leaves.contains(artifact),
        Work::Check(_) | Work::Ask(_) | Work::Route(_) => false,
    }
}
