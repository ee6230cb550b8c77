//! Everything that the checker reads: the journals, what the database saw at each write, and the logs and the work of the
//! drivers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use engine::RunId;
use pg_store::{Address, Postgres};
use serde_json::Value;
use store::{Access, Backend as _};
use testkit::database::Server;

use crate::Result;
use crate::log::{self, Acknowledged, Record};
use crate::mark::{Attempt, Mark};

#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub runs: Vec<RunFacts>,
    pub acknowledged: Vec<Acknowledged>,
    pub claims: Vec<ClaimFact>,
    /// How often the store refused a driver because of its fence.
    pub fenced: usize,
    pub troubles: Vec<String>,
    /// The runs whose journal the store called altered.
    pub altered: Vec<String>,
    /// The lines of each file of work.
    pub effects: BTreeMap<(String, Attempt), Vec<String>>,
    /// The lease in the transaction that stored an entry, by run and number.
    pub writes: BTreeMap<(String, u64), SeenLease>,
    /// Each change of a fence, in order.
    pub fences: Vec<FenceStep>,
}

#[derive(Clone, Debug)]
pub(crate) struct RunFacts {
    pub id: String,
    pub is_over: bool,
    pub set_aside: Option<String>,
    /// What is wrong with its chain.
    pub fault: Option<String>,
    pub entries: Vec<EntryFact>,
}

#[derive(Clone, Debug)]
pub(crate) struct EntryFact {
    pub number: u64,
    pub key: Option<String>,
    pub mark: Option<Mark>,
}

