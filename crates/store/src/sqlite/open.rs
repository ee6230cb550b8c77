//! Opening: the checks before the first statement, and the creation of a missing store.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use engine::RunId;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::damage::failure;
use super::folder::{DATABASE, Folder, LOG, io_error};
use super::heads::Heads;
use super::open_files::OpenFiles;
use super::statements::{Expected, Statements};
use super::writer_lock::WriterLock;
use super::{Access, BUSY_TIMEOUT, FoundCompiled, Sqlite, WRITER_TIMEOUT, schema};
use crate::error::Corruption;
use crate::verification::Anchor;
use crate::{Backend as _, Error};

/// How often a command begins its first snapshot again, after others have outrun it for seconds.
const MOST_RETRIES: u32 = 3;

/// The new database while it is made.
const NEW: &str = "store.db.new";

impl Sqlite {
    /// Opens the store in this folder. `Access::Write` creates it if it is missing.
    pub fn open(folder: &Path, access: Access) -> Result<Self, Error> {
        Self::open_with(folder, access, schema::MIGRATIONS)
    }

    /// The same, and reads a run and its compiled definition in the snapshot of the opening: a second one
    /// would cost a hook more calls.
    pub fn open_and_read(
        folder: &Path,
        access: Access,
        run: &RunId,
        expected: Expected,
    ) -> Result<(Self, Option<FoundCompiled>), Error> {
        let read = |store: &Self| store.run_and_compiled(run);
        let statements = Statements::Once(expected);
        Self::open_then(folder, access, schema::MIGRATIONS, statements, read)
    }

    pub(super) fn open_with(
        folder: &Path,
        access: Access,
        migrations: &[&str],
    ) -> Result<Self, Error> {
        let opened = Self::open_then(folder, access, migrations, Statements::Kept, |_| Ok(()));
        opened.map(|(store, ())| store)
    }

    fn open_then<T>(
        folder: &Path,
        access: Access,
        migrations: &[&str],
        statements: Statements,
        read: impl Fn(&Self) -> Result<T, Error>,
    ) -> Result<(Self, T), Error> {
        let folder = match access {
            Access::Read => Folder::find(folder)?,
            Access::Write => Folder::make(folder)?,
        };
        let mut found = database(&folder)?;
        if found.is_none() {
            refuse_emptied(&folder)?;
            match access {
                Access::Read => return Err(absent(&folder)),
                Access::Write => create(&folder, migrations)?,
            }
            found = database(&folder)?;
        }
        let found = found.ok_or_else(|| absent(&folder))?;
        let store = Self::connect(folder, &found, access, statements)?;
        let known = schema::known(migrations);
        let version = store.read_with_version(|version| {
            // In the snapshot that the version is from.
            let read = (version == known).then(|| read(&store));
            (version, read)
        })?;
        let (version, read_now) = version;
        let read_now = match read_now {
            Some(read_now) => read_now?,
            None => {
                store.migrate(version, migrations)?;
                read(&store)?
            }
        };
        Ok((store, read_now))
    }

    /// Calls `read` with the version of the format, while the snapshot lasts that it is from.
    fn read_with_version<T>(&self, read: impl FnOnce(u32) -> T) -> Result<T, Error> {
        let fault = |error| self.folder.fault("read the format", error);
        let mut statement = self.connection.prepare(schema::VERSION).map_err(fault)?;
        // A hook must answer before its host stops waiting: it says that it could not judge.
        let mut tries_left = match self.statements {
            Statements::Kept => MOST_RETRIES,
            Statements::Once(_) => 0,
        };
        let mut rows = statement.query([]).map_err(fault)?;
        let version = loop {
            match rows.next() {
                Ok(Some(row)) => break row.get(0).map_err(fault)?,
                Ok(None) => break 0,
                // SQLite tried to begin a snapshot for seconds, and others changed the log each time.
                Err(error) if is_outrun(&error) && tries_left > 0 => tries_left -= 1,
                Err(error) => return Err(fault(error)),
            }
            drop(rows);
            rows = statement.query([]).map_err(fault)?;
        };
        // The first statement that needs the tables makes SQLite read them. If that is one that is kept, their
        // memory is taken from where it costs more. A fault shows when the tables are used.
        if self.statements != Statements::Once(Expected::Look) {
            drop(self.connection.prepare(schema::TABLES));
        }
        Ok(read(version))
    }

    fn connect(
        folder: Folder,
        database: &Metadata,
        access: Access,
        statements: Statements,
    ) -> Result<Self, Error> {
        folder.regular_file("queue.lock")?;
        let files = Box::new(OpenFiles::look(&folder, database)?);
        let connection = connect(&folder, access)?;
        let (writer_timeout, log) = (WRITER_TIMEOUT, Arc::default());
        let mut store = Self {
            connection,
            folder,
            access,
            writer_timeout,
            files,
            log,
            statements,
        };
        if access == Access::Write {
            store.watch_log()?;
        }
        Ok(store)
    }

    /// Migrates an older store and refuses a newer one.
    fn migrate(&self, found: u32, migrations: &[&str]) -> Result<(), Error> {
        let known = schema::known(migrations);
        if found > known {
            let folder = self.folder.path().to_owned();
            return Err(Error::Newer {
                folder,
                found,
                known,
            });
        }
        if found == 0 {
            refuse_emptied(&self.folder)?;
        }
        match (self.access, found) {
            (Access::Read, 0) => Err(absent(&self.folder)),
            (Access::Read | Access::Write, _) => create(&self.folder, migrations),
        }
    }

