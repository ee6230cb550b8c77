//! Edits of the state folder: of every file in it, and of the rows of its store.

use std::fmt;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::super::aftermath::inside;
use super::super::chance::Chance;
use super::super::stand::{Stand, text};
use super::ground::EARLY;
use crate::failure::Failure;
use crate::workspace::read;

const SCRIPT: &str = include_str!("../../../battery/store.py");

/// One edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Of a file, by its path in the state folder.
    File { path: PathBuf, how: FileEdit },
    /// Of a row: the words for the script.
    Row(Vec<String>),
    /// Any statement.
    Sql(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileEdit {
    Remove,
    Empty,
    /// Only so many bytes are left.
    Cut(usize),
    Append,
    Zeros,
    Flip {
        at: usize,
        bit: u8,
    },
    /// The file of another thing of the same kind.
    Replace(PathBuf),
    /// The same file under another name of the same kind, too.
    Copy(PathBuf),
    /// As it was some steps ago.
    Early,
    /// A folder of this name.
    Folder,
    /// A link to the same bytes elsewhere.
    Link,
    /// Everybody may write to it.
    Loosen,
    /// One value of a JSON file.
    Value {
        pointer: String,
        value: Value,
    },
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, how } => write!(f, "{} {how:?}", path.display()),
            Self::Row(words) => write!(f, "row {}", words.join(" ")),
            Self::Sql(statement) => write!(f, "sql {statement}"),
        }
    }
}

/// Statements of a forger who knows the tables.
const STATEMENTS: &[&str] = &[
    "UPDATE runs SET status = 'completed', stage = 'complete', reason = NULL",
    "DELETE FROM entries WHERE number = (SELECT max(number) FROM entries AS e WHERE e.run = entries.run)",
    "DELETE FROM entries WHERE number = (SELECT max(number) FROM entries AS e WHERE e.run = entries.run);
     UPDATE runs SET version = version - 1,
         head = (SELECT hash FROM entries WHERE run = runs.number ORDER BY number DESC LIMIT 1)",
    "DELETE FROM entries; DELETE FROM holds; DELETE FROM runs",
    "DELETE FROM runs",
    "DELETE FROM definitions",
    "DELETE FROM files",
    "DELETE FROM contents",
    "DROP TABLE leases",
    "DROP TABLE entries",
    "DROP INDEX entries_by_key",
    "PRAGMA user_version = 0",
    "PRAGMA user_version = 99",
    "PRAGMA journal_mode = DELETE",
    "INSERT INTO removals SELECT number FROM runs",
    "UPDATE runs SET number = -number",
    "UPDATE runs SET state = x'0000000000000000'",
    "UPDATE definitions SET compiled = x'0000000000000000'",
    "CREATE TRIGGER forged AFTER UPDATE ON runs BEGIN
         UPDATE runs SET status = 'completed' WHERE number = NEW.number; END",
    "CREATE TRIGGER forged AFTER INSERT ON entries BEGIN
         DELETE FROM entries WHERE place = NEW.place; END",
    "CREATE TRIGGER forged BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
    "ALTER TABLE entries RENAME TO kept; CREATE VIEW entries AS SELECT * FROM kept WHERE number < 2",
];

/// The last entries are gone, and all runs: only `verify`, `status` and `doctor` find that.
pub(super) fn control() -> Vec<Edit> {
    let statements = STATEMENTS.iter().skip(2).take(2);
    statements.copied().map(Edit::Sql).collect()
}

/// All edits of this ground.
pub(super) fn all(stand: &Stand, chance: &mut Chance) -> Result<Vec<Edit>, Failure> {
    let root = state(&stand.path("kept"));
    let mut files = Vec::new();
    walk(&root, Path::new(""), &mut files);
    files.sort();
    let mut edits = Vec::new();
    for path in &files {
        let early = state(&stand.path(EARLY)).join(path);
        let of_file = of_file(&root, path, &early, &files, chance);
        edits.extend(of_file.into_iter().map(|how| Edit::File {
            path: path.clone(),
            how,
        }));
    }
    // To read a store is to change its files, so another copy is read.
    stand.put_back()?;
    edits.extend(rows(&state(&stand.path("live")).join("store.db"))?);
    edits.extend(STATEMENTS.iter().copied().map(Edit::Sql));
    Ok(edits)
}

