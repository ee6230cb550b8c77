//! `gatewright diff`: what a run has changed since it began, or what one stage or piece of work changed.

use runtime::context::Context;
use runtime::facts::RunReader;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};
use runtime::{change_report, clock, find_run, work_change};
use serde_json::json;
use views::Paint;
use views::change::WorkChange;

use crate::exit::Exit;
use crate::output::Output;

/// Show what a run has changed since it began, and the results of its checks
///
/// Compares the files with those at the start of the run. Where the start was not recorded, with the last commit. With a stage or the number
/// of a piece of work (d3): shows what each attempt changed, as it was kept at its end, also of parallel steps. That is kept of headless runs in git, without secrets.
#[derive(Debug, clap::Args)]
pub(crate) struct Diff {
    /// The run's id, or its first characters [default: the only active run of this project, or its last run]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Only what the work in this stage changed, or the work with this number (d3)
    #[arg(value_name = "STAGE")]
    stage: Option<String>,
}

impl Diff {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut workspace = find_run::workspace(context)?;
        let stored = find_run::find_to_show(&workspace, self.run.as_deref())?;
        let opened = workspace.opened(stored)?;
        if let Some(wanted) = &self.stage {
            return show_work(&workspace, &opened, wanted, output);
        }
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

fn show_work(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    wanted: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut reader = RunReader::new(opened.run().id.clone());
    reader.read_opened(workspace, opened, clock::now())?;
    let changes = work_change::wanted(workspace, opened, reader.timeline(), wanted);
    if changes.is_empty() {
        return Err(nothing(opened, wanted));
    }
    let text = |paint: Paint| {
        let texts: Vec<String> = changes.iter().map(|it| it.text(paint)).collect();
        texts.join("\n")
    };
    let json = || json!({ "work": changes.iter().map(WorkChange::json).collect::<Vec<_>>() });
    output.facts(text, json)?;
    Ok(Exit::Success)
}

fn nothing(opened: &OpenRun, wanted: &str) -> Failure {
    let (run, wanted) = (&opened.run().id, views::line(wanted));
    let failure = Failure::not_found(format!("no agent has worked in '{wanted}' of {run}"));
    let stages = opened.pipeline.definition().stages.iter();
    let names = stages.map(|stage| stage.name.as_str());
    match engine::nearest(&wanted, names).filter(|near| *near != wanted) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint(format!("`gatewright show {run}` shows who worked where")),
    }
}
