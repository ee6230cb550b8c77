//! `gatewright inbox`: every question that waits for a person, over all projects.

use runtime::clock;
use runtime::context::Context;
use runtime::facts::{InboxFound, RunsReader};
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use serde_json::json;
use views::facts::Inbox;

use crate::exit::Exit;
use crate::fleet_link;
use crate::output::{Format, Output};

/// Show what waits for a person in all projects: questions and undelivered work
///
/// The oldest comes first, each with what to type.
#[derive(Debug, clap::Args)]
pub(crate) struct InboxCommand {}

impl InboxCommand {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut found = waiting(context)?;
        let fleet = fleet_link::besides_home(context, output, waiting);
        let is_fleet_missing = fleet.is_none() && fleet_link::has_joined(context);
        if let Some(more) = fleet {
            let entries = [found.inbox.entries(), more.inbox.entries()].concat();
            found.inbox = Inbox::new(entries);
            found.unreadable.extend(more.unreadable);
        }
        let InboxFound { inbox, unreadable } = found;
        if inbox.entries().is_empty() && output.format() == Format::Text {
            output.say(if is_fleet_missing {
                "nothing on this machine waits for you; `gatewright fleet status` shows why the fleet is not read"
            } else {
                "nothing waits for you; `gatewright list` shows the active runs"
            });
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

fn waiting(context: &Context) -> Result<InboxFound, Failure> {
    match Workspace::if_exists(context)? {
        Some(mut workspace) => RunsReader::default().inbox(&mut workspace, clock::now()),
        None => Ok(InboxFound::default()),
    }
}
