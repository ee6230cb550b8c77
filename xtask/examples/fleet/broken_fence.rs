//! The control of the fence: a store that ignores it or the claim behind it, and a driver that passes none, must be noticed.

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

const FOREIGN: &str = "under another's claim";

/// The run that is driven twice at once has many pieces.
const PIECES: usize = 40;

/// A function of the database, what it compares, and what it does instead.
type Broken = (&'static str, &'static str, &'static str);

/// The function that compares claims.
const CLAIMS: [Broken; 1] = [("append", "OR present.last_claim <> in_claim", "")];

/// The functions that compare fences.
const FENCES: [Broken; 2] = [
    ("append", "WHEN in_fence IS NOT NULL AND", "WHEN false AND"),
    (
        "claim",
        "ELSIF holder IS NULL OR fence <> in_fence OR claim <> in_claim THEN",
        "ELSIF false THEN",
    ),
];

/// Returns how many pieces of damage were planted and found.
pub(crate) fn run(server: &Server) -> Result<usize> {
    for database in ["fenced", "claimed"] {
        let takeover = Takeover {
            forgets: database == "claimed",
            ..Takeover::default()
        };
        let fenced = takeover.late_write(server, database)?;
        if !matches!(fenced, Err(Error::Fenced { .. })) {
            return Err(format!("the control: a late holder writes: {fenced:?}").into());
        }
    }
    for (database, takeover, word) in PLANTED {
        let folder = tempfile::tempdir()?;
        empty(&place(folder.path(), 1))?;
        let stored = takeover.late_write(server, database)?;
        if !matches!(stored, Ok(Transacted::Done { .. })) {
            return Err(format!("the control: {database} stores nothing: {stored:?}").into());
        }
        insist(word, &words(server, database, folder.path())?)?;
    }
    two_at_once(server)?;
    Ok(PLANTED.len() + 1)
}

/// Another holder takes a run, and the first one writes late.
#[derive(Clone, Copy, Debug, Default)]
struct Takeover {
    /// Does the first holder show no fence at all?
    is_bare: bool,
    /// Has the database forgotten the first claim, as a replica that was behind? Then both have the same number.
    forgets: bool,
    broken: &'static [Broken],
}

/// The databases and drivers with a fault, and the word under which the checker must report it.
const PLANTED: [(&str, Takeover, &str); 3] = [
    (
        "bare",
        Takeover {
            is_bare: true,
            forgets: false,
            broken: &[],
        },
        OLD,
    ),
    (
        "broken",
        Takeover {
            is_bare: false,
            forgets: false,
            broken: &FENCES,
        },
        OLD,
    ),
    (
        "claimless",
        Takeover {
            is_bare: false,
            forgets: true,
            broken: &CLAIMS,
        },
        FOREIGN,
    ),
];

/// What a replica that had not received the first claim would say.
const FORGOTTEN: [&str; 2] = [
    "UPDATE gatewright.runs SET last_fence = 0, last_claim = '', lease_holder = NULL, lease_until = NULL",
    "UPDATE gatewright.queue SET tries = 0, not_before = 0",
];

impl Takeover {
    /// What the first holder gets for its write.
    fn late_write(
        &self,
        server: &Server,
        database: &str,
    ) -> Result<std::result::Result<Transacted, Error>> {
        let address = Address::parse(&ready(server, database)?)?;
        break_functions(server, database, self.broken)?;
        queue(server, database, std::iter::once("r-0".to_owned()))?;
        let mut store = Postgres::open(&address, Access::Write)?;
        let long = Duration::from_secs(3_600);
        let first = store.claim_queued("one", &[], Duration::ZERO)?;
        let first = first.ok_or("no run")?.lease.fence;
        if self.forgets {
            for forgotten in FORGOTTEN {
                server.sql(database, forgotten);
            }
        }
        store.claim_queued("two", &[], long)?.ok_or("no run")?;
        let fence = (!self.is_bare).then_some(first);
        write(&mut store, fence)
    }
}

fn write(
    store: &mut Postgres,
    fence: Option<Fence>,
) -> Result<std::result::Result<Transacted, Error>> {
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
    break_functions(server, database, &FENCES)?;
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

fn break_functions(server: &Server, database: &str, broken: &[Broken]) -> Result<()> {
    for (function, compares, ignores) in broken {
        let shown = format!("SELECT pg_get_functiondef('gatewright.{function}'::regproc)");
        let text = server.sql(database, &shown);
        if !text.contains(*compares) {
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