#[derive(Clone, Debug)]
pub(crate) struct ClaimFact {
    pub run: String,
    pub fence: u64,
    pub holder: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenLease {
    pub fence: u64,
    pub holder: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FenceStep {
    pub run: String,
    pub before: u64,
    pub after: u64,
}

impl RunFacts {
    pub(crate) fn marks(&self) -> impl Iterator<Item = (u64, &Mark)> {
        let entries = self.entries.iter();
        entries.filter_map(|entry| Some((entry.number, entry.mark.as_ref()?)))
    }
}

/// The database writes down what it sees in each transaction. The checker compares it with what drivers believed.
const OBSERVER: &str = "
    CREATE SCHEMA observed;
    CREATE TABLE observed.writes (run text, number bigint, fence bigint, holder text);
    CREATE TABLE observed.fences (place bigint GENERATED ALWAYS AS IDENTITY, run text, before bigint, after bigint);
    CREATE FUNCTION observed.write() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO observed.writes SELECT NEW.run, NEW.number, last_fence, coalesce(lease_holder, '-')
            FROM gatewright.runs WHERE id = NEW.run;
        RETURN NULL;
    END $$;
    CREATE TRIGGER observed AFTER INSERT ON gatewright.entries FOR EACH ROW EXECUTE FUNCTION observed.write();
    CREATE FUNCTION observed.fence() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO observed.fences (run, before, after) VALUES (NEW.id, OLD.last_fence, NEW.last_fence);
        RETURN NULL;
    END $$;
    CREATE TRIGGER observed AFTER UPDATE ON gatewright.runs FOR EACH ROW
        WHEN (OLD.last_fence <> NEW.last_fence) EXECUTE FUNCTION observed.fence()";

pub(crate) fn observe(server: &Server, database: &str) {
    server.sql(database, OBSERVER);
}

/// The last fence of each run.
pub(crate) fn last_fences(server: &Server, database: &str) -> Result<BTreeMap<String, u64>> {
    let mut fences = BTreeMap::new();
    for [run, fence, ..] in rows(
        server,
        database,
        "id, last_fence, '', '' FROM gatewright.runs",
    )? {
        fences.insert(run, fence.parse()?);
    }
    Ok(fences)
}

/// The keys of all journals.
pub(crate) fn keys(server: &Server, database: &str) -> BTreeSet<String> {
    let keys = "SELECT key FROM gatewright.entries WHERE key IS NOT NULL";
    let keys = server.sql(database, keys);
    keys.lines().map(str::to_owned).collect()
}

pub(crate) fn gather(server: &Server, database: &str, folder: &Path) -> Result<Facts> {
    let mut facts = Facts {
        runs: runs(server, database)?,
        effects: effects(&folder.join("effects"))?,
        ..Facts::default()
    };
    for row in rows(
        server,
        database,
        "run, number, fence, holder FROM observed.writes",
    )? {
        let [run, number, fence, holder] = row;
        let (number, fence) = (number.parse()?, fence.parse()?);
        facts
            .writes
            .insert((run, number), SeenLease { fence, holder });
    }
    for row in rows(
        server,
        database,
        "run, before, after, '' FROM observed.fences ORDER BY place",
    )? {
        let [run, before, after, _] = row;
        let (before, after) = (before.parse()?, after.parse()?);
        facts.fences.push(FenceStep { run, before, after });
    }
    for record in log::read_all(&folder.join("logs"))? {
        match record {
            Record::Acknowledged(acknowledged) => facts.acknowledged.push(acknowledged),
            Record::Claimed { run, fence, holder } => {
                facts.claims.push(ClaimFact { run, fence, holder });
            }
            Record::Fenced { .. } => facts.fenced += 1,
            Record::Altered { run } => facts.altered.push(run),
            Record::Trouble(text) => facts.troubles.push(text),
        }
    }
    Ok(facts)
}

/// Four columns of each row.
fn rows(server: &Server, database: &str, what: &str) -> Result<Vec<[String; 4]>> {
    let text = server.sql(database, &format!("SELECT {what}"));
    let row = |line: &str| {
        let columns: Vec<String> = line.splitn(4, '|').map(str::to_owned).collect();
        columns
            .try_into()
            .map_err(|_| format!("{what}: {line}").into())
    };
    text.lines().map(row).collect()
}

fn runs(server: &Server, database: &str) -> Result<Vec<RunFacts>> {
    let store = Postgres::open(&Address::parse(&server.address(database))?, Access::Read)?;
    let what = "r.id, r.status IN ('completed', 'failed', 'cancelled'), coalesce(q.set_aside, ''), '' \
                FROM gatewright.runs r LEFT JOIN gatewright.queue q ON q.run = r.id ORDER BY r.number";
    let mut entries = entries(server, database)?;
    let mut runs = Vec::new();
    for [id, is_over, set_aside, _] in rows(server, database, what)? {
        let run = RunId::parse(&id)?;
        let fault = match store.verify(&run) {
            Ok(verification) if verification.intact => None,
            Ok(verification) => Some(format!("{:?}", verification.faults)),
            Err(error) => Some(error.to_string()),
        };
        runs.push(RunFacts {
            id,
            is_over: is_over == "t",
            set_aside: Some(set_aside).filter(|why| !why.is_empty()),
            fault,
            entries: entries.remove(&run).unwrap_or_default(),
        });
    }
    Ok(runs)
}

/// The rows themselves, also those that the store would refuse to read.
fn entries(server: &Server, database: &str) -> Result<BTreeMap<RunId, Vec<EntryFact>>> {
    let mut entries: BTreeMap<RunId, Vec<EntryFact>> = BTreeMap::new();
    let what = "run, number, coalesce(key, ''), entry FROM gatewright.entries ORDER BY run, number";
    for [run, number, key, entry] in rows(server, database, what)? {
        let entry: Value = serde_json::from_str(&entry)?;
        let message = entry["fact"]["message"].as_str();
        let fact = EntryFact {
            number: number.parse()?,
            key: Some(key).filter(|key| !key.is_empty()),
            mark: message.and_then(Mark::parse),
        };
        entries.entry(RunId::parse(&run)?).or_default().push(fact);
    }
    Ok(entries)
}

fn effects(folder: &Path) -> Result<BTreeMap<(String, Attempt), Vec<String>>> {
    let mut effects = BTreeMap::new();
    for file in fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name().to_string_lossy().into_owned();
        let words: Vec<&str> = name.split(' ').collect();
        let [run, piece, number] = words.as_slice() else {
            return Err(format!("no work: {name}").into());
        };
        let (piece, number) = (piece.parse()?, number.parse()?);
        let text = fs::read_to_string(file.path())?;
        let lines = text.lines().map(str::to_owned).collect();
        effects.insert(((*run).to_owned(), Attempt { piece, number }), lines);
    }
    Ok(effects)
}
