//! `gatewright queue`: what waits, why, and in which order a worker takes it.

#[cfg(feature = "fleet")]
use engine::Time;
use engine::{Driver, Held, RunId, Standing, Status};
#[cfg(feature = "fleet")]
use pg_store::{FleetWait, QueuedRow};
use runner::queue::{self, QueuedRun, Waits};
use runner::wait_note::WaitNote;
use runtime::context::Context;
use runtime::failure::Failure;
#[cfg(feature = "fleet")]
use runtime::lease_holder;
use runtime::queue_order::{QueueOrder, QueuePlace};
use runtime::workspace::{OpenRun, Workspace};
use runtime::{clock, find_run, live_workers, person_only, transact};
use store::Backend as _;
use views::Untrusted;
use views::queue::{QueueReason, QueueRow};

use crate::exit::Exit;
use crate::fleet_link;
#[cfg(feature = "fleet")]
use crate::fleet_link::FleetLink;
use crate::output::{Format, Output};

/// Show what waits and why, or change the order
///
/// Lists the headless runs of all projects that are not over, in the order in which `gatewright worker` takes
/// them. With a run and a place, moves that run; the history records who did it.
#[derive(Debug, clap::Args)]
pub(crate) struct Queue {
    /// The queued run to move
    #[arg(value_name = "RUN", requires = "place")]
    run: Option<String>,
    #[command(flatten)]
    place: QueuePlaceArguments,
}

#[derive(Debug, clap::Args)]
#[group(id = "place", multiple = false, requires = "run")]
pub(crate) struct QueuePlaceArguments {
    /// Take this run before all other queued runs
    #[arg(long)]
    first: bool,
    /// Take this run after all other queued runs
    #[arg(long)]
    last: bool,
    /// Take this run before that one
    #[arg(long, value_name = "OTHER")]
    before: Option<String>,
}

impl Queue {
    pub(crate) fn run(&self, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
        match &self.run {
            Some(run) => self.place(context, output, run),
            None => show(context, output),
        }
    }

    fn place(&self, context: &Context, output: &mut Output, run: &str) -> Result<Exit, Failure> {
        person_only::require_person(context, "queue", Held::Nobody)?;
        if context.fleet().is_some() {
            let message = "the order of the fleet's queue cannot be changed";
            return Err(Failure::refused(message)
                .hint("`gatewright cancel RUN` takes one out that is before it"));
        }
        let mut workspace = Workspace::for_writing(context)?;
        let run = queued_run(&workspace, run)?;
        let (place, words) = match &self.place.before {
            Some(other) => {
                let other = queued_run(&workspace, other)?;
                let words = format!("before {other} in the queue");
                (QueuePlace::Before(other), words)
            }
            None if self.place.last => (QueuePlace::Last, "to the end of the queue".to_owned()),
            None => (QueuePlace::First, "to the front of the queue".to_owned()),
        };
        {
            let _lock = QueueOrder::lock(&workspace.state)?;
            let queued: Vec<RunId> = queue::look(&mut workspace, clock::now())?
                .into_iter()
                .filter(|it| it.summary.status == Status::Queued)
                .map(|it| it.summary.id)
                .collect();
            let order = QueueOrder::with(&queued, &run, &place).ok_or_else(|| {
                Failure::refused(format!("{run} cannot be put {words}"))
                    .hint("`gatewright queue` shows the queued runs")
            })?;
            order.save(&workspace.state)?;
        }
        let message = format!("{} put it {words}", context.who().name());
        let opened = workspace.read(&run)?;
        transact::remark(&mut workspace, opened, None, &message)?;
        output.say(&format!("put {run} {words}"));
        Ok(Exit::Success)
    }
}

/// Only a run that has not begun has a place.
fn queued_run(workspace: &Workspace<'_>, word: &str) -> Result<RunId, Failure> {
    let id = find_run::find(workspace, Some(word))?.run.id;
    let summaries = workspace.store.runs(None)?;
    let status = summaries.into_iter().find(|summary| summary.id == id);
    match status.map(|summary| summary.status) {
        Some(Status::Queued) => Ok(id),
        status => {
            let word = status.map_or("unknown", |status| status.word());
            Err(Failure::refused(format!("{id} is {word}, not queued"))
                .hint("`gatewright queue` shows the queued runs"))
        }
    }
}

fn show(context: &Context, output: &mut Output) -> Result<Exit, Failure> {
    let now = clock::now();
    let (runs, live) = match Workspace::if_exists(context)? {
        Some(mut workspace) => {
            let runs = queue::look(&mut workspace, now)?;
            (runs, live_workers::count(&workspace.state))
        }
        None => (Vec::new(), 0),
    };
    let mut rows: Vec<QueueRow> = runs.iter().map(|queued| row(queued, live)).collect();
    if fleet_link::has_joined(context) {
        rows.extend(of_fleet(context, output));
    }
    if rows.is_empty() && output.format() == Format::Text {
        output.say("nothing is queued; `gatewright start --queue` queues a run");
        return Ok(Exit::Success);
    }
    output.facts(
        |paint| views::queue::text(&rows, now, paint),
        || views::queue::json(&rows),
    )?;
    Ok(Exit::Success)
}

