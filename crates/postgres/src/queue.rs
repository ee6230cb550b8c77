//! The queue of the fleet: headless runs that any machine with fitting labels may take.
//!
//! A claim takes the run's lease, so its fence goes into every write of the claimer. A notification wakes those who
//! wait; it is only a hint, so each of them also looks by itself.

use std::time::Duration;

use engine::{RunId, Status, Time};
use store::{CapSpent, Error, Fence, Lease};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::address::Address;
use crate::backend::Postgres;
use crate::cap_rows;
use crate::link::{Link, Purpose, Value};
use crate::rows::{self, FenceColumns, signed, unsigned};

const ENQUEUE: &str = "SELECT gatewright.enqueue($1, $2, $3, $4, $5, $6, $7)";
const CLAIM: &str = "SELECT run, holder, fence, claim, until, settings, tree FROM gatewright.claim_queued($1, $2, $3, $4, $5)";
const LEAVE: &str = "SELECT gatewright.leave_queued($1, $2, $3, $4, $5, $6, $7)";
const END: &str = "SELECT gatewright.end_queued($1, $2, $3)";
/// A run that is not over and has no place was stored by a start that did not come to its end.
const QUEUED: &str = "
    SELECT r.id AS run, r.project, r.task, r.stage, r.status, coalesce(q.labels, '{}') AS labels, q.account,
        coalesce(q.person, '') AS person, q.driven_by, q.set_aside, coalesce(q.is_left, false) AS is_left,
        coalesce(q.is_account_full, false) AS is_account_full, q.run IS NULL AS is_unqueued,
        coalesce(q.not_before, 0) - gatewright.now_ms() AS remaining, p.last_failure,
        c.kind, c.name, c.cost, c.spent, c.estimated, c.reserved,
        gatewright.machines_with(coalesce(q.labels, '{}')) AS fitting,
        gatewright.workers_with(coalesce(q.labels, '{}')) AS workers
    FROM gatewright.runs r LEFT JOIN gatewright.queue_now q ON q.run = r.id LEFT JOIN gatewright.queue p ON p.run = r.id
        LEFT JOIN gatewright.reached_caps c ON c.kind || ' ' || c.name = q.capped_by
    WHERE r.status NOT IN ('completed', 'failed', 'cancelled')
    ORDER BY q.driven_by IS NULL, q.driven_of_project, q.place, r.number";
const REQUEUE: &str = "
    WITH before AS (
        SELECT q.run, CASE WHEN r.lease_until > gatewright.now_ms() THEN r.lease_holder END AS driven_by
        FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run WHERE q.run = $1
    ), changed AS (
        UPDATE gatewright.queue q SET set_aside = NULL, tries = 0, left_at = NULL, not_before = 0, last_failure = NULL
        FROM before WHERE q.run = before.run AND before.driven_by IS NULL
        RETURNING pg_notify('gatewright_queue', q.run)
    )
    SELECT before.driven_by, (SELECT count(*) FROM changed) AS changed FROM before";
const FITTING: &str = "SELECT gatewright.machines_with($1) AS fitting";

/// A run that was taken so often, and whose lease expired each time, is set aside.
const MOST_TRIES: i32 = 5;

/// Which machines may take a run, and how many runs of its kind at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement<'a> {
    /// A machine must have all of them.
    pub labels: &'a [String],
    /// The concurrency key, such as a model account, and how many runs may be driven under it at once.
    pub account: Option<(&'a str, u32)>,
    /// How the run is to be driven.
    pub settings: &'a str,
    /// Who queued it.
    pub person: &'a str,
    /// How long it is not to be taken.
    pub delay: Duration,
}

/// A run that was taken from the queue, under this lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    pub run: RunId,
    pub lease: Lease,
    /// How it is driven, as its starter chose.
    pub settings: String,
    /// The commit with its last tree; none before it was driven.
    pub tree: Option<String>,
}

/// How a worker lets go of a run that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetGo<'a> {
    /// Anybody may take it at once.
    Free,
    /// A person must act: until the run changes from this version, nobody takes it.
    UntilItChanges { version: u64 },
    /// Nobody takes it for so long.
    For(Duration),
    /// It could not be driven, for this reason. After some tries it is set aside.
    Failed { why: &'a str, delay: Duration },
    /// The database was away: the run has nothing to do with it, and the try does not count.
    Outage { why: &'a str, delay: Duration },
}

/// A queued run that is not over, and what keeps it from being taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedRow {
    pub run: RunId,
    pub project: String,
    pub task: String,
    pub stage: String,
    pub status: Status,
    pub person: String,
    pub labels: Vec<String>,
    pub account: Option<String>,
    pub waits: FleetWait,
}

