//! The control of the fence: a store that ignores it, and a driver that passes none, must be noticed.

use std::path::Path;
use std::time::Duration;

use engine::Time;
use pg_store::{Address, Postgres};
use store::conformance::test_run::TestRun;
use store::{Access, Backend as _, Commit, Error, Fence, Transacted};
use testkit::database::Server;

use crate::Result;
use crate::control::{insist, words};
use crate::driver::{Place, decided};
use crate::machine::Machine;
use crate::mark::Mark;
use crate::site::{place, queue, ready, wait};

const OLD: &str = "under an old fence";

/// The run that is driven twice at once has many pieces.
const PIECES: usize = 40;

/// The functions that compare fences, and how they do it.
const FUNCTIONS: [(&str, &str, &str); 2] = [
    ("append", "WHEN in_fence IS NOT NULL AND", "WHEN false AND"),
    (
        "claim",
        "ELSIF holder IS NULL OR fence <> in_fence THEN",
        "ELSIF false THEN",
    ),
];

/// Returns how many pieces of damage were planted and found.
pub(crate) fn run(server: &Server) -> Result<usize> {
    let fenced = after_takeover(server, "fenced", Some(Fence(1)))?;
    if !matches!(fenced, Err(Error::Fenced { .. })) {
        return Err(format!("the control: an old fence writes: {fenced:?}").into());
    }
    let folder = tempfile::tempdir()?;
    empty(&place(folder.path(), 1))?;
    for (database, fence) in [("bare", None), ("broken", Some(Fence(1)))] {
        let stored = after_takeover(server, database, fence)?;
        if !matches!(stored, Ok(Transacted::Done { .. })) {
            return Err(format!("the control: {database} stores nothing: {stored:?}").into());
        }
        insist(OLD, &words(server, database, folder.path())?)?;
    }
    two_at_once(server)?;
    Ok(3)
}

/// What a holder gets for a write after another one has taken its run. The database named `broken` ignores fences.
fn after_takeover(
    server: &Server,
    database: &str,
    fence: Option<Fence>,
) -> Result<std::result::Result<Transacted, Error>> {
    let address = Address::parse(&ready(server, database)?)?;
    if database == "broken" {
        break_fence(server, database)?;
    }
    queue(server, database, std::iter::once("r-0".to_owned()))?;
    let mut store = Postgres::open(&address, Access::Write)?;
    let long = Duration::from_secs(3_600);
    store
        .claim_queued("one", &[], Duration::ZERO)?
        .ok_or("no run")?;
    store.claim_queued("two", &[], long)?.ok_or("no run")?;
    let test_run = TestRun::new("r-0")?;
    let mark = Mark::parse("begin 0 1 one 1").ok_or("a mark")?;
    let commit = Commit {
        fence,
        ..test_run.commit(1)
    };
    Ok(store.transact(&commit, &mut |_| decided(&mark, Time(0))))
}

/// The same with drivers: one sleeps past its lease, another takes its run, and the first wakes up and goes on.
fn two_at_once(server: &Server) -> Result<()> {
    let database = "two_at_once";
    let address = ready(server, database)?;
    break_fence(server, database)?;
    queue(server, database, std::iter::once("long".to_owned()))?;
    let folder = tempfile::tempdir()?;
    let start = |number| {
        let place = place(folder.path(), number);
        Machine::start(place, server.port(), &address, PIECES)
    };
    let first = start(1)?;
    let is_so =
        |what: &str| server.sql(database, &format!("SELECT {what} FROM gatewright.runs")) == "t";
    wait("the first driver", || Ok(is_so("version > 3")))?;
    first.freeze()?;
    let second = start(2)?;
    wait("the second driver", || Ok(is_so("last_fence > 1")))?;
    first.wake()?;
    wait("the end", || Ok(is_so("status = 'cancelled'")))?;
    drop((first, second));
    insist(OLD, &words(server, database, folder.path())?)
}

fn break_fence(server: &Server, database: &str) -> Result<()> {
    for (function, compares, ignores) in FUNCTIONS {
        let shown = format!("SELECT pg_get_functiondef('gatewright.{function}'::regproc)");
        let text = server.sql(database, &shown);
        if !text.contains(compares) {
            return Err(format!("the control does not know how {function} compares fences").into());
        }
        server.sql(database, &text.replace(compares, ignores));
    }
    Ok(())
}

/// A place where nobody has done anything.
fn empty(place: &Place) -> Result<()> {
    let make = |folder: &Path| std::fs::create_dir_all(folder);
    make(&place.logs())?;
    Ok(make(&place.effects())?)
}
