//! The rows of a run's Gantt chart, for those who read its journal entry by entry.

use engine::{Damage, Entry, Pipeline, Run, Time};

use super::GanttRow;
use super::rows::{self, Lasting};
use crate::facts::Timeline;

/// A run while its journal is read. Every entry is read once.
pub struct GanttFold<'a> {
    pipeline: &'a Pipeline,
    run: Option<Run>,
    timeline: Timeline,
}

impl<'a> GanttFold<'a> {
    pub fn new(pipeline: &'a Pipeline) -> Self {
        Self {
            pipeline,
            run: None,
            timeline: Timeline::default(),
        }
    }

    /// Adds the next entry.
    pub fn add(&mut self, entry: &Entry) -> Result<(), Damage> {
        self.run = Some(engine::apply(self.run.take(), entry)?);
        let number = self.timeline.version() + 1;
        self.timeline.add(self.pipeline, number, entry);
        Ok(())
    }

    /// The rows so far. What is not over lasts until now, or until the end of the run.
    pub fn end(self, now: Time) -> Vec<GanttRow> {
        let over = self.run.filter(|run| engine::is_over(self.pipeline, run));
        let lasting = match over {
            Some(run) => Lasting::Over(self.timeline.span().ended_at.unwrap_or(run.touched_at)),
            None => Lasting::Now(now),
        };
        rows::of_timeline(self.pipeline, &self.timeline, lasting)
    }
}