fn state(live: &Path) -> PathBuf {
    live.join("state/gatewright")
}

fn walk(root: &Path, below: &Path, files: &mut Vec<PathBuf>) {
    for path in inside(&root.join(below)) {
        let name = below.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            walk(root, &name, files);
        } else {
            files.push(name);
        }
    }
}

fn of_file(
    root: &Path,
    path: &Path,
    early: &Path,
    files: &[PathBuf],
    chance: &mut Chance,
) -> Vec<FileEdit> {
    let bytes = fs::read(root.join(path)).unwrap_or_default();
    let mut edits = vec![
        FileEdit::Remove,
        FileEdit::Append,
        FileEdit::Folder,
        FileEdit::Link,
        FileEdit::Loosen,
    ];
    if !bytes.is_empty() {
        let half = FileEdit::Cut(bytes.len() / 2);
        let random = FileEdit::Cut(chance.below(bytes.len()));
        edits.extend([FileEdit::Empty, FileEdit::Zeros, half, random]);
        let flips = if bytes.len() > 4096 { 40 } else { 8 };
        edits.extend((0..flips).map(|_| FileEdit::Flip {
            at: chance.below(bytes.len()),
            bit: 1 << chance.below(8),
        }));
    }
    if fs::read(early).is_ok_and(|early| early != bytes) {
        edits.push(FileEdit::Early);
    }
    let beside = |other: &&PathBuf| *other != path && other.parent() == path.parent();
    let beside: Vec<&PathBuf> = files.iter().filter(beside).collect();
    if let Some(other) = chance.one_of(&beside) {
        edits.push(FileEdit::Replace(other.clone()));
    }
    edits.push(FileEdit::Copy(renamed(path)));
    if let Ok(value) = serde_json::from_slice::<Value>(&bytes) {
        values(&value, String::new(), &mut edits);
    }
    edits
}

/// A name that another thing of the same kind could have.
fn renamed(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let changed = match name.char_indices().next_back() {
        Some((at, '0')) => format!("{}1", &name[..at]),
        Some((at, _)) => format!("{}0", &name[..at]),
        None => String::new(),
    };
    path.with_file_name(changed)
}

/// Every value of a JSON file, replaced by others.
fn values(value: &Value, pointer: String, edits: &mut Vec<FileEdit>) {
    let others = match value {
        Value::Null => vec![json!(1)],
        Value::Bool(yes) => vec![json!(!yes), Value::Null],
        Value::Number(number) => {
            let more = number.as_u64().map_or(json!(1), |number| json!(number + 1));
            vec![more, json!(0), Value::Null]
        }
        Value::String(text) => vec![json!(""), json!(format!("{text}x")), Value::Null],
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                values(value, format!("{pointer}/{at}"), edits);
            }
            vec![json!([]), Value::Null]
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                values(value, format!("{pointer}/{name}"), edits);
            }
            vec![json!({}), Value::Null]
        }
    };
    edits.extend(others.into_iter().map(|value| FileEdit::Value {
        pointer: pointer.clone(),
        value,
    }));
}

