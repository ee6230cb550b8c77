//! What `gatewright fleet` does with the database, and what it says about it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pg_store::{Address, FleetRun, FleetStatus, Joined, Machine, MachineRow, Postgres, WorkerRow};
use runtime::context::Context;
use runtime::failure::Failure;
use runtime::fleet_membership::{AddressSource, FleetMembership};
use runtime::{ids, lease_holder, shipping};
use serde_json::{Value, json};
use store::{Access, Backend as _, DatabaseFault, Error, ShippedSummary};

use crate::fleet_link::FleetLink;
use crate::output::Output;

/// The commands mention a clock that is off by more than this: leases do not depend on it, but times in the history do.
const SKEW_MS: i64 = 2_000;

/// A worker gives a sign every two seconds: one that is silent for so long is lost.
const LOST_MS: i64 = 30_000;

pub(super) fn set_up(source: &AddressSource, output: &mut Output) -> Result<(), Failure> {
    let address = Address::parse(&source.read()?)?;
    let done = pg_store::set_up(&address)?;
    let roles = [
        pg_store::DRIVE_ROLE,
        pg_store::SHIP_ROLE,
        pg_store::READ_ROLE,
    ];
    let text = |_| {
        let what = if done.from == done.to {
            "was set up already"
        } else {
            "is set up"
        };
        format!(
            "{address} {what} (schema {}), with the roles {}\n",
            done.to,
            roles.join(", ")
        )
    };
    let json = || json!({ "database": address.to_string(), "from": done.from, "schema": done.to, "roles": roles });
    output.facts(text, json)
}

pub(super) fn join(
    context: &Context,
    output: &mut Output,
    source: AddressSource,
    name: Option<&str>,
    labels: &[String],
) -> Result<(), Failure> {
    let state = context.state()?;
    let address = Address::parse(&source.read()?)?;
    // A machine that joins again stays the same one.
    let before = FleetMembership::load(&state).ok().flatten();
    let machine = match before {
        Some(before) => before.machine,
        None => ids::uuid()?.replace('-', ""),
    };
    let name = name.map_or_else(lease_holder::machine, str::to_owned);
    let joining = Machine {
        id: &machine,
        name: &name,
        labels,
        version: env!("CARGO_PKG_VERSION"),
    };
    let joined = joined(&address, &joining)?;
    let is_reader = joined.is_none();
    let joined = joined.unwrap_or_else(|| unseen(&name));
    let membership = FleetMembership {
        source,
        machine: machine.clone(),
        name: joined.name.clone(),
        labels: labels.to_vec(),
        is_reader,
    };
    membership.save(&state)?;
    shipping::forget_positions(&state)?;
    if joined.name != name {
        output.say(&format!(
            "another machine is called {name}, so this one is called {}",
            joined.name
        ));
    }
    tell_skew(output, joined.skew);
    let what = if is_reader {
        "looks at the runs in"
    } else {
        "has joined"
    };
    let text = |_| format!("{} {what} {address}\n", joined.name);
    let json = || {
        json!({
            "database": address.to_string(),
            "machine": membership.machine,
            "name": joined.name,
            "labels": membership.labels,
            "skew_ms": joined.skew,
            "reader": is_reader,
        })
    };
    output.facts(text, json)
}

/// Who only looks has its own name, and measures no clock.
fn unseen(name: &str) -> Joined {
    Joined {
        name: name.to_owned(),
        skew: 0,
    }
}

