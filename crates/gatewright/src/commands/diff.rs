//! `gatewright diff`: what a run has changed since it began.

use runtime::context::Context;
use runtime::failure::Failure;
use runtime::{change_report, find_run};

use crate::arguments::OfRun;
use crate::exit::Exit;
use crate::output::Output;

/// Show what a run has changed since it began, and the results of its checks
///
/// Compares the files with those at the start of the run. Where the start was not recorded, with the last commit.
#[derive(Debug, clap::Args)]
pub(crate) struct Diff {
    #[command(flatten)]
    of: OfRun,
}

impl Diff {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut workspace = find_run::workspace(context)?;
        let stored = find_run::find_to_show(&workspace, self.of.run.as_deref())?;
        let opened = workspace.opened(stored)?;
        let report = change_report::of(&workspace, &opened)?.map_err(|reason| {
            Failure::refused(format!(
                "the change of {} cannot be shown: {reason}",
                opened.run().id
            ))
            .hint("compare the files by hand")
        })?;
        output.facts(|paint| report.text(paint), || report.json())?;
        Ok(Exit::Success)
    }
}
