//! `workflow`: the steps of a task graph as phases, with what each delivered.

use engine::{Fault, Member, MemberState, Seconds, StageName, Standing, Status, Time};
use serde_json::{Value, json};

use crate::file::Material;
use crate::json::json_text;
use crate::time::rfc3339;

/// The JSON Schema of this format.
pub fn workflow_schema() -> &'static str {
    include_str!("workflow.schema.json")
}

pub fn workflow(material: &Material<'_>) -> String {
    let workflow = Workflow::of(material);
    let ended = ended_at(material);
    let phases: Vec<Value> = workflow.phases.iter().map(Phase::json).collect();
    let current: Vec<String> = workflow.active().map(Phase::id).collect();
    json_text(&json!({
        "id": workflow.id,
        "task": material.run.task,
        "status": workflow.status,
        "current_phase": current.first(),
        "phases": phases,
        "current_phases": current,
        "progress": workflow.progress(),
        "started_at": rfc3339(material.run.started_at),
        "completed_at": ended.map(rfc3339),
        "duration_seconds": ended.map(|at| at.since(material.run.started_at).0),
        "error": workflow.error,
    }))
}

/// A run as a workflow: its task graphs, one after another.
pub struct Workflow<'a> {
    pub id: String,
    pub status: &'static str,
    pub phases: Vec<Phase<'a>>,
    /// Why it failed, or what it waits for.
    pub error: Option<String>,
}

pub struct Phase<'a> {
    pub number: usize,
    pub stage: &'a StageName,
    pub member: &'a Member,
    pub deliverables: Vec<String>,
    pub context_for_next: String,
    /// Why it failed, in its own words.
    said: Option<String>,
}

impl<'a> Workflow<'a> {
    pub fn of(material: &Material<'a>) -> Self {
        let stages = material.pipeline.definition().stages.iter();
        let graphs = stages.filter_map(|stage| material.run.graphs.get_key_value(&stage.name));
        let members =
            graphs.flat_map(|(stage, graph)| graph.members.iter().map(move |it| (stage, it)));
        let phases: Vec<Phase<'_>> = members
            .enumerate()
            .map(|(number, (stage, member))| Phase::of(material, number, stage, member))
            .collect();
        let status = engine::status(material.pipeline, material.run);
        Self {
            id: id(material.run.started_at),
            status: word(&status, &phases),
            phases,
            error: error(material, &status),
        }
    }

    /// Those at work, in the order of the graph.
    pub fn active(&self) -> impl Iterator<Item = &Phase<'a>> {
        self.phases.iter().filter(|phase| phase.is_active())
    }

    /// How many of a hundred parts are done.
    fn progress(&self) -> usize {
        let done = self.phases.iter().filter(|phase| phase.is_done()).count();
        (done * 100).checked_div(self.phases.len()).unwrap_or(0)
    }
}

/// `wf_20250105_143022`.
fn id(started: Time) -> String {
    let kept = |found: &char| found.is_ascii_digit() || *found == 'T';
    let digits: String = rfc3339(started).chars().filter(kept).collect();
    format!("wf_{}", digits.replace('T', "_"))
}

fn word(status: &Status, phases: &[Phase<'_>]) -> &'static str {
    let begun = || phases.iter().any(|it| it.status() != PENDING);
    match status {
        Status::Completed => COMPLETED,
        Status::Failed | Status::Cancelled => FAILED,
        Status::Queued => PENDING,
        Status::Running | Status::Waiting(_) if begun() => ACTIVE,
        Status::Running | Status::Waiting(_) => PENDING,
    }
}

const PENDING: &str = "pending";
const ACTIVE: &str = "active";
const COMPLETED: &str = "completed";
const FAILED: &str = "failed";

/// What keeps the run, or ended it.
fn error(material: &Material<'_>, status: &Status) -> Option<String> {
    match status {
        Status::Waiting(reason) => Some(format!("waiting: {reason}")),
        Status::Failed => Some("the run failed".to_owned()),
        Status::Cancelled => Some(match &material.run.standing {
            Standing::Cancelled { reason } => format!("cancelled: {reason}"),
            _ => "cancelled".to_owned(),
        }),
        Status::Queued | Status::Running | Status::Completed => None,
    }
}

/// When the run came to its end, if it is there.
fn ended_at(material: &Material<'_>) -> Option<Time> {
    let run = material.run;
    let over = engine::is_over(material.pipeline, run);
    over.then_some(match run.standing {
        Standing::Cancelled { .. } => run.touched_at,
        _ => run.position.entered_at,
    })
}

impl<'a> Phase<'a> {
    fn of(
        material: &Material<'a>,
        number: usize,
        stage: &'a StageName,
        member: &'a Member,
    ) -> Self {
        let left = member.left.values();
        let reports = left.filter_map(|hash| {
            let text = (material.contents)(hash)?;
            serde_json::from_str::<Value>(&text).ok()
        });
        let mut phase = Self {
            number,
            stage,
            member,
            deliverables: Vec::new(),
            context_for_next: String::new(),
            said: None,
        };
        for report in reports {
            phase.deliverables.extend(list(&report["deliverables"]));
            if let Some(context) = report.get("context_for_next") {
                phase.context_for_next = text(context);
            }
            phase.said = report.get("error").map(text).or(phase.said);
        }
        phase
    }

    /// `phase_0`.
    pub fn id(&self) -> String {
        format!("phase_{}", self.number)
    }

    /// What people call it; a step without a title goes by its id.
    pub fn title(&self) -> &str {
        let step = &self.member.step;
        match step.title.trim().is_empty() {
            true => step.id.as_str(),
            false => &step.title,
        }
    }

    pub fn status(&self) -> &'static str {
        match &self.member.state {
            MemberState::Pending => PENDING,
            MemberState::Working { .. } => ACTIVE,
            MemberState::Done => COMPLETED,
            MemberState::Failed { .. } => FAILED,
        }
    }

    pub fn is_active(&self) -> bool {
        matches!(self.member.state, MemberState::Working { .. })
    }

    pub fn is_done(&self) -> bool {
        self.member.state == MemberState::Done
    }

    pub fn error(&self) -> Option<String> {
        match &self.member.state {
            MemberState::Failed { fault, reason } => Some(match (fault, &self.said) {
                (Fault::Crashed, Some(said)) => said.clone(),
                _ => format!("{}: {reason}", fault.word()),
            }),
            MemberState::Pending | MemberState::Working { .. } | MemberState::Done => None,
        }
    }

    fn attempts(&self) -> u32 {
        let last = self.member.state != MemberState::Pending;
        self.member.retries + u32::from(last)
    }

    fn json(&self) -> Value {
        let (started, ended) = (self.member.started_at, self.member.ended_at);
        let took = started.zip(ended);
        let took: Option<Seconds> = took.map(|(started, ended)| ended.since(started));
        json!({
            "id": self.id(),
            "title": self.title(),
            "agent": self.member.step.agent.as_str(),
            "status": self.status(),
            "deliverables": self.deliverables,
            "context_for_next": self.context_for_next,
            "step": self.member.step.id.as_str(),
            "attempts": self.attempts(),
            "started_at": started.map(rfc3339),
            "completed_at": ended.map(rfc3339),
            "duration_seconds": took.map(|took| took.0),
            "error": self.error(),
        })
    }
}

/// A list of texts; one text alone is a list of one.
fn list(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().map(text).collect(),
        other => vec![text(other)],
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
