//! The steps that a search tries in a stage.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    AgentName, AgentPattern, ArtifactName, Change, Definition, Fault, MemberState, Outcome,
    ReviewWork, Run, SESSION, Seconds, Stage, StageName, Standing, StepId, StepsWork, Target, Turn,
    Usage, WordsRule, Work, Worker, Writes,
};

use super::super::grammar::UNSEEN;
use super::super::step::{Act, Begins, CheckHow, How, PersonAct, Step, Subject};

/// A command that no scenario has approved before.
const ADDED: &str = "make extra";

/// The steps that may change this run.
pub(super) fn steps(definition: &Definition, stage: &Stage, run: &Run) -> Vec<Step> {
    if run.standing != Standing::Going {
        return Vec::new();
    }
    own_steps(definition, stage, run)
        .into_iter()
        .chain(changes(definition, stage, run))
        .collect()
}

/// The evidence of a route may change, where the next steps lead to one or are watched by one.
fn changes(definition: &Definition, stage: &Stage, run: &Run) -> Vec<Step> {
    let is_route = |name: &StageName| {
        let mut stages = definition.stages.iter();
        stages.any(|stage| stage.name == *name && stage.work.as_route().is_some())
    };
    let mut edges = stage.edges().into_iter();
    let leads = edges.any(|(_, edge)| matches!(&edge.to, Target::Stage(to) if is_route(to)));
    let reason = || String::from(UNSEEN);
    let unseen = (leads || !run.routes.is_empty()).then(|| Change::Unseen { reason: reason() });
    unseen.into_iter().map(Step::Change).collect()
}

fn own_steps(definition: &Definition, stage: &Stage, run: &Run) -> Vec<Step> {
    match &stage.work {
        Work::Agent(work) => {
            let agent = match &work.worker {
                Worker::Session => AgentName::parse(SESSION).ok(),
                Worker::Agent(agent) => Some(agent.clone()),
            };
            let subject = agent.map(Subject::Agent);
            let steps = subject.map(|subject| {
                let added = adds(definition, work.leaves.all(), &subject);
                let own = agent_steps(stage, subject).into_iter();
                own.chain(added).collect()
            });
            steps.unwrap_or_default()
        }
        Work::Open(_) => {
            let finish = stage.on.keys().any(|outcome| outcome.as_str() == "finish");
            let finish = finish.then(|| Step::usual(Act::Person(PersonAct::Finish)));
            after_steps(definition, stage)
                .into_iter()
                .chain(finish)
                .collect()
        }
        Work::End(_) => after_steps(definition, stage),
        Work::Route(_) => Vec::new(),
        Work::Check(_) => check_steps(stage),
        Work::Ask(work) => ask_steps(stage, work.is_choice()),
        Work::Review(work) => review_steps(definition, stage, run, work),
        Work::Steps(work) => graph_steps(definition, stage, run, work),
    }
}

fn works(subject: Subject, how: How) -> Step {
    let begins = match how {
        How::Well | How::Outcome(_) => Begins::First,
        How::Adds(_) | How::Fault(_) | How::Says(_) | How::Leaves { .. } => Begins::IfIdle,
    };
    Step::usual(Act::End {
        subject,
        begins,
        how,
        usage: Usage::default(),
    })
}

fn agent_steps(stage: &Stage, subject: Subject) -> Vec<Step> {
    let own = stage.on.keys().map(|outcome| match outcome.as_str() {
        "done" => How::Well,
        word => Fault::parse(word).map_or(How::Outcome(outcome.clone()), How::Fault),
    });
    own.filter(|how| can_happen(stage, how))
        .map(|how| works(subject.clone(), how))
        .collect()
}

/// Work may leave a command that nobody has approved.
fn adds<'a>(
    definition: &Definition,
    leaves: impl IntoIterator<Item = &'a ArtifactName>,
    subject: &Subject,
) -> Option<Step> {
    let is_asked_about = |name: &ArtifactName| {
        let artifact = definition.artifacts.get(name);
        artifact.is_some_and(|artifact| artifact.approved.is_some())
    };
    let asks = leaves.into_iter().any(is_asked_about);
    asks.then(|| works(subject.clone(), How::Adds(ADDED.to_owned())))
}

fn can_happen(stage: &Stage, how: &How) -> bool {
    *how != How::Fault(Fault::Strayed) || matches!(stage.writes, Writes::Only(_))
}

/// The faults that `on` handles here.
fn faults<'a>(stage: &'a Stage, subject: &'a Subject) -> impl Iterator<Item = Step> + 'a {
    let faults = stage
        .on
        .keys()
        .filter_map(|outcome| Fault::parse(outcome.as_str()));
    let faults = faults.map(How::Fault).filter(|how| can_happen(stage, how));
    faults.map(|how| works(subject.clone(), how))
}

fn after_steps(definition: &Definition, stage: &Stage) -> Vec<Step> {
    let agents = (0..).zip(stage.after()).filter_map(|(place, after)| {
        let is_its_own = |agent: &AgentName| {
            let first = stage.after().iter();
            let mut covering = first.map(|after| definition.covers(&after.agent, agent.as_str()));
            covering.position(|covers| covers) == Some(place)
        };
        examples(definition, &after.agent)
            .into_iter()
            .find(is_its_own)
    });
    let steps = agents.flat_map(|agent| {
        let endings = endings(definition, &left_by(definition, stage, &agent));
        endings
            .into_iter()
            .map(move |how| works(Subject::Agent(agent.clone()), how))
    });
    steps.collect()
}

