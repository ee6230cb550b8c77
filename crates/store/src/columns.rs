//! The columns of a list, so that a list decodes nothing: the same in every relational store.

use engine::{PipelineName, Run, RunId, StageName, Status, Time};

use crate::chain::Tip;
use crate::error::Corruption;
use crate::record::{self, RunOrigin};
use crate::stored::{RunSummary, short_task};

/// The columns of a list, as they are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    pub id: String,
    pub project: String,
    pub worktree: String,
    pub pipeline: String,
    pub task: String,
    pub stage: String,
    pub status: String,
    pub reason: Option<String>,
    pub driver: String,
    pub overridden: bool,
    pub started_at: i64,
    pub updated_at: i64,
    pub version: i64,
}

impl Columns {
    /// The columns of a run that has this status.
    pub fn of(
        run: &Run,
        origin: RunOrigin<'_>,
        tip: Tip,
        status: &Status,
        updated_at: Time,
    ) -> Self {
        let (status, reason) = record::status_to_words(status);
        Self {
            id: run.id.as_str().to_owned(),
            project: origin.project.to_owned(),
            worktree: origin.worktree.to_owned(),
            pipeline: origin.pipeline.to_owned(),
            task: short_task(&run.task),
            stage: run.position.stage.as_str().to_owned(),
            status: status.to_owned(),
            reason: reason.map(str::to_owned),
            driver: record::driver_to_word(run.driver),
            overridden: !run.overrides.is_empty(),
            started_at: signed(run.started_at.0),
            updated_at: signed(updated_at.0),
            version: signed(tip.version),
        }
    }

    /// The columns of a run that somebody has listed.
    pub fn of_summary(summary: &RunSummary) -> Self {
        let (status, reason) = record::status_to_words(&summary.status);
        Self {
            id: summary.id.as_str().to_owned(),
            project: summary.project.clone(),
            worktree: summary.worktree.clone(),
            pipeline: summary.pipeline.as_str().to_owned(),
            task: summary.task.clone(),
            stage: summary.stage.as_str().to_owned(),
            status: status.to_owned(),
            reason: reason.map(str::to_owned),
            driver: record::driver_to_word(summary.driver),
            overridden: summary.overridden,
            started_at: signed(summary.started_at.0),
            updated_at: signed(summary.updated_at.0),
            version: signed(summary.version),
        }
    }

    pub fn summary(self) -> Result<RunSummary, Corruption> {
        let name = |error: engine::NameError| Corruption(error.to_string());
        Ok(RunSummary {
            id: RunId::parse(&self.id).map_err(name)?,
            pipeline: PipelineName::parse(&self.pipeline).map_err(name)?,
            stage: StageName::parse(&self.stage).map_err(name)?,
            status: record::status_from_words(&self.status, self.reason)?,
            driver: record::driver_from_word(&self.driver)?,
            project: self.project,
            worktree: self.worktree,
            task: self.task,
            overridden: self.overridden,
            started_at: Time(self.started_at.cast_unsigned()),
            updated_at: Time(self.updated_at.cast_unsigned()),
            version: self.version.cast_unsigned(),
        })
    }

    /// The names of the columns that differ from this state.
    pub fn differing(&self, run: &Run) -> Vec<&'static str> {
        let agree = [
            ("id", self.id == run.id.as_str()),
            ("task", self.task == short_task(&run.task)),
            ("stage", self.stage == run.position.stage.as_str()),
            ("driver", self.driver == record::driver_to_word(run.driver)),
            ("override mark", self.overridden != run.overrides.is_empty()),
            ("start", self.started_at.cast_unsigned() == run.started_at.0),
        ];
        agree
            .into_iter()
            .filter(|(_, same)| !same)
            .map(|(name, _)| name)
            .collect()
    }
}

/// The numbers of a database are signed; a later time is clamped.
pub fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
