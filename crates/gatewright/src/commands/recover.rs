//! `gatewright recover`: shows what `resume` would do after an orchestrator was killed.

use engine::{Driver, Held, Status};
use runner::recovery::{self, InterruptedWork};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::lease_holder;
use runtime::person_only;
use runtime::workspace::{OpenRun, Workspace};
use serde_json::{Value, json};
use store::Backend as _;

use crate::arguments::OfRun;
use crate::exit::Exit;
use crate::output::Output;

/// Show headless runs that no process drives any more, and what `resume` would do
///
/// Read-only: kills, starts and writes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Recover {
    #[command(flatten)]
    of: OfRun,
}

/// A run with its leftover work.
struct UnfinishedRun {
    opened: OpenRun,
    driver: Option<String>,
    left: Vec<InterruptedWork>,
}

impl Recover {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "recover", Held::Nobody)?;
        let mut workspace = Workspace::for_reading(context)?;
        let runs = match &self.of.run {
            Some(word) => vec![find_run::find(&workspace, Some(word))?.run.id],
            None => {
                let all = find_run::of_project(&workspace)?.into_iter();
                all.filter(find_run::is_active).map(|run| run.id).collect()
            }
        };
        let mut found = Vec::new();
        for run in runs {
            let opened = workspace.read(&run)?;
            if opened.run().driver != Driver::Headless {
                continue;
            }
            let driver = lease_holder::driver(workspace.store.lease(&run)?.as_ref());
            let left = recovery::interrupted(&workspace, &opened);
            found.push(UnfinishedRun {
                opened,
                driver,
                left,
            });
        }
        output.facts(
            |_| text(&found),
            || json!({ "runs": found.iter().map(UnfinishedRun::json).collect::<Vec<_>>() }),
        )?;
        Ok(Exit::Success)
    }
}

fn text(found: &[UnfinishedRun]) -> String {
    if found.is_empty() {
        return "this project has no active headless run\n".to_owned();
    }
    found
        .iter()
        .map(UnfinishedRun::text)
        .collect::<Vec<_>>()
        .join("\n")
}

impl UnfinishedRun {
    fn text(&self) -> String {
        let run = self.opened.run();
        let status = engine::status(&self.opened.pipeline, run);
        let head = format!("{} in {}, {}", run.id, run.position.stage, status.word());
        if let Some(driver) = &self.driver {
            return format!("{head}: driven by {driver}, nothing to recover\n");
        }
        if self.left.is_empty() && engine::is_over(&self.opened.pipeline, run) {
            return format!("{head}: nothing to recover\n");
        }
        let mut lines = vec![format!("{head}: no process drives it")];
        lines.extend(self.left.iter().map(|left| {
            let InterruptedWork {
                dispatch,
                action,
                alive,
                ..
            } = left;
            let alive = match alive.as_slice() {
                [] => String::new(),
                alive => {
                    let ids: Vec<String> = alive.iter().map(ToString::to_string).collect();
                    format!("; `resume` will kill the processes {}", ids.join(", "))
                }
            };
            format!(
                "  '{}' ({}): {}{alive}",
                dispatch.agent,
                dispatch.id,
                action.description()
            )
        }));
        lines.push(match status {
            Status::Waiting(why) => format!("  it waits for a person: {}", views::line(&why)),
            Status::Queued
            | Status::Running
            | Status::Completed
            | Status::Failed
            | Status::Cancelled => format!("  `gatewright resume {}` continues it", run.id),
        });
        format!("{}\n", lines.join("\n"))
    }

    fn json(&self) -> Value {
        let run = self.opened.run();
        let left = self.left.iter().map(|left| {
            json!({
                "dispatch": left.dispatch.id.to_string(),
                "agent": left.dispatch.agent.as_str(),
                "then": left.action.description(),
                "alive": left.alive,
            })
        });
        json!({
            "run": run.id.as_str(),
            "stage": run.position.stage.as_str(),
            "status": engine::status(&self.opened.pipeline, run).word(),
            "driver": self.driver,
            "left": left.collect::<Vec<_>>(),
        })
    }
}
