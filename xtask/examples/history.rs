//! Grows a run to a long history: `history STATE_FOLDER RUN ENTRIES`, for the bench.

use std::env;
use std::error::Error;
use std::path::Path;

use engine::{Decision, Entry, Fact, Reply, Rule, RunId, Status, Time, Who};
use store::{Access, Backend as _, Commit, Sqlite, StoredRun, Transacted};

/// How many entries one transaction takes: a sync is slow, and a large one fills the memory.
const AT_ONCE: u64 = 10_000;

/// Notes are what the engine makes of events that advance nothing.
const RULE: Rule = Rule::Unmatched;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [folder, run, entries] = arguments.as_slice() else {
        return Err("usage: history STATE_FOLDER RUN ENTRIES".into());
    };
    grow(Path::new(folder), &RunId::parse(run)?, entries.parse()?)
}

fn grow(folder: &Path, id: &RunId, entries: u64) -> Result<(), Box<dyn Error>> {
    let mut store = Sqlite::open(folder, Access::Write)?;
    let mut stored = store
        .run(id)?
        .ok_or_else(|| format!("there is no run {id}"))?;
    while stored.version < entries {
        stored = append(&mut store, &stored, AT_ONCE.min(entries - stored.version))?;
    }
    store.close();
    Ok(())
}

fn append(store: &mut Sqlite, at: &StoredRun, count: u64) -> Result<StoredRun, Box<dyn Error>> {
    let id = &at.run.id;
    let commit = Commit {
        run: id,
        seen: at.version,
        key: None,
        contents: &[],
        fence: None,
        secrets: &[],
        status: &|_| Status::Running,
    };
    let entries: Vec<_> = (0..count)
        .map(|number| note(at, at.version + number))
        .collect();
    let decision = Decision {
        reply: Reply::Done,
        entries,
        rule: RULE,
    };
    match store.transact(&commit, &mut |_| decision.clone())? {
        Transacted::Done { stored, .. } => Ok(*stored),
        Transacted::Repeated { .. } | Transacted::Moved { .. } => {
            Err(format!("somebody else writes to run {id}").into())
        }
    }
}

/// A note changes nothing, so a run may have any number of them.
fn note(at: &StoredRun, number: u64) -> Entry {
    let message = format!("note {number} of a long history");
    let at = Time(at.run.started_at.0 + number);
    Entry {
        at,
        by: Who::Engine,
        rule: RULE,
        fact: Fact::Noted { message },
    }
}
