//! One line per event, for output that is not a terminal.

use std::collections::BTreeMap;

use engine::{AgentName, CheckVerdict, DispatchId};
use runner::progress::{Progress, ProgressContext, Watcher, Worker};
use runner::prompt::Prompt;
use views::progress::short;
use views::{Style, time};

use crate::output::Output;
use crate::terminal::Terminal;

/// A longer line is cut: what an agent says may have no end.
const COLUMNS: usize = 200;

/// Puts what happened into one line.
pub(super) struct Teller {
    names: BTreeMap<DispatchId, AgentName>,
    secrets: Vec<String>,
}

impl Teller {
    pub(super) fn new(secrets: &[String]) -> Self {
        Self {
            names: BTreeMap::new(),
            secrets: secrets.to_vec(),
        }
    }

    /// The line, and what its colour would say; none for what only a picture shows.
    pub(super) fn line(
        &mut self,
        at: &ProgressContext<'_>,
        what: &Progress,
    ) -> Option<(Style, String)> {
        if let Progress::WorkerBegan { worker } = what {
            self.names.insert(worker.dispatch, worker.agent.clone());
        }
        let (style, text) = self.sentence(at, what)?;
        Some((style, short(&self.clean(&text), COLUMNS)))
    }

    /// The text without secrets.
    pub(super) fn clean(&self, text: &str) -> String {
        engine::redact(text, &self.secrets).into_owned()
    }

    fn sentence(&self, at: &ProgressContext<'_>, what: &Progress) -> Option<(Style, String)> {
        let told = match what {
            Progress::Driving { again } => (Style::Strong, beginning(at, *again)),
            Progress::Moved { from, to, .. } => (Style::Strong, format!("{from} → {to}")),
            Progress::WorkerBegan { worker } => (Style::Normal, began(worker)),
            Progress::WorkerActed { dispatch, action } => {
                (Style::Dim, format!("{}: {action}", self.name(*dispatch)))
            }
            Progress::WorkerSaid { .. } | Progress::WorkerUsed { .. } => return None,
            Progress::WorkerRefused { dispatch, tool } => (
                Style::Wait,
                format!("{} was refused: {tool}", self.name(*dispatch)),
            ),
            Progress::WorkerSentBack { dispatch, reason } => (
                Style::Wait,
                format!("{} is sent back: {reason}", self.name(*dispatch)),
            ),
            Progress::WorkerEnded {
                dispatch,
                result,
                is_fault,
            } => (
                if *is_fault { Style::Bad } else { Style::Good },
                format!("{} ended: {result}", self.name(*dispatch)),
            ),
            Progress::CheckBegan { stage } => {
                (Style::Normal, format!("running the commands of {stage}"))
            }
            Progress::CheckEnded {
                stage,
                verdict,
                tail,
            } => checked(stage.as_str(), *verdict, tail),
            Progress::Asked { question, choices } => (Style::Wait, asked(question, choices)),
            Progress::Answered { by, answer } => {
                (Style::Normal, format!("{by} answered: {answer}"))
            }
            Progress::Pausing { until, why } => {
                let wait = until.0.saturating_sub(at.now.0).div_ceil(1000);
                let wait = time::span(engine::Seconds(wait));
                (Style::Wait, format!("waiting {wait}: {why}"))
            }
            Progress::AwaitingSlot { runner } => {
                (Style::Normal, format!("waits for a slot of {runner}"))
            }
            Progress::AskingVersion { program } => {
                (Style::Dim, format!("asks {program} for its version"))
            }
            Progress::Remark { text } => (Style::Wait, text.clone()),
            Progress::DriveEnded { status, reason } => ended(at, status, reason),
        };
        Some(told)
    }

    fn name(&self, dispatch: DispatchId) -> String {
        match self.names.get(&dispatch) {
            Some(agent) => format!("{dispatch} '{agent}'"),
            None => dispatch.to_string(),
        }
    }
}

fn beginning(at: &ProgressContext<'_>, again: bool) -> String {
    let run = at.opened.run();
    let pipeline = &at.opened.pipeline.definition().name;
    if again {
        format!(
            "{} of {pipeline} continues in {}",
            run.id, run.position.stage
        )
    } else {
        format!("{} of {pipeline} starts: {}", run.id, run.task)
    }
}

fn began(worker: &Worker) -> String {
    let Worker {
        dispatch,
        agent,
        runner,
        ..
    } = worker;
    let step = worker.step.as_ref().map(|step| format!(" for step {step}"));
    let model = worker.model.as_ref().map(|model| format!(", {model}"));
    let attempt = match worker.attempt {
        0 | 1 => String::new(),
        attempt => format!(", attempt {attempt}"),
    };
    format!(
        "{dispatch} '{agent}' works{}: {runner}{}{attempt}",
        step.unwrap_or_default(),
        model.unwrap_or_default()
    )
}

fn checked(stage: &str, verdict: CheckVerdict, tail: &str) -> (Style, String) {
    let last = tail.lines().rev().find(|line| !line.trim().is_empty());
    match (verdict, last) {
        (CheckVerdict::Passed, _) => (Style::Good, format!("{stage} passed")),
        (CheckVerdict::Failed, Some(last)) => (Style::Bad, format!("{stage} failed: {last}")),
        (CheckVerdict::Failed, None) => (Style::Bad, format!("{stage} failed")),
        // What the commands printed is not the reason.
        (CheckVerdict::Void, _) => (Style::Wait, format!("{stage} has no verdict")),
    }
}

fn asked(question: &str, choices: &[String]) -> String {
    if choices.is_empty() {
        format!("question for a person: {question}")
    } else {
        format!("question for a person: {question} ({})", choices.join(", "))
    }
}

/// How the run ended, or why it stopped, and where its report is.
fn ended(at: &ProgressContext<'_>, status: &str, reason: &str) -> (Style, String) {
    let (style, text) = left(status, reason);
    match views::report_path(&at.opened.pipeline, at.opened.run()) {
        Some(path) => (style, format!("{text}; the report is in {path}")),
        None => (style, text),
    }
}

fn left(status: &str, reason: &str) -> (Style, String) {
    let style = match status {
        "completed" => Style::Good,
        "failed" | "cancelled" => Style::Bad,
        _ => Style::Wait,
    };
    if reason.is_empty() {
        (style, format!("the run is {status}"))
    } else {
        (style, format!("the run is {status}: {reason}"))
    }
}

/// Tells each event in a line of talk, with the time at which it came.
pub(super) struct Plain<'a> {
    output: &'a mut Output,
    teller: Teller,
}

impl<'a> Plain<'a> {
    pub(super) fn new(output: &'a mut Output, teller: Teller) -> Self {
        Self { output, teller }
    }
}

impl Watcher for Plain<'_> {
    fn tell(&mut self, at: &ProgressContext<'_>, what: &Progress) {
        if let Some((style, text)) = self.teller.line(at, what) {
            let line = format!("{} {text}", time::rfc3339(at.now));
            self.output.say_in(style, &line);
        }
    }

    fn tick(&mut self, _: &ProgressContext<'_>) {}

    fn remark(&mut self, text: &str) {
        self.output.say(text);
    }

    fn prompt(&mut self) -> Option<Box<dyn Prompt>> {
        Terminal::open()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_void_check_has_no_verdict_whatever_it_printed() {
        for (verdict, says) in [
            (CheckVerdict::Passed, "testing passed"),
            (CheckVerdict::Failed, "testing failed: OK"),
            (CheckVerdict::Void, "testing has no verdict"),
        ] {
            assert_eq!(checked("testing", verdict, "OK\n").1, says);
        }
    }
}
