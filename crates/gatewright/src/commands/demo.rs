//! `gatewright demo`: a whole headless run with scripted agents, and the two commands that it starts itself with.

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use runtime::context::Context;
use runtime::failure::Failure;

use crate::demo::{self, DemoOptions, Pace, Part, ScriptedWorker};
use crate::exit::Exit;
use crate::output::{Format, Output};

/// Run a built-in pipeline from start to end in a temporary folder, without a model
///
/// Needs no account, no model and no network, only git. The agents are scripts that really write files; processes, refusals, the failing check, the
/// `kill -9` and the journal are real. Takes less than a minute at a terminal, and a few seconds elsewhere. Deletes the folder when it is done.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Make no pauses for a reader
    #[arg(long)]
    fast: bool,
    /// Keep the folder with the project, the journal and the report
    #[arg(long)]
    keep: bool,
    /// Open the screen of `gatewright watch` on it
    #[arg(long)]
    watch: bool,
}

impl Demo {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        if self.watch && (!output.is_terminal() || output.format() == Format::Json) {
            return Err(
                Failure::usage("`demo --watch` opens a screen, and needs a terminal")
                    .hint("type `gatewright demo` without --watch"),
            );
        }
        let pace = if self.fast {
            Pace::Fast
        } else {
            Pace::of(output)
        };
        let options = DemoOptions {
            pace,
            keeps: self.keep,
            watches: self.watch,
        };
        demo::play(context, output, options)
    }
}

/// Drive the run of a demo
#[derive(Debug, clap::Args)]
pub(crate) struct DemoOrchestrator {
    /// The folder of the demo
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

impl DemoOrchestrator {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        demo::orchestrate(&self.folder)
    }
}

/// Play an agent of a demo; the prompt is on stdin
#[derive(Debug, clap::Args)]
pub(crate) struct DemoWorker {
    /// How many milliseconds the work takes
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0)]
    pause: u64,
    /// The stage of the pipeline
    #[arg(value_name = "STAGE")]
    stage: String,
    /// The agent to play
    #[arg(value_name = "AGENT")]
    agent: String,
    /// The model that the agent has in the pipeline
    #[arg(value_name = "MODEL")]
    model: String,
}

impl DemoWorker {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let part = Part::parse(&self.stage, &self.agent, &self.model).ok_or_else(|| {
            Failure::usage(format!("nobody works in '{}' of the demo", self.stage))
                .hint("type `gatewright demo`")
        })?;
        let mut prompt = String::new();
        let read = std::io::stdin().read_to_string(&mut prompt);
        read.map_err(|cause| {
            Failure::environment(format!("cannot read the prompt ({cause})")).hint("retry")
        })?;
        std::thread::sleep(Duration::from_millis(self.pause));
        let worker = ScriptedWorker {
            project: &context.folder,
            prompt: &prompt,
        };
        let told = worker.work(&part)?;
        output.text(&format!("{told}\n"))?;
        Ok(Exit::Success)
    }
}
