//! Assignments: which piece of work an agent would do if it started now, or why it may not.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::duty::duty_leaves;
use crate::limits::parallel_limit;
use crate::names::{AgentName, StepId};
use crate::pattern::AgentPattern;
use crate::pipeline::Pipeline;
use crate::rule::Rule;
use crate::run::{Duty, Graph, Member, MemberState, Run, Standing, Status, TreeAccess, Turn};
use crate::stage::{
    AgentWork, Conversation, EndWork, Leaves, OpenWork, ReviewWork, Stage, StepsWork, Work, Worker,
};
use crate::status::status;

/// A piece of work that may start now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub duty: Duty,
    pub leaves: Leaves,
    pub conversation: Conversation,
    pub reach: TreeAccess,
}

/// Why a piece of work may not start.
pub(crate) struct Obstacle {
    pub rule: Rule,
    pub reason: String,
}

fn obstacle<T>(rule: Rule, reason: String) -> Result<T, Obstacle> {
    Err(Obstacle { rule, reason })
}

/// Does the main session itself work in the current stage?
pub fn session_works(pipeline: &Pipeline, run: &Run) -> bool {
    let stage = pipeline.stage(&run.position.stage);
    stage.is_some_and(
        |stage| matches!(&stage.work, Work::Agent(work) if work.worker == Worker::Session),
    )
}

/// The agent as the pipeline writes its name. Hosts read names without case, dashes and underscores.
pub(crate) fn canonical_name(pipeline: &Pipeline, run: &Run, agent: &AgentName) -> AgentName {
    let known = names(pipeline, run).find(|name| agent.is_same(name));
    let known = known.and_then(|name| AgentName::parse(name).ok());
    known.unwrap_or_else(|| agent.clone())
}

/// Every agent that the pipeline names, those of the current stage first. A stage that admits agents
/// by a glob must know one that is named elsewhere: it may have artifacts to leave, or belong to a group.
fn names<'a>(pipeline: &'a Pipeline, run: &'a Run) -> impl Iterator<Item = &'a str> {
    let definition = pipeline.definition();
    let here = pipeline.stage(&run.position.stage);
    let members = run.graphs.values().flat_map(|graph| &graph.members);
    let groups = definition.groups.values().flatten();
    here.into_iter()
        .flat_map(names_in)
        .chain(members.map(|member| member.step.agent.as_str()))
        .chain(definition.stages.iter().flat_map(names_in))
        .chain(groups.map(AgentPattern::as_str))
}

fn names_in(stage: &Stage) -> Vec<&str> {
    match &stage.work {
        Work::Agent(AgentWork {
            worker: Worker::Agent(agent),
            ..
        }) => Vec::from([agent.as_str()]),
        Work::Open(open) => {
            let after = open.after.iter().map(|after| &after.agent);
            let owing = open.leaves.iter().map(|(who, _)| who);
            let all = open.allow.iter().chain(after).chain(owing);
            all.map(AgentPattern::as_str).collect()
        }
        Work::End(end) => {
            let after = end.after.iter().map(|after| &after.agent);
            let owing = end.leaves.iter().map(|(who, _)| who);
            after.chain(owing).map(AgentPattern::as_str).collect()
        }
        Work::Review(review) => {
            let panel = review.panel.iter().map(|member| member.agent.as_str());
            panel.chain([review.owner.as_str()]).collect()
        }
        Work::Agent(_) | Work::Steps(_) | Work::Check(_) | Work::Ask(_) | Work::Route(_) => {
            Vec::new()
        }
    }
}

/// What this agent would do if it started now.
pub(crate) fn assign(
    pipeline: &Pipeline,
    run: &Run,
    agent: &AgentName,
    step: Option<&StepId>,
) -> Result<Assignment, Obstacle> {
    let Some(stage) = pipeline.stage(&run.position.stage) else {
        return obstacle(
            Rule::AgentOutOfTurn,
            format!("stage {} is unknown", run.position.stage),
        );
    };
    ready(pipeline, run, stage)?;
    if agent.is_session() && !session_works(pipeline, run) {
        return out_of_turn(stage, agent);
    }
    match &stage.work {
        Work::Agent(work) => one_agent(run, stage, work, agent),
        Work::Open(work) => open(pipeline, stage, work, agent),
        Work::End(work) => restart(pipeline, stage, work, agent),
        Work::Review(work) => review(run, stage, work, agent),
        Work::Steps(work) => steps(run, stage, work, agent, step),
        Work::Check(_) => obstacle(
            Rule::AgentOutOfTurn,
            format!("{} is a check, which gatewright runs itself", stage.name),
        ),
        Work::Route(_) => obstacle(
            Rule::AgentOutOfTurn,
            format!("{} is a route, which gatewright decides itself", stage.name),
        ),
        Work::Ask(_) => obstacle(Rule::RunWaits, format!("{} waits for a person", stage.name)),
    }
}

