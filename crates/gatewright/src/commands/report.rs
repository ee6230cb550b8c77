//! `gatewright report`: a person reports the work of an agent, in a run that is driven by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::{
    AgentName, ArtifactFault, ArtifactName, ArtifactProblem, Fact, Fault, Happening, Outcome,
    Reply, Rule, StepId, Usage, Work, WorkEvent,
};
use evidence::GivenArtifact;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::idempotency::{self, KeyedCommand};
use runtime::transact::{self, Decided, Request};
use runtime::workspace::{OpenRun, Workspace};

use super::skip::parse_outcome;
use crate::arguments::{OfRun, Writing};
use crate::exit::Exit;
use crate::output::Output;
use crate::report;

/// Report that an agent has finished, in a run driven by hand
///
/// The artifacts decide, not the report: each one is read and checked.
#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    #[command(flatten)]
    of: OfRun,
    /// The agent that has finished [default: the agent of the step, or the only agent whose turn it
    /// is]
    #[arg(long, value_name = "AGENT", value_parser = parse_agent)]
    agent: Option<AgentName>,
    /// The step of the task graph that it worked on
    #[arg(long, value_name = "STEP", value_parser = parse_step)]
    step: Option<StepId>,
    /// The outcome it reports, or a fault (crashed, timeout, …)
    #[arg(long, value_name = "OUTCOME", value_parser = parse_outcome)]
    outcome: Option<Outcome>,
    /// Read this artifact from FILE instead of its own path
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
    let (name, file) = text.split_once('=').ok_or("type it as NAME=FILE")?;
    let name = ArtifactName::parse(name).map_err(|problem| problem.to_string())?;
    if file.is_empty() {
        Err("type it as NAME=FILE".to_owned())
    } else {
        Ok((name, PathBuf::from(file)))
    }
}

