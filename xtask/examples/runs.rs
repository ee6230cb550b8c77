//! Fills a store with runs that are over: `runs STATE_FOLDER RUN RUNS ENTRIES`, for the bench.
//!
//! Each is like the named run, with so many entries.

use std::env;
use std::error::Error;
use std::path::Path;

use engine::{Decision, Entry, Fact, Reply, Rule, RunId, Status, Who};
use store::{Access, Backend as _, Commit, Files, NewRun, Sqlite, StoredRun, Transacted};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [folder, run, runs, entries] = arguments.as_slice() else {
        return Err("usage: runs STATE_FOLDER RUN RUNS ENTRIES".into());
    };
    let mut store = Sqlite::open(Path::new(folder), Access::Write)?;
    let like = Like::read(&store, &RunId::parse(run)?)?;
    for number in 1..=runs.parse()? {
        like.add(&mut store, number, entries.parse()?)?;
    }
    store.close();
    Ok(())
}

/// The run that the others are like.
struct Like {
    stored: StoredRun,
    first: Entry,
    files: Files,
    compiled: engine::Definition,
}

impl Like {
    fn read(store: &Sqlite, run: &RunId) -> Result<Self, Box<dyn Error>> {
        let stored = store.run(run)?.ok_or("there is no such run")?;
        let definition = stored.run.definition;
        let first = store.journal(run, 1, 1)?.into_iter().next();
        Ok(Self {
            first: first.ok_or("the run has no entry")?.entry,
            files: store.definition(definition)?.ok_or("no definition")?,
            compiled: store.compiled(definition)?.ok_or("not compiled")?,
            stored,
        })
    }

    fn add(&self, store: &mut Sqlite, number: u64, entries: u64) -> Result<(), Box<dyn Error>> {
        let id = RunId::parse(&format!("r-{number}"))?;
        let mut first = self.first.clone();
        if let Fact::Started(started) = &mut first.fact {
            started.id = id.clone();
            started.task = format!("task {number}");
        }
        first.at.0 -= number * 1_000;
        let new = NewRun {
            project: &self.stored.project,
            worktree: &self.stored.home,
            files: &self.files,
            compiled: &self.compiled,
            key: None,
            contents: &[],
            secrets: &[],
            status: &|_| Status::Running,
        };
        let begun = store.begin(&new, &decided(Rule::Begin, vec![first.clone()]))?;
        let notes = (1..entries - 1).map(|it| noted(&first, it));
        let rest = notes.chain([cancelled(&first)]).collect();
        finish(store, &begun, rest)
    }
}

fn decided(rule: Rule, entries: Vec<Entry>) -> Decision {
    Decision {
        reply: Reply::Done,
        entries,
        rule,
    }
}

fn noted(first: &Entry, number: u64) -> Entry {
    let message = format!("note {number}");
    Entry {
        at: first.at,
        by: Who::Engine,
        rule: Rule::Unmatched,
        fact: Fact::Noted { message },
    }
}

fn cancelled(first: &Entry) -> Entry {
    Entry {
        at: first.at,
        by: first.by.clone(),
        rule: Rule::Cancel,
        fact: Fact::Cancelled {
            reason: "not needed".to_owned(),
        },
    }
}

fn finish(store: &mut Sqlite, run: &StoredRun, rest: Vec<Entry>) -> Result<(), Box<dyn Error>> {
    let commit = Commit {
        run: &run.run.id,
        seen: run.version,
        key: None,
        contents: &[],
        fence: None,
        secrets: &[],
        status: &|_| Status::Cancelled,
    };
    let decision = decided(Rule::Cancel, rest);
    match store.transact(&commit, &mut |_| decision.clone())? {
        Transacted::Done { .. } => Ok(()),
        Transacted::Repeated { .. } | Transacted::Moved { .. } => {
            Err("somebody else writes to the store".into())
        }
    }
}
