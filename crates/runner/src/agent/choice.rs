//! Chooses the next worker: one that is due and that its host cannot start.

use engine::{
    AgentName, AgentPattern, ArtifactName, Conversation, Dispatch, Driver, Duty, Next, NextDuty,
    Pipeline, Refusal, Rule, Run, RunnerName, SESSION, Service, ServiceLimit, Stage, StageName,
    Status, StepId, Time, Work, WorkerSettings,
};
use hosts::Program;
use runtime::drive_settings::DriveSettings;
use runtime::failure::Failure;

/// A script of the definition.
const COMMAND: &str = "command";

/// A worker that this process starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub stage: StageName,
    pub agent: AgentName,
    pub step: Option<StepId>,
    pub runner: Runner,
    pub settings: WorkerSettings,
    /// As the definition has them: a fallback may work instead.
    pub own: WorkerSettings,
    pub leaves: Vec<ArtifactName>,
}

/// What starts the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    Program(Program),
    /// A script of the definition.
    Command,
    /// The program that replaces every agent in a rehearsal.
    StandIn,
}

impl Runner {
    pub fn word(self) -> &'static str {
        match self {
            Self::Program(program) => program.word(),
            Self::Command => COMMAND,
            Self::StandIn => Service::STAND_IN,
        }
    }

    /// The names of all runners, with that of a rehearsal.
    pub fn words() -> Vec<&'static str> {
        let mut words = runtime::runners::known();
        words.push(Self::StandIn.word());
        words
    }

    /// The runner of this name; `None` if this process cannot start it.
    pub fn parse(word: &str) -> Option<Self> {
        let programs = Program::ALL.into_iter().map(Self::Program);
        let mut all = programs.chain([Self::Command]);
        all.find(|runner| runner.word() == word)
    }
}

/// Decides which agents this process starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starter {
    /// The session starts the agents of its host; this process starts the others.
    Session,
    /// This process starts all agents; `usual` starts those without a named runner.
    Headless { usual: Runner },
    /// This process starts the same program for every agent.
    Rehearsal,
}

impl Starter {
    /// The starter of a headless run with these settings.
    pub fn of(settings: &DriveSettings) -> Result<Self, Failure> {
        if settings.stand_in.is_some() {
            return Ok(Self::Rehearsal);
        }
        match Runner::parse(&settings.runner) {
            Some(usual) => Ok(Self::Headless { usual }),
            None => Err(Failure::settings(format!(
                "unknown runner '{}'",
                settings.runner
            ))),
        }
    }

    /// The runner of this agent; `None` if its session starts it.
    fn runner(self, agent: &AgentName, named: Option<&str>) -> Result<Option<Runner>, Failure> {
        match (self, named) {
            (Self::Rehearsal, _) => Ok(Some(Runner::StandIn)),
            (Self::Session, None) => Ok(None),
            (Self::Headless { usual }, None) => Ok(Some(usual)),
            (Self::Session | Self::Headless { .. }, Some(word)) => match Runner::parse(word) {
                Some(runner) => Ok(Some(runner)),
                None => Err(unknown_runner(agent, word)),
            },
        }
    }
}

impl Choice {
    /// What works on it.
    pub fn service(&self) -> Result<Service, Failure> {
        let runner = RunnerName::parse(self.runner.word());
        Ok(Service {
            runner: runner.map_err(|problem| Failure::bug(problem.to_string()))?,
            model: self.settings.model.clone(),
        })
    }

    /// The same work by each program and model that may do it, its own first.
    fn ways(&self, starter: Starter) -> Result<Vec<Self>, Failure> {
        let services = self.own.services();
        let ways = services.map(|service| {
            let named = service.runner.as_ref().map(RunnerName::as_str);
            let runner = starter.runner(&self.agent, named)?;
            Ok(Self {
                runner: runner.unwrap_or(self.runner),
                settings: WorkerSettings {
                    runner: service.runner,
                    model: service.model,
                    ..self.own.clone()
                },
                ..self.clone()
            })
        });
        ways.collect()
    }