/// The queue of the fleet, in its order. If it cannot be read, one line says so.
#[cfg(feature = "fleet")]
fn of_fleet(context: &Context, output: &mut Output) -> Vec<QueueRow> {
    let read = FleetLink::glance(context).and_then(|fleet| Ok(fleet.store.queue()?));
    let rows = read.unwrap_or_else(|failure| {
        output.say(&format!("the fleet is not shown: {failure}"));
        Vec::new()
    });
    let mut place = 0;
    let mut row = |queued: QueuedRow| {
        place += usize::from(matches!(queued.waits, FleetWait::Worker { .. }));
        fleet_row(queued, place)
    };
    rows.into_iter().map(&mut row).collect()
}

#[cfg(not(feature = "fleet"))]
fn of_fleet(_: &Context, _: &mut Output) -> Vec<QueueRow> {
    Vec::new()
}

#[cfg(feature = "fleet")]
fn fleet_row(queued: QueuedRow, place: usize) -> QueueRow {
    let run = queued.run.clone();
    let waits = match queued.waits {
        FleetWait::Driven { holder } => QueueReason::Driven {
            by: lease_holder::process_name(&holder),
        },
        FleetWait::SetAside { why } => QueueReason::SetAside {
            run,
            why: Untrusted::new(why),
        },
        FleetWait::Person => {
            let stage = queued.stage;
            QueueReason::Person(Untrusted::new(format!("it is in the stage {stage}")))
        }
        FleetWait::NoMachine => QueueReason::NoMachine(queued.labels),
        FleetWait::Account => QueueReason::Account(queued.account.unwrap_or_default()),
        FleetWait::Cap { whose, spent } => QueueReason::Cap {
            whose: Untrusted::new(whose),
            cost: spent.line(),
            estimated_cents: spent.estimated_cents,
            reserved_cents: spent.reserved_cents,
        },
        FleetWait::Until { wait, failure } => {
            let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX / 2);
            let until = Time(clock::now().0.saturating_add(millis));
            match failure.map(Untrusted::new) {
                Some(why) => QueueReason::Pause { until, why },
                None => QueueReason::Until(until),
            }
        }
        FleetWait::Worker { live } => QueueReason::FleetWorker { live, place },
        FleetWait::Unqueued => QueueReason::Unqueued { run },
    };
    QueueRow {
        run: queued.run,
        status: queued.status.word(),
        task: Untrusted::new(queued.task),
        project: Untrusted::new(queued.project),
        waits,
    }
}

fn row(queued: &QueuedRun, live: usize) -> QueueRow {
    let summary = &queued.summary;
    QueueRow {
        run: summary.id.clone(),
        status: summary.status.word(),
        task: Untrusted::new(&summary.task),
        project: Untrusted::new(&summary.worktree),
        waits: reason_of(queued, live),
    }
}

/// The same, with why nobody could drive it, and whether workers are there.
fn reason_of(queued: &QueuedRun, live: usize) -> QueueReason {
    match (&queued.waits, &queued.failed) {
        (Waits::Worker, Some(failed)) => QueueReason::Failed {
            at: failed.at,
            why: Untrusted::new(&failed.why),
        },
        (Waits::Worker, None) if live > 0 => QueueReason::FreePlace { live: live as u64 },
        _ => reason(&queued.waits),
    }
}

/// What a headless run waits for and only the queue knows: another run, a slot, or the limit of a service.
pub(crate) fn held_up(
    workspace: &mut Workspace<'_>,
    opened: &OpenRun,
) -> Result<Option<QueueReason>, Failure> {
    let run = opened.run();
    let is_open = matches!(run.standing, Standing::Queued | Standing::Going);
    if run.driver != Driver::Headless || !is_open || workspace.store.fleet().is_some() {
        return Ok(None);
    }
    let found = queue::waits_of(workspace, &run.id, clock::now())?;
    let reason = found.map(|waits| reason(&waits));
    Ok(reason.filter(|reason| {
        matches!(
            reason,
            QueueReason::Slot { .. }
                | QueueReason::Pause { .. }
                | QueueReason::Turn(_)
                | QueueReason::Tree(_)
                | QueueReason::SameFiles { .. }
        )
    }))
}

/// What a run waits for, in the words of the views.
pub(crate) fn reason(waits: &Waits) -> QueueReason {
    match waits {
        Waits::Worker => QueueReason::Worker,
        Waits::Driven { by, note } => match note {
            Some(WaitNote::Slot { runner }) => QueueReason::Slot {
                by: by.clone(),
                runner: runner.clone(),
            },
            Some(WaitNote::Tree { run }) => QueueReason::Tree(run.clone()),
            Some(WaitNote::Pause { until, why }) => QueueReason::Pause {
                until: *until,
                why: Untrusted::new(why),
            },
            None => QueueReason::Driven { by: by.clone() },
        },
        Waits::Until(time) => QueueReason::Until(*time),
        Waits::Turn(run) => QueueReason::Turn(run.clone()),
        Waits::Tree(run) => QueueReason::Tree(run.clone()),
        Waits::SameFiles { run, path } => QueueReason::SameFiles {
            run: run.clone(),
            path: Untrusted::new(path),
        },
        Waits::Rest(rest) => QueueReason::Rest(rest.clone()),
        Waits::Held { until, why } => QueueReason::Pause {
            until: *until,
            why: Untrusted::new(why),
        },
        Waits::Person(why) => QueueReason::Person(Untrusted::new(why)),
    }
}
