//! `gatewright inbox`: every question that waits for a person, over all projects.

use runtime::clock;
use runtime::context::Context;
use runtime::facts::{InboxFound, RunsReader};
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use serde_json::json;

use crate::exit::Exit;
use crate::output::{Format, Output};

/// Show every question that waits for a person, in all projects
///
/// The oldest comes first, each with what to type.
#[derive(Debug, clap::Args)]
pub(crate) struct Inbox {}

impl Inbox {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let InboxFound { inbox, unreadable } = match Workspace::if_exists(context)? {
            Some(mut workspace) => RunsReader::default().inbox(&mut workspace, clock::now())?,
            None => InboxFound::default(),
        };
        if inbox.entries().is_empty() && output.format() == Format::Text {
            output.say("nothing waits for you; `gatewright list` shows the active runs");
        }
        output.facts(
            |paint| inbox.text(paint),
            || json!({ "inbox": inbox.json() }),
        )?;
        unreadable
            .iter()
            .for_each(|failure| output.failure(failure));
        Ok(unreadable.first().map_or(Exit::Success, Exit::from))
    }
}
