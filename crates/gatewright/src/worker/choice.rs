//! Which worker: the one whose turn it is and whom its host cannot start.

use engine::{
    AgentName, ArtifactName, Driver, HOST, Next, NextDuty, Pipeline, Refusal, Rule, Run, Stage,
    StageName, Status, StepId, Work, WorkerSettings,
};
use hosts::worker::Program;

use crate::failure::Failure;

/// A script of the definition.
const COMMAND: &str = "command";

/// A worker that we start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub stage: StageName,
    pub agent: AgentName,
    pub step: Option<StepId>,
    pub runner: Runner,
    pub settings: WorkerSettings,
    pub leaves: Vec<ArtifactName>,
}

/// Who starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    Program(Program),
    Command,
}

impl Runner {
    pub fn word(self) -> &'static str {
        match self {
            Self::Program(program) => program.word(),
            Self::Command => COMMAND,
        }
    }
}

impl Choice {
    /// Is the same started for both? Two steps of one graph differ in nothing else.
    pub fn has_same_order(&self, other: &Self) -> bool {
        let this = (&self.stage, &self.settings, &self.leaves);
        this == (&other.stage, &other.settings, &other.leaves)
    }
}

/// The worker whose turn it is, or why there is none that is started here.
pub fn choose(
    pipeline: &Pipeline,
    run: &Run,
    wanted: Option<&StepId>,
) -> Result<Result<Choice, Refusal>, Failure> {
    let Some(stage) = pipeline.stage(&run.position.stage) else {
        return Ok(Err(refuse(
            pipeline,
            run,
            Rule::AgentOutOfTurn,
            String::new(),
        )));
    };
    let candidates = match wanted {
        Some(step) => named(run, stage, step),
        None => due(pipeline, run, stage),
    };
    for candidate in candidates {
        if let Some(choice) = candidate.choice(stage)? {
            return Ok(Ok(choice));
        }
    }
    let (rule, reason) = why_nobody(pipeline, run, stage, wanted);
    Ok(Err(refuse(pipeline, run, rule, reason)))
}

fn refuse(pipeline: &Pipeline, run: &Run, rule: Rule, reason: String) -> Refusal {
    let next = engine::next(pipeline, run);
    Refusal { rule, reason, next }
}

/// Somebody who may work, whoever starts them.
struct Candidate<'a> {
    agent: AgentName,
    step: Option<StepId>,
    settings: &'a WorkerSettings,
    leaves: Vec<ArtifactName>,
}

impl Candidate<'_> {
    /// Nothing where the host starts it.
    fn choice(self, stage: &Stage) -> Result<Option<Choice>, Failure> {
        let Some(runner) = &self.settings.runner else {
            return Ok(None);
        };
        let runner = match (runner.as_str(), Program::of(runner)) {
            (HOST, _) => return Ok(None),
            (COMMAND, _) => Runner::Command,
            (_, Some(program)) => Runner::Program(program),
            (unknown, None) => return Err(unknown_runner(&self.agent, unknown)),
        };
        Ok(Some(Choice {
            stage: stage.name.clone(),
            agent: self.agent,
            step: self.step,
            runner,
            settings: self.settings.clone(),
            leaves: self.leaves,
        }))
    }
}

fn unknown_runner(agent: &AgentName, runner: &str) -> Failure {
    let known: Vec<&str> = Program::ALL.iter().map(|program| program.word()).collect();
    Failure::settings(format!(
        "the runner '{runner}' of '{agent}' cannot be started"
    ))
    .hint(format!(
        "there are {HOST}, {} and {COMMAND}",
        known.join(", ")
    ))
}

/// Those whose turn it is.
fn due<'a>(pipeline: &Pipeline, run: &Run, stage: &'a Stage) -> Vec<Candidate<'a>> {
    let next = engine::next(pipeline, run).into_iter();
    let candidates = next.filter_map(|next| match next {
        Next::Agent {
            agent,
            duty,
            leaves,
            ..
        } => Some(Candidate {
            agent,
            settings: settings(stage, &duty)?,
            step: match duty {
                NextDuty::Step { step, .. } => Some(step),
                NextDuty::Work | NextDuty::Review { .. } | NextDuty::Fix { .. } => None,
            },
            leaves,
        }),
        _ => None,
    });
    candidates.collect()
}

/// The step of this name, whether its turn has come or not: the engine says why it has not.
fn named<'a>(run: &Run, stage: &'a Stage, wanted: &StepId) -> Vec<Candidate<'a>> {
    let (Work::Steps(work), Some(graph)) = (&stage.work, run.graphs.get(&stage.name)) else {
        return Vec::new();
    };
    let members = graph.members.iter();
    let members = members.filter(|member| member.step.id == *wanted);
    let candidates = members.map(|member| Candidate {
        agent: member.step.agent.clone(),
        step: Some(wanted.clone()),
        settings: &work.settings,
        leaves: work.leaves.clone(),
    });
    candidates.collect()
}

fn settings<'a>(stage: &'a Stage, duty: &NextDuty) -> Option<&'a WorkerSettings> {
    match (&stage.work, duty) {
        (Work::Agent(work), _) => Some(&work.settings),
        (Work::Steps(work), _) => Some(&work.settings),
        (Work::Review(work), NextDuty::Review { reviewer, .. }) => {
            let member = work.panel.get(*reviewer as usize)?;
            Some(&member.settings)
        }
        (Work::Review(work), NextDuty::Fix { .. }) => Some(&work.owner_settings),
        _ => None,
    }
}

fn why_nobody(
    pipeline: &Pipeline,
    run: &Run,
    stage: &Stage,
    wanted: Option<&StepId>,
) -> (Rule, String) {
    match engine::status(pipeline, run) {
        Status::Waiting(why) => {
            return (Rule::RunWaits, format!("the run waits for a person: {why}"));
        }
        Status::Queued => return (Rule::RunWaits, "the run is queued".to_owned()),
        Status::Completed | Status::Failed | Status::Cancelled => {
            return (Rule::RunIsOver, "the run is over".to_owned());
        }
        Status::Running => {}
    }
    if let Some(step) = wanted {
        return match named(run, stage, step).pop() {
            Some(member) => (Rule::AgentOutOfTurn, of_the_host(run, &member.agent)),
            None => (
                Rule::StepNotReady,
                format!("{} has no step '{step}'", stage.name),
            ),
        };
    }
    let next = engine::next(pipeline, run);
    let host = next.iter().find_map(|next| match next {
        Next::Agent { agent, .. } => Some((Rule::AgentOutOfTurn, of_the_host(run, agent))),
        _ => None,
    });
    let busy = next.iter().find_map(|next| match next {
        Next::Under { agent, .. } => {
            let reason = format!("'{agent}' is already at work in {}", stage.name);
            Some((Rule::AgentBusy, reason))
        }
        _ => None,
    });
    let nobody = || format!("{} has no worker that is started here", stage.name);
    host.or(busy)
        .unwrap_or_else(|| (Rule::AgentOutOfTurn, nobody()))
}

fn of_the_host(run: &Run, agent: &AgentName) -> String {
    match run.driver {
        Driver::ByHand => format!(
            "'{agent}' is not started here: have it work, then tell with `gatewright report`"
        ),
        Driver::Guarded | Driver::Headless => {
            format!("'{agent}' is an agent of the session: call it with the Agent tool")
        }
    }
}
