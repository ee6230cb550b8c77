//! `gatewright status`: shows the status of one run.

use engine::Driver;
use runner::lease;
use runtime::clock;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::workspace::{OpenRun, Workspace, as_of};
use store::Backend as _;
use views::{Paint, RunContext};

use super::list::freshness;
use crate::arguments::OfRun;
use crate::exit::Exit;
use crate::output::Output;

/// Show the state of a run
#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    #[command(flatten)]
    of: OfRun,
}

impl Status {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut workspace = Workspace::for_reading(context)?;
        let stored = find_run::find(&workspace, self.of.run.as_deref())?;
        let opened = workspace.opened(stored)?;
        let now = clock::now();
        let run = as_of(&opened.pipeline, opened.run(), now);
        let freshness = freshness(&opened.pipeline, &run, now);
        let around = RunContext {
            project: &opened.stored.worktree,
            now,
            freshness,
        };
        let view = views::status(&opened.pipeline, &run, around);
        let driver = lease::driver(workspace.store.lease(&run.id)?.as_ref());
        let text = |paint: Paint| {
            format!(
                "{}{}",
                view.text(paint),
                decided(&opened, driver.as_deref())
            )
        };
        let json = || {
            let mut facts = view.json();
            facts["driven_by"] = driver.as_deref().into();
            facts
        };
        output.facts(text, json)?;
        Ok(Exit::Success)
    }
}

/// Who drives a headless run that could go on; nothing of any other.
fn decided(opened: &OpenRun, driver: Option<&str>) -> String {
    let run = opened.run();
    let goes_on = engine::status(&opened.pipeline, run) == engine::Status::Running;
    match driver {
        _ if run.driver != Driver::Headless || !goes_on => String::new(),
        Some(driver) => format!("\ndriven by {driver}\n"),
        None => format!(
            "\nno process drives it: `gatewright resume {}` continues it\n",
            run.id
        ),
    }
}
