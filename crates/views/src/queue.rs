//! The queue: a line for each headless run that is not over, with what it waits for.

use engine::{BudgetLine, RunId, Time};
use serde_json::{Value, json};

use crate::facts::{Rest, RestKeeper};
use crate::layout::{Table, cut};
use crate::paint::{Paint, Style};
use crate::safe::Untrusted;
use crate::time::{moment, rfc3339};

/// A longer task is cut; JSON has all of it.
const TASK_COLUMNS: usize = 40;
const REASON_COLUMNS: usize = 160;

/// One run of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueRow {
    pub run: RunId,
    pub status: &'static str,
    pub task: Untrusted,
    pub project: Untrusted,
    pub waits: QueueReason,
}

/// Why a run does not work, or who makes it work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueReason {
    Worker,
    /// Workers are there, this many, and all their places are taken.
    FreePlace {
        live: u64,
    },
    Driven {
        by: String,
    },
    Slot {
        by: String,
        runner: String,
    },
    Pause {
        until: Time,
        why: Untrusted,
    },
    /// Nobody could drive it the last time; a worker tries again.
    Failed {
        at: Time,
        why: Untrusted,
    },
    /// It has begun, and a service or a cap asks to wait.
    Rest(Rest),
    Until(Time),
    Turn(RunId),
    /// Another headless run works in the same tree.
    Tree(RunId),
    SameFiles {
        run: RunId,
        path: Untrusted,
    },
    Person(Untrusted),
    /// A worker of the fleet: so many with its labels are there, and it is at this place, from 1.
    FleetWorker {
        live: u64,
        place: usize,
    },
    /// Its start did not come to its end, and a person queues it with this command.
    Unqueued {
        run: RunId,
    },
    /// No machine of the fleet has these labels.
    NoMachine(Vec<String>),
    /// As many runs as are allowed use this account.
    Account(String),
    /// A cap of the fleet on the spending of a day leaves nothing.
    Cap {
        whose: Untrusted,
        cost: BudgetLine,
        estimated_cents: u64,
        /// What the runs at work may still use.
        reserved_cents: u64,
    },
    /// Nobody takes it any more, until a person puts it back.
    SetAside {
        run: RunId,
        why: Untrusted,
    },
}

impl QueueReason {
    pub fn text(&self, now: Time) -> String {
        match self {
            Self::Worker => "waits for `gatewright worker`".to_owned(),
            Self::FreePlace { live } => {
                let workers = crate::words::count(*live, "worker");
                format!("waits for a free place of {workers}")
            }
            Self::Driven { by } => format!("at work: {by} drives it"),
            Self::Slot { by, runner } => {
                format!("waits for a slot of {runner} ({by} drives it)")
            }
            Self::Pause { until, why } => {
                format!("waits until {}: {}", moment(*until, now), why.line())
            }
            Self::Failed { at, why } => {
                let (at, why) = (moment(*at, now), why.line());
                format!("waits for `gatewright worker`; could not be driven at {at}: {why}")
            }
            Self::Rest(rest) => {
                let then = match rest.keeper {
                    RestKeeper::There => "",
                    RestKeeper::Nobody => ", then waits for `gatewright worker`",
                };
                let (until, why) = (rest.moment(), rest.why.line());
                format!("rests until {until}{then}: {why}")
            }
            Self::Until(time) => format!("waits until {}", moment(*time, now)),
            Self::Turn(run) => format!("waits for {run}, which is before it in this folder"),
            Self::Tree(run) => format!("waits for {run}, which works in this tree"),
            Self::SameFiles { run, path } => {
                format!(
                    "waits for {run}, which writes the same files ({})",
                    path.line()
                )
            }
            Self::Person(why) => format!("waits for you: {}", why.line()),
            Self::FleetWorker { live: 0, .. } => {
                "waits for `gatewright worker --fleet` on a machine".to_owned()
            }
            Self::FleetWorker { live, place } => {
                let workers = crate::words::count(*live, "worker");
                format!("waits for a free one of {workers}, place {place} in the queue")
            }
            Self::Unqueued { run } => {
                format!("its start ended early: type `gatewright resume {run}`")
            }
            Self::NoMachine(labels) if labels.is_empty() => {
                "no machine has joined the fleet".to_owned()
            }
            Self::NoMachine(labels) => {
                format!(
                    "no machine of the fleet has the labels {}",
                    labels.join(", ")
                )
            }
            Self::Account(name) => format!("waits for a place of the account {name}"),
            Self::Cap {
                whose,
                cost,
                reserved_cents,
                ..
            } => capped(&whose.line(), cost, *reserved_cents),
            Self::SetAside { run, why } => {
                format!("set aside, type `gatewright resume {run}`: {}", why.line())
            }
        }
    }

