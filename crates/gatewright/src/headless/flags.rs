//! What can be typed about how a run is decided, for every command that drives or queues one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::{Definition, StageName, Who};

use super::drive_run::DriveOptions;
use super::notify::Target;
use super::orchestrator::Patience;
use super::settings::Settings;
use super::signals;
use super::slots::{self, Limits};
use crate::context::Context;
use crate::failure::Failure;
use crate::runners;
use crate::worker::choice::Runner;
use crate::worker::spawn_spec;

/// How a new run is decided. It is kept with the run.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Driving {
    /// The runner for agents that name none: claude, codex or gemini [default: claude]
    #[arg(long, value_name = "RUNNER", value_parser = parse_runner)]
    pub runner: Option<String>,
    /// Rehearse: start this program instead of every agent, with the prompt on its stdin
    #[arg(long, value_name = "PROGRAM", conflicts_with = "runner")]
    pub stand_in: Option<PathBuf>,
    /// Answer a question in advance, once: a choice of an ask stage, or `finish` for an open stage
    #[arg(long = "answer", value_name = "STAGE=CHOICE", value_parser = parse_answer)]
    pub answers: Vec<(StageName, String)>,
    /// Notify this URL (by POST) or run this command when the run waits, fails or completes
    #[arg(long, value_name = "TARGET", value_parser = parse_target)]
    pub notify: Option<String>,
}

/// How many agents work at once on this machine.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AtOnce {
    /// Run at most this many agents at once on this machine
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub agents: Option<u32>,
    /// Run at most this many agents of one runner at once
    #[arg(long = "limit", value_name = "RUNNER=NUMBER", value_parser = slots::parse)]
    pub limits: Vec<(String, u32)>,
}

/// How one sitting with a run goes.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Sitting {
    #[command(flatten)]
    at_once: AtOnce,
    /// Keep waiting while the run waits for a person, until somebody answers elsewhere
    #[arg(long)]
    wait: bool,
}

impl Sitting {
    pub fn options(&self) -> Result<DriveOptions, Failure> {
        Ok(DriveOptions {
            patience: match self.wait {
                true => Patience::Stay,
                false => Patience::Leave,
            },
            limits: self.at_once.limits(),
            stop: signals::watch()?,
        })
    }
}

impl AtOnce {
    pub fn limits(&self) -> Limits {
        Limits {
            agents: self.agents,
            runners: self.limits.iter().cloned().collect(),
        }
    }
}

fn parse_runner(text: &str) -> Result<String, String> {
    match Runner::parse(text) {
        Some(Runner::Program(_)) => Ok(text.to_owned()),
        Some(Runner::Command | Runner::StandIn) | None => {
            Err("name one of claude, codex, gemini".to_owned())
        }
    }
}

fn parse_answer(text: &str) -> Result<(StageName, String), String> {
    let (stage, choice) = text
        .split_once('=')
        .ok_or_else(|| "write it as STAGE=CHOICE".to_owned())?;
    let stage = StageName::parse(stage).map_err(|problem| problem.to_string())?;
    Ok((stage, choice.to_owned()))
}

fn parse_target(text: &str) -> Result<String, String> {
    Target::parse(text).map(|_| text.to_owned())
}

impl Driving {
    pub fn is_empty(&self) -> bool {
        self.words().is_empty()
    }

    /// What was typed, in words: so the same command is known again, and so it stands in the history.
    pub fn words(&self) -> Vec<String> {
        let runner = self.runner.iter().map(|runner| format!("runner {runner}"));
        let stand_in = self.stand_in.iter();
        let stand_in = stand_in.map(|path| format!("{} stands in for every agent", path.display()));
        let answers = self.answers.iter();
        let answers = answers.map(|(stage, choice)| format!("{stage} is answered with {choice}"));
        let notify = self.notify.iter().map(|_| "notices are sent".to_owned());
        runner
            .chain(stand_in)
            .chain(answers)
            .chain(notify)
            .collect()
    }

    /// The runner for those who have none, as the definition is judged by it.
    pub fn usual_runner(&self) -> &str {
        self.runner.as_deref().unwrap_or(runners::DEFAULT)
    }

    /// What is kept with the run. Answers that no stage asks for are told at once.
    pub fn settings(
        &self,
        context: &Context,
        definition: &Definition,
    ) -> Result<Settings, Failure> {
        let mut answers = BTreeMap::new();
        for (stage, choice) in &self.answers {
            may_be_answered(definition, stage, choice)?;
            if answers.insert(stage.clone(), choice.clone()).is_some() {
                let message = format!("--answer {stage} is there twice");
                return Err(Failure::usage(message).hint("write it once"));
            }
        }
        let given_by = match context.who() {
            Who::Person(name) | Who::Unattended(name) => name,
            other => other.name(),
        };
        Ok(Settings {
            runner: self.usual_runner().to_owned(),
            stand_in: self.stand_in(context)?,
            answers,
            given_by,
            notify: self.notify.clone(),
        })
    }

    fn stand_in(&self, context: &Context) -> Result<Option<PathBuf>, Failure> {
        let Some(path) = &self.stand_in else {
            return Ok(None);
        };
        let path = context.folder.join(path);
        let found = path.canonicalize().ok().filter(|path| path.is_file());
        match found {
            Some(path) if spawn_spec::is_executable(&path) => Ok(Some(path)),
            Some(path) => Err(
                Failure::usage(format!("{} cannot be executed", path.display()))
                    .hint("make it executable with `chmod +x`"),
            ),
            None => Err(
                Failure::not_found(format!("there is no program {}", path.display()))
                    .hint("name a program by its path"),
            ),
        }
    }
}

fn may_be_answered(definition: &Definition, name: &StageName, choice: &str) -> Result<(), Failure> {
    let stage = definition.stages.iter().find(|stage| stage.name == *name);
    let Some(stage) = stage else {
        return Err(
            Failure::usage(format!("there is no stage {name} to answer"))
                .hint("`gatewright graph PIPELINE` shows the stages"),
        );
    };
    let asks = match &stage.work {
        engine::Work::Ask(ask) => ask.questions == engine::Questions::Choice,
        engine::Work::Open(_) => choice == "finish",
        _ => false,
    };
    let known = stage.on.keys().any(|outcome| outcome.as_str() == choice);
    match asks && known {
        true => Ok(()),
        false => {
            let choices: Vec<&str> = stage.on.keys().map(|outcome| outcome.as_str()).collect();
            Err(
                Failure::usage(format!("{name} cannot be answered with '{choice}'"))
                    .hint(format!("its ways on are {}", choices.join(", "))),
            )
        }
    }
}
