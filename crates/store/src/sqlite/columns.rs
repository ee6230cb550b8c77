//! The columns of a list, so that a list decodes nothing.

use engine::{PipelineName, Run, RunId, StageName, Time};
use rusqlite::Row;

use crate::error::Corruption;
use crate::stored::short_task;
use crate::{RunSummary, record};

/// The columns of a list, as they are stored.
pub(super) struct Columns {
    id: String,
    project: String,
    worktree: String,
    pipeline: String,
    task: String,
    stage: String,
    status: String,
    reason: Option<String>,
    driver: String,
    overridden: bool,
    started_at: i64,
    updated_at: i64,
    version: i64,
}

impl Columns {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            project: row.get(1)?,
            worktree: row.get(2)?,
            pipeline: row.get(3)?,
            task: row.get(4)?,
            stage: row.get(5)?,
            status: row.get(6)?,
            reason: row.get(7)?,
            driver: row.get(8)?,
            overridden: row.get(9)?,
            started_at: row.get(10)?,
            updated_at: row.get(11)?,
            version: row.get(12)?,
        })
    }

    pub(super) fn summary(self) -> Result<RunSummary, Corruption> {
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
    pub(super) fn differing(&self, run: &Run) -> Vec<&'static str> {
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
