//! The files that a pipeline's `[views]` asks for.

use engine::{Entry, Pipeline, Run, ViewFormat};

use crate::json::json_text;
use crate::status::{Freshness, Surroundings, status};
use crate::summary::{Verification, summary};

/// The text of a view. It tells the run as of its last change, so the same journal gives the same file.
pub fn file(
    format: ViewFormat,
    pipeline: &Pipeline,
    run: &Run,
    entries: &[(u64, &Entry)],
    project: &str,
) -> String {
    let around = Surroundings {
        project,
        now: run.touched_at,
        freshness: Freshness::Fresh,
    };
    match format {
        ViewFormat::Summary => summary(pipeline, run, entries, around, Verification::NotRun),
        ViewFormat::Status => {
            format!("{}\n", json_text(&status(pipeline, run, around).json()))
        }
        ViewFormat::Diagram => crate::diagram::mermaid(pipeline, Some(run)),
    }
}
