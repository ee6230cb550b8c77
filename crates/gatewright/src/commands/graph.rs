//! `gatewright graph`: draws a pipeline, with the current stage of a run.

use std::rc::Rc;

use engine::{Pipeline, Run};
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use runtime::{find_run, start_run};
use serde_json::json;
use views::diagram;

use crate::exit::Exit;
use crate::output::Output;

/// Draw a pipeline as text, Mermaid, DOT, or a self-contained web page
#[derive(Debug, clap::Args)]
pub(crate) struct Graph {
    /// A pipeline's name, or the path of its file
    #[arg(value_name = "PIPELINE", required_unless_present = "run")]
    pipeline: Option<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: GraphFormat,
    /// Draw the pipeline of this run, and mark the run's current stage
    #[arg(long, value_name = "RUN", conflicts_with = "pipeline")]
    run: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum GraphFormat {
    Text,
    Mermaid,
    Dot,
    Html,
}

impl GraphFormat {
    fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::Html => "html",
        }
    }
}

impl Graph {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let (pipeline, run) = match (&self.pipeline, &self.run) {
            (Some(word), _) => match find(context, word) {
                Ok(pipeline) => (Rc::new(pipeline), None),
                Err(DefinitionError::Failed(failure)) => return Err(failure),
                Err(DefinitionError::Rejected { text, problems }) => {
                    output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                    return Ok(Exit::No);
                }
            },
            (None, word) => {
                let mut workspace = Workspace::for_reading(context)?;
                let stored = find_run::find(&workspace, word.as_deref())?;
                let opened = workspace.opened(stored)?;
                (opened.pipeline, Some(opened.stored.run.clone()))
            }
        };
        let drawn = self.draw(&pipeline, run.as_ref());
        let json = || {
            json!({
                "pipeline": pipeline.definition().name.as_str(),
                "format": self.format.word(),
                "run": run.as_ref().map(|run| run.id.as_str()),
                "graph": drawn,
            })
        };
        output.facts(|_| drawn.clone(), json)?;
        Ok(Exit::Success)
    }

    fn draw(&self, pipeline: &Pipeline, run: Option<&Run>) -> String {
        match self.format {
            GraphFormat::Text => diagram::text(pipeline, run),
            GraphFormat::Mermaid => diagram::mermaid(pipeline, run),
            GraphFormat::Dot => diagram::dot(pipeline, run),
            GraphFormat::Html => diagram::html(pipeline, run),
        }
    }
}

fn find(context: &Context, word: &str) -> Result<Pipeline, DefinitionError> {
    let project = evidence::Project::find(&context.folder).map_err(Failure::from)?;
    let sources = start_run::sources(context, &project, word)?;
    Ok(definition::compile(&sources)?.pipeline)
}
