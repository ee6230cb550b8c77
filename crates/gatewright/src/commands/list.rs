//! `gatewright list`: the runs, a line each.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use engine::{Hash, Mode, Pipeline};
use runtime::clock;
use runtime::context::Context;
use runtime::failure::{Failure, FailureKind};
use runtime::find_run;
use runtime::workspace::{Workspace, as_of};
use serde_json::json;
use store::{Backend, RunSummary};
use views::list::{Integrity, RunRow};
use views::{Freshness, RunContext, Untrusted};

use crate::exit::Exit;
use crate::output::{Format, Output};

/// List the active runs of this project
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// List all runs: of every project, and finished ones
    #[arg(long)]
    all: bool,
}

impl List {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut unreadable = Vec::new();
        let mut hidden = 0;
        let rows = match Workspace::if_exists(context)? {
            Some(mut workspace) => {
                let summaries = self.summaries(&workspace)?;
                let shown = |run: &&RunSummary| self.all || find_run::is_active(run);
                let shown: Vec<&RunSummary> = summaries.iter().filter(shown).collect();
                hidden = summaries.len() - shown.len();
                rows(&mut workspace, &shown, &mut unreadable)?
            }
            None => Vec::new(),
        };
        if rows.is_empty() && output.format() == Format::Text {
            output.say(match hidden {
                0 => "no runs; type `gatewright start PIPELINE --task TEXT` to start one",
                _ => "no active runs; `gatewright list --all` shows finished runs",
            });
        }
        let view = views::list(rows);
        output.facts(|paint| view.text(paint), || json!({ "runs": view.json() }))?;
        unreadable
            .iter()
            .for_each(|failure| output.failure(failure));
        Ok(unreadable.first().map_or(Exit::Success, Exit::from))
    }

    fn summaries(&self, workspace: &Workspace<'_>) -> Result<Vec<RunSummary>, Failure> {
        if self.all {
            Ok(workspace.store.runs(None)?)
        } else {
            find_run::of_project(workspace)
        }
    }
}

/// The rows of all runs. One that cannot be read is shown as far as its summary tells it.
fn rows(
    workspace: &mut Workspace<'_>,
    summaries: &[&RunSummary],
    unreadable: &mut Vec<Failure>,
) -> Result<Vec<RunRow>, Failure> {
    let (mut rows, mut pipelines) = (Vec::new(), BTreeMap::new());
    for summary in summaries {
        match row(workspace, &mut pipelines, summary) {
            Ok(row) => rows.extend(row),
            Err(failure) if failure.kind == FailureKind::Store => {
                unreadable.push(failure);
                rows.push(damaged(summary));
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(rows)
}

fn damaged(summary: &RunSummary) -> RunRow {
    RunRow {
        run: summary.id.clone(),
        pipeline: summary.pipeline.clone(),
        integrity: Integrity::Damaged,
        status: summary.status.clone(),
        stage: summary.stage.clone(),
        task: Untrusted::new(&summary.task),
        project: Untrusted::new(&summary.worktree),
        driver: summary.driver,
        mode: Mode::Enforced,
        freshness: Freshness::Fresh,
        session: None,
        bypass: None,
        unjudged: 0,
        unguarded: 0,
        overrides: usize::from(summary.overridden),
        started_at: summary.started_at,
        touched_at: summary.updated_at,
        idle: clock::now().since(summary.updated_at),
    }
}

/// One row, or none if the run has gone meanwhile.
fn row(
    workspace: &mut Workspace<'_>,
    pipelines: &mut BTreeMap<Hash, Pipeline>,
    summary: &RunSummary,
) -> Result<Option<RunRow>, Failure> {
    let Some(stored) = workspace.store.run(&summary.id)? else {
        return Ok(None);
    };
    let hash = stored.run.definition;
    let pipeline = match pipelines.entry(hash) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => place.insert(workspace.pipeline(hash)?),
    };
    let now = clock::now();
    let run = as_of(pipeline, &stored.run, now);
    let freshness = freshness(pipeline, &run, now);
    let around = RunContext {
        project: &stored.home,
        now,
        freshness,
    };
    Ok(Some(RunRow::new(pipeline, &run, around)))
}

/// Is the run past its `ttl`?
pub(crate) fn freshness(pipeline: &Pipeline, run: &engine::Run, now: engine::Time) -> Freshness {
    if engine::is_stale(pipeline, run, now) {
        Freshness::Stale
    } else {
        Freshness::Fresh
    }
}
