//! The file formats of the seeds: what five earlier systems kept in the project, rendered from a run.

mod ansible_state;
mod chronicle;
mod log;
mod loop_state;
mod pipeline_state;
mod sessions;
mod task_graph;
mod task_state;
#[cfg(test)]
mod tests;
mod workflow;
mod workflow_report;
mod yaml;

pub use ansible_state::ansible_state;
pub use chronicle::Chronicle;
pub use loop_state::loop_state;
pub use pipeline_state::pipeline_state;
pub use sessions::sessions;
pub use task_graph::task_graph;
pub use task_state::task_state;
pub use workflow::{workflow, workflow_schema};
pub use workflow_report::workflow_report;

use engine::{Pipeline, StageName};

/// The stage by the name that views with fewer stages know.
fn shown<'a>(pipeline: &'a Pipeline, name: &'a StageName) -> &'a str {
    let stage = pipeline.stage(name);
    stage
        .and_then(|stage| stage.shown.as_deref())
        .unwrap_or(name.as_str())
}
