//! The site of a round: a database, its replicas, the machines, and the runs that wait.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use pg_store::{Address, Placement, Postgres, set_up};
use store::Access;
use store::conformance::test_run::TestRun;
use tempfile::TempDir;
use testkit::database::Server;

use crate::Result;
use crate::driver::Place;
use crate::facts::observe;
use crate::machine::Machine;

/// The name of the database.
pub(crate) const TEAM: &str = "team";

/// What replication needs, and a replica that looks for its primary again at once.
pub(crate) const SETTINGS: &str =
    "wal_keep_size = '256MB'\nwal_retrieve_retry_interval = '100ms'\n";

/// The pieces of work of a run.
pub(crate) const PIECES: usize = 4;

const MACHINES: usize = 3;

/// There are always so many runs to do.
const WAITING: usize = 30;

/// After each fault the machines must write so much before the next one.
const PROGRESS: usize = 10;

/// How long anything may take before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

const TICK: Duration = Duration::from_millis(20);

pub(crate) struct Site {
    pub folder: TempDir,
    pub machines: Vec<Machine>,
    pub primary: Server,
    /// Follows the primary, and every acknowledged write waits for it.
    pub synchronous: Option<Server>,
    runs: usize,
}

impl Site {
    pub(crate) fn new() -> Result<Self> {
        let primary = Server::with_settings(SETTINGS);
        let address = ready(&primary, TEAM)?;
        let synchronous = Server::replica_of(&primary);
        // Only now, so that the copy of the settings does not make the replica wait for one of its own.
        primary.sql(TEAM, "ALTER SYSTEM SET synchronous_standby_names = '*'");
        primary.sql(TEAM, "SELECT pg_reload_conf()");
        let in_step = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        wait("the synchronous replica", || {
            Ok(primary.sql(TEAM, in_step) == "1")
        })?;
        let mut site = Self {
            folder: tempfile::tempdir()?,
            machines: Vec::new(),
            primary,
            synchronous: Some(synchronous),
            runs: 0,
        };
        site.fill()?;
        for number in 1..=MACHINES {
            let place = place(site.folder.path(), number);
            let port = site.primary.port();
            let machine = Machine::start(place, port, &address, PIECES)?;
            site.machines.push(machine);
        }
        Ok(site)
    }

    /// Queues runs, until there are enough to do.
    pub(crate) fn fill(&mut self) -> Result<()> {
        let missing = WAITING.saturating_sub(self.unfinished()?);
        let ids = (self.runs..self.runs + missing).map(|number| format!("r-{number}"));
        queue(&self.primary, TEAM, ids)?;
        self.runs += missing;
        Ok(())
    }

    pub(crate) fn unfinished(&self) -> Result<usize> {
        let unfinished = "SELECT count(*) FROM gatewright.queue q JOIN gatewright.runs r ON r.id = q.run WHERE \
                          q.set_aside IS NULL AND r.status NOT IN ('completed', 'failed', 'cancelled')";
        Ok(self.primary.sql(TEAM, unfinished).parse()?)
    }

    fn entries(&self) -> Result<usize> {
        let entries = "SELECT count(*) FROM gatewright.entries";
        Ok(self.primary.sql(TEAM, entries).parse()?)
    }

    /// Waits until the machines have written so many entries more.
    pub(crate) fn advance(&mut self, more: usize) -> Result<()> {
        let wanted = self.entries()? + more;
        let went_on = wait("progress", || Ok(self.entries()? >= wanted));
        went_on.map_err(|stuck| format!("{stuck}\n{}", self.condition()))?;
        self.all_drive()
    }

    /// After a fault the work goes on, and does not run out.
    pub(crate) fn go_on(&mut self) -> Result<()> {
        self.fill()?;
        self.advance(PROGRESS)
    }

    /// What the server does for the drivers, and who holds which run: to find out why nothing goes on.
    fn condition(&self) -> String {
        let activity = "SELECT pid, state, wait_event_type, wait_event, now() - query_start, left(query, 60) \
                        FROM pg_stat_activity WHERE application_name = 'gatewright'";
        let held = "SELECT id, lease_holder, last_fence, lease_until - gatewright.now_ms() FROM gatewright.runs \
                    WHERE lease_holder IS NOT NULL";
        let machines = self.machines.iter().map(Machine::holder);
        let machines = machines.collect::<Vec<_>>().join(" ");
        format!("{machines}\n{}\n{}", self.sql(activity), self.sql(held))
    }

    /// No driver ends by itself.
    fn all_drive(&mut self) -> Result<()> {
        for machine in &mut self.machines {
            if let Some(why) = machine.ended()? {
                return Err(why.into());
            }
        }
        Ok(())
    }

    /// Waits until every queued run is over or set aside.
    pub(crate) fn finish(&mut self) -> Result<()> {
        wait("the end of all runs", || Ok(self.unfinished()? == 0))?;
        self.all_drive()?;
        self.machines.iter_mut().try_for_each(Machine::kill)
    }

    pub(crate) fn sql(&self, statement: &str) -> String {
        self.primary.sql(TEAM, statement)
    }
}

/// A new database with the tables of the store and the observer. Returns its address.
pub(crate) fn ready(server: &Server, database: &str) -> Result<String> {
    let address = server.database(database);
    set_up(&Address::parse(&address)?)?;
    observe(server, database);
    Ok(address)
}

pub(crate) fn place(folder: &Path, number: usize) -> Place {
    Place {
        folder: folder.to_owned(),
        machine: format!("m{number}"),
    }
}

pub(crate) fn queue(
    server: &Server,
    database: &str,
    ids: impl Iterator<Item = String>,
) -> Result<()> {
    let address = Address::parse(&server.address(database))?;
    let mut store = Postgres::open(&address, Access::Write)?;
    for id in ids {
        let test_run = TestRun::new(&id)?;
        test_run.begin(&mut store)?;
        store.enqueue(&test_run.id, &Placement::default())?;
    }
    Ok(())
}

/// Waits until it is so.
pub(crate) fn wait(what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while !is_so()? {
        if Instant::now() >= deadline {
            return Err(format!("{what} does not come").into());
        }
        thread::sleep(TICK);
    }
    Ok(())
}
