//! The store of a fleet beside bare SQL of the same shape on the same server, for the bench: `fleet_bench ROUNDS RUNS`.
//! `fleet_bench serve` starts a server with our tables, prints its address, and ends with its standard input.
//!
//! Prints one JSON object: the seconds of each round of changes and of claims, ours and bare, the queue over three workers, and the
//! statements of a change.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::time::{Duration, Instant};
use std::{env, thread};

use pg_store::{Address, Placement, Postgres, set_up};
use postgres::{Client, NoTls};
use serde_json::{Value, json};
use store::conformance::test_run::{TestRun, cancelled, decision, note};
use store::{Access, Backend as _, Commit, Fence, Key, Transacted};
use testkit::database::Server;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// How many changes are timed together.
const CHANGES: u64 = 200;
const WORKERS: usize = 3;
const TRANSITIONS: u64 = 3;
const LONG: Duration = Duration::from_secs(3_600);

/// The same tables without anything of ours: an entry is added and the state is set, in one transaction and one round trip.
const BARE: &str = "
    CREATE SCHEMA bare;
    CREATE TABLE bare.runs (id text PRIMARY KEY, version bigint NOT NULL, state bytea NOT NULL);
    CREATE TABLE bare.entries (run text NOT NULL REFERENCES bare.runs (id), number bigint NOT NULL, key text,
        entry text NOT NULL, previous bytea NOT NULL, hash bytea NOT NULL, PRIMARY KEY (run, number));
    CREATE UNIQUE INDEX entries_by_key ON bare.entries (run, key);
    CREATE TABLE bare.queue (run text PRIMARY KEY, place bigint GENERATED ALWAYS AS IDENTITY, holder text);
    CREATE INDEX queue_by_place ON bare.queue (place)";
const BARE_CHANGE: &str = "
    WITH added AS (INSERT INTO bare.entries (run, number, key, entry, previous, hash)
        VALUES ($1, $2, $3, $4, $5, $5))
    UPDATE bare.runs SET version = $2, state = $6 WHERE id = $1 AND version = $2 - 1";
const BARE_CLAIM: &str = "
    UPDATE bare.queue SET holder = $1 WHERE run = (
        SELECT run FROM bare.queue WHERE holder IS NULL ORDER BY place LIMIT 1 FOR UPDATE SKIP LOCKED)";

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments == ["serve"] {
        return serve();
    }
    let [rounds, runs] = arguments.as_slice() else {
        return Err("usage: fleet_bench ROUNDS RUNS".into());
    };
    let (rounds, runs) = (rounds.parse()?, runs.parse()?);
    let server = Server::on_disk();
    let measured = json!({
        "changes": changes(&server, rounds)?,
        "claims": claims(&server, rounds, runs)?,
        "queue": queue(&server, runs)?,
        "statements": statements()?,
    });
    Ok(writeln!(io::stdout(), "{measured}")?)
}

