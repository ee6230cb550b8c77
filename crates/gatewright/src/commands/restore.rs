//! `gatewright restore`: a run goes back to a point of its own history, which stays whole.

use engine::{CheckpointName, Happening, RunId};
use store::Backend;

use crate::act::act_confirmed;
use crate::arguments::Writing;
use crate::context::Context;
use crate::desk::{Desk, Opened};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::key::Command;
use crate::output::Output;

/// Go back to an earlier point of a run; its history stays whole
#[derive(Debug, clap::Args)]
pub struct Restore {
    /// The run's id, or the beginning of it
    #[arg(value_name = "RUN")]
    run: String,
    /// A checkpoint's name, or the number of an entry
    #[arg(value_name = "POINT")]
    point: String,
    /// Why, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    writing: Writing,
}

impl Restore {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let command = Command::new("restore")
            .with("point", &self.point)
            .with("reason", &self.reason);
        let lost = |desk: &Desk<'_>, opened: &Opened| {
            let entry = find_point(desk, &opened.run().id, &self.point)?;
            let last = opened.stored.version;
            Ok(format!(
                "The run goes back to its entry {entry}: what came after it, up to entry {last}, \
                 counts no longer. Its history stays, and the files of the project are not touched."
            ))
        };
        let make = |desk: &Desk<'_>, opened: &Opened| {
            let run = &opened.run().id;
            let entry = find_point(desk, run, &self.point)?;
            let state = Box::new(desk.store.folded_at(run, entry)?);
            let reason = self.reason.clone();
            Ok(Happening::RestoreAsked {
                entry,
                state,
                reason,
            }
            .into())
        };
        let run = Some(self.run.as_str());
        act_confirmed(context, output, run, &self.writing, &command, lost, make)
    }
}

/// The entry that a checkpoint's name or a number means.
pub fn find_point(desk: &Desk<'_>, run: &RunId, point: &str) -> Result<u64, Failure> {
    let checkpoints = desk.store.checkpoints(run)?;
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
                "write the number of an entry of `gatewright history {run}`"
            )),
        },
    )
}
