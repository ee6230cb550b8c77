//! `gatewright status`: how one run is going.

use views::Surroundings;

use super::list::freshness;
use crate::arguments::OfRun;
use crate::clock;
use crate::context::Context;
use crate::desk::{Desk, as_of};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::runs;

/// Show how a run is going
#[derive(Debug, clap::Args)]
pub struct Status {
    #[command(flatten)]
    of: OfRun,
}

impl Status {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut desk = Desk::for_reading(context)?;
        let stored = runs::find(&desk, self.of.run.as_deref())?;
        let opened = desk.opened(stored)?;
        let now = clock::now();
        let run = as_of(&opened.pipeline, opened.run(), now);
        let freshness = freshness(&opened.pipeline, &run, now);
        let around = Surroundings {
            project: &opened.stored.worktree,
            now,
            freshness,
        };
        let view = views::status(&opened.pipeline, &run, around);
        output.facts(|paint| view.text(paint), || view.json())?;
        Ok(Exit::Success)
    }
}
