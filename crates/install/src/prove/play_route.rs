//! Plays a route to a stage: sends each of its steps to the hook as the host would.

use std::collections::BTreeMap;

use engine::{
    Act as CommandAct, AgentName, ArtifactName, Begins, Fault, ParamName, SESSION, StepId,
    StepsSource, Work,
};
use hosts::shell_word;
use runtime::failure::Failure;
use scenario::step::{Act, CheckHow, Given, How, Start, Step, Subject};
use scenario::{Leg, Route};

use super::case_error::{CaseOutcome, broken, not_tested};
use super::example_artifacts;
use super::exchange::Expected;
use super::hook_process::ProcessEnd;
use super::payloads::Background;
use super::sandbox;
use super::simulated_worker::{WantedResult, WorkDone};
use super::simulation::{Simulation, Snapshot};

const TASK: &str = "prove the guards";

/// What the stand-in for a check's commands does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandInCheck {
    Passes,
    Fails,
    ChangesTree,
}

/// Snapshots of routes, so that no part of a route is played twice.
#[derive(Default)]
pub(super) struct Snapshots(BTreeMap<String, Snapshot>);

impl Snapshots {
    fn snapshot(&mut self, key: String, simulation: &mut Simulation) -> Result<Snapshot, Failure> {
        let snapshot = simulation.snapshot()?;
        self.0.insert(key, snapshot.clone());
        Ok(snapshot)
    }
}

impl Simulation {
    /// Plays a route to its end, from the last known snapshot.
    pub(super) fn play_route(
        &mut self,
        snapshots: &mut Snapshots,
        route: &Route,
        plan: PlanSource<'_>,
    ) -> CaseOutcome<Snapshot> {
        let key = |legs: &[Leg]| format!("{plan:?}{:?}{legs:?}", route.beginning);
        let known = (0..=route.legs.len()).rev().find_map(|length| {
            let snapshot = snapshots.0.get(&key(&route.legs[..length]))?;
            Some((length, snapshot.clone()))
        });
        let (start, mut snapshot) = match known {
            Some((length, snapshot)) => {
                self.restore(&snapshot)?;
                (length, snapshot)
            }
            None => {
                self.begin(&route.beginning, plan)?;
                (0, snapshots.snapshot(key(&[]), self)?)
            }
        };
        for (place, leg) in route.legs.iter().enumerate().skip(start) {
            self.play(leg)?;
            snapshot = snapshots.snapshot(key(&route.legs[..=place]), self)?;
        }
        Ok(snapshot)
    }

    /// Plays one step, and requires that it leads to the expected stage.
    pub(super) fn play(&mut self, leg: &Leg) -> CaseOutcome<()> {
        match &leg.step {
            Step::Act { act, .. } => self.act(act)?,
            Step::Given(_)
            | Step::Start(_)
            | Step::TreeChanges
            | Step::Change(_)
            | Step::Wait(_) => {}
        }
        self.must_be_in(&leg.stage)
    }

    /// Starts the session and its run.
    fn begin(&mut self, beginning: &[Step], plan: PlanSource<'_>) -> CaseOutcome<()> {
        let mut params = BTreeMap::new();
        let mut given = Vec::new();
        for step in beginning {
            match step {
                Step::Given(Given::Step(step)) => given.push(step.clone()),
                Step::Start(Start { params: with, .. }) => params = with.clone(),
                Step::Given(_)
                | Step::TreeChanges
                | Step::Change(_)
                | Step::Wait(_)
                | Step::Act { .. } => {}
            }
        }
        self.plan = match plan {
            PlanSource::OfRoute => given,
            PlanSource::Given(steps) => steps.to_vec(),
        };
        self.fresh()?;
        self.start(&params)?;
        self.replace_checks(&[self.test_words()])
    }

