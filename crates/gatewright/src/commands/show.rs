//! `gatewright show`: the story of a run, in the terminal or as a page to attach.

use std::path::PathBuf;

use runtime::clock;
use runtime::context::Context;
use runtime::facts::RunReader;
use runtime::failure::Failure;
use runtime::{find_run, run_audit};
use views::Untrusted;
use views::report::{JournalIntegrity, ReportView};

use super::export::save;
use crate::arguments::OfRun;
use crate::exit::Exit;
use crate::output::Output;
use crate::verification::fault_line;

/// Show the story of a run: verdict, proofs, gates with evidence, what people did, stages, cost
///
/// Verifies the run first. With --html: writes one page without scripts, to attach to a pull request. With --markdown: prints the same for a comment.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    of: OfRun,
    /// Write one self-contained HTML page into this file
    #[arg(long, value_name = "FILE", conflicts_with = "markdown")]
    html: Option<PathBuf>,
    /// Print it as Markdown
    #[arg(long)]
    markdown: bool,
}

impl Show {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut workspace = find_run::workspace(context)?;
        let stored = find_run::find_to_show(&workspace, self.of.run.as_deref())?;
        let opened = workspace.opened(stored)?;
        let run = opened.run().id.clone();
        let verification = run_audit::verify(&workspace, &run)?;
        let integrity = match verification.faults.first() {
            Some(fault) => JournalIntegrity::Damaged(Untrusted::new(fault_line(fault))),
            None => JournalIntegrity::Intact,
        };
        let exit = match &integrity {
            JournalIntegrity::Damaged(_) => Exit::Store,
            JournalIntegrity::Intact | JournalIntegrity::NotVerified => Exit::Success,
        };
        let mut reader = RunReader::new(run);
        let report = reader.report(&workspace, &opened, clock::now())?;
        self.print(&report.with_integrity(integrity), output)?;
        Ok(exit)
    }

    fn print(&self, report: &ReportView, output: &mut Output) -> Result<(), Failure> {
        match &self.html {
            Some(path) => {
                save(path, report.html().as_bytes())?;
                let path = views::line(&path.display().to_string());
                output.say(&format!("{path} is written"));
                Ok(())
            }
            None if self.markdown => output.text(&report.markdown()),
            None => output.facts(|paint| report.text(paint), || report.json()),
        }
    }
}