/// What this agent of an open or end stage must leave.
fn left_by(definition: &Definition, stage: &Stage, agent: &AgentName) -> Vec<ArtifactName> {
    let leaves = match &stage.work {
        Work::Open(work) => work.leaves.as_slice(),
        Work::End(work) => work.leaves.as_slice(),
        Work::Agent(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Review(_)
        | Work::Steps(_)
        | Work::Route(_) => &[],
    };
    let mine = leaves
        .iter()
        .filter(|(who, _)| definition.covers(who, agent.as_str()));
    mine.flat_map(|(_, artifacts)| artifacts.clone()).collect()
}

/// The successful ends of work that leaves these artifacts. Unplayable ones are dropped later.
fn endings(definition: &Definition, leaves: &[ArtifactName]) -> Vec<How> {
    let stated = leaves
        .iter()
        .flat_map(|artifact| verdicts(definition, artifact));
    let stated = stated.filter(|outcome| outcome.as_str() != "failed");
    [How::Well]
        .into_iter()
        .chain(stated.map(How::Outcome))
        .collect()
}

/// The outcomes that this artifact can state, without duplicates.
fn verdicts(definition: &Definition, artifact: &ArtifactName) -> BTreeSet<Outcome> {
    let artifact = definition.artifacts.get(artifact);
    let field = artifact.and_then(|artifact| artifact.outcome.as_ref());
    field
        .map(|field| field.values.values().cloned().collect())
        .unwrap_or_default()
}

/// Agents that match a pattern or the members of a group.
pub fn examples(definition: &Definition, pattern: &AgentPattern) -> Vec<AgentName> {
    let alone = std::slice::from_ref(pattern);
    let members = definition.group(pattern).map_or(alone, Vec::as_slice);
    let filled = members.iter().flat_map(|member| {
        ["agent", "x", "1"].map(|filling| member.as_str().replace('*', filling))
    });
    filled
        .filter_map(|name| AgentName::parse(&name).ok())
        .collect()
}

fn check_steps(stage: &Stage) -> Vec<Step> {
    let handled = |fault: Fault| {
        stage
            .on
            .keys()
            .any(|outcome| outcome.as_str() == fault.word())
    };
    let hows = [
        (CheckHow::Passes, true),
        (CheckHow::Fails, true),
        (CheckHow::CannotStart, handled(Fault::Crashed)),
        (CheckHow::ChangesTree, handled(Fault::Strayed)),
    ];
    let hows = hows.into_iter().filter(|(_, is_possible)| *is_possible);
    hows.map(|(how, _)| Step::usual(Act::Check { stage: None, how }))
        .collect()
}

fn ask_steps(stage: &Stage, is_choice: bool) -> Vec<Step> {
    let timeout = Fault::Timeout.word();
    let choices = stage
        .on
        .iter()
        .filter(|(outcome, _)| is_choice && outcome.as_str() != timeout);
    let choices = choices.map(|(choice, edge)| PersonAct::Answer {
        choice: choice.clone(),
        words: match edge.words {
            WordsRule::Optional => String::new(),
            WordsRule::Required => String::from("do it like this"),
        },
    });
    let given = BTreeMap::from([(String::from("q1"), String::from("yes"))]);
    let answers = (!is_choice).then_some(PersonAct::Answers(given));
    let asked = choices
        .chain(answers)
        .map(|act| Step::usual(Act::Person(act)));
    let limit = stage.timeout.map(|limit| Step::Wait(Seconds(limit.0 + 1)));
    asked.chain(limit).collect()
}

fn review_steps(definition: &Definition, stage: &Stage, run: &Run, work: &ReviewWork) -> Vec<Step> {
    let outcomes = |artifact: &ArtifactName| verdicts(definition, artifact);
    match run.panels.get(&stage.name).map(|panel| panel.turn) {
        Some(Turn::Reviewing { reviewer }) => {
            let Some(member) = work.panel.get(reviewer as usize) else {
                return Vec::new();
            };
            let subject = Subject::Agent(member.agent.clone());
            let verdicts = outcomes(&member.leaves).into_iter();
            let verdicts = verdicts.map(|verdict| works(subject.clone(), How::Outcome(verdict)));
            verdicts.chain(faults(stage, &subject)).collect()
        }
        Some(Turn::Fixing { .. }) => {
            let subject = Subject::Agent(work.owner.clone());
            // Any verdict of the owner is a fix, so the first one is enough.
            let stated = work.fixes.iter().flat_map(outcomes).next();
            let fix = works(subject.clone(), stated.map_or(How::Well, How::Outcome));
            let added = adds(definition, &work.fixes, &subject);
            let fixes = [fix].into_iter().chain(added);
            fixes.chain(faults(stage, &subject)).collect()
        }
        Some(Turn::Spent) | None => Vec::new(),
    }
}

/// One step after the other: another order of parallel steps gives the same.
fn graph_steps(definition: &Definition, stage: &Stage, run: &Run, work: &StepsWork) -> Vec<Step> {
    let Some(graph) = run.graphs.get(&stage.name) else {
        return Vec::new();
    };
    let is_done = |id: &StepId| {
        graph
            .members
            .iter()
            .any(|other| other.step.id == *id && other.state == MemberState::Done)
    };
    let ready = graph.members.iter().find(|member| {
        member.state == MemberState::Pending && member.step.needs.iter().all(is_done)
    });
    let Some(member) = ready else {
        return Vec::new();
    };
    let subject = Subject::Step(member.step.id.clone());
    let endings = endings(definition, &work.leaves).into_iter();
    endings
        .chain([How::Fault(Fault::Crashed)])
        .map(|how| works(subject.clone(), how))
        .collect()
}
