//! What there is in the fleet now: machines, workers, runs and their leases.

use engine::Status;
use store::{Error, ShippedSummary};
use tokio_postgres::Row;

use crate::backend::Postgres;
use crate::link::Link;
use crate::machines;
use crate::shipped_runs;

const MACHINES: &str = "
    SELECT id, name, labels, version, skew, gatewright.now_ms() - seen_at AS silent
    FROM gatewright.machines ORDER BY name";
const WORKERS: &str = "
    SELECT w.machine, w.process, w.version, w.labels, gatewright.now_ms() - w.seen_at AS silent
    FROM gatewright.workers w ORDER BY w.machine, w.process";
/// Those that are over are counted, not listed.
const RUNS: &str = "
    SELECT r.id, r.project, r.stage, r.status, r.lease_holder, r.last_fence,
        r.lease_until - gatewright.now_ms() AS remaining, q.run IS NOT NULL AS queued, q.labels, q.set_aside
    FROM gatewright.runs r LEFT JOIN gatewright.queue q ON q.run = r.id
    WHERE r.status NOT IN ('completed', 'failed', 'cancelled') ORDER BY r.started_at, r.number";

/// The whole fleet, as the database has it. Times are milliseconds by its clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetStatus {
    pub machines: Vec<MachineRow>,
    pub workers: Vec<WorkerRow>,
    /// The runs that are not over.
    pub runs: Vec<FleetRun>,
    /// The guarded runs that machines ship and that are not over, as those machines say.
    pub shipped: Vec<ShippedSummary>,
    /// How far the clock of this machine is ahead of the database's.
    pub skew: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineRow {
    pub id: String,
    pub name: String,
    pub labels: Vec<String>,
    pub version: String,
    /// How far its clock was ahead of the database's.
    pub skew: i64,
    /// How long ago it was seen.
    pub silent: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerRow {
    /// The id of its machine.
    pub machine: String,
    pub process: String,
    pub labels: Vec<String>,
    pub version: String,
    pub silent: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetRun {
    pub id: String,
    pub project: String,
    pub stage: String,
    pub status: String,
    pub lease: Option<HeldLease>,
    /// The labels that a machine must have, where the run is in the queue.
    pub queued: Option<Vec<String>>,
    /// Why no machine takes it any more.
    pub set_aside: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldLease {
    pub holder: String,
    pub fence: i64,
    /// How long it lasts; nothing is left of an expired one.
    pub remaining: i64,
}

impl Postgres {
    pub fn fleet_status(&self) -> Result<FleetStatus, Error> {
        let link = &self.link;
        let rows = |statement| link.rows("look at the fleet", statement, &[]);
        Ok(FleetStatus {
            machines: rows(MACHINES)?
                .iter()
                .map(|row| machine(link, row))
                .collect::<Result<_, _>>()?,
            workers: rows(WORKERS)?
                .iter()
                .map(|row| worker(link, row))
                .collect::<Result<_, _>>()?,
            runs: rows(RUNS)?
                .iter()
                .map(|row| run(link, row))
                .collect::<Result<_, _>>()?,
            shipped: self.active_shipped()?,
            skew: machines::skew(link)?,
        })
    }
}

impl Postgres {
    fn active_shipped(&self) -> Result<Vec<ShippedSummary>, Error> {
        let mut shipped = shipped_runs::list(&self.link)?;
        shipped.retain(|it| match it.summary.status {
            Status::Queued | Status::Running | Status::Waiting(_) => true,
            Status::Completed | Status::Failed | Status::Cancelled => false,
        });
        Ok(shipped)
    }
}

fn machine(link: &Link, row: &Row) -> Result<MachineRow, Error> {
    Ok(MachineRow {
        id: link.get(row, "id")?,
        name: link.get(row, "name")?,
        labels: link.get(row, "labels")?,
        version: link.get(row, "version")?,
        skew: link.get(row, "skew")?,
        silent: link.get(row, "silent")?,
    })
}

fn worker(link: &Link, row: &Row) -> Result<WorkerRow, Error> {
    Ok(WorkerRow {
        machine: link.get(row, "machine")?,
        process: link.get(row, "process")?,
        labels: link.get(row, "labels")?,
        version: link.get(row, "version")?,
        silent: link.get(row, "silent")?,
    })
}

fn run(link: &Link, row: &Row) -> Result<FleetRun, Error> {
    let holder: Option<String> = link.get(row, "lease_holder")?;
    let (fence, remaining) = (
        link.get(row, "last_fence")?,
        link.get::<Option<i64>>(row, "remaining")?,
    );
    let lease = holder.map(|holder| HeldLease {
        holder,
        fence,
        remaining: remaining.unwrap_or_default().max(0),
    });
    Ok(FleetRun {
        id: link.get(row, "id")?,
        project: link.get(row, "project")?,
        stage: link.get(row, "stage")?,
        status: link.get(row, "status")?,
        lease,
        queued: link.get(row, "labels")?,
        set_aside: link.get(row, "set_aside")?,
    })
}
