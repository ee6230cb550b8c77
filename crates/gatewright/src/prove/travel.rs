//! The way to a stage: the steps of a route, told to the hook as the host would tell them.

use std::collections::BTreeMap;

use engine::{
    Act as CommandAct, AgentName, ArtifactName, Begins, Fault, Happening, ParamName, PersonEvent,
    Questions, SESSION, SessionId, StepId, StepsSource, Who, Work,
};
use hosts::shell_word;
use runtime::failure::Failure;
use scenario::step::{Act, CheckHow, Given, How, PersonAct, Start, Step, Subject};
use scenario::{Leg, Route};

use super::exchange::Expected;
use super::folder;
use super::made::{self, QUESTION};
use super::process::Ended;
use super::scene::{Manner, Moment, Scene};
use super::trouble::{Tried, broken, not_shown};
use super::wire::Background;
use super::work::{Done, Verdict};

const TASK: &str = "prove the guards";

/// What the stand-in does in the place of a check's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    Passes,
    Fails,
    ChangesTree,
}

/// Moments on the way, so that no way is gone twice.
#[derive(Default)]
pub struct Moments(BTreeMap<String, Moment>);

impl Moments {
    fn keep(&mut self, key: String, scene: &mut Scene) -> Result<Moment, Failure> {
        let moment = scene.keep()?;
        self.0.insert(key, moment.clone());
        Ok(moment)
    }
}

impl Scene {
    /// Goes to the end of a route; what was seen of it before is not played again.
    pub fn travel(
        &mut self,
        moments: &mut Moments,
        route: &Route,
        plan: Plan<'_>,
    ) -> Tried<Moment> {
        let key = |legs: &[Leg]| format!("{plan:?}{:?}{legs:?}", route.beginning);
        let known = (0..=route.legs.len()).rev().find_map(|length| {
            let moment = moments.0.get(&key(&route.legs[..length]))?;
            Some((length, moment.clone()))
        });
        let (start, mut moment) = match known {
            Some((length, moment)) => {
                self.restore(&moment)?;
                (length, moment)
            }
            None => {
                self.begin(&route.beginning, plan)?;
                (0, moments.keep(key(&[]), self)?)
            }
        };
        for (place, leg) in route.legs.iter().enumerate().skip(start) {
            self.play(leg)?;
            moment = moments.keep(key(&route.legs[..=place]), self)?;
        }
        Ok(moment)
    }

    /// Plays one step, and insists that it leads where the engine says.
    pub fn play(&mut self, leg: &Leg) -> Tried<()> {
        match &leg.step {
            Step::Act { act, .. } => self.act(act)?,
            Step::Given(_) | Step::Start(_) | Step::TreeChanges | Step::Wait(_) => {}
        }
        self.is_in(&leg.stage)
    }

    /// A session that begins, and the run with it.
    fn begin(&mut self, beginning: &[Step], plan: Plan<'_>) -> Tried<()> {
        let mut params = BTreeMap::new();
        let mut given = Vec::new();
        for step in beginning {
            match step {
                Step::Given(Given::Step(step)) => given.push(step.clone()),
                Step::Start(Start { params: with, .. }) => params = with.clone(),
                Step::Given(_) | Step::TreeChanges | Step::Wait(_) | Step::Act { .. } => {}
            }
        }
        self.plan = match plan {
            Plan::OfRoute => given,
            Plan::Own(steps) => steps.to_vec(),
        };
        self.fresh()?;
        self.start(&params)?;
        self.replace_checks(&[self.test_words()])
    }

