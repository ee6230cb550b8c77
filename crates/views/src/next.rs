//! What may legally happen now, who does it, and what to type.

mod asked_about;
mod last_round;
mod questions;
mod render;
mod shown_artifact;

use std::collections::BTreeMap;

use engine::{
    AgentName, AgentPattern, Artifact, ArtifactName, Choice, Definition, Driver, Hash, Next,
    NextDuty, Outcome, Pipeline, Question, Run, RunId, Source, StageName, Standing, StepId, Time,
    WordsRule,
};
use serde_json::Value;

use crate::cause::Causes;
use crate::change::ChangeReport;
use crate::duty::{duty_words, worker_settings};
use crate::owner::Owner;
use crate::paint::Paint;
use crate::placeholder::{filled, wanted};
use crate::rest::Rest;
use crate::safe::Untrusted;
use crate::session_prompt;
use crate::time::moment;
use crate::undelivered::Undelivered;
use crate::words;
pub(crate) use questions::{json as question_json, show as show_questions};
pub use shown_artifact::{ShownArtifact, ShownReview, ShownText};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextView {
    pub run: RunId,
    pub stage: StageName,
    /// It has not begun, and a worker takes it up.
    pub is_queued: bool,
    /// What led here.
    pub causes: Causes,
    /// What a person is asked about.
    pub about: Vec<ShownArtifact>,
    /// What the run has changed, where a person is asked.
    pub change: Option<ChangeReport>,
    /// The questions of a worker, where somebody has read them.
    pub questions: Vec<Question>,
    /// The work that a completed run has not handed over.
    pub undelivered: Option<Undelivered>,
    /// Until when nobody works on it, where somebody has looked.
    pub rest: Option<Rest>,
    pub actions: Vec<NextAction>,
}

/// One legal next thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextAction {
    pub actor: Actor,
    /// The whole sentence, with its actor.
    pub what: Untrusted,
    /// How the session that holds the run starts or continues the agent.
    pub call: Option<Untrusted>,
    /// What to type, each a choice of its own.
    pub commands: Vec<String>,
    pub reads: Vec<ArtifactSpec>,
    pub leaves: Vec<ArtifactSpec>,
}

/// Who does the next thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    Agent(AgentName),
    /// The main session itself.
    Session,
    /// Any agent that one of these patterns matches.
    AnyAgent(Vec<Untrusted>),
    Person,
    /// Gatewright, when somebody types the command.
    Gatewright,
    Nobody,
}

/// An artifact as its reader or writer needs to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactSpec {
    pub name: ArtifactName,
    pub source: &'static str,
    /// With the run, the step and the parameters filled in.
    pub path: Option<Untrusted>,
    pub format: &'static str,
    pub require: Vec<Untrusted>,
    /// Fields, and the text that each must contain.
    pub equals: Vec<(Untrusted, Untrusted)>,
    pub verdict: Option<VerdictField>,
    pub strict: bool,
    pub captured: Option<Hash>,
    /// The command that shows the captured copy of an artifact without a file.
    pub shown_by: Option<String>,
}

/// The field with the verdict, and its words with what they mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictField {
    pub field: Untrusted,
    pub words: Vec<(Untrusted, Outcome)>,
}

/// Describes the engine's list for the run's driver.
pub fn next(pipeline: &Pipeline, run: &Run, legal: &[Next]) -> NextView {
    next_by(pipeline, run, legal, Owner::There)
}

/// The same, with what to type where nobody drives the run.
pub fn next_by(pipeline: &Pipeline, run: &Run, legal: &[Next], owner: Owner) -> NextView {
    let builder = ActionBuilder {
        pipeline,
        definition: pipeline.definition(),
        run,
        resume: owner.resume(run),
    };
    let mut actions: Vec<NextAction> = legal.iter().map(|next| builder.action(next)).collect();
    if run.driver == Driver::ByHand && legal.contains(&Next::TakeUp) {
        actions = builder.taking_up(pipeline);
    }
    NextView {
        run: run.id.clone(),
        stage: run.position.stage.clone(),
        is_queued: run.standing == Standing::Queued && run.driver == Driver::Headless,
        causes: Causes::of(pipeline, run),
        about: asked_about::artifacts(pipeline, run, legal),
        change: None,
        questions: Vec::new(),
        undelivered: None,
        rest: None,
        actions,
    }
}

impl NextView {
    /// The contents that a person is asked about.
    pub fn asked_about(&self) -> impl Iterator<Item = Hash> {
        self.about.iter().filter_map(|shown| shown.content)
    }

    /// The same with these contents.
    pub fn with_contents(mut self, contents: &BTreeMap<Hash, String>) -> Self {
        for shown in &mut self.about {
            shown.read(contents);
        }
        self
    }