    fn style(&self) -> Style {
        match self {
            Self::Person(_) | Self::Rest(_) => Style::Wait,
            Self::SetAside { .. }
            | Self::NoMachine(_)
            | Self::Unqueued { .. }
            | Self::Failed { .. } => Style::Bad,
            Self::Driven { .. } => Style::Good,
            Self::Worker
            | Self::FreePlace { .. }
            | Self::FleetWorker { .. }
            | Self::Account(_)
            | Self::Cap { .. }
            | Self::Slot { .. }
            | Self::Pause { .. }
            | Self::Until(_)
            | Self::Turn(_)
            | Self::Tree(_)
            | Self::SameFiles { .. } => Style::Normal,
        }
    }

    /// The reason as facts; `for` is the stable word.
    pub fn json(&self) -> Value {
        match self {
            Self::Worker => json!({ "for": "worker" }),
            Self::FreePlace { live } => json!({ "for": "worker", "live_workers": live }),
            Self::Driven { by } => json!({ "for": "nothing", "driven_by": by }),
            Self::Slot { by, runner } => {
                json!({ "for": "slot", "runner": runner, "driven_by": by })
            }
            Self::Pause { until, why } => {
                json!({ "for": "time", "until": rfc3339(*until), "reason": why.raw() })
            }
            Self::Failed { at, why } => {
                json!({ "for": "worker", "failed_at": rfc3339(*at), "reason": why.raw() })
            }
            Self::Rest(rest) => {
                let mut facts = rest.json();
                facts["for"] = Value::from("rest");
                facts
            }
            Self::Until(time) => json!({ "for": "time", "until": rfc3339(*time) }),
            Self::Turn(run) => json!({ "for": "turn", "run": run.as_str() }),
            Self::Tree(run) => json!({ "for": "tree", "run": run.as_str() }),
            Self::SameFiles { run, path } => {
                json!({ "for": "files", "run": run.as_str(), "path": path.raw() })
            }
            Self::Person(why) => json!({ "for": "person", "reason": why.raw() }),
            Self::FleetWorker { live, place } => {
                json!({ "for": "worker", "fleet": true, "live_workers": live, "place": place })
            }
            Self::Unqueued { .. } => json!({ "for": "resume" }),
            Self::NoMachine(labels) => json!({ "for": "machine", "labels": labels }),
            Self::Account(name) => json!({ "for": "account", "account": name }),
            Self::Cap {
                whose,
                cost,
                estimated_cents,
                reserved_cents,
            } => json!({
                "for": "cap",
                "cap": whose.raw(),
                "used": { "cost_cents": cost.used, "estimated_cents": estimated_cents },
                "limit": { "cost_cents": cost.limit },
                "reserved_cents": reserved_cents,
            }),
            Self::SetAside { why, .. } => json!({ "for": "nobody", "reason": why.raw() }),
        }
    }
}

/// Who wants it sooner raises the cap.
fn capped(whose: &str, cost: &BudgetLine, reserved_cents: u64) -> String {
    let cost_text = cost.text();
    if cost.is_used_up() {
        return format!("waits for tomorrow: the cap for {whose} is reached ({cost_text})");
    }
    let reserved = engine::cents(reserved_cents);
    format!(
        "waits for runs at work: they may use the rest of the cap for {whose} ({cost_text}, {reserved} reserved)"
    )
}

/// The rows as a table.
pub fn text(rows: &[QueueRow], now: Time, paint: Paint) -> String {
    let mut projects = rows.iter().map(|row| &row.project);
    let first = projects.next();
    let has_projects = projects.any(|project| Some(project) != first);
    let mut headings = vec!["RUN", "STATUS", "WAITS", "TASK"];
    if has_projects {
        headings.push("PROJECT");
    }
    let mut table = Table::new(&headings);
    for row in rows {
        let mut cells = vec![
            (Style::Strong, row.run.to_string()),
            (Style::Normal, row.status.to_owned()),
            (row.waits.style(), cut(&row.waits.text(now), REASON_COLUMNS)),
            (Style::Normal, cut(&row.task.line(), TASK_COLUMNS)),
        ];
        if has_projects {
            cells.push((Style::Normal, row.project.line()));
        }
        table.row(cells);
    }
    table.text(paint)
}

pub fn json(rows: &[QueueRow]) -> Value {
    let rows = rows.iter().map(|row| {
        json!({
            "run": row.run.as_str(),
            "status": row.status,
            "task": row.task.raw(),
            "project": row.project.raw(),
            "waits": row.waits.json(),
        })
    });
    Value::Array(rows.collect())
}