fn serve() -> Result<()> {
    let server = Server::start();
    let address = server.database("team");
    set_up(&Address::parse(&address)?)?;
    writeln!(io::stdout(), "{address}")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// A new database with our tables and the bare ones.
fn ready(server: &Server, database: &str) -> Result<Address> {
    let address = Address::parse(&server.database(database))?;
    set_up(&address)?;
    server.sql(database, BARE);
    Ok(address)
}

/// The seconds of so many things, round by round, ours and bare in turn.
#[derive(Default)]
struct Laps {
    each: u64,
    ours: Vec<f64>,
    bare: Vec<f64>,
}

impl Laps {
    fn json(&self) -> Value {
        let Self { each, ours, bare } = self;
        json!({ "each": each, "ours": ours, "bare": bare })
    }
}

fn timed(act: impl FnOnce() -> Result<()>) -> Result<f64> {
    let began = Instant::now();
    act()?;
    Ok(began.elapsed().as_secs_f64())
}

fn changes(server: &Server, rounds: usize) -> Result<Value> {
    let address = ready(server, "changes")?;
    let mut store = Postgres::open(&address, Access::Write)?;
    let test_run = TestRun::new("r-0")?;
    test_run.begin(&mut store)?;
    store.enqueue(&test_run.id, &Placement::default())?;
    let claimed = store.claim_queued("one", &[], LONG)?;
    let fence = claimed.ok_or("nothing is queued")?.lease.fence;
    let mut version = ours(&mut store, &test_run, fence, 1)?;
    let mut client = Client::connect(&server.address("changes"), NoTls)?;
    let mut bare = Bare::like_ours(&mut client)?;
    bare.write(&mut client)?;
    let mut laps = Laps {
        each: CHANGES,
        ..Laps::default()
    };
    for _ in 0..rounds {
        laps.ours.push(timed(|| {
            version = ours(&mut store, &test_run, fence, version)?;
            Ok(())
        })?);
        laps.bare.push(timed(|| bare.write(&mut client))?);
    }
    prove(&store, &test_run, version)?;
    Ok(laps.json())
}

/// Makes this many changes from this version on. Returns the version afterwards.
fn ours(store: &mut Postgres, test_run: &TestRun, fence: Fence, version: u64) -> Result<u64> {
    for seen in version..version + CHANGES {
        let key = Key::parse(&format!("change {seen}"))?;
        let commit = Commit {
            key: Some(&key),
            fence: Some(fence),
            ..test_run.commit(seen)
        };
        let fact = note("one durable change");
        let done = store.transact(&commit, &mut |_| decision(std::slice::from_ref(&fact)))?;
        if !matches!(done, Transacted::Done { .. }) {
            return Err(format!("not stored: {done:?}").into());
        }
    }
    Ok(version + CHANGES)
}

fn prove(store: &Postgres, test_run: &TestRun, version: u64) -> Result<()> {
    let verification = store.verify(&test_run.id)?;
    if verification.intact && verification.entries == version {
        Ok(())
    } else {
        Err(format!("{verification:?}").into())
    }
}

/// Rows of the size of ours.
struct Bare {
    version: i64,
    entry: String,
    state: Vec<u8>,
    statement: postgres::Statement,
}

impl Bare {
    fn like_ours(client: &mut Client) -> Result<Self> {
        let sizes = "SELECT (SELECT max(length(entry)) FROM gatewright.entries WHERE number > 1), \
                     (SELECT max(length(state)) FROM gatewright.runs)";
        let sizes = client.query_one(sizes, &[])?;
        let size = |column| usize::try_from(sizes.get::<_, i32>(column));
        let state = vec![7; size(1)?];
        client.execute("INSERT INTO bare.runs VALUES ('r-0', 1, $1)", &[&state])?;
        Ok(Self {
            version: 1,
            entry: "x".repeat(size(0)?),
            state,
            statement: client.prepare(BARE_CHANGE)?,
        })
    }

    fn write(&mut self, client: &mut Client) -> Result<()> {
        let hash = [7_u8; 32].as_slice();
        for _ in 0..CHANGES {
            self.version += 1;
            let key = format!("change {}", self.version);
            let Self {
                version,
                entry,
                state,
                statement,
            } = self;
            let set = client.execute(&*statement, &[&"r-0", version, &key, entry, &hash, state])?;
            if set != 1 {
                return Err("the bare change set nothing".into());
            }
        }
        Ok(())
    }
}

/// Each round claims the whole of a new queue.
fn claims(server: &Server, rounds: usize, runs: usize) -> Result<Value> {
    let mut laps = Laps {
        each: u64::try_from(runs)?,
        ..Laps::default()
    };
    for round in 0..rounds {
        let database = format!("claims_{round}");
        let address = ready(server, &database)?;
        let mut store = Postgres::open(&address, Access::Write)?;
        fill(&mut store, runs)?;
        let mut client = Client::connect(&server.address(&database), NoTls)?;
        client.batch_execute(
            "INSERT INTO bare.queue (run) SELECT run FROM gatewright.queue ORDER BY place; ANALYZE",
        )?;
        let statement = client.prepare(BARE_CLAIM)?;
        laps.ours.push(timed(|| {
            let claims = (0..runs).map(|_| store.claim_queued("one", &[], LONG));
            for claimed in claims {
                claimed?.ok_or("a run is missing")?;
            }
            Ok(())
        })?);
        laps.bare.push(timed(|| {
            for _ in 0..runs {
                client.execute(&statement, &[&"one"])?;
            }
            Ok(())
        })?);
    }
    Ok(laps.json())
}

fn fill(store: &mut Postgres, runs: usize) -> Result<()> {
    for number in 0..runs {
        let test_run = TestRun::new(&format!("r-{number}"))?;
        test_run.begin(store)?;
        store.enqueue(&test_run.id, &Placement::default())?;
    }
    Ok(())
}

/// Workers with a connection each take all runs: claim, some transitions, out of the queue.
fn queue(server: &Server, runs: usize) -> Result<Value> {
    let address = ready(server, "queue")?;
    let mut store = Postgres::open(&address, Access::Write)?;
    fill(&mut store, runs)?;
    server.sql("queue", "ANALYZE");
    let began = Instant::now();
    let taken = thread::scope(|scope| {
        let worker = |number| {
            let address = &address;
            move || work(address, &format!("worker {number}"))
        };
        let workers: Vec<_> = (0..WORKERS).map(|it| scope.spawn(worker(it))).collect();
        let all = workers.into_iter().map(|worker| {
            let ended = worker.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        all.collect::<Result<Vec<_>>>()
    })?;
    let seconds = began.elapsed().as_secs_f64();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    taken
        .into_iter()
        .flatten()
        .for_each(|run| *times.entry(run).or_default() += 1);
    let whole = "SELECT count(*) FROM gatewright.runs r WHERE status = 'cancelled' AND version = \
                 (SELECT count(*) FROM gatewright.entries e WHERE e.run = r.id) AND version = 5";
    let whole: usize = server.sql("queue", whole).parse()?;
    Ok(json!({
        "runs": runs,
        "workers": WORKERS,
        "transitions": TRANSITIONS,
        "seconds": seconds,
        "lost": runs - whole,
        "twice": times.values().filter(|times| **times > 1).count(),
    }))
}

/// The runs that this worker took.
fn work(address: &Address, holder: &str) -> Result<Vec<String>> {
    let mut store = Postgres::open(address, Access::Write)?;
    let mut taken = Vec::new();
    while let Some(claimed) = store.claim_queued(holder, &[], LONG)? {
        let test_run = TestRun::new(claimed.run.as_str())?;
        let fence = Some(claimed.lease.fence);
        for seen in 1..=TRANSITIONS {
            let commit = Commit {
                fence,
                ..test_run.commit(seen)
            };
            let mut facts = vec![note(holder)];
            facts.extend((seen == TRANSITIONS).then(cancelled));
            store.transact(&commit, &mut |_| decision(&facts))?;
        }
        store.end_queued(&claimed.run, claimed.lease.fence)?;
        taken.push(claimed.run.to_string());
    }
    Ok(taken)
}

/// What the server logs for a change, by its own count.
fn statements() -> Result<f64> {
    let server = Server::with_settings("log_statement = 'all'");
    let address = ready(&server, "counted")?;
    let mut store = Postgres::open(&address, Access::Write)?;
    let test_run = TestRun::new("r-0")?;
    test_run.begin(&mut store)?;
    store.enqueue(&test_run.id, &Placement::default())?;
    let claimed = store.claim_queued("one", &[], LONG)?;
    let fence = claimed.ok_or("nothing is queued")?.lease.fence;
    store.run(&test_run.id)?;
    let before = logged(&server);
    ours(&mut store, &test_run, fence, 1)?;
    Ok((logged(&server) - before) as f64 / CHANGES as f64)
}

fn logged(server: &Server) -> usize {
    let log = server.log();
    let ours = log.lines().filter(|line| line.starts_with("gatewright|"));
    let sent =
        ours.filter(|line| line.contains("LOG:  execute") || line.contains("LOG:  statement:"));
    sent.count()
}