/// Is the run in a state in which anybody may work?
fn ready(pipeline: &Pipeline, run: &Run, stage: &Stage) -> Result<(), Obstacle> {
    match (status(pipeline, run), &run.standing) {
        (Status::Running, _) | (Status::Waiting(_), Standing::Abandoned) => Ok(()),
        (Status::Queued, _) => obstacle(Rule::RunWaits, String::from("the run is queued")),
        (Status::Waiting(reason), _) => obstacle(
            Rule::RunWaits,
            format!("the run waits for a person ({reason})"),
        ),
        (Status::Completed | Status::Failed | Status::Cancelled, Standing::Going)
            if !stage.after().is_empty() =>
        {
            Ok(())
        }
        (status @ (Status::Completed | Status::Failed | Status::Cancelled), _) => {
            obstacle(Rule::RunIsOver, format!("the run is {}", status.word()))
        }
    }
}

fn out_of_turn<T>(stage: &Stage, agent: &AgentName) -> Result<T, Obstacle> {
    obstacle(
        Rule::AgentOutOfTurn,
        format!("'{agent}' may not work in {}", stage.name),
    )
}

/// One piece of work at a time, unless the stage says otherwise.
fn unoccupied(run: &Run, stage: &Stage) -> Result<(), Obstacle> {
    match run
        .dispatches
        .values()
        .find(|open| open.visit == run.position.visit)
    {
        Some(open) => obstacle(
            Rule::AgentBusy,
            format!("'{}' is already working in {}", open.agent, stage.name),
        ),
        None => Ok(()),
    }
}

fn one_agent(
    run: &Run,
    stage: &Stage,
    work: &AgentWork,
    agent: &AgentName,
) -> Result<Assignment, Obstacle> {
    let is_named = match &work.worker {
        Worker::Session => agent.is_session(),
        Worker::Agent(name) => agent == name,
    };
    if !is_named {
        return out_of_turn(stage, agent);
    }
    unoccupied(run, stage)?;
    Ok(Assignment {
        duty: Duty::Work,
        leaves: work.leaves.clone(),
        conversation: work.settings.conversation,
        reach: TreeAccess::of(stage),
    })
}

fn open(
    pipeline: &Pipeline,
    stage: &Stage,
    work: &OpenWork,
    agent: &AgentName,
) -> Result<Assignment, Obstacle> {
    if !pipeline.definition().lists(&work.allow, agent.as_str()) {
        return out_of_turn(stage, agent);
    }
    Ok(open_assignment(pipeline, stage, agent))
}

fn restart(
    pipeline: &Pipeline,
    stage: &Stage,
    work: &EndWork,
    agent: &AgentName,
) -> Result<Assignment, Obstacle> {
    let definition = pipeline.definition();
    if !work
        .after
        .iter()
        .any(|after| definition.covers(&after.agent, agent.as_str()))
    {
        return out_of_turn(stage, agent);
    }
    Ok(open_assignment(pipeline, stage, agent))
}

fn open_assignment(pipeline: &Pipeline, stage: &Stage, agent: &AgentName) -> Assignment {
    Assignment {
        leaves: duty_leaves(pipeline.definition(), stage, &Duty::Open, agent),
        duty: Duty::Open,
        conversation: Conversation::Fresh,
        reach: TreeAccess::of(stage),
    }
}

