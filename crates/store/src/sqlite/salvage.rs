//! Salvage: replaces a damaged store by a fresh one with everything that is intact.
//!
//! The damaged files are kept. Each step can be interrupted and repeated: the store stays marked as
//! damaged until the fresh one is in its place.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use engine::{RunId, Time};
use rusqlite::OpenFlags;

use super::copy_run::{Compile, CopyRun};
use super::folder::{Folder, LOG, io_error};
use super::heads::Heads;
use super::open::{connect, is_empty, recorded};
use super::read::Reader;
use super::statements::Statements;
use super::table::Table;
use super::writer_lock::WriterLock;
use super::{Access, WRITER_TIMEOUT, schema};
use crate::Error;
use crate::verification::Anchor;

/// The fresh store while it is filled.
const FRESH: &str = "store.db.fresh";

/// The complete fresh store: from now on only files are moved.
const READY: &str = "store.db.salvaged";

/// The result of a salvage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// The new path of the damaged database, if there was one.
    pub aside: Option<PathBuf>,
    /// How many runs are in the fresh store, complete or in part.
    pub runs: u64,
    /// In the order of the runs' ids.
    pub losses: Vec<Loss>,
    /// Contents that runs held and that could not be read.
    pub lost_contents: u64,
}

/// The loss of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    pub run: RunId,
    /// Kept entries; zero if the run is gone.
    pub kept: u64,
    /// Entries that are known to have existed and are lost.
    pub lost: u64,
    pub why: String,
}

/// Replaces the damaged store by a fresh one with everything that is intact. `at` is the time of
/// the notes in journals that lost entries.
pub fn salvage(folder: &Path, at: Time, compile: Compile<'_>) -> Result<Salvaged, Error> {
    let folder = Folder::find(folder)?;
    let _lock = WriterLock::wait(&folder, WRITER_TIMEOUT)?;
    refuse_newer(&folder)?;
    let interrupted = folder.regular_file(READY)?.is_some();
    let mut salvaged = if interrupted {
        Salvaged::default()
    } else {
        fill(&folder, at, compile)?
    };
    salvaged.aside = put_aside(&folder)?;
    put_in_place(&folder)?;
    let (runs, losses) = renew_heads(&folder)?;
    salvaged.runs = runs;
    if interrupted {
        salvaged.losses = losses;
    }
    folder.forget_damage();
    Ok(salvaged)
}

/// A store of a newer version is not damaged: we must not touch it.
fn refuse_newer(folder: &Folder) -> Result<(), Error> {
    let known = schema::known(schema::MIGRATIONS);
    let found = if is_empty(folder)? {
        None
    } else {
        connect(folder, Access::Read)
            .ok()
            .and_then(|it| schema::version(&it).ok())
    };
    match found {
        Some(found) if found > known => {
            let folder = folder.path().to_owned();
            Err(Error::Newer {
                folder,
                found,
                known,
            })
        }
        Some(_) | None => Ok(()),
    }
}

/// Makes the fresh store and fills it.
pub(super) fn fill(folder: &Folder, at: Time, compile: Compile<'_>) -> Result<Salvaged, Error> {
    let path = folder.path().join(FRESH);
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(folder.path().join(format!("{FRESH}{suffix}")));
    }
    let file = Folder::create_new(&path)?;
    let fault = |error| folder.fault("make a fresh store", error);
    let mut fresh = folder
        .connect(FRESH, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(fault)?;
    schema::migrate(&mut fresh, schema::MIGRATIONS).map_err(fault)?;
    let transaction = fresh.transaction().map_err(fault)?;
    let salvaged = copy_runs(
        folder,
        Table {
            connection: &transaction,
            folder,
            statements: Statements::Kept,
        },
        at,
        compile,
    )?;
    transaction.commit().map_err(fault)?;
    fresh
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(fault)?;
    fresh.close().map_err(|(_, error)| fault(error))?;
    file.sync_all()
        .map_err(|error| io_error("sync", &path, error))?;
    rename(folder, FRESH, READY)?;
    Ok(salvaged)
}

