//! `gatewright show`: the story of a run, in the terminal or as a page to attach.

use std::path::PathBuf;

use runtime::clock;
use runtime::context::Context;
use runtime::facts::RunReader;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{find_run, run_audit};
use store::Backend as _;
use views::Untrusted;
use views::facts::WayCounts;
use views::gantt::{Gantt, GanttFold};
use views::picture::{Picture, RunMarks};
use views::report::{JournalIntegrity, ReportView};

use super::export::save;
use crate::arguments::OfRun;
use crate::exit::Exit;
use crate::output::Output;
use crate::verification::fault_line;

/// Show the story of a run: verdict, proofs, gates with evidence, people, stages, cost
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
        let report = report.with_integrity(integrity);
        let report = if self.html.is_some() {
            with_figures(report, &workspace, &opened)?
        } else {
            report
        };
        self.print(&report, output)?;
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

/// The same with the pipeline and the way of the run in it, and when who worked.
fn with_figures(
    report: ReportView,
    workspace: &Workspace<'_>,
    opened: &OpenRun,
) -> Result<ReportView, Failure> {
    let (run, last) = (opened.run(), opened.stored.version);
    let mut ways = WayCounts::default();
    let mut fold = Some(GanttFold::new(&opened.pipeline));
    workspace.store.walk_from(&run.id, 1, last, &mut |stored| {
        ways.add(&stored.entry.fact);
        // The head of the report says that the journal is damaged.
        if fold
            .as_mut()
            .is_some_and(|fold| fold.add(&stored.entry).is_err())
        {
            fold = None;
        }
        Ok(())
    })?;
    let marks = RunMarks::of_ways(run, &ways);
    let picture = Picture::of(&opened.pipeline, Some(&marks)).svg();
    let report = report.with_figure("The way", picture);
    let Some(fold) = fold else {
        return Ok(report);
    };
    let rows = fold.end(clock::now());
    Ok(report.with_figure("Who worked when", Gantt::of(&rows).svg()))
}
