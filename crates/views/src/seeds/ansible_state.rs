//! `ansible-state`: the phase and its validations as YAML front matter, and the way so far as a log.

use engine::{Entry, Fact, ParamName, StageName, Status, Time, Work, Worker};

use super::journey::{By, Passage, Told, journey};
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
    let told = journey(material.entries);
    let validations = Validations::of(material, &told);
    let fields: String = fields(material, &validations)
        .into_iter()
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect();
    format!(
        "---\n{fields}---\n\n# Pipeline State\n\n{}\n\n{}",
        words(material, &validations),
        log(material, &told)
    )
}

fn fields(material: &Material<'_>, validations: &Validations) -> [(&'static str, String); 8] {
    let run = material.run;
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

/// What the validations said. Before the first one nothing has failed.
struct Validations {
    /// Failed ones since a person last let the run go on.
    failed: u32,
    passed: bool,
}

impl Validations {
    fn of(material: &Material<'_>, told: &[Told<'_>]) -> Self {
        let mut validations = Self {
            failed: 0,
            passed: true,
        };
        for told in told {
            match told {
                Told::Passage(passage) => validations.pass(material, passage),
                Told::Entry(entry) if lets_go_on(entry) => validations.failed = 0,
                Told::Entry(_) => {}
            }
        }
        validations
    }

    fn pass(&mut self, material: &Material<'_>, passage: &Passage<'_>) {
        if let By::Person(_) | By::Reset { .. } = passage.by {
            self.failed = 0;
            return;
        }
        if passage.to.is_none() || shown(material.pipeline, passage.from) != VALIDATING {
            return;
        }
        match passage.outcome {
            "passed" => self.passed = true,
            "failed" => {
                self.passed = false;
                self.failed += 1;
            }
            // A fault is no verdict on the work.
            _ => {}
        }
    }
}

fn lets_go_on(entry: &Entry) -> bool {
    matches!(entry.fact, Fact::Continued { .. } | Fact::Unstuck)
}

/// How it goes, for people.
fn words(material: &Material<'_>, validations: &Validations) -> String {
    let (_, status) = status_words(&engine::status(material.pipeline, material.run));
    let failed = match validations.failed {
        0 => String::new(),
        1 => ", after 1 failed validation".to_owned(),
        number => format!(", after {number} failed validations"),
    };
    let stage = &material.run.position.stage;
    format!("The run is in {stage}{failed}: {}", line(&status))
}

fn log(material: &Material<'_>, told: &[Told<'_>]) -> String {
    let entries = material.entries.iter().map(|(_, entry)| *entry);
    let cast = Cast::of(entries);
    let lines = told.iter().filter_map(|told| match told {
        Told::Passage(passage) => {
            let words = passed(material, passage);
            Some((passage.at, words))
        }
        Told::Entry(entry) => Some((entry.at, remark(entry, &cast)?)),
    });
    lines
        .map(|(at, words)| format!("[{}] {}\n", moment(at), line(&words)))
        .collect()
}

fn passed(material: &Material<'_>, passage: &Passage<'_>) -> String {
    let name = |stage: &StageName| shown(material.pipeline, stage).to_owned();
    let to = passage.to.map(name);
    let to = to.map_or_else(String::new, |to| format!(" -> {to}"));
    match &passage.by {
        By::Agent(agent) => format!("{agent} completed{to}"),
        By::Engine => format!("{} {}{to}", passage.from, passage.outcome),
        By::Person(who) => format!("{} said {}{to}", who.name(), passage.outcome),
        By::Reset { reason } => format!("Pipeline reset{to}: {reason}"),
    }
}

/// What else a person would look for. The sentence of the rest is in the history.
fn remark(entry: &Entry, cast: &Cast) -> Option<String> {
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
        | Fact::Continued { .. } => Some(sentence(entry, cast).raw().to_owned()),
        _ => None,
    }
}

/// `2025-12-14 03:01:00 UTC`.
fn moment(at: Time) -> String {
    let text = rfc3339(at).replace('T', " ");
    format!("{} UTC", text.trim_end_matches('Z'))
}
