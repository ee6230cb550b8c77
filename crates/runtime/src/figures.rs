//! Figures over many runs, counted from their journals.

use std::collections::BTreeMap;
use std::collections::btree_map;

use engine::{Hash, Pipeline, RunId, Time};
use store::{Backend, RunSummary};
use views::metrics::{Metrics, RunFold};

use crate::failure::{Failure, FailureKind};
use crate::find_run;
use crate::workspace::Workspace;

/// Counts runs. Those that are over are counted once, however often somebody asks.
#[derive(Default)]
pub struct FiguresReader {
    over: BTreeMap<RunId, (u64, Metrics)>,
}

/// The figures of some runs.
#[derive(Default)]
pub struct FiguresFound {
    pub figures: Metrics,
    /// The runs that cannot be read.
    pub unreadable: Vec<Failure>,
}

impl FiguresReader {
    /// The figures of these runs together.
    pub fn read<'s>(
        &mut self,
        workspace: &mut Workspace<'_>,
        summaries: impl IntoIterator<Item = &'s RunSummary>,
        now: Time,
    ) -> Result<FiguresFound, Failure> {
        let mut found = FiguresFound::default();
        let mut pipelines = BTreeMap::new();
        for summary in summaries {
            match self.one(workspace, &mut pipelines, summary, now) {
                Ok(figures) => found.figures.add(figures),
                Err(failure) if failure.kind == FailureKind::Store => {
                    found.unreadable.push(failure);
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(found)
    }

    fn one(
        &mut self,
        workspace: &mut Workspace<'_>,
        pipelines: &mut BTreeMap<Hash, Pipeline>,
        summary: &RunSummary,
        now: Time,
    ) -> Result<Metrics, Failure> {
        if let Some((version, known)) = self.over.get(&summary.id)
            && *version == summary.version
        {
            return Ok(known.clone());
        }
        let figures = of_run(workspace, pipelines, summary, now)?;
        if !find_run::is_active(summary) {
            let kept = (summary.version, figures.clone());
            self.over.insert(summary.id.clone(), kept);
        }
        Ok(figures)
    }
}

/// The figures of a guarded run of another machine, as that machine says: how it stands. What happened in it is in its
/// journal there.
pub fn elsewhere(summary: &RunSummary) -> Metrics {
    let mut figures = Metrics::default();
    let word = summary.status.word().to_owned();
    figures.runs.statuses.insert(word, 1);
    figures.runs.overridden = u64::from(summary.overridden);
    figures
}

/// The figures of one run, or none where it has gone meanwhile. Its journal is read once, a page at
/// a time.
fn of_run(
    workspace: &mut Workspace<'_>,
    pipelines: &mut BTreeMap<Hash, Pipeline>,
    summary: &RunSummary,
    now: Time,
) -> Result<Metrics, Failure> {
    let Some(stored) = workspace.store.run(&summary.id)? else {
        return Ok(Metrics::default());
    };
    let hash = stored.run.definition;
    let pipeline = match pipelines.entry(hash) {
        btree_map::Entry::Occupied(known) => known.into_mut(),
        btree_map::Entry::Vacant(place) => place.insert(workspace.pipeline(hash)?),
    };
    let mut fold = RunFold::new(pipeline);
    workspace
        .store
        .walk(&summary.id, stored.version, &mut |stored| {
            fold.add(&stored.entry)
                .map_err(|source| store::Error::Unfit {
                    run: summary.id.clone(),
                    source,
                })
        })?;
    Ok(fold.end(now))
}