    /// The first way whose service does not ask to wait; otherwise the limit that ends first.
    pub fn available(
        &self,
        starter: Starter,
        run: &Run,
        now: Time,
    ) -> Result<Result<Self, ServiceLimit>, Failure> {
        let mut soonest: Option<&ServiceLimit> = None;
        for way in self.ways(starter)? {
            let Some(limit) = run.limit(&way.service()?, now) else {
                return Ok(Ok(way));
            };
            let is_sooner = soonest.is_none_or(|known| limit.until < known.until);
            soonest = if is_sooner { Some(limit) } else { soonest };
        }
        match soonest {
            Some(limit) => Ok(Err(limit.clone())),
            None => Ok(Ok(self.clone())),
        }
    }

    /// The limits that other runs have met of the services before the first that nobody knows to be limited.
    /// Where there is no such service, its own is asked: that costs less than a run that rests for nothing.
    pub fn passed_over(
        &self,
        starter: Starter,
        run: &Run,
        known: &[ServiceLimit],
        now: Time,
    ) -> Result<Vec<ServiceLimit>, Failure> {
        let mut passed = Vec::new();
        for way in self.ways(starter)? {
            let service = way.service()?;
            let of_others = known.iter().find(|limit| limit.service == service);
            match (run.limit(&service, now), of_others) {
                (None, None) => return Ok(passed),
                (None, Some(limit)) => passed.push(limit.clone()),
                (Some(_), _) => {}
            }
        }
        Ok(Vec::new())
    }

    /// Would both be started the same way? Two steps of one graph differ only in their step.
    pub fn has_same_order(&self, other: &Self) -> bool {
        let this = (&self.stage, &self.settings, &self.leaves);
        this == (&other.stage, &other.settings, &other.leaves)
    }
}

/// The due worker, or why this process starts none.
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
        if run.session_starts(candidate.settings.runner.as_ref()) {
            continue;
        }
        if let Some(choice) = candidate.choice(stage, Starter::Session)? {
            return Ok(Ok(choice));
        }
    }
    let (rule, reason) = why_nobody(pipeline, run, stage, wanted);
    Ok(Err(refuse(pipeline, run, rule, reason)))
}

fn refuse(pipeline: &Pipeline, run: &Run, rule: Rule, reason: String) -> Refusal {
    let next = engine::next(pipeline, run);
    Refusal {
        rule,
        reason,
        next,
        own_work: false,
        artifact: None,
    }
}

/// A worker that may start, no matter what starts it.
struct Candidate<'a> {
    agent: AgentName,
    step: Option<StepId>,
    settings: &'a WorkerSettings,
    leaves: Vec<ArtifactName>,
}

impl Candidate<'_> {
    /// `None` if the host starts it.
    fn choice(self, stage: &Stage, starter: Starter) -> Result<Option<Choice>, Failure> {
        let named = self.settings.runner.as_ref().map(RunnerName::as_str);
        let runner = starter.runner(&self.agent, named)?;
        Ok(runner.map(|runner| Choice {
            stage: stage.name.clone(),
            agent: self.agent,
            step: self.step,
            runner,
            settings: self.settings.clone(),
            own: self.settings.clone(),
            leaves: self.leaves,
        }))
    }
}

/// All workers that may start now, in the order of the definition.
pub fn all_due(pipeline: &Pipeline, run: &Run, starter: Starter) -> Result<Vec<Choice>, Failure> {
    let Some(stage) = pipeline.stage(&run.position.stage) else {
        return Ok(Vec::new());
    };
    let candidates = due(pipeline, run, stage).into_iter();
    let choices = candidates.map(|candidate| candidate.choice(stage, starter));
    choices.filter_map(Result::transpose).collect()
}

/// The worker of an admitted dispatch.
pub fn of_dispatch(
    pipeline: &Pipeline,
    dispatch: &Dispatch,
    starter: Starter,
) -> Result<Option<Choice>, Failure> {
    let Some(stage) = pipeline.stage(&dispatch.stage) else {
        return Ok(None);
    };
    let duty = match &dispatch.duty {
        Duty::Work | Duty::Open => NextDuty::Work,
        Duty::Review { reviewer } => NextDuty::Review {
            reviewer: *reviewer,
            round: 0,
            rounds: 0,
        },
        Duty::Fix { .. } => NextDuty::Fix {
            findings_of: dispatch.agent.clone(),
        },
        Duty::Step { step } => NextDuty::Step {
            step: step.clone(),
            title: String::new(),
        },
    };
    let candidate = Candidate {
        agent: dispatch.agent.clone(),
        step: dispatch.duty.step().cloned(),
        settings: settings(stage, &duty).unwrap_or(&NO_SETTINGS),
        leaves: engine::leaves_of(pipeline, dispatch)
            .all()
            .into_iter()
            .cloned()
            .collect(),
    };
    let Some(choice) = candidate.choice(stage, starter)? else {
        return Ok(None);
    };
    // A fallback may be at work on it.
    let ways = choice.ways(starter)?.into_iter();
    let mut ways = ways.filter(|way| way.service().ok() == dispatch.service);
    Ok(Some(ways.next().unwrap_or(choice)))
}

