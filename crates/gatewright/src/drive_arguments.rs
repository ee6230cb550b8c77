//! The arguments of every command that drives or queues a run.

use std::path::PathBuf;

use engine::StageName;
use runner::agent::choice::Runner;
use runner::drive_options::DriveOptions;
use runner::drive_options::WhenWaiting;
use runner::slots::{self, AgentLimits};
use runtime::drive_settings::DriveRequest;
use runtime::failure::Failure;
use runtime::notify_target::NotifyTarget;
use runtime::signals;

/// How a new run is driven. It is kept with the run.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct DriveArguments {
    /// The runner for agents that name none: claude, codex or gemini [default: claude]
    #[arg(long, value_name = "RUNNER", value_parser = parse_runner)]
    runner: Option<String>,
    /// Rehearse: start this program instead of every agent, with the prompt on its stdin
    #[arg(long, value_name = "PROGRAM", conflicts_with = "runner")]
    stand_in: Option<PathBuf>,
    /// Answer a question in advance, once: a choice of an ask stage, or `finish` for an open stage
    #[arg(long = "answer", value_name = "STAGE=CHOICE", value_parser = parse_answer)]
    answers: Vec<(StageName, String)>,
    /// Notify this URL (by POST) or run this command when the run waits, fails or completes
    #[arg(long, value_name = "TARGET", value_parser = parse_target)]
    notify: Option<String>,
}

/// How many agents work at once on this machine.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LimitArguments {
    /// Run at most this many agents at once on this machine
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub agents: Option<u32>,
    /// Run at most this many agents of one runner at once
    #[arg(long = "limit", value_name = "RUNNER=NUMBER", value_parser = slots::parse)]
    pub limits: Vec<(String, u32)>,
}

/// How this process drives the run.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct OrchestratorArguments {
    #[command(flatten)]
    at_once: LimitArguments,
    /// Keep waiting while the run waits for a person, until somebody answers elsewhere
    #[arg(long)]
    wait: bool,
}

impl OrchestratorArguments {
    pub(crate) fn options(&self) -> Result<DriveOptions, Failure> {
        Ok(DriveOptions {
            when_waiting: if self.wait {
                WhenWaiting::Stay
            } else {
                WhenWaiting::Exit
            },
            limits: self.at_once.limits(),
            stop: signals::watch()?,
        })
    }
}

impl LimitArguments {
    pub(crate) fn limits(&self) -> AgentLimits {
        AgentLimits {
            agents: self.agents,
            runners: self.limits.iter().cloned().collect(),
        }
    }
}

fn parse_runner(text: &str) -> Result<String, String> {
    match Runner::parse(text) {
        Some(Runner::Program(_)) => Ok(text.to_owned()),
        Some(Runner::Command | Runner::StandIn) | None => {
            let words = hosts::Program::ALL.map(hosts::Program::word);
            Err(format!("name one of {}", words.join(", ")))
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
    NotifyTarget::parse(text).map(|_| text.to_owned())
}

impl DriveArguments {
    pub(crate) fn request(&self) -> DriveRequest {
        DriveRequest {
            runner: self.runner.clone(),
            stand_in: self.stand_in.clone(),
            answers: self.answers.clone(),
            notify: self.notify.clone(),
        }
    }
}
