//! `gatewright checkpoint`: names the current point of a run.

use engine::{CheckpointName, Happening, PersonEvent};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::idempotency::KeyedCommand;

use crate::arguments::Writing;
use crate::exit::Exit;
use crate::output::Output;
use crate::run_command::submit;

/// Name the current point of a run, for `restore`
#[derive(Debug, clap::Args)]
pub(crate) struct Checkpoint {
    /// The run's id, or its first characters
    #[arg(value_name = "RUN")]
    run: String,
    /// The name of the point, not only digits. A repeated name means the later point
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: CheckpointName,
    #[command(flatten)]
    writing: Writing,
}

fn parse_name(text: &str) -> Result<CheckpointName, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        Err("a name of digits only would mean the number of an entry; add a letter".to_owned())
    } else {
        CheckpointName::parse(text).map_err(|problem| problem.to_string())
    }
}

impl Checkpoint {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let command = KeyedCommand::new("checkpoint").with("name", &self.name);
        let run = Some(self.run.as_str());
        submit(context, output, run, &self.writing, &command, |_, _| {
            Ok(Happening::Person(PersonEvent::CheckpointAsked {
                name: self.name.clone(),
            })
            .into())
        })
    }
}
