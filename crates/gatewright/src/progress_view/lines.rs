//! Every event as one line of JSON, for programs that read what a run does.
//!
//! The names of the fields are documented in `docs/headless.md` and never change their meaning.

use engine::{CheckVerdict, Usage};
use runner::progress::{Progress, ProgressContext, Watcher, Worker};
use runner::prompt::Prompt;
use serde_json::{Value, json};
use views::time;

use crate::output::Output;
use crate::terminal::Terminal;

pub(super) struct Lines<'a> {
    output: &'a mut Output,
    secrets: Vec<String>,
    /// The output cannot be written to; that was said once, and the run goes on.
    is_broken: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(output: &'a mut Output, secrets: &[String]) -> Self {
        Self {
            output,
            secrets: secrets.to_vec(),
            is_broken: false,
        }
    }
}

impl Watcher for Lines<'_> {
    fn tell(&mut self, at: &ProgressContext<'_>, what: &Progress) {
        if self.is_broken {
            return;
        }
        let mut line = head(at);
        line["event"] = Value::from(word(what));
        if let (Some(line), Value::Object(facts)) = (line.as_object_mut(), facts(at, what)) {
            line.extend(facts);
        }
        redact(&mut line, &self.secrets);
        if let Err(failure) = self.output.json_line(&line) {
            self.is_broken = true;
            self.output.failure(&failure);
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

/// What every line says.
fn head(at: &ProgressContext<'_>) -> Value {
    let run = at.opened.run();
    let status = engine::status(&at.opened.pipeline, run);
    json!({
        "at": time::rfc3339(at.now),
        "run": run.id.as_str(),
        "stage": run.position.stage.as_str(),
        "status": status.word(),
    })
}

/// The name of an event.
fn word(what: &Progress) -> &'static str {
    match what {
        Progress::Driving { .. } => "driving",
        Progress::Moved { .. } => "moved",
        Progress::WorkerBegan { .. } => "worker_began",
        Progress::WorkerActed { .. } => "worker_acted",
        Progress::WorkerSaid { .. } => "worker_said",
        Progress::WorkerRefused { .. } => "worker_refused",
        Progress::WorkerUsed { .. } => "worker_used",
        Progress::WorkerSentBack { .. } => "worker_sent_back",
        Progress::WorkerEnded { .. } => "worker_ended",
        Progress::CheckBegan { .. } => "check_began",
        Progress::CheckEnded { .. } => "check_ended",
        Progress::Asked { .. } => "asked",
        Progress::Answered { .. } => "answered",
        Progress::Pausing { .. } => "pausing",
        Progress::AwaitingSlot { .. } => "awaiting_slot",
        Progress::AskingVersion { .. } => "asking_version",
        Progress::Remark { .. } => "remark",
        Progress::DriveEnded { .. } => "left",
    }
}

/// What it says beside that. A field of this name takes the place of the one that every line has.
fn facts(at: &ProgressContext<'_>, what: &Progress) -> Value {
    match what {
        Progress::Driving { again } => {
            let pipeline = at.opened.pipeline.definition().name.as_str();
            json!({ "again": again, "pipeline": pipeline, "task": at.opened.run().task })
        }
        Progress::Moved { from, to, .. } => json!({ "from": from.as_str(), "to": to.as_str() }),
        Progress::WorkerBegan { worker } => began(worker),
        Progress::WorkerActed { dispatch, action } => {
            json!({ "dispatch": dispatch.to_string(), "action": action })
        }
        Progress::WorkerSaid { dispatch, text } => {
            json!({ "dispatch": dispatch.to_string(), "text": text })
        }
        Progress::WorkerRefused { dispatch, tool } => {
            json!({ "dispatch": dispatch.to_string(), "call": tool })
        }
        Progress::WorkerUsed { dispatch, usage } => {
            json!({ "dispatch": dispatch.to_string(), "usage": used(usage) })
        }
        Progress::WorkerSentBack { dispatch, reason } => {
            json!({ "dispatch": dispatch.to_string(), "reason": reason })
        }
        Progress::WorkerEnded {
            dispatch,
            result,
            is_fault,
        } => json!({ "dispatch": dispatch.to_string(), "result": result, "fault": is_fault }),
        Progress::CheckBegan { stage } => json!({ "check": stage.as_str() }),
        Progress::CheckEnded {
            stage,
            verdict,
            tail,
        } => {
            let passed = *verdict == CheckVerdict::Passed;
            json!({ "check": stage.as_str(), "passed": passed, "verdict": verdict.word(), "tail": tail })
        }
        Progress::Asked { question, choices } => {
            json!({ "question": question, "choices": choices })
        }
        Progress::Answered { by, answer } => json!({ "by": by, "answer": answer }),
        Progress::Pausing { until, why } => {
            json!({ "until": time::rfc3339(*until), "reason": why })
        }
        Progress::AwaitingSlot { runner } => json!({ "runner": runner }),
        Progress::AskingVersion { program } => json!({ "program": program }),
        Progress::Remark { text } => json!({ "text": text }),
        Progress::DriveEnded { status, reason } => {
            let decided = at.elapsed.as_secs();
            json!({ "status": status, "reason": reason, "driven_seconds": decided })
        }
    }
}

fn began(worker: &Worker) -> Value {
    json!({
        "dispatch": worker.dispatch.to_string(),
        "agent": worker.agent.as_str(),
        "step": worker.step.as_ref().map(engine::StepId::as_str),
        "runner": worker.runner,
        "model": worker.model,
        "attempt": worker.attempt,
    })
}

fn used(usage: &Usage) -> Value {
    views::usage_json(usage)
}

/// Takes the secrets out of every text.
fn redact(value: &mut Value, secrets: &[String]) {
    match value {
        Value::String(text) => *text = engine::redact(text, secrets).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(item, secrets)),
        Value::Object(members) => {
            let values = members.iter_mut().map(|(_, value)| value);
            values.for_each(|value| redact(value, secrets));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
