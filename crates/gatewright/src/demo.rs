//! The demo: a whole headless run of the built-in pipeline `multi-ai`, in a folder of its own.
//!
//! The agents are scripted, and the demo gives the answers of the person. Everything else is real: the
//! processes, the repository, the refusals, the failing check, the `kill -9` and the journal. The demo
//! tells what the journal says.

mod director;
mod ending;
mod folder;
mod narrator;
mod orchestrator;
mod pace;
mod screen;
mod scripted_worker;
mod story;

use std::sync::atomic::Ordering;

use engine::RunId;
use runtime::context::Context;
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::signals;
use serde_json::json;
use tempfile::TempDir;
use views::Style;

use self::director::{DemoEnd, Director, EndedProcess};
use self::folder::DemoFolder;
use self::narrator::Narrator;
pub(crate) use self::orchestrator::orchestrate;
pub(crate) use self::pace::Pace;
use self::screen::DemoScreen;
pub(crate) use self::scripted_worker::{Part, ScriptedWorker};
use self::story::Act;
use crate::exit::Exit;
use crate::output::Output;

const PIPELINE: &str = "multi-ai";
const TASK: &str = "Write slug.sh, which turns a title into a file name";
const RUN: &str = "r-demo";

const OPENING: &str = "\
A task goes through the built-in pipeline 'multi-ai', in a temporary folder.
Scripts play the agents, so it needs no model, no account and no network.
All else is real: processes, git, refusals, the check, the kill, the journal.

";

/// How the demo is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DemoOptions {
    pub pace: Pace,
    /// Does the folder stay?
    pub keeps: bool,
    /// Is the screen of `gatewright watch` open while it plays?
    pub watches: bool,
}

fn run_id() -> Result<RunId, Failure> {
    RunId::parse(RUN).map_err(|problem| Failure::bug(problem.to_string()))
}

/// Plays the demo, and removes its folder unless it is to be kept.
pub(crate) fn play(
    context: &Context,
    output: &mut Output,
    options: DemoOptions,
) -> Result<Exit, Failure> {
    let stop = signals::watch()?;
    let temporary = temporary()?;
    let folder = DemoFolder::make(&temporary, context, options.pace.working())?;
    let mut narrator = Narrator::new(output, context);
    narrator.text(OPENING)?;
    narrator.act(Act::new("task", Style::Strong, &[TASK]))?;
    let variables = folder.variables(context.environment.search_path.as_deref());
    let own = folder.context(Environment::new(variables.clone()));
    if options.watches {
        let environment = Environment::new(variables);
        let screen = DemoScreen::open(&folder, environment, narrator.paint(), &stop);
        narrator.hide_behind(screen);
    }
    let mut director = Director::new(&folder, &own, &mut narrator, options.pace, stop.clone())?;
    let end = director.direct();
    let processes = director.ended_processes();
    if end.is_err() {
        stop.store(true, Ordering::Relaxed);
    }
    narrator.leave_screen()?;
    match end? {
        DemoEnd::Interrupted => {
            ending::remove(temporary)?;
            narrator.text("\ninterrupted: the folder is deleted, and no process is left\n")?;
            Ok(Exit::Interrupted)
        }
        DemoEnd::Completed => {
            let intact = ending::verify(&own, &mut narrator)?;
            let kept = options.keeps.then_some(&folder);
            let kept = ending::close(temporary, kept, context, &mut narrator)?;
            narrator.end(|acts| {
                json!({
                    "pipeline": PIPELINE,
                    "run": RUN,
                    "acts": acts,
                    "intact": intact,
                    "orchestrators": processes.iter().map(EndedProcess::json).collect::<Vec<_>>(),
                    "folder": kept,
                })
            })?;
            Ok(if intact { Exit::Success } else { Exit::No })
        }
    }
}

fn temporary() -> Result<TempDir, Failure> {
    let made = tempfile::Builder::new()
        .prefix("gatewright-demo-")
        .tempdir();
    made.map_err(|cause| {
        Failure::environment(format!("cannot make a temporary folder ({cause})"))
            .hint("set TMPDIR to a writable folder")
    })
}