    fn start(&mut self, params: &BTreeMap<ParamName, String>) -> CaseOutcome<()> {
        let definition = self.pipeline.definition();
        let always_on = definition.begins == Begins::Session && params.is_empty();
        let at_start = definition.stages.iter().any(
            |stage| matches!(&stage.work, Work::Steps(work) if work.source == StepsSource::Start),
        );
        let mut commands = definition.commands.iter();
        let typed = commands.find(|(_, act)| **act == CommandAct::Start);
        let typed = typed.map(|(name, _)| name.to_string());
        match typed {
            Some(name) if !always_on && !at_start => {
                self.hook(self.payloads.session_start("startup"), Expected::Pass)?;
                let words = params
                    .iter()
                    .map(|(name, value)| format!("{name}={value} "));
                let arguments = words.collect::<String>() + TASK;
                self.payloads.prompt += 1;
                self.hook(self.payloads.command(&name, &arguments), Expected::Pass)?;
            }
            Some(_) | None if always_on => {
                self.hook(self.payloads.session_start("startup"), Expected::Pass)?;
            }
            Some(_) | None => self.start_by_command(params)?,
        }
        self.run = self.enrolled()?;
        match &self.run {
            Some(_) => self.now().map(drop),
            None => broken("the session started without a run"),
        }
    }

    /// A session without a run may start one with our command.
    fn start_by_command(&mut self, params: &BTreeMap<ParamName, String>) -> CaseOutcome<()> {
        let steps = self.sandbox.beside("steps.json");
        let shown = steps.to_string_lossy().into_owned();
        let params: Vec<String> = params
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let mut words = vec!["start", &self.word, "--task", TASK];
        for param in &params {
            words.extend(["--param", param]);
        }
        if !self.plan.is_empty() {
            sandbox::write(
                &steps,
                example_artifacts::plan(&self.plan).to_string().as_bytes(),
            )?;
            words.extend(["--steps", &shown]);
        }
        let output = self.command(&words);
        if output.ended != ProcessEnd::Code(0) {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return not_tested(format!("the run does not start: {}", views::line(&said)));
        }
        self.hook(self.payloads.session_start("resume"), Expected::Pass)?;
        Ok(())
    }

    fn act(&mut self, act: &Act) -> CaseOutcome<()> {
        match act {
            Act::End { subject, how, .. } => self.work(subject, how),
            Act::Check { how, .. } => match how {
                CheckHow::Passes => self.check(StandInCheck::Passes),
                CheckHow::Fails => self.check(StandInCheck::Fails),
                CheckHow::ChangesTree => self.check(StandInCheck::ChangesTree),
                CheckHow::TimesOut | CheckHow::CannotStart | CheckHow::PrintsFailure => {
                    not_tested("only a check that cannot run leads there")
                }
            },
            Act::Person(act) => self.person(act),
            Act::Begin(_) | Act::Report { .. } | Act::Host(_) => {
                not_tested("no event of a host leads there")
            }
        }
    }

    fn work(&mut self, subject: &Subject, how: &How) -> CaseOutcome<()> {
        let (agent, step) = self.who_works(subject)?;
        if agent.as_str() == SESSION {
            return self.session_works(how);
        }
        let mut worker = self.begins(&agent, step.as_ref())?;
        match how {
            How::Well => {
                let done = self.does(&mut worker, &WantedResult::Success)?;
                self.ends(&worker, &done)
            }
            How::Outcome(outcome) => {
                let done = self.does(&mut worker, &WantedResult::Outcome(outcome.clone()))?;
                self.ends(&worker, &done)
            }
            How::Adds(_) => {
                let verdict = self.adds(&agent)?;
                let done = self.does(&mut worker, &verdict);
                self.added = None;
                self.ends(&worker, &done?)
            }
            How::Fault(Fault::Crashed) => self.crashes(&worker),
            How::Fault(Fault::Missing) => {
                let tool_uses = self.uses_a_tool(&mut worker)?;
                self.gives_up(&worker, tool_uses)
            }
            How::Fault(Fault::Hollow) => self.gives_up(&worker, 0),
            How::Fault(Fault::Strayed) => {
                sandbox::write(&self.path(STRAY), b"strayed\n")?;
                let tool_uses = self.uses_a_tool(&mut worker)?;
                self.gives_up(&worker, tool_uses)
            }
            How::Fault(Fault::Timeout | Fault::Conflict | Fault::Limited)
            | How::Says(_)
            | How::Leaves { .. } => not_tested("only a headless run leads there"),
        }
    }