    fn watch_log(&mut self) -> Result<(), Error> {
        let log = Arc::clone(&self.log);
        let hook = move |_: &mut rusqlite::hooks::Wal, pages| {
            log.store(u32::try_from(pages).unwrap_or(u32::MAX), Ordering::Relaxed);
            Ok(())
        };
        self.connection
            .wal_hook(Some(hook))
            .map_err(|error| self.folder.fault("watch the log", error))
    }
}

/// Did others change the log each time that SQLite tried to begin a snapshot?
fn is_outrun(error: &rusqlite::Error) -> bool {
    failure(error).is_some_and(|failure| failure.code == ErrorCode::FileLockingProtocolFailed)
}

pub(super) fn connect(folder: &Folder, access: Access) -> Result<Connection, Error> {
    let mode = match access {
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    folder
        .connect(DATABASE, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .and_then(|connection| configure(&connection, access).map(|()| connection))
        .map_err(|error| folder.fault("open the store", error))
}

/// The database is not memory-mapped: truncating a mapped file kills the process, and a killed hook
/// allows the step. Every commit is synced, which is SQLite's default: to ask for it would cost a
/// statement.
fn configure(connection: &Connection, access: Access) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // Every statement is a lookup, whatever its values are: no statement is planned again.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    if access == Access::Write {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    }
    Ok(())
}

pub(super) fn is_empty(folder: &Folder) -> Result<bool, Error> {
    Ok(database(folder)?.is_none())
}

/// The database, if there is one that is not empty.
fn database(folder: &Folder) -> Result<Option<Metadata>, Error> {
    let found = folder.regular_file(DATABASE)?;
    Ok(found.filter(|metadata| metadata.len() > 0))
}

/// The runs whose head file covers entries.
pub(super) fn recorded(folder: &Folder) -> Result<Vec<RunId>, Error> {
    let Some(heads) = Heads::find(folder)? else {
        return Ok(Vec::new());
    };
    let mut recorded = Vec::new();
    for run in heads.runs()? {
        match heads.read(&run)? {
            // The process was stopped before the first commit: the run never existed.
            Anchor::Absent => {}
            Anchor::At(tip) if tip.version == 0 => {}
            Anchor::At(_) | Anchor::Unreadable => recorded.push(run),
        }
    }
    Ok(recorded)
}

fn absent(folder: &Folder) -> Error {
    Error::Absent {
        folder: folder.path().to_owned(),
    }
}

/// An empty database is new only if no run was ever recorded.
fn refuse_emptied(folder: &Folder) -> Result<(), Error> {
    if recorded(folder)?.is_empty() {
        return Ok(());
    }
    // Another process may have created the store and started a run meanwhile.
    let _lock = WriterLock::wait(folder, WRITER_TIMEOUT)?;
    let runs = recorded(folder)?.len();
    if !is_unmade(folder)? {
        Ok(())
    } else {
        let what = format!("its database is empty, although runs were recorded ({runs})");
        Err(folder.damaged(Corruption(what)))
    }
}

fn is_unmade(folder: &Folder) -> Result<bool, Error> {
    if is_empty(folder)? {
        return Ok(true);
    }
    let connection = connect(folder, Access::Read)?;
    let version = schema::version(&connection);
    Ok(version.map_err(|error| folder.fault("read the format", error))? == 0)
}

/// Creates the database, or migrates an older one. Several processes may do this at once; the first
/// one does the work.
fn create(folder: &Folder, migrations: &[&str]) -> Result<(), Error> {
    let _lock = WriterLock::wait(folder, WRITER_TIMEOUT)?;
    if is_empty(folder)? {
        return make(folder, migrations);
    }
    let fault = |error| made(folder, error);
    let mut connection = connect(folder, Access::Write)?;
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(fault)?;
    schema::migrate(&mut connection, migrations).map_err(fault)?;
    // What has just been made is now the whole database, and a cold reader has nothing to walk.
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    connection.close().map_err(|(_, error)| fault(error))?;
    folder.sync()
}

/// Makes the database under another name, and moves it to its place when it is whole: a process that
/// is killed meanwhile leaves no store, instead of half of one.
fn make(folder: &Folder, migrations: &[&str]) -> Result<(), Error> {
    // A log without its database would be applied to the new one.
    for name in [LOG, "store.db-shm", "store.db-journal"] {
        remove(folder, name)?;
    }
    for suffix in ["", "-wal", "-shm", "-journal"] {
        remove(folder, &format!("{NEW}{suffix}"))?;
    }
    let path = folder.path().join(NEW);
    // SQLite gives its other files the mode of this one.
    let file = Folder::create_new(&path)?;
    let fault = |error| made(folder, error);
    let mut connection = folder
        .connect(NEW, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(fault)?;
    schema::migrate(&mut connection, migrations).map_err(fault)?;
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(fault)?;
    connection.close().map_err(|(_, error)| fault(error))?;
    file.sync_all()
        .map_err(|error| io_error("sync", &path, error))?;
    // SQLite would make the log with the first commit, and would not sync its name.
    Folder::create_new(&folder.path().join(LOG))?;
    std::fs::rename(&path, folder.database()).map_err(|error| io_error("rename", &path, error))?;
    // The files stay from here on, so their names are made durable once and for all.
    folder.sync()
}

fn made(folder: &Folder, error: rusqlite::Error) -> Error {
    match failure(&error).map(|failure| failure.code) {
        // A failed migration leaves the store unchanged.
        Some(ErrorCode::Unknown) => {
            let doing = "take the store to its present format";
            Error::Sqlite {
                doing,
                folder: folder.path().to_owned(),
                source: error,
            }
        }
        _ => folder.fault("make the store", error),
    }
}

fn remove(folder: &Folder, name: &str) -> Result<(), Error> {
    let path = folder.path().join(name);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io_error("remove", &path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
