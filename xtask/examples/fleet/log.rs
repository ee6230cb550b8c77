//! A driver's own log on its disk: what the store acknowledged, what it claimed, and what surprised it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

use crate::Result;
use crate::mark::Mark;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// The store has acknowledged this entry.
    Acknowledged(Acknowledged),
    Claimed {
        run: String,
        fence: u64,
        holder: String,
    },
    /// The store said that somebody else has a newer lease.
    Fenced { run: String },
    /// The store said that the journal has another entry where the driver knew one.
    Altered { run: String },
    /// An error that no fault of the network or the server explains.
    Trouble(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    /// By the clock that all processes of this machine share and nobody sets.
    pub at_ms: u64,
    pub run: String,
    pub number: u64,
    pub mark: Mark,
}

impl Acknowledged {
    pub(crate) fn key(&self) -> String {
        self.mark.key(&self.run)
    }
}

impl Record {
    fn line(&self) -> String {
        match self {
            Self::Acknowledged(Acknowledged {
                at_ms,
                run,
                number,
                mark,
            }) => format!("acknowledged {at_ms} {run} {number} {mark}\n"),
            Self::Claimed { run, fence, holder } => format!("claimed {run} {fence} {holder}\n"),
            Self::Fenced { run } => format!("fenced {run}\n"),
            Self::Altered { run } => format!("altered {run}\n"),
            Self::Trouble(text) => format!("trouble {}\n", text.replace('\n', " ")),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        let mut words = rest.splitn(4, ' ');
        match word {
            "acknowledged" => Some(Self::Acknowledged(Acknowledged {
                at_ms: words.next()?.parse().ok()?,
                run: words.next()?.to_owned(),
                number: words.next()?.parse().ok()?,
                mark: Mark::parse(words.next()?)?,
            })),
            "claimed" => Some(Self::Claimed {
                run: words.next()?.to_owned(),
                fence: words.next()?.parse().ok()?,
                holder: words.next()?.to_owned(),
            }),
            "fenced" => Some(Self::Fenced {
                run: rest.to_owned(),
            }),
            "altered" => Some(Self::Altered {
                run: rest.to_owned(),
            }),
            "trouble" => Some(Self::Trouble(rest.to_owned())),
            _ => None,
        }
    }
}

pub(crate) struct Log(File);

impl Log {
    /// The log of one process. No other process writes to it.
    pub(crate) fn create(folder: &Path, holder: &str) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self(File::create(folder.join(holder))?))
    }

    /// When it returns, the line is on the disk.
    pub(crate) fn add(&mut self, record: &Record) -> io::Result<()> {
        self.0.write_all(record.line().as_bytes())?;
        self.0.sync_data()
    }
}

/// All records of all drivers. A line without an end was never finished, so it says nothing.
pub(crate) fn read_all(folder: &Path) -> Result<Vec<Record>> {
    let mut records = Vec::new();
    for file in fs::read_dir(folder)? {
        let text = fs::read_to_string(file?.path())?;
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        for line in whole.lines() {
            let record = Record::parse(line).ok_or_else(|| format!("no record: {line}"))?;
            records.push(record);
        }
    }
    Ok(records)
}

/// Milliseconds of the clock that nobody sets.
pub(crate) fn now_ms() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanoseconds) = (now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs());
    seconds * 1_000 + nanoseconds / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_as_it_was_written_and_a_torn_line_says_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let records = [
            Record::Claimed {
                run: "r-1".to_owned(),
                fence: 2,
                holder: "m1-7".to_owned(),
            },
            Record::Acknowledged(Acknowledged {
                at_ms: 5,
                run: "r-1".to_owned(),
                number: 9,
                mark: Mark::parse("begin 0 1 m1-7 2").unwrap(),
            }),
            Record::Fenced {
                run: "r-1".to_owned(),
            },
            Record::Altered {
                run: "r-1".to_owned(),
            },
            Record::Trouble("it is odd".to_owned()),
        ];
        let mut log = Log::create(folder.path(), "m1-7").unwrap();
        records.iter().for_each(|record| log.add(record).unwrap());
        log.0.write_all(b"acknowledged 6 r-1 10 end 0").unwrap();
        assert_eq!(read_all(folder.path()).unwrap(), records);
    }
}
