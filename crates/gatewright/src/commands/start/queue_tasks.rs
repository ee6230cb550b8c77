//! Queues several tasks from one file, each as a run of its own.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use engine::{RunId, Time};
use runtime::context::Context;
use runtime::definition::{self, DefinitionError};
use runtime::failure::Failure;
use runtime::run_branch::PlaceWish;
use runtime::start_run::{Holder, Started};
use runtime::task_file::{self, FileTask, LONGEST_TASK, MOST_TASKS, TaskFileProblem};
use runtime::workspace::Workspace;
use runtime::{clock, session_run};
use serde_json::json;
use views::Style;

use super::fleet_queue::FleetQueue;
use super::{NewRunArguments, StartMode};
use crate::exit::Exit;
use crate::output::Output;

/// A file with more bytes is not read to its end.
const MOST_BYTES: u64 = 64 * LONGEST_TASK as u64;

/// Many tasks take a while: this often, a line says how far it is.
const SAID_INTERVAL: Duration = Duration::from_secs(2);

/// The columns of a task that the list shows.
const TASK_COLUMNS: usize = 60;

/// Queues the tasks of this file. Every task is read before the first is queued.
pub(crate) fn queue(
    new: &NewRunArguments,
    file: &Path,
    not_before: Option<Time>,
    fleet: Option<&FleetQueue>,
    context: &Context,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if let Some(run) = session_run::here(context)? {
        return Err(Failure::refused(format!(
            "this session holds {run}, and a session queues no other runs"
        ))
        .hint(format!("`gatewright next {run}` shows what comes next")));
    }
    let name = shown(file);
    let tasks = task_file::parse(&read(context, file)?);
    let tasks = tasks.map_err(|problem| unusable(&name, problem))?;
    let mut workspace = Workspace::for_writing(fleet.map_or(context, FleetQueue::context))?;
    let mut queued: Vec<(RunId, &FileTask)> = Vec::new();
    // Each run would say the same.
    let mut notices = BTreeSet::new();
    let mut said_at = Instant::now();
    for task in &tasks {
        said_at = tell_how_far(output, said_at, queued.len(), tasks.len());
        let mode = StartMode {
            queued: true,
            not_before,
            holder: Holder::Headless,
            place: match fleet {
                Some(_) => PlaceWish::Branch,
                None => PlaceWish::BranchIfPossible,
            },
            fleet: fleet.map(FleetQueue::wish),
        };
        let stopped = match new.start_with(&mut workspace, task.text.clone(), mode) {
            Ok(Started::Run(opened) | Started::Earlier(opened)) => {
                if let Some(fleet) = fleet {
                    fleet.enqueue(&opened, output)?;
                }
                queued.push((opened.run().id.clone(), task));
                notices.extend(std::mem::take(&mut workspace.notices));
                continue;
            }
            Ok(Started::Refused(refusal)) => Failure::refused(views::refusal(&refusal)),
            Err(DefinitionError::Failed(failure)) => failure,
            Err(DefinitionError::Rejected { text, problems }) => {
                output.mutter(&definition::rendered(&problems, &text, output.talk_paint()));
                return Ok(Exit::No);
            }
        };
        tell(output, &queued)?;
        return Err(rest(stopped, &name, task, queued.len()));
    }
    tell(output, &queued)?;
    tell_worker(output, queued.len(), not_before, fleet.is_some());
    for notice in notices {
        output.say(&notice);
    }
    Ok(Exit::Success)
}

/// Nothing of this file can be used.
fn unusable(name: &str, problem: TaskFileProblem) -> Failure {
    let TaskFileProblem { line, what } = problem;
    match line {
        Some(line) => Failure::refused(format!("{name} line {line}: {what}"))
            .hint("nothing was queued; correct the line and repeat the command"),
        None => {
            Failure::refused(format!("{name} is empty: {what}")).hint("write one task on each line")
        }
    }
}

/// Says what is not queued, so that nobody queues the others twice.
fn rest(stopped: Failure, name: &str, task: &FileTask, queued: usize) -> Failure {
    match queued {
        0 => stopped.hint("nothing was queued"),
        _ => stopped.hint(format!(
            "the tasks of {name} before line {} are queued; remove them from the file and repeat the command",
            task.line
        )),
    }
}

fn tell_how_far(output: &mut Output, said_at: Instant, queued: usize, all: usize) -> Instant {
    if said_at.elapsed() < SAID_INTERVAL {
        return said_at;
    }
    output.say(&format!("queued {queued} of {all} tasks"));
    Instant::now()
}

fn tell(output: &mut Output, queued: &[(RunId, &FileTask)]) -> Result<(), Failure> {
    let title = |task: &FileTask| task.text.lines().next().unwrap_or_default().to_owned();
    let text = |_| {
        let lines = queued.iter().map(|(run, task)| {
            let title = views::line(&title(task));
            format!("{run}  {}\n", views::progress::short(&title, TASK_COLUMNS))
        });
        lines.collect()
    };
    let json = || {
        let runs = queued.iter().map(
            |(run, task)| json!({ "run": run.as_str(), "line": task.line, "task": task.text }),
        );
        json!({ "queued": queued.len(), "runs": runs.collect::<Vec<_>>() })
    };
    output.facts(text, json)?;
    Ok(())
}

/// Where nobody drives them yet, this says what does, and from when on.
fn tell_worker(output: &mut Output, queued: usize, not_before: Option<Time>, is_fleet: bool) {
    let runs = match queued {
        1 => "1 run".to_owned(),
        many => format!("{many} runs"),
    };
    let fleet = if is_fleet { " --fleet" } else { "" };
    let time = not_before.map(|time| views::time::moment(time, clock::now()));
    let time = time.map_or_else(String::new, |time| format!(", not before {time}"));
    output.say_in(
        Style::Normal,
        &format!(
            "queued {runs}; `gatewright worker{fleet}` drives them{time}, `gatewright queue` shows them"
        ),
    );
}

fn shown(file: &Path) -> String {
    match file.to_str() {
        Some("-") => "stdin".to_owned(),
        _ => views::line(&file.display().to_string()),
    }
}

fn read(context: &Context, file: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        let input = std::io::stdin().lock();
        input.take(MOST_BYTES + 1).read_to_end(&mut bytes)
    } else {
        let opened = fs::File::open(context.folder.join(file));
        opened.and_then(|opened| opened.take(MOST_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(Failure::file("read", file))?;
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("{} is longer than {MOST_BYTES} bytes", shown(file));
        return Err(Failure::refused(message).hint(format!(
            "a file may have {MOST_TASKS} tasks; split it into several"
        )));
    }
    Ok(bytes)
}
