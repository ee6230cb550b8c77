//! `gatewright restore`: returns a run to a point of its history. The history stays.

use engine::{CheckpointName, Happening, PersonEvent, RunId, StageName};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::idempotency::KeyedCommand;
use runtime::workspace::{OpenRun, Workspace};
use store::Backend;

use crate::arguments::Writing;
use crate::exit::Exit;
use crate::output::Output;
use crate::run_command::submit_confirmed;

/// Return a run to an earlier point; keeps its whole history
///
/// Every stage that the run entered is such a point, without a checkpoint: `@STAGE` is the run as
/// it was when it last entered that stage.
#[derive(Debug, clap::Args)]
pub(crate) struct Restore {
    /// The run's id, or its first characters
    #[arg(value_name = "RUN")]
    run: String,
    /// A checkpoint's name, a stage as `@STAGE`, or the number of an entry
    #[arg(value_name = "POINT")]
    point: String,
    /// The reason, recorded in the history
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    writing: Writing,
}

impl Restore {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let command = KeyedCommand::new("restore")
            .with("point", &self.point)
            .with("reason", &self.reason);
        let lost = |workspace: &Workspace<'_>, opened: &OpenRun| {
            workspace.require_project(opened)?;
            let entry = find_point(workspace, &opened.run().id, &self.point)?;
            let last = opened.stored.version;
            Ok(Some(format!(
                "The run returns to its entry {entry}: the entries after it, up to {last}, no longer \
                 count. Its history stays, and the files of the project do not change."
            )))
        };
        let make = |workspace: &Workspace<'_>, opened: &OpenRun| {
            let run = &opened.run().id;
            let entry = find_point(workspace, run, &self.point)?;
            let state = Box::new(workspace.store.folded_at(run, entry)?);
            let reason = self.reason.clone();
            Ok(Happening::Person(PersonEvent::RestoreAsked {
                entry,
                state,
                reason,
            })
            .into())
        };
        let run = Some(self.run.as_str());
        submit_confirmed(context, output, run, &self.writing, &command, lost, make)
    }
}

/// The entry that a checkpoint's name, a stage or a number means.
pub(crate) fn find_point(
    workspace: &Workspace<'_>,
    run: &RunId,
    point: &str,
) -> Result<u64, Failure> {
    if let Some(stage) = point.strip_prefix('@') {
        return find_arrival(workspace, run, stage);
    }
    let checkpoints = workspace.store.checkpoints(run)?;
    let named = CheckpointName::parse(point)
        .ok()
        .and_then(|name| checkpoints.get(&name).copied());
    if let Some(entry) = named.or_else(|| point.parse().ok()) {
        return Ok(entry);
    }
    let names: Vec<&str> = checkpoints.keys().map(CheckpointName::as_str).collect();
    let failure = Failure::not_found(format!("run {run} has no checkpoint '{point}'"));
    Err(
        match (
            engine::nearest(point, names.iter().copied()),
            names.is_empty(),
        ) {
            (Some(near), _) => failure.hint(format!("did you mean {near}?")),
            (None, false) => failure.hint(format!("there are {}", names.join(", "))),
            (None, true) => failure.hint(format!(
                "write @STAGE, or the number of an entry of `gatewright history {run}`"
            )),
        },
    )
}

/// The entry with which the run last entered this stage.
fn find_arrival(workspace: &Workspace<'_>, run: &RunId, stage: &str) -> Result<u64, Failure> {
    let arrivals = workspace.store.arrivals(run)?;
    let entry = StageName::parse(stage)
        .ok()
        .and_then(|stage| arrivals.get(&stage).copied());
    entry.ok_or_else(|| {
        let names: Vec<String> = arrivals.keys().map(|stage| format!("@{stage}")).collect();
        Failure::not_found(format!("run {run} was never in a stage '{stage}'"))
            .hint(format!("there are {}", names.join(", ")))
    })
}