/// Copies every run in the database or with a head file.
fn copy_runs(
    folder: &Folder,
    fresh: Table<'_>,
    at: Time,
    compile: Compile<'_>,
) -> Result<Salvaged, Error> {
    let mut salvaged = Salvaged::default();
    let heads = Heads::find(folder)?;
    let mut runs: BTreeSet<RunId> = recorded(folder)?.into_iter().collect();
    let damaged = if is_empty(folder)? {
        None
    } else {
        connect(folder, Access::Read).ok()
    };
    let reader = damaged.as_ref().map(|connection| Reader {
        connection,
        folder,
        statements: Statements::Kept,
    });
    runs.extend(reader.iter().flat_map(readable_runs));
    for run in runs {
        let anchored = match heads.as_ref().map(|heads| heads.read(&run)).transpose()? {
            Some(Anchor::At(tip)) => tip.version,
            Some(Anchor::Absent | Anchor::Unreadable) | None => 0,
        };
        let loss = match reader {
            Some(reader) => {
                let rescue = CopyRun {
                    reader,
                    fresh,
                    run: &run,
                    anchored,
                    at,
                    compile,
                };
                let (loss, contents) = rescue.copy()?;
                salvaged.lost_contents += contents;
                loss
            }
            None => {
                let why = "the database cannot be read at all".to_owned();
                Some(Loss {
                    run,
                    kept: 0,
                    lost: anchored,
                    why,
                })
            }
        };
        salvaged.losses.extend(loss);
    }
    Ok(salvaged)
}

/// The readable ids: damage further on does not affect earlier ones.
fn readable_runs(reader: &Reader<'_>) -> Vec<RunId> {
    let Ok(mut statement) = reader.connection.prepare("SELECT id FROM runs") else {
        return Vec::new();
    };
    let Ok(rows) = statement.query_map([], |row| row.get::<_, String>(0)) else {
        return Vec::new();
    };
    let readable = rows.map_while(Result::ok);
    readable.filter_map(|id| RunId::parse(&id).ok()).collect()
}

/// Copies the damaged database and its log to free names.
fn put_aside(folder: &Folder) -> Result<Option<PathBuf>, Error> {
    if folder.regular_file("store.db")?.is_none() {
        return Ok(None);
    }
    let name = |number: u32| format!("store.db.damaged-{number}");
    let mut number = 1;
    while folder.regular_file(&name(number))?.is_some() {
        number += 1;
    }
    for suffix in ["", "-wal"] {
        copy(
            folder,
            &format!("store.db{suffix}"),
            &format!("{}{suffix}", name(number)),
        )?;
    }
    Ok(Some(folder.path().join(name(number))))
}

fn copy(folder: &Folder, from: &str, to: &str) -> Result<(), Error> {
    if folder.regular_file(from)?.is_none() {
        return Ok(());
    }
    let (from, to) = (folder.path().join(from), folder.path().join(to));
    let mut target = Folder::create_new(&to)?;
    let copied = File::open(&from).and_then(|mut source| std::io::copy(&mut source, &mut target));
    copied
        .and_then(|_| target.sync_all())
        .map_err(|error| io_error("copy the damaged store to", &to, error))
}

/// The old log must not be applied to the fresh database.
fn put_in_place(folder: &Folder) -> Result<(), Error> {
    for name in [LOG, "store.db-shm"] {
        let path = folder.path().join(name);
        if folder.regular_file(name)?.is_some() {
            fs::remove_file(&path).map_err(|error| io_error("remove", &path, error))?;
        }
    }
    // The name of the log is made durable with that of the database.
    Folder::create_new(&folder.path().join(LOG))?;
    rename(folder, READY, "store.db")
}

fn rename(folder: &Folder, from: &str, to: &str) -> Result<(), Error> {
    let (from, to) = (folder.path().join(from), folder.path().join(to));
    fs::rename(&from, &to).map_err(|error| io_error("rename", &from, error))?;
    folder.sync()
}

/// Makes the head files match the fresh store. Returns the number of runs, and the losses that the
/// old heads show.
fn renew_heads(folder: &Folder) -> Result<(u64, Vec<Loss>), Error> {
    let connection = connect(folder, Access::Read)?;
    let reader = Reader {
        connection: &connection,
        folder,
        statements: Statements::Kept,
    };
    let heads = Heads::make(folder)?;
    let mut losses = Vec::new();
    for run in heads.runs()? {
        let kept = reader.run_row(&run)?.map_or(0, |row| row.tip.version);
        if let Anchor::At(old) = heads.read(&run)?
            && kept < old.version
        {
            let (lost, why) = (old.version - kept, "its head file names more".to_owned());
            losses.push(Loss {
                run: run.clone(),
                kept,
                lost,
                why,
            });
        }
        heads.remove(&run)?;
    }
    let kept = readable_runs(&reader);
    for run in &kept {
        if let Some(row) = reader.run_row(run)? {
            heads.write(run, row.tip)?;
        }
    }
    Ok((kept.len() as u64, losses))
}
