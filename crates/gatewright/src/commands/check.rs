//! `gatewright check`: runs the commands of the current check stage and records the results.

use engine::Commands;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::idempotency::{self, KeyedCommand};
use runtime::run_check::{CheckWatch, check};
use runtime::workspace::{OpenRun, Workspace};
use views::Style;

use crate::arguments::{OfRun, Writing};
use crate::exit::Exit;
use crate::output::Output;
use crate::report;

/// Run the commands of the current check stage and record the result
///
/// Each command is a program with arguments, not a shell line. It gets a reduced environment, no
/// stdin and a time limit. The environment is the one that a person gave (see `trust --environment`),
/// and not the caller's. The result counts only if the commands leave the tree unchanged.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    of: OfRun,
    #[command(flatten)]
    writing: Writing,
}

impl Check {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut workspace = Workspace::for_writing(context)?;
        let stored = find_run::find(&workspace, self.of.run.as_deref())?;
        let command = KeyedCommand::new("check");
        let key = idempotency::run_key(&workspace, &stored, self.writing.key.as_ref(), &command)?;
        let opened = workspace.opened(stored)?;
        if output.is_talking_to_a_person()
            && let Some(line) = running(&opened)
        {
            output.say_in(Style::Dim, &line);
        }
        let watch = CheckWatch::by_us(&opened)?;
        let decided = check(&mut workspace, opened, &key, &watch)?;
        report::print(&workspace, &decided, output)
    }
}

/// Prints the commands that will run, for the person who waits.
fn running(opened: &OpenRun) -> Option<String> {
    let work = engine::may_check(&opened.pipeline, opened.run()).ok()?;
    Some(match &work.commands {
        Commands::Fixed(commands) => {
            let lines: Vec<String> = commands.iter().map(|words| words.join(" ")).collect();
            format!("running {} …", lines.join(", then "))
        }
        Commands::Approved(fields) => {
            let artifacts: Vec<&str> = fields.iter().map(|field| field.artifact.as_str()).collect();
            format!("running the commands of {} …", artifacts.join(" and "))
        }
    })
}