/// Every column of some rows of every table, and every row removed.
fn rows(store: &Path) -> Result<Vec<Edit>, Failure> {
    let listed = read(&mut python("list", store))?;
    let listed: Value = serde_json::from_str(&listed)
        .map_err(|problem| Failure::no(format!("the tables of the store: {problem}")))?;
    let mut edits = Vec::new();
    for table in listed.as_array().into_iter().flatten() {
        let name = table["table"].as_str().unwrap_or_default();
        let count = table["rows"].as_u64().unwrap_or_default();
        let columns = table["columns"].as_array().into_iter().flatten();
        let columns: Vec<&str> = columns.filter_map(Value::as_str).collect();
        for row in 0..count {
            let mut edit = |column: &str, how: &str| {
                let words = [name, column, &row.to_string(), how];
                edits.push(Edit::Row(words.map(str::to_owned).to_vec()));
            };
            edit("-", "delete");
            for column in &columns {
                for how in ["other", "bump", "null"] {
                    edit(column, how);
                }
            }
        }
    }
    Ok(edits)
}

fn python(task: &str, store: &Path) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", SCRIPT, task]).arg(store);
    command
}

impl Edit {
    /// What is edited: a folder of the state, a file in it, or a table.
    pub(super) fn subject(&self) -> String {
        match self {
            Self::File { path, .. } => {
                let first = path.components().next();
                let name = first.map(|first| first.as_os_str().to_string_lossy().into_owned());
                match name {
                    Some(name) if name.ends_with(".lock") => "locks".to_owned(),
                    name => name.unwrap_or_default(),
                }
            }
            Self::Row(words) => format!("table {}", words.first().map_or("", String::as_str)),
            Self::Sql(_) => "statements".to_owned(),
        }
    }

    /// Does it, and says whether anything has changed.
    pub(super) fn take(&self, stand: &Stand) -> Result<bool, Failure> {
        let root = state(&stand.path("live"));
        let store = root.join("store.db");
        match self {
            Self::File { path, how } => {
                let early = state(&stand.path(EARLY)).join(path);
                how.take(&root, &root.join(path), &early)
                    .map_err(Failure::file("edit", path))
            }
            Self::Row(words) => changed(python("row", &store).args(words)),
            Self::Sql(statement) => changed(python("sql", &store).arg(statement)),
        }
    }
}

fn changed(command: &mut Command) -> Result<bool, Failure> {
    let output = command.output().map_err(Failure::program("python3"))?;
    let printed = text(&output.stdout);
    if !output.status.success() {
        return Err(Failure::no(text(&output.stderr)));
    }
    Ok(printed.trim() != "0")
}

impl FileEdit {
    fn take(&self, root: &Path, path: &Path, early: &Path) -> std::io::Result<bool> {
        let before = fs::read(path)?;
        let mut bytes = before.clone();
        match self {
            Self::Remove => fs::remove_file(path)?,
            Self::Folder => {
                fs::remove_file(path)?;
                fs::create_dir(path)?;
            }
            Self::Link => {
                let target = root.with_file_name("elsewhere");
                fs::rename(path, &target)?;
                symlink(target, path)?;
            }
            Self::Loosen => fs::set_permissions(path, fs::Permissions::from_mode(0o666))?,
            Self::Copy(other) => drop(fs::copy(path, root.join(other))?),
            Self::Early => drop(fs::copy(early, path)?),
            Self::Replace(other) => drop(fs::copy(root.join(other), path)?),
            Self::Empty => fs::write(path, "")?,
            Self::Cut(length) => fs::write(path, &before[..*length])?,
            Self::Append => {
                bytes.extend_from_slice(b"x\n");
                fs::write(path, &bytes)?;
            }
            Self::Zeros => fs::write(path, vec![0; before.len()])?,
            Self::Flip { at, bit } => {
                bytes
                    .iter_mut()
                    .skip(*at)
                    .take(1)
                    .for_each(|byte| *byte ^= bit);
                fs::write(path, &bytes)?;
            }
            Self::Value { pointer, value } => {
                let mut whole: Value = serde_json::from_slice(&before)?;
                whole
                    .pointer_mut(pointer)
                    .into_iter()
                    .for_each(|found| *found = value.clone());
                fs::write(path, whole.to_string())?;
            }
        }
        Ok(true)
    }
}
