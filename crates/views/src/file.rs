//! The files that a pipeline's `[views]` asks for.

use engine::{Entry, Hash, Pipeline, Run, ViewFormat};

use crate::json::json_text;
use crate::seeds;
use crate::status::{Freshness, Surroundings, status};
use crate::summary::{Verification, summary};

/// All that a view is made of.
pub struct Material<'a> {
    pub pipeline: &'a Pipeline,
    pub run: &'a Run,
    /// The journal, with the numbers of its entries: its beginning, and the newest of what came after.
    pub entries: &'a [(u64, &'a Entry)],
    pub project: &'a str,
    /// The captured content of this hash, if it is there and is text.
    pub contents: &'a dyn Fn(&Hash) -> Option<String>,
}

/// The text of a view. It tells the run as of its last change, so the same journal gives the same file.
pub fn file(format: &ViewFormat, material: &Material<'_>) -> String {
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
    match format {
        ViewFormat::Summary => summary(pipeline, run, entries, around, Verification::NotRun),
        ViewFormat::Status => json_text(&status(pipeline, run, around).json()),
        ViewFormat::Diagram => crate::diagram::mermaid(pipeline, Some(run)),
        ViewFormat::Log => seeds::log(material),
        ViewFormat::AnsibleState => seeds::ansible_state(material),
        ViewFormat::PipelineState => seeds::pipeline_state(material),
        ViewFormat::TaskState => seeds::task_state(material),
        ViewFormat::LoopState(of) => seeds::loop_state(of, material),
        ViewFormat::Workflow => seeds::workflow(material),
        ViewFormat::WorkflowReport => seeds::workflow_report(material),
        ViewFormat::TaskGraph => seeds::task_graph(material),
        ViewFormat::Sessions => seeds::sessions(material),
    }
}