/// `None` for a user or a server that only reads: it may look, and nobody sees it.
fn joined(address: &Address, joining: &Machine<'_>) -> Result<Option<Joined>, Failure> {
    let joined = Postgres::open(address, Access::Write).and_then(|store| store.join(joining));
    match joined {
        Ok(joined) => Ok(Some(joined)),
        Err(Error::Database {
            fault: DatabaseFault::Forbidden | DatabaseFault::ReadOnly,
            ..
        }) => {
            // A role that may not even read fails here, and says so.
            Postgres::open(address, Access::Read)?.runs(None)?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) fn leave(context: &Context, output: &mut Output) -> Result<(), Failure> {
    let state = context.state()?;
    let membership = FleetLink::membership(context)?;
    // Without the database the machine leaves as well: the others see that it is silent.
    let left = if membership.is_reader {
        Ok(None)
    } else {
        FleetLink::open(context, Access::Write)
            .and_then(|fleet| Ok(fleet.store.leave(&membership.machine)?))
    };
    if let Err(failure) = &left {
        output.say(&format!("the database still lists this machine: {failure}"));
    }
    FleetMembership::forget(&state)?;
    let text = |_| format!("{} has left the fleet\n", membership.name);
    let json = || json!({ "name": membership.name, "removed": matches!(left, Ok(Some(_))) });
    output.facts(text, json)
}

pub(super) fn status(context: &Context, output: &mut Output) -> Result<(), Failure> {
    let FleetLink {
        membership,
        address,
        store,
    } = FleetLink::open(context, Access::Read)?;
    let status = store.fleet_status()?;
    tell_skew(output, status.skew);
    output.facts(
        |_| text(&address, &membership, &status),
        || json(&address, &membership, &status),
    )
}

fn tell_skew(output: &mut Output, skew: i64) {
    if skew.abs() > SKEW_MS {
        let (off, side) = (span(skew), if skew > 0 { "ahead of" } else { "behind" });
        output.say(&format!(
            "the clock of this machine is {off} {side} the database's: set it right"
        ));
    }
}

fn text(address: &Address, membership: &FleetMembership, status: &FleetStatus) -> String {
    let mut text = format!("{address}\n\nmachines\n");
    for machine in &status.machines {
        let here = if machine.id == membership.machine {
            " (this one)"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "  {}{here}  {}",
            views::line(&machine.name),
            machine_words(machine)
        );
        for worker in status
            .workers
            .iter()
            .filter(|worker| worker.machine == machine.id)
        {
            let _ = writeln!(text, "    {}", worker_words(worker));
        }
    }
    if status.machines.is_empty() {
        text.push_str("  none\n");
    }
    text.push_str("\nruns\n");
    for run in &status.runs {
        let _ = writeln!(text, "  {}  {}", views::line(&run.id), run_words(run));
    }
    if status.runs.is_empty() {
        text.push_str("  none is queued or under way\n");
    }
    if !status.shipped.is_empty() {
        text.push_str("\nguarded runs, as their machines say\n");
    }
    for run in &status.shipped {
        let _ = writeln!(text, "  {}", shipped_words(run));
    }
    text
}

fn worker_words(worker: &WorkerRow) -> String {
    let process = lease_holder::process_name(&worker.process);
    let seen = span(worker.silent);
    let seen = if worker.silent > LOST_MS {
        format!("LOST, seen {seen} ago")
    } else {
        format!("seen {seen} ago")
    };
    let version = views::line(&worker.version);
    format!(
        "worker {process}, {version}, {}, {seen}",
        label_words(&worker.labels)
    )
}

fn label_words(labels: &[String]) -> String {
    match labels {
        [] => "no labels".to_owned(),
        labels => views::line(&labels.join(", ")),
    }
}

fn shipped_words(run: &ShippedSummary) -> String {
    let summary = &run.summary;
    format!(
        "{}  {} at {} on {}, seen {} ago",
        summary.id,
        summary.status.word(),
        summary.stage,
        views::line(&run.name),
        views::time::duration(run.silent_ms)
    )
}

fn machine_words(machine: &MachineRow) -> String {
    let labels = label_words(&machine.labels);
    let clock = if machine.skew.abs() > SKEW_MS {
        format!(", clock off by {}", span(machine.skew))
    } else {
        String::new()
    };
    let version = views::line(&machine.version);
    format!(
        "{version}, {labels}, seen {} ago{clock}",
        span(machine.silent)
    )
}

fn run_words(run: &FleetRun) -> String {
    let place = format!(
        "{} at {}",
        views::line(&run.status),
        views::line(&run.stage)
    );
    let lease = match &run.lease {
        Some(lease) if lease.remaining > 0 => format!(
            ", driven by {} (lease {}, for {})",
            lease_holder::process_name(&lease.holder),
            lease.fence,
            span(lease.remaining)
        ),
        Some(lease) => format!(
            ", no longer driven by {} (lease {} has expired)",
            lease_holder::process_name(&lease.holder),
            lease.fence
        ),
        None => ", nobody drives it".to_owned(),
    };
    let queued = match (&run.set_aside, &run.queued) {
        (Some(why), _) => format!(
            ", set aside, type `gatewright resume {}`: {}",
            views::line(&run.id),
            views::line(why)
        ),
        (None, Some(labels)) if !labels.is_empty() => {
            format!(
                ", queued for machines with {}",
                views::line(&labels.join(", "))
            )
        }
        (None, Some(_)) => ", queued".to_owned(),
        (None, None) => String::new(),
    };
    format!("{place}{lease}{queued}")
}

fn json(address: &Address, membership: &FleetMembership, status: &FleetStatus) -> Value {
    let mut workers: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for worker in &status.workers {
        workers.entry(&worker.machine).or_default().push(json!({
            "process": worker.process,
            "version": worker.version,
            "labels": worker.labels,
            "silent_ms": worker.silent,
            "is_lost": worker.silent > LOST_MS,
        }));
    }
    let machines = status.machines.iter().map(|machine| {
        json!({
            "id": machine.id,
            "name": machine.name,
            "is_this": machine.id == membership.machine,
            "version": machine.version,
            "labels": machine.labels,
            "silent_ms": machine.silent,
            "skew_ms": machine.skew,
            "workers": workers.get(machine.id.as_str()).cloned().unwrap_or_default(),
        })
    });
    json!({
        "database": address.to_string(),
        "skew_ms": status.skew,
        "machines": machines.collect::<Vec<_>>(),
        "runs": status.runs.iter().map(run_json).collect::<Vec<_>>(),
        "shipped_runs": status.shipped.iter().map(shipped_json).collect::<Vec<_>>(),
    })
}

fn run_json(run: &FleetRun) -> Value {
    let lease = run.lease.as_ref().map(|lease| {
        json!({ "holder": lease.holder, "fence": lease.fence, "remaining_ms": lease.remaining })
    });
    json!({
        "id": run.id,
        "project": run.project,
        "stage": run.stage,
        "status": run.status,
        "lease": lease,
        "queued_for": run.queued,
        "set_aside": run.set_aside,
    })
}

fn shipped_json(run: &ShippedSummary) -> Value {
    json!({
        "id": run.summary.id.as_str(),
        "machine": run.name,
        "silent_ms": run.silent_ms,
        "project": run.summary.project,
        "stage": run.summary.stage.as_str(),
        "status": run.summary.status.word(),
        "task": run.summary.task,
    })
}

fn span(milliseconds: i64) -> String {
    views::time::duration(milliseconds.unsigned_abs())
}
