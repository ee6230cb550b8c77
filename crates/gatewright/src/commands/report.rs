//! `gatewright report`: a person tells that an agent has worked, in a run that is driven by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::{AgentName, ArtifactName, Fact, Fault, Happening, Outcome, Reply, StepId, Usage};
use evidence::Given;

use super::skip::parse_outcome;
use crate::arguments::{OfRun, Writing};
use crate::context::Context;
use crate::desk::{Desk, Opened};
use crate::drive::{self, Deed, Driven};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::{runs, tell};

/// Tell that an agent has worked, in a run that was started by hand
///
/// What the agent left behind decides, not the report: each artifact is read and checked.
#[derive(Debug, clap::Args)]
pub struct Report {
    #[command(flatten)]
    of: OfRun,
    /// The agent that has worked [default: the only one whose turn it is]
    #[arg(long, value_name = "AGENT", value_parser = parse_agent)]
    agent: Option<AgentName>,
    /// The step of a task graph that it has worked on
    #[arg(long, value_name = "STEP", value_parser = parse_step)]
    step: Option<StepId>,
    /// What it says of its work: its outcome, or a fault (crashed, timeout, …)
    #[arg(long, value_name = "OUTCOME", value_parser = parse_outcome)]
    outcome: Option<Outcome>,
    /// A file to take as this artifact, instead of the one at the artifact's own path
    #[arg(long = "artifact", value_name = "NAME=FILE", value_parser = parse_artifact)]
    artifacts: Vec<(ArtifactName, PathBuf)>,
    #[command(flatten)]
    writing: Writing,
}

fn parse_agent(text: &str) -> Result<AgentName, String> {
    AgentName::parse(text).map_err(|problem| problem.to_string())
}

fn parse_step(text: &str) -> Result<StepId, String> {
    StepId::parse(text).map_err(|problem| problem.to_string())
}

fn parse_artifact(text: &str) -> Result<(ArtifactName, PathBuf), String> {
    let (name, file) = text.split_once('=').ok_or("write it as NAME=FILE")?;
    let name = ArtifactName::parse(name).map_err(|problem| problem.to_string())?;
    match file.is_empty() {
        true => Err("write it as NAME=FILE".to_owned()),
        false => Ok((name, PathBuf::from(file))),
    }
}

impl Report {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut desk = Desk::for_writing(context)?;
        let stored = runs::find(&desk, self.of.run.as_deref())?;
        let key = self.writing.key()?;
        let mut make = |_: &Desk<'_>, opened: &Opened, _| {
            self.known(opened)?;
            Ok(Deed {
                what: self.happening(),
                given: self.given(context),
                contents: Vec::new(),
            })
        };
        let mut driven = drive::drive(&mut desk, stored, &key, &mut make)?;
        if self.tells_a_fault() && has_ended(&driven) {
            // That the work failed is what was reported, and the report was taken.
            driven.reply = Reply::Done;
        }
        tell::tell(&driven, output)
    }

    fn tells_a_fault(&self) -> bool {
        self.outcome
            .as_ref()
            .is_some_and(|word| Fault::parse(word.as_str()).is_some())
    }

    /// Every artifact that is given is one of the pipeline's.
    fn known(&self, opened: &Opened) -> Result<(), Failure> {
        let declared = &opened.pipeline.definition().artifacts;
        let unknown = self
            .artifacts
            .iter()
            .find(|(name, _)| !declared.contains_key(name));
        match unknown {
            Some((name, _)) => Err(unknown_artifact(
                name,
                declared.keys().map(ArtifactName::as_str).collect(),
            )),
            None => Ok(()),
        }
    }

    fn happening(&self) -> Happening {
        Happening::Reported {
            agent: self.agent.clone(),
            step: self.step.clone(),
            said: self.outcome.clone(),
            usage: Usage::default(),
        }
    }

    fn given(&self, context: &Context) -> BTreeMap<ArtifactName, Given> {
        let files = self.artifacts.iter();
        let given =
            files.map(|(name, path)| (name.clone(), Given::File(context.folder.join(path))));
        given.collect()
    }
}

fn has_ended(driven: &Driven) -> bool {
    driven
        .entries
        .iter()
        .any(|(_, entry)| matches!(entry.fact, Fact::Ended { .. }))
}

fn unknown_artifact(name: &ArtifactName, known: Vec<&str>) -> Failure {
    let failure = Failure::not_found(format!("the pipeline has no artifact '{name}'"));
    match engine::nearest(name.as_str(), known.iter().copied()) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint(format!("there are {}", known.join(", "))),
    }
}
