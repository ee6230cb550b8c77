//! The templates that come with the program.

use engine::ViewFormat;

use crate::template::Template;

macro_rules! template {
    ($pipeline:literal, $name:literal) => {
        Some(Template {
            name: $name,
            text: include_str!(concat!(
                "../../../../language/builtin/",
                $pipeline,
                "/",
                $name
            )),
        })
    };
}

pub(super) fn builtin(format: &ViewFormat) -> Option<Template<'static>> {
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