    /// The same with what the run has changed.
    pub fn with_change(mut self, change: Option<ChangeReport>) -> Self {
        self.change = change.filter(|change| change.all > 0);
        self
    }

    /// The same with what the delivery of a completed run still lacks. Then there is something to do.
    pub fn with_undelivered(mut self, undelivered: Option<Undelivered>) -> Self {
        if let Some(lacking) = &undelivered {
            let what = format!("the run is completed, and {}", lacking.text());
            let command = Undelivered::command(&self.run);
            self.actions = vec![NextAction {
                commands: vec![command],
                ..plain(Actor::Person, &what)
            }];
        }
        self.undelivered = undelivered;
        self
    }

    /// The same with the questions that a worker wrote into this artifact: they are listed, and the artifact
    /// itself need not be shown, unless it is a review.
    pub fn with_questions(mut self, artifact: &ArtifactName, questions: Vec<Question>) -> Self {
        let is_shown = |it: &ShownArtifact| it.name != *artifact || it.review.is_some();
        self.about.retain(is_shown);
        let answers = questions.iter().map(|question| {
            let given = engine::shell_words(&[format!("{}=TEXT", question.id)]);
            format!(" --answer {}", crate::safe::line(&given))
        });
        let answers = answers.collect::<String>();
        for command in self.actions.iter_mut().flat_map(|it| &mut it.commands) {
            if let Some(before) = command.strip_suffix(OPEN_ANSWERS) {
                *command = format!("{before}{answers}");
            }
        }
        self.questions = questions;
        self
    }

    /// The same with the time before which no worker takes the queued run.
    pub fn with_start_time(mut self, time: Option<Time>, now: Time) -> Self {
        let actions = self.actions.iter_mut().filter(|_| self.is_queued);
        for (action, time) in actions.zip(time) {
            let text = format!("{}, not before {}", action.what.raw(), moment(time, now));
            action.what = Untrusted::new(text);
        }
        self
    }

    /// The same with what it rests for.
    pub fn with_rest(mut self, rest: Option<Rest>) -> Self {
        self.rest = rest;
        self
    }

    /// What led here and what the question is about, for a person at a prompt.
    pub fn background_text(&self, paint: Paint) -> String {
        render::background_text(self, paint)
    }

    pub fn text(&self, paint: Paint) -> String {
        render::text(self, paint)
    }

    /// Only what comes next, for somebody who has just seen what led here.
    pub fn actions_text(&self, paint: Paint) -> String {
        render::actions_text(self, paint)
    }

    pub fn json(&self) -> Value {
        render::json(self)
    }
}

/// Behind the command that answers a worker's questions, as long as nobody has read them.
const OPEN_ANSWERS: &str = " --answer ID=TEXT --answer ID=TEXT …";

struct ActionBuilder<'a> {
    pipeline: &'a Pipeline,
    definition: &'a Definition,
    run: &'a Run,
    /// What to type if nobody drives a headless run.
    resume: Option<String>,
}

