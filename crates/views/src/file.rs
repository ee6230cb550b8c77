//! The files that a pipeline's `[views]` asks for.

use engine::{Pipeline, Run, ViewFormat};

use crate::json::json_text;
use crate::model::model;
use crate::pipeline_state::pipeline_state;
use crate::report::report;
use crate::status::{Freshness, RunContext, status};
use crate::summary::{Verification, summary};
use crate::template::{Template, TemplateError, render};
use crate::view_input::ViewInput;

/// What a view shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewContent {
    /// This text, rendered again each time.
    Text(String),
    /// A log: it grows by what `JournalDigest::update` gives.
    Log,
}

/// What a view shows: the run as of its last change, so the same journal gives the same file.
pub fn file(format: &ViewFormat, input: &ViewInput<'_>) -> Result<ViewContent, TemplateError> {
    let ViewInput {
        pipeline,
        run,
        entries,
        project,
        ..
    } = *input;
    let context = RunContext {
        project,
        now: run.touched_at,
        freshness: Freshness::Fresh,
    };
    Ok(ViewContent::Text(match format {
        ViewFormat::Summary => summary(pipeline, run, entries, context, Verification::NotRun),
        ViewFormat::Report => report(pipeline, run, entries, context, None),
        ViewFormat::Status => json_text(&status(pipeline, run, context).json()),
        ViewFormat::Diagram => crate::diagram::mermaid(pipeline, Some(run)),
        ViewFormat::Log => return Ok(ViewContent::Log),
        ViewFormat::Template(own) => {
            let template = Template {
                name: &own.file,
                text: &own.text,
            };
            rendered(template, format, input)?
        }
        ViewFormat::PipelineState => pipeline_state(input)?,
        ViewFormat::AnsibleState
        | ViewFormat::TaskState
        | ViewFormat::LoopState(_)
        | ViewFormat::Workflow
        | ViewFormat::WorkflowReport
        | ViewFormat::TaskGraph
        | ViewFormat::Sessions => {
            let template = (input.builtin)(format).ok_or(TemplateError::missing(format))?;
            rendered(template, format, input)?
        }
    }))
}

fn rendered(
    template: Template<'_>,
    format: &ViewFormat,
    input: &ViewInput<'_>,
) -> Result<String, TemplateError> {
    render(template, model(template, format, input))
}

/// Is this view written now? A report waits for the end of its run.
pub fn is_due(format: &ViewFormat, pipeline: &Pipeline, run: &Run) -> bool {
    *format != ViewFormat::Report || engine::is_over(pipeline, run)
}

/// May it show contents that the store has? What agents said is kept in the digest.
pub fn reads_contents(format: &ViewFormat) -> bool {
    !matches!(
        format,
        ViewFormat::Log | ViewFormat::PipelineState | ViewFormat::Diagram
    )
}

/// Is it rendered from the whole journal each time? The others use the digest.
pub fn needs_journal(format: &ViewFormat) -> bool {
    matches!(format, ViewFormat::Summary | ViewFormat::Report)
}