/// Agents of an open stage have no settings.
static NO_SETTINGS: WorkerSettings = WorkerSettings {
    runner: None,
    model: None,
    prompt: None,
    conversation: Conversation::Fresh,
    fallbacks: Vec::new(),
};

fn unknown_runner(agent: &AgentName, runner: &str) -> Failure {
    let known: Vec<&str> = Program::ALL.iter().map(|program| program.word()).collect();
    Failure::settings(format!(
        "gatewright cannot start the runner '{runner}' of '{agent}'"
    ))
    .hint(format!(
        "the runners are {} and {COMMAND}",
        known.join(", ")
    ))
}

/// The workers that are due.
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
        Next::Session { leaves, .. } => Some(Candidate {
            agent: AgentName::parse(SESSION).ok()?,
            settings: settings(stage, &NextDuty::Work)?,
            step: None,
            leaves,
        }),
        Next::AnyOf { agents } if run.driver == Driver::Headless => Some(Candidate {
            agent: of_open_stage(stage, &agents)?,
            settings: &NO_SETTINGS,
            step: None,
            leaves: Vec::new(),
        }),
        Next::AnyOf { .. }
        | Next::Under { .. }
        | Next::Check { .. }
        | Next::Plan { .. }
        | Next::Route { .. }
        | Next::Answer { .. }
        | Next::Answers { .. }
        | Next::Finish
        | Next::Decide { .. }
        | Next::TakeUp
        | Next::Nothing => None,
    });
    candidates.collect()
}

/// An open stage does not say who works: the first agent whose end moves the run on does. If there
/// is none, a general agent works, and a person says when the stage is done.
fn of_open_stage(stage: &Stage, allowed: &[AgentPattern]) -> Option<AgentName> {
    let name = |pattern: &AgentPattern| AgentName::parse(pattern.as_str()).ok();
    let leading = stage.after().iter().find_map(|after| name(&after.agent));
    let anything = || {
        let all = allowed.iter().any(|pattern| pattern.covers(ANYTHING));
        all.then(|| AgentName::parse(ANYTHING).ok()).flatten()
    };
    leading
        .or_else(anything)
        .or_else(|| allowed.iter().find_map(name))
}

/// The agent that every session has.
const ANYTHING: &str = "general-purpose";

/// The step of this name, due or not: the engine explains why it is not due.
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
        (Work::Review(_), NextDuty::Work | NextDuty::Step { .. })
        | (Work::Open(_) | Work::Check(_) | Work::Ask(_) | Work::Route(_) | Work::End(_), _) => {
            None
        }
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
    let host = next.iter().find_map(|next| {
        let Next::Agent { agent, .. } = next else {
            return None;
        };
        Some((Rule::AgentOutOfTurn, of_the_host(run, agent)))
    });
    let busy = next.iter().find_map(|next| {
        let Next::Under { agent, .. } = next else {
            return None;
        };
        let reason = format!("'{agent}' is already at work in {}", stage.name);
        Some((Rule::AgentBusy, reason))
    });
    let nobody = || format!("gatewright starts no worker in {}", stage.name);
    host.or(busy)
        .unwrap_or_else(|| (Rule::AgentOutOfTurn, nobody()))
}

fn of_the_host(run: &Run, agent: &AgentName) -> String {
    match run.driver {
        Driver::ByHand => format!(
            "gatewright does not start '{agent}': let it work, then report with `gatewright report`"
        ),
        Driver::Guarded => {
            format!("'{agent}' is an agent of the session: call it with the Agent tool")
        }
        Driver::Headless => format!(
            "'{agent}' is started by the process that drives the run: `gatewright resume {}`",
            run.id
        ),
    }
}
