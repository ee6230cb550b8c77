//! The templates of the view formats that come with the program, each next to the pipeline that shows it.

use engine::ViewFormat;

/// A template by the name of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinTemplate {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! template {
    ($pipeline:literal, $name:literal) => {
        Some(BuiltinTemplate {
            name: $name,
            text: include_str!(concat!("../../builtin/", $pipeline, "/", $name)),
        })
    };
}

/// The template of a format. The formats that are code have none, and a template of a definition is its own.
pub fn view_template(format: &ViewFormat) -> Option<BuiltinTemplate> {
    match format {
        ViewFormat::AnsibleState => template!("ansible", "ansible-state.md.j2"),
        ViewFormat::PipelineState => template!("context-first", "pipeline-state.json.j2"),
        ViewFormat::TaskState => template!("multi-ai", "task-state.json.j2"),
        ViewFormat::LoopState(_) => template!("multi-ai", "loop-state.json.j2"),
        ViewFormat::Workflow => template!("phases", "workflow.json.j2"),
        ViewFormat::WorkflowReport => template!("phases", "workflow-report.md.j2"),
        ViewFormat::TaskGraph => template!("phases", "task-graph.json.j2"),
        ViewFormat::Sessions => template!("phases", "sessions.txt.j2"),
        ViewFormat::Summary
        | ViewFormat::Report
        | ViewFormat::Status
        | ViewFormat::Diagram
        | ViewFormat::Log
        | ViewFormat::Template(_) => None,
    }
}

/// The JSON Schema of what the format `workflow` gives.
pub fn workflow_schema() -> &'static str {
    include_str!("../../builtin/phases/workflow.schema.json")
}
