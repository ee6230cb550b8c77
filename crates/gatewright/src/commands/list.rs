//! `gatewright list`: the runs, a line each.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use engine::{Hash, Pipeline};
use serde_json::json;
use store::{Backend, RunSummary};
use views::list::Row;
use views::{Freshness, Surroundings};

use crate::clock;
use crate::context::Context;
use crate::desk::{Desk, as_of};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::runs;

/// List the active runs of this project
#[derive(Debug, clap::Args)]
pub struct List {
    /// List all runs: of every project, and those that are over
    #[arg(long)]
    all: bool,
}

impl List {
    pub fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut unreadable = Vec::new();
        let rows = match Desk::if_there(context)? {
            Some(mut desk) => self.rows(&mut desk, &mut unreadable)?,
            None => Vec::new(),
        };
        let view = views::list(rows);
        output.facts(|paint| view.text(paint), || json!({ "runs": view.json() }))?;
        unreadable
            .iter()
            .for_each(|failure| output.failure(failure));
        Ok(unreadable
            .first()
            .map_or(Exit::Success, |failure| failure.exit))
    }

    /// The rows of all runs that can be read. One that is damaged does not hide the others.
    fn rows(
        &self,
        desk: &mut Desk<'_>,
        unreadable: &mut Vec<Failure>,
    ) -> Result<Vec<Row>, Failure> {
        let summaries = match self.all {
            true => desk.store.runs(None)?,
            false => runs::of_project(desk)?,
        };
        let (mut rows, mut pipelines) = (Vec::new(), BTreeMap::new());
        for summary in summaries
            .iter()
            .filter(|run| self.all || runs::is_active(run))
        {
            match row(desk, &mut pipelines, summary) {
                Ok(row) => rows.extend(row),
                Err(failure) if failure.exit == Exit::Store => unreadable.push(failure),
                Err(failure) => return Err(failure),
            }
        }
        Ok(rows)
    }
}

/// One row, or none if the run has gone meanwhile.
fn row(
    desk: &mut Desk<'_>,
    pipelines: &mut BTreeMap<Hash, Pipeline>,
    summary: &RunSummary,
) -> Result<Option<Row>, Failure> {
    let Some(stored) = desk.store.run(&summary.id)? else {
        return Ok(None);
    };
    let hash = stored.run.definition;
    let pipeline = match pipelines.entry(hash) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => place.insert(desk.pipeline(hash)?),
    };
    let now = clock::now();
    let run = as_of(pipeline, &stored.run, now);
    let freshness = freshness(pipeline, &run, now);
    let around = Surroundings {
        project: &stored.worktree,
        now,
        freshness,
    };
    Ok(Some(Row::new(pipeline, &run, around)))
}

/// Is the run past its `ttl`?
pub fn freshness(pipeline: &Pipeline, run: &engine::Run, now: engine::Time) -> Freshness {
    match engine::is_stale(pipeline, run, now) {
        true => Freshness::Stale,
        false => Freshness::Fresh,
    }
}
