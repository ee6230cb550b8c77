//! What may legally happen now, and who does it.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::amount::round_limit;
use crate::assign::is_ready;
use crate::decide::choices;
use crate::definition::Definition;
use crate::event::Happening;
use crate::names::{AgentName, ArtifactName, Hash, Outcome, StageName, StepId};
use crate::pattern::AgentPattern;
use crate::pipeline::Pipeline;
use crate::run::{Duty, Fault, Run, Standing, Turn};
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
    /// This work is under way.
    Under {
        agent: AgentName,
        step: Option<StepId>,
    },
    /// `gatewright check` runs the stage's commands.
    Check { stage: StageName },
    /// The steps of this stage are planned first.
    Plan { stage: StageName },
    /// A person answers.
    Answer {
        question: String,
        choices: Vec<Outcome>,
    },
    /// A person answers a worker's questions.
    Answers { question: String },
    /// A person ends an open stage.
    Finish,
    /// A person decides about a run that cannot go on by itself.
    Decide { why: String, choices: Vec<Choice> },
    /// A queued run waits for a worker.
    TakeUp,
    /// The run is over.
    Nothing,
}

/// What a person may do with a run that cannot go on by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    Retry,
    /// With one of these outcomes of the stage.
    Skip {
        outcomes: Vec<Outcome>,
    },
    Continue,
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
            let why = format!("{}: {reason}", fault.word());
            let skip = Choice::Skip {
                outcomes: skippable(pipeline, run),
            };
            let choices = vec![Choice::Retry, skip, Choice::Cancel];
            vec![Next::Decide { why, choices }]
        }
        Standing::Stale => decide("nothing happened for longer than the pipeline allows"),
        Standing::OverBudget { what } => decide(&format!("the budget is used up: {what}")),
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

/// The outcomes with which a person may end the present stage; faults are not among them.
pub(crate) fn own_outcomes(stage: &Stage) -> Vec<&Outcome> {
    stage
        .on
        .keys()
        .filter(|word| Fault::parse(word.as_str()).is_none())
        .collect()
}

fn skippable(pipeline: &Pipeline, run: &Run) -> Vec<Outcome> {
    let stage = pipeline.stage(&run.position.stage);
    stage
        .map(|stage| own_outcomes(stage).into_iter().cloned().collect())
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
        Work::Review(work) => under_way(run).unwrap_or_else(|| review(run, stage, work)),
        Work::Steps(work) => steps(run, stage, work),
        Work::End(work) if work.after.is_empty() => vec![Next::Nothing],
        Work::End(work) => {
            let after = work.after.iter().map(|after| after.agent.clone());
            vec![any_of(definition, &after.collect::<Vec<_>>())]
        }
    }
}

/// Work of this visit that has begun and not ended.
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

/// What is there of what a worker may read.
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
    if stage.on.keys().any(|outcome| outcome.as_str() == "finish") {
        next.push(Next::Finish);
    }
    next
}

fn question(run: &Run, stage: &Stage, ask: &AskWork) -> Next {
    let question = asked_of(run, stage, ask);
    match &ask.questions {
        Questions::Choice => Next::Answer {
            question,
            choices: choices(stage).into_iter().cloned().collect(),
        },
        Questions::From { .. } => Next::Answers { question },
    }
}

/// What the present stage asks of a person, word for word. Whoever may approve commands by the answer
/// sees them in the question.
pub fn question_of(pipeline: &Pipeline, run: &Run) -> Option<String> {
    let stage = pipeline.stage(&run.position.stage)?;
    match &stage.work {
        Work::Ask(ask) => Some(asked_of(run, stage, ask)),
        _ => None,
    }
}

fn asked_of(run: &Run, stage: &Stage, ask: &AskWork) -> String {
    let commands = to_approve(run, stage);
    let shown = commands.iter().map(|argv| format!("`{}`", argv.join(" ")));
    match shown.collect::<Vec<_>>().as_slice() {
        [] => ask.question.clone(),
        shown => format!("{} Commands to approve: {}", ask.question, shown.join(", ")),
    }
}