/// What a queued run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetWait {
    /// Somebody drives it.
    Driven {
        holder: String,
    },
    /// Too many leases of it expired, so nobody takes it any more.
    SetAside {
        why: String,
    },
    Person,
    /// No machine of the fleet has its labels.
    NoMachine,
    /// As many runs as are allowed use its account.
    Account,
    /// A cap of the fleet leaves nothing.
    Cap {
        whose: String,
        spent: CapSpent,
    },
    /// It could not be driven the last time, for this reason, if there is one.
    Until {
        wait: Duration,
        failure: Option<String>,
    },
    /// The next free worker with its labels takes it. So many are there now.
    Worker {
        live: u64,
    },
    /// Its start did not come to its end: a person puts it into the queue.
    Unqueued,
}

/// What became of a run that a person wants to be driven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requeued {
    /// The next free worker takes it.
    Free,
    /// Somebody drives it.
    Driven {
        holder: String,
    },
    NotQueued,
}

impl Postgres {
    /// Puts a stored run into the queue. A second time changes nothing.
    pub fn enqueue(&self, run: &RunId, placement: &Placement<'_>) -> Result<(), Error> {
        let account = placement.account.map(|(account, _)| account);
        let most = placement
            .account
            .map(|(_, most)| i32::try_from(most).unwrap_or(i32::MAX));
        let delay = millis(placement.delay);
        let values: [Value<'_>; 7] = [
            (&run.as_str(), Type::TEXT),
            (&placement.labels, Type::TEXT_ARRAY),
            (&account, Type::TEXT),
            (&most, Type::INT4),
            (&placement.settings, Type::TEXT),
            (&placement.person, Type::TEXT),
            (&delay, Type::INT8),
        ];
        self.link.rows("queue a run", ENQUEUE, &values).map(drop)
    }

    /// Takes the first run that may be taken by a holder with these labels.
    pub fn claim_queued(
        &self,
        holder: &str,
        labels: &[String],
        term: Duration,
    ) -> Result<Option<Claimed>, Error> {
        self.claim_queued_besides(holder, labels, term, &[])
    }

    /// The same, and none of the runs that the holder drives already: its lease of one may have expired.
    pub fn claim_queued_besides(
        &self,
        holder: &str,
        labels: &[String],
        term: Duration,
        driven: &[RunId],
    ) -> Result<Option<Claimed>, Error> {
        let term = millis(term);
        let driven: Vec<&str> = driven.iter().map(RunId::as_str).collect();
        let values: [Value<'_>; 5] = [
            (&holder, Type::TEXT),
            (&labels, Type::TEXT_ARRAY),
            (&term, Type::INT8),
            (&MOST_TRIES, Type::INT4),
            (&driven, Type::TEXT_ARRAY),
        ];
        let Some(row) = self.link.row("claim a queued run", CLAIM, &values)? else {
            return Ok(None);
        };
        let Some(run) = self.link.get::<Option<String>>(&row, "run")? else {
            return Ok(None);
        };
        let wrong = |error: engine::NameError| self.link.damaged(&error.to_string());
        let lease = Lease {
            holder: self.link.get(&row, "holder")?,
            fence: rows::fence(&self.link, &row, "fence", "claim")?,
            until: Time(unsigned(self.link.get(&row, "until")?)),
            is_expired: term <= 0,
        };
        Ok(Some(Claimed {
            run: RunId::parse(&run).map_err(wrong)?,
            lease,
            settings: self.link.get(&row, "settings")?,
            tree: self.link.get(&row, "tree")?,
        }))
    }

    /// Lets go of a run and of its lease. If somebody has claimed it since, nothing changes.
    pub fn leave_queued(&self, run: &RunId, fence: Fence, how: LetGo<'_>) -> Result<(), Error> {
        let (version, delay, tries, failure) = match how {
            LetGo::Free => (None, 0, "forgotten", None),
            LetGo::UntilItChanges { version } => (Some(signed(version)), 0, "forgotten", None),
            LetGo::For(delay) => (None, millis(delay), "forgotten", None),
            LetGo::Failed { why, delay } => (None, millis(delay), "kept", Some(why)),
            LetGo::Outage { why, delay } => (None, millis(delay), "not counted", Some(why)),
        };
        let fence = FenceColumns::of(Some(fence));
        let values: [Value<'_>; 7] = [
            (&run.as_str(), Type::TEXT),
            (&fence.number, Type::INT8),
            (&fence.claim(), Type::BYTEA),
            (&version, Type::INT8),
            (&delay, Type::INT8),
            (&tries, Type::TEXT),
            (&failure, Type::TEXT),
        ];
        self.link.rows("leave a run", LEAVE, &values).map(drop)
    }

