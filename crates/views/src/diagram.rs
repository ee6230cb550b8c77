//! The graph of a pipeline: as Mermaid, as DOT, and as a drawing for the terminal.

mod caption;
mod chart;
mod dot;
mod drawing;
mod mermaid;

use engine::{Pipeline, Run};

pub(crate) use caption::{artifact_specs, edge, effects, work};
pub(crate) use chart::Chart;

/// A Mermaid flowchart. With a run, its current stage is marked.
pub fn mermaid(pipeline: &Pipeline, run: Option<&Run>) -> String {
    mermaid::render(&Chart::new(pipeline.definition(), run))
}

/// A Graphviz graph with the same information.
pub fn dot(pipeline: &Pipeline, run: Option<&Run>) -> String {
    dot::render(&Chart::new(pipeline.definition(), run))
}

/// Stages in the order of the file, each with its edges, at most 100 columns wide.
pub fn text(pipeline: &Pipeline, run: Option<&Run>) -> String {
    drawing::render(&Chart::new(pipeline.definition(), run))
}