fn review(
    run: &Run,
    stage: &Stage,
    work: &ReviewWork,
    agent: &AgentName,
) -> Result<Assignment, Obstacle> {
    let turn = run.panels.get(&stage.name).map(|panel| panel.turn);
    let assignment = match turn {
        Some(Turn::Reviewing { reviewer }) => {
            let Some(member) = work.panel.get(reviewer as usize) else {
                return out_of_turn(stage, agent);
            };
            if member.agent != *agent {
                return out_of_turn(stage, agent);
            }
            Assignment {
                duty: Duty::Review { reviewer },
                leaves: Leaves::of(core::slice::from_ref(&member.leaves)),
                conversation: member.settings.conversation,
                reach: TreeAccess::ReadsOnly,
            }
        }
        Some(Turn::Fixing { reviewer }) if work.owner == *agent => Assignment {
            duty: Duty::Fix { reviewer },
            leaves: Leaves::of(&work.fixes),
            conversation: Conversation::Same,
            reach: TreeAccess::of(stage),
        },
        Some(Turn::Fixing { .. } | Turn::Spent) | None => return out_of_turn(stage, agent),
    };
    unoccupied(run, stage)?;
    Ok(assignment)
}

fn steps(
    run: &Run,
    stage: &Stage,
    work: &StepsWork,
    agent: &AgentName,
    step: Option<&StepId>,
) -> Result<Assignment, Obstacle> {
    let Some(graph) = run.graphs.get(&stage.name) else {
        return obstacle(
            Rule::StepNotReady,
            format!("the steps of {} are not planned", stage.name),
        );
    };
    let member = pick(graph, stage, agent, step)?;
    let working = graph
        .members
        .iter()
        .filter(|member| is_at_work(run, member))
        .count();
    if working >= parallel_limit(run, work) as usize {
        return obstacle(
            Rule::ParallelLimit,
            format!(
                "{working} steps are running, and {} allows no more",
                stage.name
            ),
        );
    }
    Ok(Assignment {
        duty: Duty::Step {
            step: member.step.id.clone(),
        },
        leaves: Leaves::of(&work.leaves),
        conversation: work.settings.conversation,
        reach: TreeAccess::of(stage),
    })
}

/// Does a worker work on this step now? Work that rests for a service leaves its place to others.
fn is_at_work(run: &Run, member: &Member) -> bool {
    let MemberState::Working { dispatch } = &member.state else {
        return false;
    };
    let open = run.dispatches.get(dispatch);
    open.is_none_or(|open| open.paused_at.is_none())
}

fn pick<'a>(
    graph: &'a Graph,
    stage: &Stage,
    agent: &AgentName,
    step: Option<&StepId>,
) -> Result<&'a Member, Obstacle> {
    let mine = |member: &&Member| member.step.agent == *agent;
    match step {
        Some(id) => {
            let Some(member) = graph.members.iter().find(|member| member.step.id == *id) else {
                return obstacle(
                    Rule::StepNotReady,
                    format!("{} has no step '{id}'", stage.name),
                );
            };
            if !mine(&member) {
                let owner = &member.step.agent;
                return obstacle(
                    Rule::AgentOutOfTurn,
                    format!("step '{id}' belongs to '{owner}'"),
                );
            }
            startable(graph, member)
        }
        None => {
            let ready: Vec<&Member> = graph
                .members
                .iter()
                .filter(mine)
                .filter(|member| graph.is_ready(member))
                .collect();
            match ready.as_slice() {
                [member] => Ok(member),
                [] => obstacle(
                    Rule::StepNotReady,
                    format!("no step of '{agent}' in {} can start now", stage.name),
                ),
                several => obstacle(
                    Rule::StepUnnamed,
                    format!(
                        "{} steps of '{agent}' can start now: name one",
                        several.len()
                    ),
                ),
            }
        }
    }
}

fn startable<'a>(graph: &Graph, member: &'a Member) -> Result<&'a Member, Obstacle> {
    let id = &member.step.id;
    match &member.state {
        MemberState::Pending if graph.is_ready(member) => Ok(member),
        MemberState::Pending => {
            let open: Vec<&str> = graph.unmet(member).map(StepId::as_str).collect();
            obstacle(
                Rule::StepNotReady,
                format!("step '{id}' needs {}", open.join(", ")),
            )
        }
        MemberState::Working { .. } => {
            obstacle(Rule::AgentBusy, format!("step '{id}' is already running"))
        }
        MemberState::Done => obstacle(Rule::StepNotReady, format!("step '{id}' is done")),
        MemberState::Failed { .. } => {
            obstacle(Rule::StepNotReady, format!("step '{id}' has failed"))
        }
    }
}
