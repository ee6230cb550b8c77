//! The arguments of every command that drives or queues a run.

use std::path::PathBuf;

use engine::{Deliver, Delivery, StageName};
use runner::agent::choice::Runner;
use runner::drive_options::DriveOptions;
use runner::drive_options::{WhenLimited, WhenWaiting};
use runner::slots::{self, AgentLimits};
use runtime::drive_settings::{DeliverRequest, DriveRequest};
use runtime::failure::Failure;
use runtime::notify_target::NotifyTarget;
use runtime::run_branch::{PlaceRequest, PlaceWish};
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
    /// Notify this URL (by POST) or run this command when the run waits, fails or completes. Repeat the
    /// option for several targets
    #[arg(long, value_name = "TARGET", value_parser = parse_target)]
    notify: Vec<String>,
    #[command(flatten)]
    place: PlaceArguments,
}

/// Where a new run works, and how it is delivered.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct PlaceArguments {
    /// Work in a worktree and on a branch of the run, not in your tree
    #[arg(long, conflicts_with = "in_place")]
    branch: bool,
    /// Work in your tree. A second run there waits for the first
    #[arg(long)]
    in_place: bool,
    /// Begin the branch with what you have not committed
    #[arg(long, conflicts_with = "in_place")]
    with_changes: bool,
    /// How to deliver a completed run from its branch: none, branch (a commit) or pull-request
    #[arg(long, value_name = "WHAT", value_parser = parse_deliver, conflicts_with = "in_place")]
    deliver: Option<Deliver>,
    /// Push the branch of the completed run to this remote
    #[arg(long, value_name = "REMOTE", conflicts_with = "in_place")]
    push: Option<String>,
    /// What creates the pull request: gh, glab, or a command with {branch}, {base}, {title}, {body} (a file) and {text}
    #[arg(long, value_name = "COMMAND", value_parser = parse_request, conflicts_with = "in_place")]
    request: Option<RequestWords>,
}

/// The words of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RequestWords(Vec<String>);

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
            when_limited: WhenLimited::Stay,
            limits: self.at_once.limits(),
            bid: None,
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
            place: self.place.place(),
            deliver: self.place.deliver(),
            not_before: None,
            fleet: None,
        }
    }
}

impl DriveArguments {
    /// The same, with a place for a run that neither the person nor the pipeline gives one.
    pub(crate) fn request_with(&self, place: PlaceWish) -> DriveRequest {
        let mut request = self.request();
        if request.place.wish == PlaceWish::AsDefined {
            request.place.wish = place;
        }
        request
    }
}

impl PlaceArguments {
    /// A delivery needs a branch.
    fn place(&self) -> PlaceRequest {
        let delivers = matches!(self.deliver, Some(Deliver::Branch | Deliver::PullRequest));
        let wish = if self.in_place {
            PlaceWish::Tree
        } else if self.branch || delivers || self.push.is_some() || self.request.is_some() {
            PlaceWish::Branch
        } else {
            PlaceWish::AsDefined
        };
        PlaceRequest {
            wish,
            with_changes: self.with_changes,
        }
    }

    fn deliver(&self) -> DeliverRequest {
        let request = self.request.clone();
        let asked = request.as_ref().map(|_| Deliver::PullRequest);
        DeliverRequest {
            deliver: self.deliver.or(asked),
            remote: self.push.clone(),
            request: request.map(|words| words.0).unwrap_or_default(),
        }
    }
}

fn parse_deliver(text: &str) -> Result<Deliver, String> {
    let words = Deliver::ALL.map(Deliver::word).join(", ");
    Deliver::parse(text).ok_or_else(|| format!("name one of {words}"))
}

fn parse_request(text: &str) -> Result<RequestWords, String> {
    let words = language::words(text)?;
    if let Some(name) = Delivery::unknown_placeholder(&words) {
        let known = Delivery::PLACEHOLDERS.map(|it| format!("{{{it}}}"));
        let known = known.join(", ");
        return Err(format!(
            "nothing fills {{{name}}}; the placeholders are {known}"
        ));
    }
    match words.as_slice() {
        [known] if known == "gh" || known == "glab" => Ok(RequestWords(words)),
        [_, _, ..] => Ok(RequestWords(words)),
        [_] | [] => Err("name gh, glab, or a command with its arguments".to_owned()),
    }
}
