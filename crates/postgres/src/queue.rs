//! The queue of the fleet: headless runs that any machine with fitting labels may take.
//!
//! A claim takes the run's lease, so its fence goes into every write of the claimer. A notification wakes those who
//! wait; it is only a hint, so each of them also looks by itself.

use std::time::Duration;

use engine::{RunId, Time};
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::Type;
use store::{Error, Fence, Lease};

use crate::address::Address;
use crate::backend::Postgres;
use crate::link::{Link, Purpose, Value};
use crate::rows::unsigned;

const ENQUEUE: &str = "SELECT gatewright.enqueue($1, $2, $3, $4)";
const CLAIM: &str = "SELECT run, holder, fence, until FROM gatewright.claim_queued($1, $2, $3, $4)";
const DEQUEUE: &str = "DELETE FROM gatewright.queue WHERE run = $1";
const FITTING: &str = "SELECT count(*) AS fitting FROM gatewright.machines WHERE $1 <@ labels";

/// A run that was taken so often, and whose lease expired each time, is set aside.
const MOST_TRIES: i32 = 5;

/// Which machines may take a run, and how many runs of its kind at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement<'a> {
    /// A machine must have all of them.
    pub labels: &'a [String],
    /// The concurrency key, such as a model account, and how many runs may be driven under it at once.
    pub account: Option<(&'a str, u32)>,
}

/// A run that was taken from the queue, under this lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    pub run: RunId,
    pub lease: Lease,
}

impl Postgres {
    /// Puts a stored run into the queue. A second time changes nothing.
    pub fn enqueue(&self, run: &RunId, placement: &Placement<'_>) -> Result<(), Error> {
        let account = placement.account.map(|(account, _)| account);
        let most = placement
            .account
            .map(|(_, most)| i32::try_from(most).unwrap_or(i32::MAX));
        let values: [Value<'_>; 4] = [
            (&run.as_str(), Type::TEXT),
            (&placement.labels, Type::TEXT_ARRAY),
            (&account, Type::TEXT),
            (&most, Type::INT4),
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
        let term = i64::try_from(term.as_millis()).unwrap_or(i64::MAX / 2);
        let values: [Value<'_>; 4] = [
            (&holder, Type::TEXT),
            (&labels, Type::TEXT_ARRAY),
            (&term, Type::INT8),
            (&MOST_TRIES, Type::INT4),
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
            fence: Fence(unsigned(self.link.get(&row, "fence")?)),
            until: Time(unsigned(self.link.get(&row, "until")?)),
            is_expired: term <= 0,
        };
        let run = RunId::parse(&run).map_err(wrong)?;
        Ok(Some(Claimed { run, lease }))
    }

    /// Takes a run out of the queue: it is over, or a person wants it elsewhere.
    pub fn dequeue(&self, run: &RunId) -> Result<(), Error> {
        self.link
            .rows(
                "take a run out of the queue",
                DEQUEUE,
                &[(&run.as_str(), Type::TEXT)],
            )
            .map(drop)
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
        link.with_client("listen", |client| {
            client.batch_execute("LISTEN gatewright_queue")
        })?;
        Ok(Self(link))
    }

    /// Waits until something was queued, at most this long. Look afterwards either way.
    pub fn wait(&self, timeout: Duration) -> Result<(), Error> {
        self.0.with_client("listen", |client| {
            let mut notifications = client.notifications();
            notifications.timeout_iter(timeout).next().map(drop)
        })
    }
}