impl ActionBuilder<'_> {
    /// Work that has started. It may rest while its service asks to wait.
    fn under(&self, agent: &AgentName, step: Option<&StepId>) -> NextAction {
        let on = step.map(|step| format!(" on step {step}"));
        let on = on.unwrap_or_default();
        let open = self.run.dispatches.values();
        let mut rests = open.filter(|open| {
            let same = open.agent == *agent && open.duty.step() == step;
            same && open.paused_at.is_some()
        });
        let rests = rests.next();
        let limit = rests.and_then(|open| {
            let mut limits = self.run.limits.iter();
            limits.find(|limit| open.service.as_ref() == Some(&limit.service))
        });
        let Some(limit) = limit else {
            let what = match (&self.resume, rests) {
                (Some(_), _) => format!("'{agent}' was at work{on}, and no process drives the run"),
                (None, Some(_)) => format!("'{agent}' rests{on}"),
                (None, None) => format!("'{agent}' is working{on}"),
            };
            return NextAction {
                commands: self.resume.iter().cloned().collect(),
                ..plain(Actor::Agent(agent.clone()), &what)
            };
        };
        let what = format!("'{agent}' rests{on} {}", words::limit(limit));
        NextAction {
            commands: (self.resume.iter().cloned())
                .chain([self.command("retry", "")])
                .collect(),
            ..plain(Actor::Agent(agent.clone()), &what)
        }
    }

    fn action(&self, next: &Next) -> NextAction {
        match next {
            Next::Agent {
                agent,
                duty,
                reads,
                leaves,
            } => self.agent(agent, duty, reads, leaves),
            Next::Session { reads, leaves } => self.session(reads, leaves),
            Next::AnyOf { agents } => self.any_of(agents),
            Next::Under { agent, step } => self.under(agent, step.as_ref()),
            Next::Check { stage } => {
                self.own(&format!("gatewright runs the commands of {stage}"), "check")
            }
            Next::Plan { stage } => {
                self.own(&format!("gatewright plans the steps of {stage}"), "next")
            }
            Next::Route { stage } => {
                self.own(&format!("gatewright decides the route {stage}"), "next")
            }
            Next::Answer { question, choices } => {
                let commands = choices.iter().map(|choice| {
                    let words = match self.words(choice) {
                        WordsRule::Optional => "",
                        WordsRule::Required => " \"TEXT\"",
                    };
                    self.command("answer", &format!(" {choice}{words}"))
                });
                let what = format!("answers: {question} (words may follow a choice, in quotes)");
                person(&what, commands.collect())
            }
            Next::Answers { question } => {
                let given = self.command("answer", OPEN_ANSWERS);
                person(&format!("answers each question: {question}"), vec![given])
            }
            Next::Finish => person("ends the stage", vec![self.command("finish", "")]),
            Next::Decide { why, choices } => {
                let commands = choices.iter().map(|choice| self.decision(choice));
                person(&format!("decides: {why}"), commands.collect())
            }
            Next::TakeUp => NextAction {
                commands: vec!["gatewright worker".to_owned()],
                ..plain(Actor::Gatewright, "a worker picks up the queued run")
            },
            Next::Nothing => plain(Actor::Nobody, "the run is over; there is nothing to do"),
        }
    }

    /// The first command in a queued run that is driven by hand starts it.
    fn taking_up(&self, pipeline: &Pipeline) -> Vec<NextAction> {
        let mut going = self.run.clone();
        going.standing = Standing::Going;
        let queued = plain(
            Actor::Person,
            "the run is queued; the first of these commands starts it",
        );
        let first = engine::next(pipeline, &going);
        let actions = first.iter().map(|next| self.action(next));
        [queued].into_iter().chain(actions).collect()
    }

    fn session(&self, reads: &[ArtifactName], leaves: &[ArtifactName]) -> NextAction {
        NextAction {
            commands: self.report(""),
            reads: self.artifact_specs(reads, None, engine::SESSION),
            leaves: self.artifact_specs(leaves, None, engine::SESSION),
            ..plain(Actor::Session, "the session does the work itself")
        }
    }

    fn any_of(&self, agents: &[AgentPattern]) -> NextAction {
        let names: Vec<&str> = agents.iter().map(AgentPattern::as_str).collect();
        let what = format!("any of these agents may work: {}", names.join(", "));
        let actor = Actor::AnyAgent(names.into_iter().map(Untrusted::new).collect());
        NextAction {
            commands: self.report(" --agent AGENT"),
            ..plain(actor, &what)
        }
    }

    /// Gatewright does it, when somebody types the command.
    fn own(&self, what: &str, word: &str) -> NextAction {
        let own = self.command(word, "");
        NextAction {
            commands: self.resume.iter().cloned().chain([own]).collect(),
            ..plain(Actor::Gatewright, what)
        }
    }

    fn agent(
        &self,
        agent: &AgentName,
        duty: &NextDuty,
        reads: &[ArtifactName],
        leaves: &[ArtifactName],
    ) -> NextAction {
        let step = match duty {
            NextDuty::Step { step, .. } => Some(step),
            NextDuty::Work | NextDuty::Review { .. } | NextDuty::Fix { .. } => None,
        };
        let flag = step
            .map(|step| format!(" --step {step}"))
            .unwrap_or_default();
        let ours = self.is_ours(duty);
        let step_command = ours.then(|| self.command("step", &flag));
        let report = self.report(&format!(" --agent {agent}{flag}"));
        let is_sessions = self.run.driver == Driver::Guarded && !ours;
        let call = || session_prompt::agent_call(self.pipeline, self.run, agent, duty);
        NextAction {
            call: is_sessions.then(|| Untrusted::new(call())),
            commands: (self.resume.iter().cloned())
                .chain(step_command.filter(|_| self.resume.is_none()))
                .chain(report)
                .collect(),
            reads: self.artifact_specs(reads, step, agent.as_str()),
            leaves: self.artifact_specs(leaves, step, agent.as_str()),
            ..plain(
                Actor::Agent(agent.clone()),
                &format!("'{agent}' {}{}", duty_words(duty), self.caller(ours)),
            )
        }
    }

    /// The command for a choice. A person who changes the course of a run must give a reason.
    fn decision(&self, choice: &Choice) -> String {
        match choice {
            Choice::Retry => self.command("retry", ""),
            Choice::Skip { outcomes } if outcomes.len() > 1 => {
                let words: Vec<&str> = outcomes.iter().map(Outcome::as_str).collect();
                let rest = format!(" --as {} --reason TEXT", words.join("|"));
                self.command("skip", &rest)
            }
            Choice::Skip { .. } => self.command("skip", " --reason TEXT"),
            Choice::Continue => self.command("answer", " continue"),
            Choice::RaiseCap => {
                let then = self.command("answer", " continue");
                format!("gatewright caps --machine AMOUNT && {then}")
            }
            Choice::Reset => self.command("reset", " --reason TEXT"),
            Choice::Cancel => self.command("cancel", " --reason TEXT"),
        }
    }

    /// Must a person say something with this choice?
    fn words(&self, choice: &Outcome) -> WordsRule {
        let mut stages = self.definition.stages.iter();
        let stage = stages.find(|stage| stage.name == self.run.position.stage);
        let edge = stage.and_then(|stage| stage.on.get(choice));
        edge.map(|edge| edge.words).unwrap_or_default()
    }

    /// Does Gatewright start this worker, because another program than the session's runs it?
    fn is_ours(&self, duty: &NextDuty) -> bool {
        let mut stages = self.definition.stages.iter();
        let stage = stages.find(|stage| stage.name == self.run.position.stage);
        let settings = stage.and_then(|stage| worker_settings(stage, duty));
        let runner = settings.and_then(|settings| settings.runner.as_ref());
        !self.run.session_starts(runner)
    }

    /// Who starts the agent, where it is not the person who reports it.
    fn caller(&self, ours: bool) -> &'static str {
        match self.run.driver {
            Driver::ByHand => "",
            Driver::Guarded if !ours => " (the session calls it)",
            Driver::Headless if self.resume.is_some() => {
                " (no process drives the run: `gatewright resume` or a worker starts it)"
            }
            Driver::Guarded | Driver::Headless => " (gatewright starts it)",
        }
    }

    /// Only a run by hand needs reports; the others see the work.
    fn report(&self, rest: &str) -> Vec<String> {
        match self.run.driver {
            Driver::ByHand => vec![self.command("report", rest)],
            Driver::Guarded | Driver::Headless => Vec::new(),
        }
    }

    fn command(&self, word: &str, rest: &str) -> String {
        format!("gatewright {word} {}{rest}", self.run.id)
    }

    fn artifact_specs(
        &self,
        names: &[ArtifactName],
        step: Option<&StepId>,
        agent: &str,
    ) -> Vec<ArtifactSpec> {
        let declared =
            |name: &ArtifactName| Some((name.clone(), self.definition.artifacts.get(name)?));
        let known = names.iter().filter_map(declared);
        known
            .map(|(name, artifact)| self.spec(name, artifact, step, agent))
            .collect()
    }

    fn spec(
        &self,
        name: ArtifactName,
        artifact: &Artifact,
        step: Option<&StepId>,
        agent: &str,
    ) -> ArtifactSpec {
        let path = match &artifact.source {
            Source::File(path) => Some(Untrusted::new(filled(self.run, path, step))),
            Source::Reply | Source::Answers => None,
        };
        let verdict = artifact.outcome.as_ref().map(|outcome| VerdictField {
            field: Untrusted::new(&outcome.field),
            words: outcome
                .values
                .iter()
                .map(|(word, o)| (Untrusted::new(word), o.clone()))
                .collect(),
        });
        let equals = artifact.equals.iter();
        let equals = equals
            .map(|(field, text)| {
                (
                    Untrusted::new(field),
                    Untrusted::new(wanted(self.run, text, step, agent)),
                )
            })
            .collect();
        let captured = self.run.artifacts.get(&name);
        let export = || self.command("export", &format!(" --artifact {name}"));
        ArtifactSpec {
            shown_by: captured.filter(|_| path.is_none()).map(|_| export()),
            captured: captured.map(|captured| captured.content),
            source: crate::words::source(&artifact.source),
            path,
            format: crate::words::format(&artifact.format),
            require: artifact.require.iter().map(Untrusted::new).collect(),
            equals,
            verdict,
            strict: artifact.strictness.is_strict(&self.run.params),
            name,
        }
    }
}

fn plain(actor: Actor, what: &str) -> NextAction {
    let what = Untrusted::new(what);
    NextAction {
        actor,
        what,
        call: None,
        commands: Vec::new(),
        reads: Vec::new(),
        leaves: Vec::new(),
    }
}

fn person(does: &str, commands: Vec<String>) -> NextAction {
    NextAction {
        commands,
        ..plain(Actor::Person, &format!("a person {does}"))
    }
}