impl Report {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut workspace = Workspace::for_writing(context)?;
        let stored = find_run::find(&workspace, self.of.run.as_deref())?;
        let key = idempotency::run_key(
            &workspace,
            &stored,
            self.writing.key.as_ref(),
            &self.command(),
        )?;
        let mut make = |_: &Workspace<'_>, opened: &OpenRun, _| {
            self.known(opened)?;
            self.there(context)?;
            Ok(Request {
                what: self.happening(opened)?,
                given: self.given(context),
                contents: Vec::new(),
                reply: None,
            })
        };
        let mut decided = transact::command(&mut workspace, &stored.run.id, &key, &mut make)?;
        if self.tells_a_fault() && has_ended(&decided) {
            // The report said that the work failed, and the report was accepted.
            decided.reply = Reply::Done;
        }
        self.explain(&mut decided);
        report::print(&workspace, &decided, output)
    }

    fn command(&self) -> KeyedCommand<'static> {
        let files = self.artifacts.iter();
        let files = files.map(|(name, file)| format!("{name}={}", file.display()));
        KeyedCommand::new("report")
            .with_all("agent", self.agent.iter().map(ToString::to_string))
            .with_all("step", self.step.iter().map(ToString::to_string))
            .with_all("outcome", self.outcome.iter().map(ToString::to_string))
            .with_all("artifact", files)
    }

    fn tells_a_fault(&self) -> bool {
        self.outcome
            .as_ref()
            .is_some_and(|word| Fault::parse(word.as_str()).is_some())
    }

    /// Refuses artifacts that the pipeline does not have.
    fn known(&self, opened: &OpenRun) -> Result<(), Failure> {
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

    fn there(&self, context: &Context) -> Result<(), Failure> {
        let mut files = self.artifacts.iter();
        match files.find(|(_, file)| !context.folder.join(file).exists()) {
            Some((name, file)) => {
                let message = format!("there is no file {}", file.display());
                Err(Failure::environment(message)
                    .hint(format!("fix the path in --artifact {name}=FILE")))
            }
            None => Ok(()),
        }
    }

    fn happening(&self, opened: &OpenRun) -> Result<Happening, Failure> {
        let agent = match (&self.agent, &self.step) {
            (None, Some(step)) => agent_of(opened, step)?,
            (agent, _) => agent.clone(),
        };
        Ok(Happening::Work(WorkEvent::Reported {
            agent,
            step: self.step.clone(),
            said: self.outcome.clone(),
            usage: Usage::default(),
        }))
    }

    /// Adds paths and commands to the reason, which the engine does not know.
    fn explain(&self, decided: &mut Decided) {
        let opened = &decided.opened;
        let Reply::Refuse(refusal) = &mut decided.reply else {
            return;
        };
        let names_nobody = self.agent.is_none() && self.step.is_none();
        if refusal.rule == Rule::ArtifactMissing {
            let fault = refusal.artifact.as_ref();
            let place = fault.and_then(|fault| self.place(opened, fault));
            refusal.reason.push_str(&place.unwrap_or_default());
        } else if refusal.rule == Rule::AgentOutOfTurn && names_nobody {
            refusal.reason = nobody_works(opened).unwrap_or_else(|| refusal.reason.clone());
        }
    }

    /// Where to write or fix the artifact.
    fn place(&self, opened: &OpenRun, fault: &ArtifactFault) -> Option<String> {
        let name = &fault.artifact;
        let actions = report::next(opened, views::Owner::There).actions;
        let mut specs = actions.iter().flat_map(|action| &action.leaves);
        let spec = specs.find(|spec| spec.name == *name)?;
        let is_given = self.artifacts.iter().any(|(given, _)| given == name);
        match (&spec.path, fault.problem) {
            _ if is_given => None,
            (Some(path), ArtifactProblem::Missing) => Some(format!(": write {}", path.line())),
            (Some(path), ArtifactProblem::Invalid) => Some(format!("; fix {}", path.line())),
            (None, _) => Some(format!("; add --artifact {name}=FILE")),
        }
    }

    fn given(&self, context: &Context) -> BTreeMap<ArtifactName, GivenArtifact> {
        let files = self.artifacts.iter();
        let given = files
            .map(|(name, path)| (name.clone(), GivenArtifact::File(context.folder.join(path))));
        given.collect()
    }
}

/// Why no agent can have worked, if the stage has none.
fn nobody_works(opened: &OpenRun) -> Option<String> {
    let stage = opened.pipeline.stage(&opened.run().position.stage)?;
    let name = &stage.name;
    match &stage.work {
        Work::Check(_) => Some(format!(
            "{name} is a check stage, in which no agent works: type `gatewright check`"
        )),
        Work::Ask(_) => Some(format!(
            "{name} is a question for a person, and no agent works in it"
        )),
        Work::Route(_) => Some(format!(
            "{name} is a route, which gatewright decides: type `gatewright next`"
        )),
        Work::End(_) => Some("the run is over".to_owned()),
        Work::Agent(_) | Work::Open(_) | Work::Review(_) | Work::Steps(_) => None,
    }
}

/// The agent that a planned step names.
fn agent_of(opened: &OpenRun, step: &StepId) -> Result<Option<AgentName>, Failure> {
    let run = opened.run();
    let Some(graph) = run.graphs.get(&run.position.stage) else {
        return Ok(None);
    };
    let steps = || graph.members.iter().map(|member| &member.step);
    if let Some(found) = steps().find(|member| member.id == *step) {
        return Ok(Some(found.agent.clone()));
    }
    let ids: Vec<&str> = steps().map(|member| member.id.as_str()).collect();
    let failure = Failure::not_found(format!("{} has no step '{step}'", run.position.stage));
    Err(match engine::nearest(step.as_str(), ids.iter().copied()) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint(format!("there are {}", ids.join(", "))),
    })
}

fn has_ended(decided: &Decided) -> bool {
    decided
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
