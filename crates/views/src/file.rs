//! The files that a pipeline's `[views]` asks for.

use engine::{Entry, Hash, Pipeline, Run, ViewFormat};

use crate::json::json_text;
use crate::seeds::{self, Chronicle};
use crate::status::{Freshness, Surroundings, status};
use crate::summary::{Verification, summary};

/// All that a view is made of.
pub struct Material<'a> {
    pub pipeline: &'a Pipeline,
    pub run: &'a Run,
    /// What was remembered of the journal.
    pub chronicle: &'a Chronicle,
    /// The journal with the numbers of its entries, where a view `wants_story`: its beginning, and the
    /// newest of what came after.
    pub entries: &'a [(u64, &'a Entry)],
    pub project: &'a str,
    /// The captured content of this hash, if it is there and is text.
    pub contents: &'a dyn Fn(&Hash) -> Option<String>,
}

/// What a view shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// This text, each time anew.
    Whole(String),
    /// A log: it grows by what `Chronicle::hear` gives.
    Grows,
}

/// What a view shows. It tells the run as of its last change, so the same journal gives the same file.
pub fn file(format: &ViewFormat, material: &Material<'_>) -> Shown {
    let Material {
        pipeline,
        run,
        entries,
        project,
        ..
    } = *material;
    let around = Surroundings {
        project,
        now: run.touched_at,
        freshness: Freshness::Fresh,
    };
    Shown::Whole(match format {
        ViewFormat::Summary => summary(pipeline, run, entries, around, Verification::NotRun),
        ViewFormat::Status => json_text(&status(pipeline, run, around).json()),
        ViewFormat::Diagram => crate::diagram::mermaid(pipeline, Some(run)),
        ViewFormat::Log => return Shown::Grows,
        ViewFormat::AnsibleState => seeds::ansible_state(material),
        ViewFormat::PipelineState => seeds::pipeline_state(material),
        ViewFormat::TaskState => seeds::task_state(material),
        ViewFormat::LoopState(of) => seeds::loop_state(of, material),
        ViewFormat::Workflow => seeds::workflow(material),
        ViewFormat::WorkflowReport => seeds::workflow_report(material),
        ViewFormat::TaskGraph => seeds::task_graph(material),
        ViewFormat::Sessions => seeds::sessions(material),
    })
}

/// Is it made from the journal each time? The others rest on what was remembered of it.
pub fn wants_story(format: &ViewFormat) -> bool {
    *format == ViewFormat::Summary
}
