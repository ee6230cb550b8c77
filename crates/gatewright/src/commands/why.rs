//! `gatewright why`: the rule, the inputs and the evidence of one decision.

use runtime::context::Context;
use runtime::explain;
use runtime::failure::Failure;
use runtime::find_run;

use crate::exit::Exit;
use crate::output::Output;

/// Explain a decision: its rule, the event, the evidence and the result
#[derive(Debug, clap::Args)]
pub(crate) struct Why {
    /// A run (its id or first characters) and the number of an entry [default: the last entry of the active
    /// run of this project, or of its last run]
    #[arg(value_name = "RUN|ENTRY", num_args = 0..=2)]
    words: Vec<String>,
}

impl Why {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = find_run::workspace(context)?;
        let (run, entry) = words(&self.words)?;
        let stored = find_run::find_to_show(&workspace, run)?;
        let run = &stored.run.id;
        let asked = entry.unwrap_or(stored.version);
        let view = explain::why(&workspace, run, asked)?;
        output.facts(|paint| view.text(paint), || view.json())?;
        Ok(Exit::Success)
    }
}

/// A number alone is an entry; a run may follow by its id or first characters.
fn words(words: &[String]) -> Result<(Option<&str>, Option<u64>), Failure> {
    let number = |word: &String| word.parse::<u64>().ok();
    match words {
        [] => Ok((None, None)),
        [only] => match number(only) {
            Some(entry) => Ok((None, Some(entry))),
            None => Ok((Some(only), None)),
        },
        [run, entry, ..] => {
            let entry = number(entry).ok_or_else(|| {
                let message = format!("'{entry}' is not the number of an entry");
                Failure::usage(message).hint("`gatewright history RUN` shows the numbers")
            })?;
            Ok((Some(run), Some(entry)))
        }
    }
}
