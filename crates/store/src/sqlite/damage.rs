//! Damage: classifies SQLite's errors, and writes the marker that makes a store read-only.

use std::fs;
use std::io::Write;

use rusqlite::config::DbConfig;
use rusqlite::{ErrorCode, OpenFlags, ffi};

use super::folder::{DATABASE, Folder};
use crate::Error;
use crate::error::Corruption;

const MARKER: &str = "damaged";

impl Folder {
    /// Why the store is read-only, if it is.
    pub(super) fn damage(&self) -> Result<Option<String>, Error> {
        match self.regular_file(MARKER)? {
            None => Ok(None),
            Some(_) => {
                let reason = fs::read_to_string(self.path().join(MARKER)).unwrap_or_default();
                Ok(Some(reason.trim_end().to_owned()))
            }
        }
    }

    /// Makes the store read-only. The marker is best effort: the caller is refused either way.
    pub(super) fn damaged(&self, Corruption(what): Corruption) -> Error {
        if let Ok(mut file) = Self::create_new(&self.path().join(MARKER)) {
            let _ = writeln!(file, "{what}").and_then(|()| file.sync_all());
        }
        Error::Damaged {
            folder: self.path().to_owned(),
            what,
        }
    }

    /// Checks every page again, through another connection.
    fn is_sound(&self) -> bool {
        if !matches!(self.damage(), Ok(None)) {
            return false;
        }
        let second = self.connect(DATABASE, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let said = second.and_then(|second| {
            second.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            second.query_row("PRAGMA integrity_check(1)", [], |row| {
                row.get::<_, String>(0)
            })
        });
        said.is_ok_and(|said| said == "ok")
    }

    pub(super) fn forget_damage(&self) {
        let _ = fs::remove_file(self.path().join(MARKER));
    }

    /// Classifies an error of SQLite.
    pub(super) fn fault(&self, doing: &'static str, error: rusqlite::Error) -> Error {
        let folder = || self.path().to_owned();
        let Some(ffi::Error {
            code,
            extended_code: extended,
        }) = failure(&error)
        else {
            // A column with an unexpected type.
            return self.damaged(Corruption(format!("cannot {doing}: {error}")));
        };
        match code {
            // SQLite reports a single failed read of the disk in the same way.
            ErrorCode::DatabaseCorrupt if self.is_sound() => Error::Sqlite {
                doing,
                folder: folder(),
                source: error,
            },
            _ if is_damage(code) => self.damaged(Corruption(format!("cannot {doing}: {error}"))),
            ErrorCode::DiskFull => Error::Full {
                path: folder(),
                source: Box::new(error),
            },
            _ if extended == ffi::SQLITE_IOERR_SHMSIZE => Error::Full {
                path: folder(),
                source: Box::new(error),
            },
            _ if !self.database().exists() => Error::Vanished {
                path: self.database(),
            },
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
                Error::NotWritable {
                    path: folder(),
                    source: Box::new(error),
                }
            }
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed => Error::Busy { folder: folder() },
            _ => Error::Sqlite {
                doing,
                folder: folder(),
                source: error,
            },
        }
    }
}

/// SQLite's own error, if it is one.
pub(super) fn failure(error: &rusqlite::Error) -> Option<ffi::Error> {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => Some(*failure),
        rusqlite::Error::SqlInputError { error, .. } => Some(*error),
        _ => None,
    }
}

/// Our statements and rows are fixed: a missing table or a duplicate row is damage.
fn is_damage(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::Unknown
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_failed_once_is_no_damage() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("state");
        let store = crate::Sqlite::open(&path, crate::Access::Write).unwrap();
        let folder = Folder::find(&path).unwrap();
        assert_eq!(kind(&folder, ffi::SQLITE_CORRUPT), "other");
        assert_eq!(folder.damage().unwrap(), None);
        drop(store);
    }

    fn kind(folder: &Folder, code: i32) -> &'static str {
        let failure = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        match folder.fault("look", failure) {
            Error::Damaged { .. } => "damaged",
            Error::Full { .. } => "full",
            Error::NotWritable { .. } => "not writable",
            Error::Busy { .. } => "busy",
            Error::Vanished { .. } => "vanished",
            Error::Sqlite { .. } => "other",
            other => panic!("{other}"),
        }
    }

    #[test]
    fn what_sqlite_says_is_told_by_what_to_do() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::make(&root.path().join("state")).unwrap();
        assert_eq!(kind(&folder, ffi::SQLITE_CANTOPEN), "vanished");
        std::fs::write(folder.database(), "there").unwrap();
        for (code, expected) in [
            (ffi::SQLITE_FULL, "full"),
            (ffi::SQLITE_IOERR_SHMSIZE, "full"),
            (ffi::SQLITE_READONLY, "not writable"),
            (ffi::SQLITE_CANTOPEN, "not writable"),
            (ffi::SQLITE_BUSY, "busy"),
            (ffi::SQLITE_BUSY_RECOVERY, "busy"),
            (ffi::SQLITE_PROTOCOL, "busy"),
            (ffi::SQLITE_IOERR_WRITE, "other"),
            (ffi::SQLITE_IOERR_CORRUPTFS, "other"),
            (ffi::SQLITE_NOMEM, "other"),
        ] {
            assert_eq!(kind(&folder, code), expected, "{code}");
        }
        assert_eq!(folder.damage().unwrap(), None, "none of these is damage");
        for code in [
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_CORRUPT_INDEX,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
        ] {
            assert_eq!(kind(&folder, code), "damaged", "{code}");
            assert!(
                folder
                    .damage()
                    .unwrap()
                    .unwrap()
                    .starts_with("cannot look: ")
            );
            folder.forget_damage();
            assert_eq!(folder.damage().unwrap(), None);
        }
    }
}
