//! The files that a pipeline's `[views]` asks for.

use engine::ViewFormat;

use crate::json::json_text;
use crate::material::Material;
use crate::model::model;
use crate::status::{Freshness, Surroundings, status};
use crate::summary::{Verification, summary};
use crate::template::{Template, TemplateError, render};

/// What a view shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// This text, each time anew.
    Whole(String),
    /// A log: it grows by what `JournalDigest::update` gives.
    Grows,
}

/// What a view shows. It tells the run as of its last change, so the same journal gives the same file.
pub fn file(format: &ViewFormat, material: &Material<'_>) -> Result<Shown, TemplateError> {
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
    Ok(Shown::Whole(match format {
        ViewFormat::Summary => summary(pipeline, run, entries, around, Verification::NotRun),
        ViewFormat::Status => json_text(&status(pipeline, run, around).json()),
        ViewFormat::Diagram => crate::diagram::mermaid(pipeline, Some(run)),
        ViewFormat::Log => return Ok(Shown::Grows),
        ViewFormat::Template(own) => {
            let template = Template {
                name: &own.file,
                text: &own.text,
            };
            rendered(template, format, material)?
        }
        ViewFormat::AnsibleState
        | ViewFormat::PipelineState
        | ViewFormat::TaskState
        | ViewFormat::LoopState(_)
        | ViewFormat::Workflow
        | ViewFormat::WorkflowReport
        | ViewFormat::TaskGraph
        | ViewFormat::Sessions => {
            let template = (material.builtin)(format).ok_or(TemplateError::missing(format))?;
            rendered(template, format, material)?
        }
    }))
}

fn rendered(
    template: Template<'_>,
    format: &ViewFormat,
    material: &Material<'_>,
) -> Result<String, TemplateError> {
    render(template, model(template, format, material))
}

/// Is it made from the journal each time? The others rest on what was remembered of it.
pub fn wants_story(format: &ViewFormat) -> bool {
    *format == ViewFormat::Summary
}
