//! `gatewright logs`: what the workers of a headless run printed.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{DispatchId, Status};
use runner::agent::conversation::{self, ConversationCommand};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::fleet_logs;
use runtime::lease_holder;
use runtime::worker_log::{LogHead, LogReader, LogStream, WorkerLogLine};
use runtime::workspace::{OpenRun, Workspace};
use serde_json::{Value, json};
use store::Backend as _;
use views::{Style, time};

use crate::exit::Exit;
use crate::output::{Format, Output};
use runtime::worker_output::WorkerOutput;

/// How often a followed log is read again.
const GLANCE: Duration = Duration::from_millis(300);

/// A longer line is cut at the terminal; --json has all that is kept.
const COLUMNS: usize = 2_000;

/// Show what the workers of a headless run printed
///
/// Shows the actions and the words of each worker. The output of its program is kept without secrets, the latest
/// 4 to 8 MB of each piece of work, until `gatewright gc` deletes the run.
#[derive(Debug, clap::Args)]
pub(crate) struct Logs {
    /// The run's id, or its first characters [default: the only active run of this project]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// Only the work with this number (d3), or of this agent
    #[arg(value_name = "WORKER")]
    worker: Option<String>,
    /// Go on while the run is driven
    #[arg(long)]
    follow: bool,
    /// Show the lines as the programs printed them
    #[arg(long)]
    raw: bool,
}

/// One worker while its log is shown.
struct Shown {
    reader: LogReader,
    reading: WorkerOutput,
}

impl Logs {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut workspace = find_run::workspace(context)?;
        let stored = find_run::find_to_show(&workspace, self.run.as_deref())?;
        let opened = workspace.opened(stored)?;
        let mut shown: BTreeMap<DispatchId, Shown> = BTreeMap::new();
        let mut last = None;
        loop {
            // Asked before the logs are read, so that nothing that was printed before the end is missed.
            let goes_on = self.follow && goes_on(&mut workspace, &opened)?;
            if let Some(fleet) = workspace.store.fleet() {
                fleet_logs::fetch(fleet, &workspace.state, &opened.run().id)?;
            }
            for reader in LogReader::all(&workspace.state, &opened.run().id) {
                if self.is_wanted(&reader.head) {
                    let new = Shown {
                        reading: WorkerOutput::of(&reader.head),
                        reader,
                    };
                    shown.entry(new.reader.head.dispatch).or_insert(new);
                }
            }
            for worker in shown.values_mut() {
                self.tell(&mut workspace, &opened, worker, &mut last, output)?;
            }
            if !goes_on {
                break;
            }
            std::thread::sleep(GLANCE);
        }
        if shown.is_empty() {
            return Err(self.nothing(&opened));
        }
        Ok(Exit::Success)
    }

    fn is_wanted(&self, head: &LogHead) -> bool {
        self.worker
            .as_ref()
            .is_none_or(|wanted| head.dispatch.to_string() == *wanted || head.agent.is_same(wanted))
    }

    fn nothing(&self, opened: &OpenRun) -> Failure {
        let run = &opened.run().id;
        let message = match &self.worker {
            Some(worker) => format!("{run} has no log of '{}'", views::line(worker)),
            None => format!("{run} has no logs: gatewright has started no worker in it"),
        };
        Failure::not_found(message).hint(format!("`gatewright history {run}` shows who worked"))
    }

    /// Prints what is new, under a heading where the worker changes.
    fn tell(
        &self,
        workspace: &mut Workspace<'_>,
        opened: &OpenRun,
        worker: &mut Shown,
        last: &mut Option<DispatchId>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let lines = worker.reader.lines();
        let dispatch = worker.reader.head.dispatch;
        if output.format() == Format::Text
            && !lines.is_empty()
            && last.replace(dispatch) != Some(dispatch)
        {
            let current = workspace.read(&opened.run().id)?;
            let commands = conversation::commands(&workspace.state, &current);
            let command = commands.into_iter().find(|it| it.dispatch == dispatch);
            output.text(&heading(&worker.reader.head, command, output.paint()))?;
        }
        for line in lines {
            match output.format() {
                Format::Json => output.json_line(&facts(&worker.reader.head, &line))?,
                Format::Text => {
                    for text in worker.reading.texts(&line, self.raw) {
                        let clock = time::rfc3339(line.at);
                        let clock = clock.get(11..19).unwrap_or_default();
                        let text = views::progress::short(&text, COLUMNS);
                        output.text(&format!("{clock} {text}\n"))?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Is somebody at work on the run, or about to be?
fn goes_on(workspace: &mut Workspace<'_>, opened: &OpenRun) -> Result<bool, Failure> {
    let current = workspace.read(&opened.run().id)?;
    let is_driven =
        lease_holder::driver(workspace.store.lease(&current.run().id)?.as_ref()).is_some();
    Ok(match engine::status(&current.pipeline, current.run()) {
        Status::Queued => true,
        Status::Running | Status::Waiting(_) => is_driven,
        Status::Completed | Status::Failed | Status::Cancelled => false,
    })
}

fn heading(head: &LogHead, command: Option<ConversationCommand>, paint: views::Paint) -> String {
    let title = format!(
        "{} '{}' · {}",
        head.dispatch,
        head.agent,
        views::line(&head.runner)
    );
    let title = paint.on(Style::Strong, &title);
    match command {
        Some(it) => format!("{title} · `{}` opens its conversation\n", it.command),
        None => format!("{title}\n"),
    }
}

fn facts(head: &LogHead, line: &WorkerLogLine) -> Value {
    let stream = match line.stream {
        LogStream::Stdout => "stdout",
        LogStream::Stderr => "stderr",
    };
    json!({
        "at": time::rfc3339(line.at),
        "run": head.run.as_str(),
        "dispatch": head.dispatch.to_string(),
        "agent": head.agent.as_str(),
        "runner": head.runner,
        "stream": stream,
        "text": line.text,
    })
}
