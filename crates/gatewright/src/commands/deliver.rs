//! `gatewright deliver`: delivers the work of a completed run, again if it failed before.

use engine::Held;
use runner::delivery::{self, DeliveryEnd};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use runtime::{find_run, person_only, signals};
use serde_json::json;
use views::Style;

use crate::exit::Exit;
use crate::output::Output;

/// Deliver the work of a completed run on its branch, after a delivery that failed
///
/// Makes the commit, pushes the branch and makes the request to merge, as the pipeline or the start of
/// the run says. What was done before is not repeated.
#[derive(Debug, clap::Args)]
pub(crate) struct Deliver {
    /// The run's id, or its first characters [default: the only completed run of this project that is not delivered]
    #[arg(value_name = "RUN")]
    run: Option<String>,
}

impl Deliver {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        person_only::require_person(context, "deliver", Held::Nobody)?;
        let mut workspace = Workspace::for_writing(context)?;
        let candidates = delivery::candidates(&mut workspace)?;
        let word = self.run.as_deref();
        let run = find_run::find_candidate(&workspace, word, &candidates, "can be delivered")?
            .run
            .id;
        if let Ok(Some(left)) = delivery::tell_left(&mut workspace, &run) {
            output.say(&left);
        }
        let stop = signals::watch()?;
        match delivery::deliver(&mut workspace, &run, &stop)? {
            DeliveryEnd::Done(delivered) => {
                let text = views::delivered(&delivered);
                let json = json!({
                    "run": run.as_str(),
                    "delivered": true,
                    "commit": delivered.commit,
                    "pushed": delivered.pushed,
                    "request": delivered.request,
                });
                output.facts(|_| format!("{run} {text}\n"), || json)?;
                Ok(Exit::Success)
            }
            DeliveryEnd::Failed(reason) => {
                let line = format!("{run} could not be delivered: {reason}");
                output.say_in(Style::Bad, &line);
                output.say(&format!("`gatewright deliver {run}` repeats it"));
                Ok(Exit::No)
            }
            DeliveryEnd::Stopped => {
                output.say(&format!("stopped: the work of {run} is not delivered yet"));
                output.say(&format!("`gatewright deliver {run}` delivers it"));
                Ok(Exit::Interrupted)
            }
            DeliveryEnd::Nothing => Err(Failure::refused(format!("{run} has nothing to deliver"))
                .hint(format!("`gatewright status {run}` shows how it stands"))),
        }
    }
}