    fn start(&mut self, params: &BTreeMap<ParamName, String>) -> Tried<()> {
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
                self.hook(self.pen.session_start("startup"), Expected::Pass)?;
                let words = params
                    .iter()
                    .map(|(name, value)| format!("{name}={value} "));
                let arguments = words.collect::<String>() + TASK;
                self.pen.prompt += 1;
                self.hook(self.pen.command(&name, &arguments), Expected::Pass)?;
            }
            _ if always_on => {
                self.hook(self.pen.session_start("startup"), Expected::Pass)?;
            }
            _ => self.start_by_command(params)?,
        }
        self.run = self.enrolled()?;
        match &self.run {
            Some(_) => self.now().map(drop),
            None => broken("the session started without a run"),
        }
    }

    /// A session without a run may begin one itself.
    fn start_by_command(&mut self, params: &BTreeMap<ParamName, String>) -> Tried<()> {
        let steps = self.folder.beside("steps.json");
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
            folder::write(&steps, made::plan(&self.plan).to_string().as_bytes())?;
            words.extend(["--steps", &shown]);
        }
        let got = self.command(&words);
        if got.ended != Ended::Code(0) {
            let said = String::from_utf8_lossy(&got.stderr).into_owned();
            return not_shown(format!("the run does not start: {}", views::line(&said)));
        }
        self.hook(self.pen.session_start("resume"), Expected::Pass)?;
        Ok(())
    }

    fn act(&mut self, act: &Act) -> Tried<()> {
        match act {
            Act::End { subject, how, .. } => self.work(subject, how),
            Act::Check { how, .. } => match how {
                CheckHow::Passes => self.check(Check::Passes),
                CheckHow::Fails => self.check(Check::Fails),
                CheckHow::ChangesTree => self.check(Check::ChangesTree),
                CheckHow::TimesOut | CheckHow::CannotStart | CheckHow::PrintsFailure => {
                    not_shown("only a check that cannot run leads there")
                }
            },
            Act::Person(act) => self.person(act),
            Act::Begin(_) | Act::Report { .. } | Act::Host(_) => {
                not_shown("no event of a host leads there")
            }
        }
    }

    fn work(&mut self, subject: &Subject, how: &How) -> Tried<()> {
        let (agent, step) = self.who_works(subject)?;
        if agent.as_str() == SESSION {
            return self.session_works(how);
        }
        let mut worker = self.begins(&agent, step.as_ref())?;
        match how {
            How::Well => {
                let done = self.does(&mut worker, &Verdict::Well)?;
                self.ends(&worker, &done)
            }
            How::Outcome(outcome) => {
                let done = self.does(&mut worker, &Verdict::Outcome(outcome.clone()))?;
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
                folder::write(&self.path(STRAY), b"strayed\n")?;
                let tool_uses = self.uses_a_tool(&mut worker)?;
                self.gives_up(&worker, tool_uses)
            }
            How::Fault(Fault::Timeout | Fault::Conflict | Fault::Limited)
            | How::Says(_)
            | How::Leaves { .. } => not_shown("only a headless run leads there"),
        }
    }

    /// The next work brings a further command, and ends so that it may. The command is the stand-in with
    /// one word more, so that it can be run.
    fn adds(&mut self, agent: &AgentName) -> Tried<Verdict> {
        let run = self.now()?;
        let leaves = self.leaves_of(&run, agent.as_str());
        let definition = self.pipeline.definition();
        let brings = |name: &ArtifactName| {
            let artifact = definition.artifacts.get(name);
            artifact.is_some_and(|artifact| artifact.approved.is_some())
        };
        let mut told = leaves.by_outcome.iter();
        let told = told.find(|(_, names)| names.iter().any(brings));
        let verdict = told.map_or(Verdict::Well, |(outcome, _)| {
            Verdict::Outcome(outcome.clone())
        });
        self.added = Some(format!("{} further", self.test_line()));
        Ok(verdict)
    }

    /// A worker that is sent back as often as that happens, and then ends all the same.
    pub fn gives_up(&mut self, worker: &super::wire::Worker, tool_uses: u64) -> Tried<()> {
        let done = Done {
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

    /// The session's own work is judged when it stops.
    fn session_works(&mut self, how: &How) -> Tried<()> {
        let verdict = match how {
            How::Well => Verdict::Well,
            How::Outcome(outcome) => Verdict::Outcome(outcome.clone()),
            How::Adds(_) | How::Fault(_) | How::Says(_) | How::Leaves { .. } => {
                return not_shown("a session that continues has no faults");
            }
        };
        self.change()?;
        self.leave(None, &verdict)?;
        self.hook(self.pen.stop(Background::Nobody), Expected::Answer)?;
        Ok(())
    }

    fn who_works(&self, subject: &Subject) -> Tried<(AgentName, Option<StepId>)> {
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

    /// The stand-in that is run in the place of every check's commands.
    pub fn test_words(&self) -> Vec<String> {
        let script = self.folder.beside("stand-in.sh");
        vec!["sh".to_owned(), script.to_string_lossy().into_owned()]
    }

    /// The same as a line.
    pub fn test_line(&self) -> String {
        let words: Vec<String> = self
            .test_words()
            .iter()
            .map(|word| shell_word(word))
            .collect();
        words.join(" ")
    }

    /// Runs the check of the present stage, with a stand-in for its commands.
    pub fn check(&mut self, check: Check) -> Tried<()> {
        let script = match check {
            Check::Passes => "exit 0\n",
            Check::Fails => "exit 1\n",
            Check::ChangesTree => "echo changed > changed-by-the-check.txt\n",
        };
        folder::write(&self.folder.beside("stand-in.sh"), script.as_bytes())?;
        let run = self.run.clone();
        let run = run.as_ref().map_or("", |run| run.as_str());
        let got = self.command(&["check", run]);
        match got.ended {
            Ended::Code(0 | 1) => Ok(()),
            _ => {
                let said = String::from_utf8_lossy(&got.stderr).into_owned();
                not_shown(format!("`gatewright check` fails: {}", views::line(&said)))
            }
        }
    }

    fn person(&mut self, act: &PersonAct) -> Tried<()> {
        match act {
            PersonAct::Answer(choice) => self.answers(choice.as_str()),
            PersonAct::Answers(_) => self.answers("The first."),
            PersonAct::Finish => self.finishes(),
            _ => not_shown("only a person at a terminal leads there"),
        }
    }

    /// A person answers the question of the present stage in the host's own dialogue.
    pub fn answers(&mut self, answer: &str) -> Tried<()> {
        self.answer(Manner::Usual, answer)
    }

    pub fn answer(&mut self, manner: Manner<'_>, answer: &str) -> Tried<()> {
        let run = self.now()?;
        let stage = self.pipeline.stage(&run.position.stage);
        let Some((stage, Work::Ask(ask))) = stage.map(|stage| (stage, &stage.work)) else {
            return broken(format!("{} has no question", run.position.stage));
        };
        let labels: Vec<&str> = stage.on.keys().map(engine::Outcome::as_str).collect();
        let question = match &ask.questions {
            Questions::Choice => engine::question_of(&self.pipeline, &run).unwrap_or_default(),
            Questions::From { .. } => QUESTION.1.to_owned(),
        };
        let sent = self.pen.answered(&question, &labels, answer);
        self.hook_as(manner, sent, Expected::Pass).map(drop)
    }

    /// A person ends an open stage: by a command of the pipeline, else as at their terminal.
    fn finishes(&mut self) -> Tried<()> {
        let definition = self.pipeline.definition();
        let mut commands = definition.commands.iter();
        let typed = commands.find(|(_, act)| **act == CommandAct::Finish);
        match typed.map(|(name, _)| name.to_string()) {
            Some(name) => {
                self.pen.prompt += 1;
                self.hook(self.pen.command(&name, ""), Expected::Pass)?;
                Ok(())
            }
            None => self.told_by_person(Happening::Person(PersonEvent::FinishAsked)),
        }
    }

    /// What a person does at a terminal, where no hook sees it.
    fn told_by_person(&self, what: Happening) -> Tried<()> {
        let session = SessionId::parse(&self.pen.session)
            .map_err(|problem| Failure::bug(format!("a session of ours has no id ({problem})")))?;
        self.told(&Who::Through(session), what, None).map(drop)
    }
}

/// Which steps a task graph has on the way.
#[derive(Clone, Copy, Debug)]
pub enum Plan<'a> {
    OfRoute,
    Own(&'a [engine::Step]),
}

/// A path that no sensible `writes` covers.
pub const STRAY: &str = "~strayed";

/// More often than a worker is sent back.
const MOST_ENDS: u32 = 4;
