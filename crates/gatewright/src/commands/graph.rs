//! `gatewright graph`: draws a pipeline, with the current stage of a run.

use std::rc::Rc;

use engine::{Pipeline, Run};
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::failure::Failure;
use runtime::{find_run, start_run};
use serde_json::json;
use store::{Backend, StoredEntry};
use views::diagram;
use views::picture::{self, Picture, RunMarks};

use crate::exit::Exit;
use crate::output::Output;

/// Draw a pipeline as text, Mermaid, DOT, SVG, or a self-contained web page
#[derive(Debug, clap::Args)]
pub(crate) struct Graph {
    /// A pipeline's name, or the path of its file
    #[arg(value_name = "PIPELINE", required_unless_present = "run")]
    pipeline: Option<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: GraphFormat,
    /// Draw the pipeline of this run, and mark the run's current stage; SVG and HTML also show where it was
    #[arg(long, value_name = "RUN", conflicts_with = "pipeline")]
    run: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum GraphFormat {
    Text,
    Mermaid,
    Dot,
    Svg,
    Html,
}

impl GraphFormat {
    fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Mermaid => "mermaid",
            Self::Dot => "dot",
            Self::Svg => "svg",
            Self::Html => "html",
        }
    }
}

impl Graph {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let drawn = match (&self.pipeline, &self.run) {
            (Some(word), _) => match find(context, word) {
                Ok(pipeline) => Drawn::of(Rc::new(pipeline)),
                Err(DefinitionError::Failed(failure)) => return Err(failure),
                Err(DefinitionError::Rejected { text, problems }) => {
                    output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                    return Ok(Exit::No);
                }
            },
            (None, word) => self.of_run(context, word.as_deref())?,
        };
        let graph = self.draw(&drawn);
        let json = || {
            json!({
                "pipeline": drawn.pipeline.definition().name.as_str(),
                "format": self.format.word(),
                "run": drawn.run.as_ref().map(|run| run.id.as_str()),
                "graph": graph,
            })
        };
        output.facts(|_| graph.clone(), json)?;
        Ok(Exit::Success)
    }

    fn of_run(&self, context: &Context, word: Option<&str>) -> Result<Drawn, Failure> {
        let mut workspace = find_run::workspace(context)?;
        let stored = find_run::find(&workspace, word)?;
        let journal = match self.format {
            GraphFormat::Text | GraphFormat::Mermaid | GraphFormat::Dot => Vec::new(),
            GraphFormat::Svg | GraphFormat::Html => {
                workspace.store.journal(&stored.run.id, 1, stored.version)?
            }
        };
        let opened = workspace.opened(stored)?;
        Ok(Drawn {
            pipeline: opened.pipeline,
            run: Some(opened.stored.run.clone()),
            journal,
        })
    }

    fn draw(&self, drawn: &Drawn) -> String {
        let (pipeline, run) = (&drawn.pipeline, drawn.run.as_ref());
        let entries = drawn.journal.iter().map(|stored| &stored.entry);
        let marks = run.map(|run| RunMarks::of_journal(run, entries));
        match self.format {
            GraphFormat::Text => diagram::text(pipeline, run),
            GraphFormat::Mermaid => diagram::mermaid(pipeline, run),
            GraphFormat::Dot => diagram::dot(pipeline, run),
            GraphFormat::Svg => Picture::of(pipeline, marks.as_ref()).svg(),
            GraphFormat::Html => picture::page(pipeline, marks.as_ref()),
        }
    }
}

/// What is drawn: a pipeline, and a run of it with its journal.
struct Drawn {
    pipeline: Rc<Pipeline>,
    run: Option<Run>,
    journal: Vec<StoredEntry>,
}

impl Drawn {
    fn of(pipeline: Rc<Pipeline>) -> Self {
        Self {
            pipeline,
            run: None,
            journal: Vec::new(),
        }
    }
}

fn find(context: &Context, word: &str) -> Result<Pipeline, DefinitionError> {
    let project = evidence::Project::find(&context.folder).map_err(Failure::from)?;
    let sources = start_run::sources(context, &project, word)?;
    Ok(definition::compile(&sources)?.pipeline)
}
