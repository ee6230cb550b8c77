//! `gatewright list`: the runs, a line each.

use runtime::clock;
use runtime::context::Context;
use runtime::facts::{self, RunRows, RunsReader};
use runtime::failure::{Failure, FailureKind};
use runtime::find_run;
use runtime::undelivered;
use runtime::workspace::Workspace;
use serde_json::json;
use store::{Backend as _, RunSummary};
use views::list::RowDepth;

use crate::exit::Exit;
use crate::fleet_link;
use crate::output::{Format, Output};

/// List the active runs of this project, and those whose work is not delivered
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// List all runs: of every project, and finished ones
    #[arg(long)]
    all: bool,
}

/// What there is to list.
struct Found {
    listed: RunRows,
    /// How many runs are over and not shown.
    hidden: usize,
    /// How many runs of all projects wait for a person.
    waiting: usize,
}

impl List {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut found = match Workspace::if_exists(context)? {
            Some(mut workspace) => self.find(&mut workspace)?,
            None => Found::nothing(),
        };
        let of_fleet = fleet_link::besides_home(context, output, |fleet| {
            self.find(&mut Workspace::for_reading(fleet)?)
        });
        if let Some(more) = of_fleet {
            found = found.and(more);
        }
        let Found {
            listed: RunRows { rows, unreadable },
            hidden,
            waiting,
        } = found;
        if rows.is_empty() && output.format() == Format::Text {
            output.say(match hidden {
                0 => "no runs; `gatewright run PIPELINE --task TEXT` starts one",
                _ => "no active runs; `gatewright list --all` shows finished runs",
            });
        }
        let view = views::list(rows).with_waiting(waiting);
        let json = || json!({ "runs": view.json(), "waiting_runs": waiting });
        output.facts(|paint| view.text(paint), json)?;
        unreadable
            .iter()
            .for_each(|failure| output.failure(failure));
        Ok(unreadable.first().map_or(Exit::Success, Exit::from))
    }

    fn find(&self, workspace: &mut Workspace<'_>) -> Result<Found, Failure> {
        let now = clock::now();
        let summaries = self.summaries(workspace)?;
        let undelivered = undelivered::runs(&workspace.state);
        let shown = |run: &&RunSummary| {
            self.all || find_run::is_active(run) || undelivered.contains(&run.id)
        };
        let shown: Vec<&RunSummary> = summaries.iter().filter(shown).collect();
        let hidden = summaries.len() - shown.len();
        let mut reader = RunsReader::default();
        let waiting = reader.count_waiting(workspace, now)?;
        let mut listed = reader.rows(workspace, shown, RowDepth::Whole, now)?;
        if self.all {
            listed.rows.extend(facts::rows_elsewhere(workspace, now)?);
        }
        Ok(Found {
            hidden,
            waiting,
            listed,
        })
    }

    fn summaries(&self, workspace: &Workspace<'_>) -> Result<Vec<RunSummary>, Failure> {
        let is_fleet = workspace.store.fleet().is_some();
        match find_run::of_project(workspace) {
            _ if self.all => Ok(workspace.store.runs(None)?),
            // A project without a remote has no runs in the fleet.
            Err(failure) if is_fleet && failure.kind == FailureKind::Refused => Ok(Vec::new()),
            found => found,
        }
    }
}

impl Found {
    /// Both together.
    fn and(mut self, more: Self) -> Self {
        self.listed.rows.extend(more.listed.rows);
        self.listed.unreadable.extend(more.listed.unreadable);
        Self {
            hidden: self.hidden + more.hidden,
            waiting: self.waiting + more.waiting,
            ..self
        }
    }

    fn nothing() -> Self {
        Self {
            listed: RunRows {
                rows: Vec::new(),
                unreadable: Vec::new(),
            },
            hidden: 0,
            waiting: 0,
        }
    }
}
