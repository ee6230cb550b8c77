//! One step of a run in a process of its own, to be killed, counted and timed from outside:
//! `advance FOLDER begin`, `advance FOLDER look`, `advance FOLDER note KEY`,
//! `advance FOLDER grow COUNT`, `advance FOLDER verify`.

use std::path::Path;

use store::conformance::test_run::{TestRun, decision, note};
use store::{Access, Backend, Commit, Key, Sqlite};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let test_run = TestRun::new("r-1")?;
    match words
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [folder, "begin"] => {
            let key = Key::parse("begin")?;
            let new = store::NewRun {
                key: Some(&key),
                ..test_run.new_run()
            };
            open(folder)?.begin(&new, &test_run.beginning())?;
        }
        [folder, "look"] => {
            let store = Sqlite::open(Path::new(folder), Access::Read)?;
            let run = store.run(&test_run.id)?.ok_or("no run")?;
            store.compiled(run.run.definition)?.ok_or("no definition")?;
        }
        [folder, "note", key] => {
            let mut store = open(folder)?;
            let key = Key::parse(key)?;
            let seen = store.run(&test_run.id)?.ok_or("no run")?.version;
            let commit = Commit {
                key: Some(&key),
                ..test_run.commit(seen)
            };
            test_run.add_in_the_end(&mut store, commit, &note(key.as_str()))?;
        }
        [folder, "grow", count] => {
            let mut store = open(folder)?;
            let facts = vec![note("one more"); count.parse()?];
            let seen = store.run(&test_run.id)?.ok_or("no run")?.version;
            store.transact(&test_run.commit(seen), &mut |_| decision(&facts))?;
        }
        [folder, "verify"] => {
            let store = Sqlite::open(Path::new(folder), Access::Read)?;
            let verification = store.verify(&test_run.id)?;
            let said = store.check_pages()?;
            if !verification.intact || !said.is_empty() {
                return Err(format!("{verification:?} {said:?}").into());
            }
        }
        _ => return Err("say FOLDER and begin, look, note, grow or verify".into()),
    }
    Ok(())
}

fn open(folder: &str) -> Result<Sqlite, store::Error> {
    Sqlite::open(Path::new(folder), Access::Write)
}