    /// Takes a run out of the queue that is over and delivered, and ends its lease. One that the database does not
    /// know to be over stays queued. If somebody has claimed it since, nothing changes.
    pub fn end_queued(&self, run: &RunId, fence: Fence) -> Result<(), Error> {
        let fence = FenceColumns::of(Some(fence));
        let values: [Value<'_>; 3] = [
            (&run.as_str(), Type::TEXT),
            (&fence.number, Type::INT8),
            (&fence.claim(), Type::BYTEA),
        ];
        let doing = "take a run out of the queue";
        self.link.rows(doing, END, &values).map(drop)
    }

    /// The queue, in the order in which its runs are taken.
    pub fn queue(&self) -> Result<Vec<QueuedRow>, Error> {
        let rows = self.link.rows("read the queue", QUEUED, &[])?;
        rows.iter().map(|row| self.queued_row(row)).collect()
    }

    fn queued_row(&self, row: &Row) -> Result<QueuedRow, Error> {
        let link = &self.link;
        let wrong = |error: engine::NameError| link.damaged(&error.to_string());
        Ok(QueuedRow {
            run: RunId::parse(&link.get::<String>(row, "run")?).map_err(wrong)?,
            project: link.get(row, "project")?,
            task: link.get(row, "task")?,
            stage: link.get(row, "stage")?,
            status: status(&link.get::<String>(row, "status")?),
            person: link.get(row, "person")?,
            labels: link.get(row, "labels")?,
            account: link.get(row, "account")?,
            waits: self.waits(row)?,
        })
    }

    /// The first reason that a person can do something about.
    fn waits(&self, row: &Row) -> Result<FleetWait, Error> {
        let link = &self.link;
        let remaining: i64 = link.get(row, "remaining")?;
        let fitting: i64 = link.get(row, "fitting")?;
        let status: String = link.get(row, "status")?;
        let is_left: bool = link.get(row, "is_left")?;
        let is_full: bool = link.get(row, "is_account_full")?;
        Ok(if link.get(row, "is_unqueued")? {
            FleetWait::Unqueued
        } else if let Some(holder) = link.get(row, "driven_by")? {
            FleetWait::Driven { holder }
        } else if let Some(why) = link.get(row, "set_aside")? {
            FleetWait::SetAside { why }
        } else if is_left || status == "waiting" {
            FleetWait::Person
        } else if fitting == 0 {
            FleetWait::NoMachine
        } else if let Some(kind) = link.get::<Option<String>>(row, "kind")? {
            FleetWait::Cap {
                whose: cap_rows::whose(kind, &link.get::<String>(row, "name")?),
                spent: cap_rows::spent(link, row)?,
            }
        } else if remaining > 0 {
            FleetWait::Until {
                wait: Duration::from_millis(unsigned(remaining)),
                failure: link.get(row, "last_failure")?,
            }
        } else if is_full {
            FleetWait::Account
        } else {
            let live = unsigned(link.get(row, "workers")?);
            FleetWait::Worker { live }
        })
    }

    /// Puts a run back that was set aside or left, unless somebody drives it.
    pub fn requeue(&self, run: &RunId) -> Result<Requeued, Error> {
        let values: [Value<'_>; 1] = [(&run.as_str(), Type::TEXT)];
        let row = self.link.row("put a run back", REQUEUE, &values)?;
        let Some(row) = row else {
            return Ok(Requeued::NotQueued);
        };
        let holder: Option<String> = self.link.get(&row, "driven_by")?;
        Ok(holder.map_or(Requeued::Free, |holder| Requeued::Driven { holder }))
    }

    /// How many machines have all of these labels.
    pub fn machines_with(&self, labels: &[String]) -> Result<u64, Error> {
        let row = self
            .link
            .row("look for machines", FITTING, &[(&labels, Type::TEXT_ARRAY)])?;
        row.map_or(Ok(0), |row| self.link.get(&row, "fitting").map(unsigned))
    }
}

/// A connection that hears when something is queued.
pub struct QueueWatch(Link);

impl QueueWatch {
    pub fn open(address: &Address) -> Result<Self, Error> {
        let link = Link::connect(address, Purpose::Read)?;
        link.batch("listen", "LISTEN gatewright_queue")?;
        Ok(Self(link))
    }

    /// Waits until something was queued, at most this long. Look afterwards either way.
    pub fn wait(&self, timeout: Duration) -> Result<(), Error> {
        self.0.hear(timeout)
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 2)
}

/// Those that are over are not asked for.
fn status(word: &str) -> Status {
    match word {
        "queued" => Status::Queued,
        "waiting" => Status::Waiting(String::new()),
        _ => Status::Running,
    }
}
