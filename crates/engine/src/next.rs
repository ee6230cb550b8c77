//! What may legally happen now, and who does it.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::budget::is_capped;
use crate::definition::Definition;
use crate::event::{EngineEvent, Happening};
use crate::limits::round_limit;
use crate::names::{AgentName, ArtifactName, StageName, StepId};
use crate::outcome::Outcome;
use crate::pattern::AgentPattern;
use crate::pipeline::Pipeline;
use crate::question::{over_budget_text, question_text, stuck_question};
use crate::run::{Run, Standing, Turn};
use crate::stage::{
    AgentWork, AskWork, OpenWork, Questions, Reads, ReviewWork, Stage, StepsWork, Work, Worker,
};

/// One legal next thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// This agent works.
    Agent {
        agent: AgentName,
        duty: NextDuty,
        reads: Vec<ArtifactName>,
        leaves: Vec<ArtifactName>,
    },
    /// The main session itself works.
    Session {
        reads: Vec<ArtifactName>,
        leaves: Vec<ArtifactName>,
    },
    /// Any of these agents may work.
    AnyOf { agents: Vec<AgentPattern> },
    /// This work is in progress.
    Under {
        agent: AgentName,
        step: Option<StepId>,
    },
    /// `gatewright check` runs the stage's commands.
    Check { stage: StageName },
    /// The steps of this stage are planned first.
    Plan { stage: StageName },
    /// Gatewright looks at the evidence of this route first.
    Route { stage: StageName },
    /// A person answers.
    Answer {
        question: String,
        choices: Vec<Outcome>,
    },
    /// A person answers a worker's questions.
    Answers { question: String },
    /// A person ends an open stage.
    Finish,
    /// A person decides about a run that cannot continue by itself.
    Decide { why: String, choices: Vec<Choice> },
    /// A queued run waits for a worker.
    TakeUp,
    /// The run is over.
    Nothing,
}

/// What a person may do with a run that cannot continue by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    Retry,
    /// With one of these outcomes of the stage.
    Skip {
        outcomes: Vec<Outcome>,
    },
    Continue,
    /// Raise the cap on all runs, and then continue.
    RaiseCap,
    Reset,
    Cancel,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextDuty {
    Work,
    Review {
        reviewer: u32,
        round: u32,
        rounds: u32,
    },
    Fix {
        findings_of: AgentName,
    },
    Step {
        step: StepId,
        title: String,
    },
}

/// What may legally happen now, and who does it.
pub fn next(pipeline: &Pipeline, run: &Run) -> Vec<Next> {
    match &run.standing {
        Standing::Queued => vec![Next::TakeUp],
        Standing::Cancelled { .. } => vec![Next::Nothing],
        Standing::Stuck { fault, reason } => {
            let why = stuck_question(run, *fault, reason);
            let skip = Choice::Skip {
                outcomes: skippable(pipeline, run),
            };
            let choices = vec![Choice::Retry, skip, Choice::Cancel];
            vec![Next::Decide { why, choices }]
        }
        Standing::Stale => decide("nothing happened for longer than the pipeline allows"),
        Standing::OverBudget { what } => {
            let why = over_budget_text(pipeline, run, what);
            let first = if is_capped(pipeline, run) {
                Choice::RaiseCap
            } else {
                Choice::Continue
            };
            let choices = vec![first, Choice::Reset, Choice::Cancel];
            vec![Next::Decide { why, choices }]
        }
        Standing::Halted { reason } => decide(&format!("the run was stopped: {reason}")),
        Standing::Going | Standing::Abandoned => pipeline
            .stage(&run.position.stage)
            .map(|stage| by_stage(pipeline.definition(), run, stage))
            .unwrap_or_default(),
    }
}

fn decide(why: &str) -> Vec<Next> {
    let choices = vec![Choice::Continue, Choice::Reset, Choice::Cancel];
    vec![Next::Decide {
        why: String::from(why),
        choices,
    }]
}

fn skippable(pipeline: &Pipeline, run: &Run) -> Vec<Outcome> {
    let stage = pipeline.stage(&run.position.stage);
    stage
        .map(|stage| stage.own_outcomes().into_iter().cloned().collect())
        .unwrap_or_default()
}

fn by_stage(definition: &Definition, run: &Run, stage: &Stage) -> Vec<Next> {
    match &stage.work {
        Work::Agent(work) => agent(run, work),
        Work::Open(work) => open(definition, stage, work),
        Work::Check(_) => vec![Next::Check {
            stage: stage.name.clone(),
        }],
        Work::Ask(ask) => vec![question(run, stage, ask)],
        Work::Route(_) => vec![Next::Route {
            stage: stage.name.clone(),
        }],
        Work::Review(work) => under_way(run).unwrap_or_else(|| review(run, stage, work)),
        Work::Steps(work) => steps(run, stage, work),
        Work::End(work) if work.after.is_empty() => vec![Next::Nothing],
        Work::End(work) => {
            let after = work.after.iter().map(|after| after.agent.clone());
            vec![any_of(definition, &after.collect::<Vec<_>>())]
        }
    }
}