    /// Makes the next work add a command, and returns the result with which it may. The command is the
    /// stand-in with one more argument, so that it can run.
    fn adds(&mut self, agent: &AgentName) -> CaseOutcome<WantedResult> {
        let run = self.now()?;
        let leaves = self.leaves_of(&run, agent.as_str());
        let definition = self.pipeline.definition();
        let brings = |name: &ArtifactName| {
            let artifact = definition.artifacts.get(name);
            artifact.is_some_and(|artifact| artifact.approved.is_some())
        };
        let mut told = leaves.by_outcome.iter();
        let told = told.find(|(_, names)| names.iter().any(brings));
        let verdict = told.map_or(WantedResult::Success, |(outcome, _)| {
            WantedResult::Outcome(outcome.clone())
        });
        self.added = Some(format!("{} further", self.test_line()));
        Ok(verdict)
    }

    /// A worker that is sent back as often as possible, and then ends anyway.
    pub(super) fn gives_up(
        &mut self,
        worker: &super::payloads::SimulatedWorker,
        tool_uses: u64,
    ) -> CaseOutcome<()> {
        let done = WorkDone {
            reply: None,
            tool_uses,
        };
        for _ in 0..MOST_ENDS {
            self.stops(worker, None, Expected::Answer)?;
            if self.now()?.dispatches.is_empty() {
                break;
            }
        }
        self.returns(worker, &done)
    }

    /// Work of the session itself is judged when the session stops.
    fn session_works(&mut self, how: &How) -> CaseOutcome<()> {
        let verdict = match how {
            How::Well => WantedResult::Success,
            How::Outcome(outcome) => WantedResult::Outcome(outcome.clone()),
            How::Adds(_) | How::Fault(_) | How::Says(_) | How::Leaves { .. } => {
                return not_tested("a session that continues has no faults");
            }
        };
        self.change()?;
        self.leave(None, &verdict)?;
        self.hook(self.payloads.stop(Background::Nobody), Expected::Answer)?;
        Ok(())
    }

    fn who_works(&self, subject: &Subject) -> CaseOutcome<(AgentName, Option<StepId>)> {
        let id = match subject {
            Subject::Agent(agent) => return Ok((agent.clone(), None)),
            Subject::AgentWithStep(agent, step) => return Ok((agent.clone(), Some(step.clone()))),
            Subject::Step(id) => id,
        };
        let run = self.now()?;
        let graph = run.graphs.get(&run.position.stage);
        let mut members = graph.into_iter().flat_map(|graph| &graph.members);
        match members.find(|member| member.step.id == *id) {
            Some(member) => Ok((member.step.agent.clone(), Some(id.clone()))),
            None => broken(format!("step {id} is not planned")),
        }
    }

    /// The stand-in for the commands of every check.
    pub(super) fn test_words(&self) -> Vec<String> {
        let script = self.sandbox.beside("stand-in.sh");
        vec!["sh".to_owned(), script.to_string_lossy().into_owned()]
    }

    /// The stand-in as one shell line.
    pub(super) fn test_line(&self) -> String {
        let words: Vec<String> = self
            .test_words()
            .iter()
            .map(|word| shell_word(word))
            .collect();
        words.join(" ")
    }

    /// Runs the check of the current stage, with a stand-in for its commands.
    pub(super) fn check(&mut self, check: StandInCheck) -> CaseOutcome<()> {
        let script = match check {
            StandInCheck::Passes => "exit 0\n",
            StandInCheck::Fails => "exit 1\n",
            // A plain new file would be what a test run leaves behind.
            StandInCheck::ChangesTree => "echo changed > .changed-by-the-check\n",
        };
        sandbox::write(&self.sandbox.beside("stand-in.sh"), script.as_bytes())?;
        let run = self.run.clone();
        let run = run.as_ref().map_or("", |run| run.as_str());
        let output = self.command(&["check", run]);
        match output.ended {
            ProcessEnd::Code(0 | 1) => Ok(()),
            ProcessEnd::Code(_)
            | ProcessEnd::Signal(_)
            | ProcessEnd::TimedOut
            | ProcessEnd::NotStarted(_) => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                not_tested(format!("`gatewright check` fails: {}", views::line(&said)))
            }
        }
    }
}

/// Where the steps of a task graph come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum PlanSource<'a> {
    OfRoute,
    Given(&'a [engine::Step]),
}

/// A path that no sensible `writes` covers.
pub(super) const STRAY: &str = "~strayed";

/// More often than the engine sends a worker back.
const MOST_ENDS: u32 = 4;
