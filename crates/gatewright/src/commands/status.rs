//! `gatewright status`: shows the status of one run.

use engine::{Driver, RunId, Time};
use runner::agent::conversation::{self, ConversationCommand};
use runtime::clock;
use runtime::context::Context;
use runtime::facts::{RunReader, RunsReader};
use runtime::failure::Failure;
use runtime::lease_holder;
use runtime::shipping::{self, Halt};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{find_run, run_audit};
use serde_json::{Value, json};
use store::{Adoption, Backend as _};
use views::facts::{Inbox, Liveness};
use views::queue::QueueReason;
use views::status::StatusView;
use views::{Paint, Style};

use crate::arguments::OfRun;
use crate::commands::queue::held_up;
use crate::exit::Exit;
use crate::output::Output;
use crate::verification::{adoption_json, fault_line};

/// More are in --json.
const MOST_CONVERSATIONS: usize = 3;

/// Show the state of a run
#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    #[command(flatten)]
    of: OfRun,
}

impl Status {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        let mut workspace = find_run::workspace(context)?;
        let stored = find_run::find_to_show(&workspace, self.of.run.as_deref())?;
        let opened = workspace.opened(stored)?;
        let now = clock::now();
        let run = opened.run().id.clone();
        let view = RunReader::new(run.clone()).read_opened(&workspace, &opened, now)?;
        let waiting = RunsReader::default().count_waiting(&mut workspace, now)?;
        let driver = lease_holder::driver(workspace.store.lease(&run)?.as_ref());
        let conversations = conversation::commands(&workspace.state, &opened);
        let held_up = held_up(&mut workspace, &opened)?;
        let damage = Damage::find(&workspace, &run)?;
        let adoption = adoption(&workspace, &run);
        let text = |paint: Paint| {
            format!(
                "{}{}{}{}{}{}{}",
                waiting_line(waiting, paint),
                view.text(paint),
                waits_line(held_up.as_ref(), now),
                adopted(adoption.as_ref(), paint),
                decided(&opened, driver.as_deref(), &view),
                opened_by(&conversations),
                damage.as_ref().map(|it| it.text(paint)).unwrap_or_default()
            )
        };
        let json = || {
            let mut facts = view.json();
            facts["held_up"] = held_up.as_ref().map(QueueReason::json).into();
            facts["driven_by"] = driver.as_deref().into();
            facts["conversations"] = conversations.iter().map(conversation_json).collect();
            facts["damage"] = damage.as_ref().map(Damage::what).into();
            facts["adopted"] = adoption.as_ref().map(adoption_json).into();
            facts["waiting_runs"] = waiting.into();
            facts
        };
        output.facts(text, json)?;
        match damage {
            Some(Damage::OfRun(_)) => Ok(Exit::Store),
            Some(Damage::OfStore(_)) | None => Ok(Exit::Success),
        }
    }
}

/// How many runs wait for a person, before all else.
pub(crate) fn waiting_line(waiting: usize, paint: Paint) -> String {
    let line = Inbox::line(waiting).map(|line| paint.on(Style::Wait, &line));
    line.map_or_else(String::new, |line| format!("{line}\n"))
}

/// What else the run waits for, as `queue` says it.
pub(crate) fn waits_line(held_up: Option<&QueueReason>, now: Time) -> String {
    held_up.map_or_else(String::new, |it| format!("\n{}\n", it.text(now)))
}

/// What `verify` says of this run and its store.
enum Damage {
    OfRun(String),
    /// The run is intact, but the store is read-only for another reason.
    OfStore(String),
}

impl Damage {
    fn find(workspace: &Workspace<'_>, run: &RunId) -> Result<Option<Self>, Failure> {
        let verification = run_audit::verify(workspace, run)?;
        match verification.faults.first() {
            Some(fault) => Ok(Some(Self::OfRun(fault_line(fault)))),
            None => Ok(run_audit::store_damage(workspace)?.map(Self::OfStore)),
        }
    }

    fn what(&self) -> &str {
        match self {
            Self::OfRun(what) | Self::OfStore(what) => what,
        }
    }

    fn text(&self, paint: Paint) -> String {
        let word = match self {
            Self::OfRun(_) => "the run is DAMAGED, so this proves nothing",
            Self::OfStore(_) => "the store is damaged and read-only",
        };
        let what = self.what();
        let line = views::line(&format!("{word}: {what}; type `gatewright verify`"));
        format!("\n{}\n", paint.on(Style::Bad, &line))
    }
}

/// Another machine goes on with the run, as the process that ships was told.
fn adoption(workspace: &Workspace<'_>, run: &RunId) -> Option<Adoption> {
    match shipping::halt_of(&workspace.state, run)? {
        Halt::Adopted(adoption) => Some(adoption),
        Halt::Differs { .. } | Halt::RolledBack { .. } => None,
    }
}

fn adopted(adoption: Option<&Adoption>, paint: Paint) -> String {
    adoption.map_or_else(String::new, |it| {
        let line = views::adopted_elsewhere(it.entry, &it.by, &it.person);
        format!("\n{}\n", paint.on(Style::Bad, &line))
    })
}

/// How a person opens the latest conversations.
fn opened_by(conversations: &[ConversationCommand]) -> String {
    let first = conversations.len().saturating_sub(MOST_CONVERSATIONS);
    let latest = conversations.iter().skip(first);
    let lines = latest.map(|it| format!("  {} '{}'  {}\n", it.dispatch, it.agent, it.command));
    let lines: String = lines.collect();
    if lines.is_empty() {
        lines
    } else {
        format!("\nopen a conversation with\n{lines}")
    }
}

fn conversation_json(it: &ConversationCommand) -> Value {
    json!({
        "dispatch": it.dispatch.to_string(),
        "agent": it.agent.as_str(),
        "command": it.command,
    })
}

/// Who drives a headless run that could go on; nothing of any other.
fn decided(opened: &OpenRun, driver: Option<&str>, view: &StatusView) -> String {
    let run = opened.run();
    let goes_on = engine::status(&opened.pipeline, run) == engine::Status::Running;
    match driver {
        _ if run.driver != Driver::Headless || !goes_on => String::new(),
        Some(driver) => format!("\ndriven by {driver}\n"),
        // The rest says who goes on with it.
        None if view.rest.is_some() => String::new(),
        None if view.liveness == Some(Liveness::Queued) => format!(
            "\na free worker of the fleet takes it: `gatewright queue` shows what {} waits for\n",
            run.id
        ),
        None => format!(
            "\nno process drives it: `gatewright resume {}` continues it\n",
            run.id
        ),
    }
}