/// The commands that an answer here may approve, each once.
fn to_approve(run: &Run, stage: &Stage) -> Vec<Vec<String>> {
    let artifacts = stage.on.values().flat_map(|edge| &edge.approves);
    let mut commands: Vec<Vec<String>> = Vec::new();
    for command in artifacts.flat_map(|artifact| run.new_commands(artifact)) {
        if !commands.contains(command) {
            commands.push(command.clone());
        }
    }
    commands
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
    let ready = graph
        .members
        .iter()
        .filter(|member| is_ready(graph, member));
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

/// Something that a worker is given to read: whose it is, and the captured content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub artifact: ArtifactName,
    /// The step that left it, in a task graph.
    pub step: Option<StepId>,
    pub content: Hash,
}

/// What the work with this duty is given: the stage's reads, and what needed steps have left.
pub fn inputs(pipeline: &Pipeline, run: &Run, duty: &Duty) -> Vec<Input> {
    let Some(stage) = pipeline.stage(&run.position.stage) else {
        return Vec::new();
    };
    let (reads, found) = match (&stage.work, duty) {
        (Work::Agent(work), Duty::Work) => (&work.reads, None),
        (Work::Review(work), Duty::Review { .. }) => (&work.reads, None),
        (Work::Review(work), Duty::Fix { reviewer }) => (
            &work.reads,
            work.panel
                .get(*reviewer as usize)
                .map(|member| &member.leaves),
        ),
        (Work::Steps(work), Duty::Step { .. }) => (&work.reads, None),
        _ => return Vec::new(),
    };
    let captured = reads
        .all()
        .chain(found)
        .flat_map(|artifact| captured(run, artifact));
    captured.chain(handed_on(run, stage, duty)).collect()
}

/// What was left under this name: by each step of a task graph, or by the last who worked.
fn captured(run: &Run, artifact: &ArtifactName) -> Vec<Input> {
    let input = |step: Option<&StepId>, content: Hash| Input {
        artifact: artifact.clone(),
        step: step.cloned(),
        content,
    };
    let members = run.graphs.values().flat_map(|graph| &graph.members);
    let by_steps: Vec<Input> = members
        .filter_map(|member| Some(input(Some(&member.step.id), *member.left.get(artifact)?)))
        .collect();
    if !by_steps.is_empty() {
        return by_steps;
    }
    let last = run.artifacts.get(artifact);
    last.map(|last| input(None, last.content))
        .into_iter()
        .collect()
}

/// What the steps that this one needs have left.
fn handed_on(run: &Run, stage: &Stage, duty: &Duty) -> Vec<Input> {
    let Duty::Step { step } = duty else {
        return Vec::new();
    };
    let Some(graph) = run.graphs.get(&stage.name) else {
        return Vec::new();
    };
    let needs = graph
        .members
        .iter()
        .filter(|member| member.step.id == *step);
    let needs: Vec<&StepId> = needs.flat_map(|member| &member.step.needs).collect();
    let needed = graph
        .members
        .iter()
        .filter(|member| needs.contains(&&member.step.id));
    needed
        .flat_map(|member| {
            member.left.iter().map(|(artifact, content)| Input {
                artifact: artifact.clone(),
                step: Some(member.step.id.clone()),
                content: *content,
            })
        })
        .collect()
}

/// What our own side must do before anything else can happen: read the steps of a new task graph.
pub fn pending(pipeline: &Pipeline, run: &Run) -> Option<Happening> {
    let stage = pipeline.stage(&run.position.stage)?;
    let Work::Steps(work) = &stage.work else {
        return None;
    };
    let unplanned = work.source.field().is_some()
        && !run.graphs.contains_key(&stage.name)
        && run.standing == Standing::Going;
    unplanned.then(|| Happening::StepsRead {
        stage: stage.name.clone(),
        visit: run.position.visit,
    })
}
