//! `gatewright checkpoint`: a point of a run gets a name.

use engine::{CheckpointName, Happening};

use crate::act::act;
use crate::arguments::Writing;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Give the present point of a run a name, to which `restore` can go back
#[derive(Debug, clap::Args)]
pub struct Checkpoint {
    /// The run's id, or the beginning of it
    #[arg(value_name = "RUN")]
    run: String,
    /// The name of the point; a name that is used again means the later point
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: CheckpointName,
    #[command(flatten)]
    writing: Writing,
}

fn parse_name(text: &str) -> Result<CheckpointName, String> {
    CheckpointName::parse(text).map_err(|problem| problem.to_string())
}

impl Checkpoint {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        act(context, output, Some(&self.run), &self.writing, |_, _| {
            Ok(Happening::CheckpointAsked {
                name: self.name.clone(),
            }
            .into())
        })
    }
}
