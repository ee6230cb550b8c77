//! The control: a database that acknowledges before it is durable must lose something in a cut, and one
//! that does not must not. Otherwise the battery could not see a loss, or would see one that is none.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};

use super::disk::Disk;
use crate::failure::Failure;
use crate::workspace::read;

/// SQLite as the store has it, but for the sync.
const WRITER: &str = "
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute('PRAGMA journal_mode = WAL')
database.execute('PRAGMA synchronous = ' + sys.argv[2])
database.execute('CREATE TABLE numbers (number INTEGER PRIMARY KEY)')
for number in range(1, 1000000):
    database.execute('INSERT INTO numbers VALUES (?)', [number])
    print(number, flush=True)
";

const READER: &str = "
import sqlite3, sys
try:
    database = sqlite3.connect(sys.argv[1])
    print(database.execute('SELECT count(*) FROM numbers').fetchone()[0])
except sqlite3.Error:
    print(0)
";

/// How a database makes its commits durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sync {
    Full,
    Off,
}

/// After so many rows the power goes.
const ROWS: usize = 200;

/// How many acknowledged rows a cut takes away.
pub(super) fn lost(disk: &Disk, sync: Sync) -> Result<u64, Failure> {
    let word = match sync {
        Sync::Full => "FULL",
        Sync::Off => "OFF",
    };
    let path = disk.place().join(format!("{word}.db"));
    let mut command = Command::new("python3");
    command.args(["-c", WRITER]).arg(&path).arg(word);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(Failure::program("python3"))?;
    let mut numbers = numbers(child.stdout.take());
    // Enough to be lost, and soon enough that the file system has not written it by itself.
    let acknowledged = numbers.by_ref().take(ROWS).last().unwrap_or_default();
    disk.cut()?;
    // It ends when it cannot write any more, and until then it must not wait for a reader.
    numbers.for_each(drop);
    child.wait().map_err(Failure::program("python3"))?;
    disk.start_again()?;
    Ok(acknowledged.saturating_sub(count(&path)?))
}

fn numbers(stdout: Option<ChildStdout>) -> impl Iterator<Item = u64> {
    let lines = stdout
        .into_iter()
        .flat_map(|out| BufReader::new(out).lines());
    lines.filter_map(|line| line.ok()?.trim().parse().ok())
}

fn count(path: &Path) -> Result<u64, Failure> {
    let counted = read(Command::new("python3").args(["-c", READER]).arg(path))?;
    let counted = counted.trim().parse();
    counted.map_err(|problem| Failure::no(format!("the control's database: {problem}")))
}