/// Work of this visit that has started and not ended.
fn under_way(run: &Run) -> Option<Vec<Next>> {
    let open = run
        .dispatches
        .values()
        .filter(|open| open.visit == run.position.visit);
    let open: Vec<Next> = open
        .map(|open| Next::Under {
            agent: open.agent.clone(),
            step: open.duty.step().cloned(),
        })
        .collect();
    (!open.is_empty()).then_some(open)
}

fn agent(run: &Run, work: &AgentWork) -> Vec<Next> {
    if let Some(open) = under_way(run) {
        return open;
    }
    let reads = readable(run, &work.reads);
    let leaves = work.leaves.all().into_iter().cloned().collect();
    vec![match &work.worker {
        Worker::Session => Next::Session { reads, leaves },
        Worker::Agent(agent) => Next::Agent {
            agent: agent.clone(),
            duty: NextDuty::Work,
            reads,
            leaves,
        },
    }]
}

/// The artifacts that exist of those that a worker may read.
fn readable(run: &Run, reads: &Reads) -> Vec<ArtifactName> {
    reads
        .all()
        .filter(|artifact| run.artifacts.contains_key(*artifact))
        .cloned()
        .collect()
}

/// Nobody outside knows the pipeline's groups, so their members are named.
fn any_of(definition: &Definition, agents: &[AgentPattern]) -> Next {
    Next::AnyOf {
        agents: definition.members(agents),
    }
}

fn open(definition: &Definition, stage: &Stage, work: &OpenWork) -> Vec<Next> {
    let mut next = vec![any_of(definition, &work.allow)];
    if stage.on.contains_key(&Outcome::Finish) {
        next.push(Next::Finish);
    }
    next
}

fn question(run: &Run, stage: &Stage, ask: &AskWork) -> Next {
    let question = question_text(run, stage, ask);
    match &ask.questions {
        Questions::Choice { .. } => Next::Answer {
            question,
            choices: stage.choices().into_iter().cloned().collect(),
        },
        Questions::From { .. } => Next::Answers { question },
    }
}

fn review(run: &Run, stage: &Stage, work: &ReviewWork) -> Vec<Next> {
    let Some(panel) = run.panels.get(&stage.name) else {
        return Vec::new();
    };
    let reads = readable(run, &work.reads);
    match panel.turn {
        Turn::Reviewing { reviewer } => {
            let Some(member) = work.panel.get(reviewer as usize) else {
                return Vec::new();
            };
            let duty = NextDuty::Review {
                reviewer,
                round: panel.round,
                rounds: round_limit(run, work),
            };
            let leaves = vec![member.leaves.clone()];
            vec![Next::Agent {
                agent: member.agent.clone(),
                duty,
                reads,
                leaves,
            }]
        }
        Turn::Fixing { reviewer } => {
            let Some(member) = work.panel.get(reviewer as usize) else {
                return Vec::new();
            };
            let duty = NextDuty::Fix {
                findings_of: member.agent.clone(),
            };
            let reads = reads.into_iter().chain([member.leaves.clone()]).collect();
            let agent = work.owner.clone();
            vec![Next::Agent {
                agent,
                duty,
                reads,
                leaves: work.fixes.clone(),
            }]
        }
        Turn::Spent => Vec::new(),
    }
}

fn steps(run: &Run, stage: &Stage, work: &StepsWork) -> Vec<Next> {
    let Some(graph) = run.graphs.get(&stage.name) else {
        return vec![Next::Plan {
            stage: stage.name.clone(),
        }];
    };
    let ready = graph.members.iter().filter(|member| graph.is_ready(member));
    let ready = ready.map(|member| Next::Agent {
        agent: member.step.agent.clone(),
        duty: NextDuty::Step {
            step: member.step.id.clone(),
            title: member.step.title.clone(),
        },
        reads: readable(run, &work.reads),
        leaves: work.leaves.clone(),
    });
    under_way(run)
        .unwrap_or_default()
        .into_iter()
        .chain(ready)
        .collect()
}

/// What Gatewright must do before anything else can happen: read the steps of a new task graph, or
/// decide a route.
pub fn pending(pipeline: &Pipeline, run: &Run) -> Option<Happening> {
    let stage = pipeline.stage(&run.position.stage)?;
    let (name, visit) = (stage.name.clone(), run.position.visit);
    let event = match &stage.work {
        Work::Steps(work)
            if work.source.field().is_some() && !run.graphs.contains_key(&stage.name) =>
        {
            EngineEvent::StepsRead { stage: name, visit }
        }
        Work::Route(_) => EngineEvent::RouteReached { stage: name, visit },
        Work::Steps(_)
        | Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Review(_)
        | Work::End(_) => return None,
    };
    (run.standing == Standing::Going).then_some(Happening::Engine(event))
}
