//! `gatewright fleet`: several machines on one PostgreSQL.

#[cfg(feature = "fleet")]
mod database;
#[cfg(feature = "fleet")]
mod ship;

use std::path::PathBuf;

use engine::Held;
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::fleet_membership::AddressSource;
use runtime::person_only;

use super::start::fleet_queue::parse_name;
use crate::exit::Exit;
use crate::output::Output;

/// Share runs with other machines through a PostgreSQL database
///
/// `setup` creates the tables and three roles in a database, once: `gatewright_drive` for machines that drive runs,
/// `gatewright_ship` for machines that only add to shipped journals, and `gatewright_read` for those who look.
/// `join` makes this machine a member, `status` shows machines, workers, runs, leases and clocks, `leave` ends the
/// membership. `ship` copies the journals of guarded runs to the database; sessions start it in the background.
/// The password is never shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Fleet {
    /// What to do
    #[arg(value_name = "ACT")]
    act: FleetAct,
    /// The database, for `setup` and `join`: postgres://USER:PASSWORD@HOST:PORT/DATABASE
    #[arg(value_name = "ADDRESS", conflicts_with_all = ["variable", "file"])]
    address: Option<String>,
    /// Read the address from this environment variable, now and whenever it is needed
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    variable: Option<String>,
    /// Read the address from this file, now and whenever it is needed
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// What this machine has, for `join`: a queued run may ask for it
    #[arg(long = "label", value_name = "LABEL", value_parser = parse_name)]
    labels: Vec<String>,
    /// The machine's name in the fleet, for `join` [default: its host name]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    name: Option<String>,
    /// For `ship`: ship what is there now, and end
    #[arg(long)]
    once: bool,
    /// For `ship` in the background: the state folder
    #[arg(long, value_name = "FOLDER", hide = true, conflicts_with = "once")]
    detached: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FleetAct {
    Setup,
    Join,
    Status,
    Leave,
    Ship,
}

impl Fleet {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        // Shipping adds copies of what is there. Hooks of a session start it, too.
        if self.act != FleetAct::Ship {
            person_only::require_person(context, "fleet", Held::Nobody)?;
        }
        self.check()?;
        self.with_database(context, output)?;
        Ok(Exit::Success)
    }

    /// What was typed must fit the act.
    fn check(&self) -> Result<(), Failure> {
        let has_source = self.source().is_some();
        let has_details = !self.labels.is_empty() || self.name.is_some();
        match self.act {
            FleetAct::Setup | FleetAct::Join if !has_source => Err(Failure::usage(
                "the address of the database is missing",
            )
            .hint(
                "add postgres://USER:PASSWORD@HOST:PORT/DATABASE, --variable NAME or --file FILE",
            )),
            FleetAct::Status | FleetAct::Leave | FleetAct::Ship if has_source => {
                Err(Failure::usage(
                    "this takes no address: it is about the fleet that this machine has joined",
                )
                .hint("leave the address out"))
            }
            FleetAct::Setup | FleetAct::Status | FleetAct::Leave | FleetAct::Ship
                if has_details =>
            {
                Err(
                    Failure::usage("labels and a name are given to a machine that joins")
                        .hint("leave them out, or use `gatewright fleet join`"),
                )
            }
            FleetAct::Setup | FleetAct::Join | FleetAct::Status | FleetAct::Leave
                if self.once || self.detached.is_some() =>
            {
                Err(Failure::usage("--once is for `gatewright fleet ship`").hint("leave it out"))
            }
            FleetAct::Setup
            | FleetAct::Join
            | FleetAct::Status
            | FleetAct::Leave
            | FleetAct::Ship => Ok(()),
        }
    }

    fn source(&self) -> Option<AddressSource> {
        let text = self.address.clone();
        let text = text.map(|address| AddressSource::Text { address });
        let variable = self.variable.clone();
        let variable = variable.map(|variable| AddressSource::Variable { variable });
        let file = self.file.clone();
        let file = file.map(|file| AddressSource::File { file });
        text.or(variable).or(file)
    }

    #[cfg(not(feature = "fleet"))]
    fn with_database(&self, _context: &Context, _output: &mut Output) -> Result<(), Failure> {
        Err(built_without())
    }

    #[cfg(feature = "fleet")]
    fn with_database(&self, context: &Context, output: &mut Output) -> Result<(), Failure> {
        match (self.act, self.source()) {
            (FleetAct::Setup, Some(source)) => database::set_up(&source, output),
            (FleetAct::Join, Some(source)) => {
                database::join(context, output, source, self.name.as_deref(), &self.labels)
            }
            (FleetAct::Leave, _) => database::leave(context, output),
            (FleetAct::Ship, _) => match &self.detached {
                Some(folder) => ship::detached(folder),
                None if self.once => ship::once(context, output),
                None => ship::in_front(context, output),
            },
            (FleetAct::Status, _) | (FleetAct::Setup | FleetAct::Join, None) => {
                database::status(context, output)
            }
        }
    }
}

#[cfg(not(feature = "fleet"))]
pub(crate) fn built_without() -> Failure {
    Failure::refused("this gatewright was built without the fleet")
        .hint("install a released version, or build it with `--features fleet`")
}
