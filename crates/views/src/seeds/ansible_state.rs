//! `ansible-state`: the phase and its validations as YAML front matter, and the way so far as a log.

use engine::{Entry, Fact, ParamName, Pipeline, Status, Time, Work, Worker};

use super::chronicle::{By, Passage, Validations};
use super::shown;
use super::yaml::{quoted, scalar};
use crate::fact::{Cast, sentence};
use crate::file::Material;
use crate::safe::line;
use crate::status::status_words;
use crate::time::rfc3339;

/// The phase in which work is validated.
const VALIDATING: &str = "validating";

/// The parameter that names what is worked on.
const TARGET: &str = "target";

pub fn ansible_state(material: &Material<'_>) -> String {
    let fields: String = fields(material)
        .into_iter()
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect();
    let lines = material.chronicle.lines.iter();
    let log: String = lines.map(|line| format!("{line}\n")).collect();
    format!(
        "---\n{fields}---\n\n# Pipeline State\n\n{}\n\n{log}",
        words(material)
    )
}

fn fields(material: &Material<'_>) -> [(&'static str, String); 8] {
    let (run, validations) = (material.run, material.chronicle.validations);
    let nothing = || "null".to_owned();
    let target = ParamName::parse(TARGET).ok();
    let target = target.and_then(|target| run.params.get(&target));
    let phase = shown(material.pipeline, &run.position.stage);
    [
        ("active", is_active(material).to_string()),
        ("pipeline_phase", scalar(phase)),
        ("target_path", target.map_or_else(nothing, |it| scalar(it))),
        (
            "current_agent",
            current_agent(material).map_or_else(nothing, |agent| scalar(&agent)),
        ),
        ("task_description", quoted(&run.task)),
        ("started_at", quoted(&rfc3339(run.started_at))),
        ("validation_attempts", validations.failed.to_string()),
        ("last_validation_passed", validations.passed.to_string()),
    ]
}

fn is_active(material: &Material<'_>) -> bool {
    matches!(
        engine::status(material.pipeline, material.run),
        Status::Running | Status::Waiting(_)
    )
}

/// Who is at work, or whose turn it is. A check has no agent.
fn current_agent(material: &Material<'_>) -> Option<String> {
    let mut open = material.run.dispatches.values();
    if let Some(dispatch) = open.next() {
        return Some(dispatch.agent.to_string());
    }
    match &material.pipeline.stage(&material.run.position.stage)?.work {
        Work::Agent(work) => Some(match &work.worker {
            Worker::Session => engine::SESSION.to_owned(),
            Worker::Agent(agent) => agent.to_string(),
        }),
        Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Review(_)
        | Work::Steps(_)
        | Work::End(_) => None,
    }
}

/// What a passage says of the validations.
pub fn judge(validations: &mut Validations, pipeline: &Pipeline, passage: &Passage) {
    if let By::Person(_) | By::Reset { .. } = passage.by {
        validations.failed = 0;
        return;
    }
    if passage.to.is_none() || shown(pipeline, &passage.from) != VALIDATING {
        return;
    }
    match passage.outcome.as_str() {
        "passed" => validations.passed = true,
        "failed" => {
            validations.passed = false;
            validations.failed += 1;
        }
        // A fault is no verdict on the work.
        _ => {}
    }
}

/// How it goes, for people.
fn words(material: &Material<'_>) -> String {
    let (_, status) = status_words(&engine::status(material.pipeline, material.run));
    let failed = match material.chronicle.validations.failed {
        0 => String::new(),
        1 => ", after 1 failed validation".to_owned(),
        number => format!(", after {number} failed validations"),
    };
    let stage = &material.run.position.stage;
    format!("The run is in {stage}{failed}: {}", line(&status))
}

/// `ansible-generator completed -> validating`.
pub fn passed(pipeline: &Pipeline, passage: &Passage) -> String {
    let to = passage.to.as_ref().map(|to| shown(pipeline, to));
    let to = to.map_or_else(String::new, |to| format!(" -> {to}"));
    match &passage.by {
        By::Agent(agent) => format!("{agent} completed{to}"),
        By::Engine => format!("{} {}{to}", passage.from, passage.outcome),
        By::Person(name) => format!("{name} said {}{to}", passage.outcome),
        By::Reset { reason } => format!("Pipeline reset{to}: {reason}"),
    }
}

/// What else a person would look for; the rest is in the history.
pub fn remark(entry: &Entry, cast: &Cast) -> Option<String> {
    match &entry.fact {
        Fact::Started(_) | Fact::Forked { .. } => Some("Pipeline started".to_owned()),
        Fact::Cancelled { reason } => Some(format!("Pipeline cancelled: {reason}")),
        Fact::Retried { .. }
        | Fact::Stuck { .. }
        | Fact::Overridden { .. }
        | Fact::Warned { .. }
        | Fact::Abandoned
        | Fact::WentStale
        | Fact::OverBudget { .. }
        | Fact::Halted { .. }
        | Fact::Continued { .. } => Some(sentence(entry, cast).raw().to_owned()),
        _ => None,
    }
}

/// `[2025-12-14 03:01:00 UTC] Pipeline started`.
pub fn line_of(at: Time, words: &str) -> String {
    let moment = rfc3339(at).replace('T', " ");
    format!("[{} UTC] {}", moment.trim_end_matches('Z'), line(words))
}
