//! The control: damage is planted piece by piece in runs that went well, and the checker must find each.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use pg_store::{Address, Postgres};
use store::Access;
use tempfile::TempDir;
use testkit::database::Server;

use crate::Result;
use crate::broken_fence;
use crate::checker::{self, Damage, Excused};
use crate::driver::Driver;
use crate::facts;
use crate::site::{PIECES, SETTINGS, place, queue, ready};

const SOUND: &str = "sound";
const PLANTED: &str = "planted";

/// What is planted, and the word under which the checker must report it.
struct Plant {
    word: &'static str,
    act: Act,
}

enum Act {
    /// Done to the database behind the back of its triggers.
    Forged(&'static str),
    /// Done to the database.
    Sql(&'static str),
    /// A line is added to a file.
    Line(&'static str, &'static str),
}

const PLANTS: [Plant; 12] = [
    // A store that acknowledges and does not store.
    Plant {
        word: "lost",
        act: Act::Line("logs/m1-1", "acknowledged 1 r-0 9 begin 3 2 m1-1 1"),
    },
    Plant {
        word: "lost",
        act: Act::Forged(
            "DELETE FROM gatewright.entries WHERE run = 'r-0' AND key LIKE '% over %'",
        ),
    },
    Plant {
        word: "doubled",
        act: Act::Forged(
            "INSERT INTO gatewright.entries (run, number, decision, key, entry, previous, hash) \
             SELECT 'r-1', version + 1, version + 1, key, entry, previous, hash FROM gatewright.entries, gatewright.runs \
             WHERE run = 'r-0' AND entries.number = 2 AND id = 'r-1'",
        ),
    },
    Plant {
        word: "replaced",
        act: Act::Line("logs/m1-1", "acknowledged 1 r-0 2 begin 0 1 m2-2 1"),
    },
    Plant {
        word: "under an old fence",
        act: Act::Forged("UPDATE observed.writes SET fence = 2 WHERE run = 'r-0' AND number = 3"),
    },
    Plant {
        word: "fence fell",
        act: Act::Sql("UPDATE gatewright.runs SET last_fence = 0 WHERE id = 'r-0'"),
    },
    Plant {
        word: "fence shared",
        act: Act::Line("logs/m2-2", "claimed r-0 1 m2-2"),
    },
    Plant {
        word: "chain broken",
        act: Act::Forged(
            "UPDATE gatewright.entries SET entry = replace(entry, 'm1-1', 'm1-2') WHERE run = 'r-0' AND number = 3",
        ),
    },
    Plant {
        word: "work repeated",
        act: Act::Line("effects/r-0 0 1", "m2-2"),
    },
    Plant {
        word: "work uncounted",
        act: Act::Line("effects/r-0 0 9", "m2-2"),
    },
    Plant {
        word: "left",
        act: Act::Sql("UPDATE gatewright.runs SET status = 'running' WHERE id = 'r-0'"),
    },
    Plant {
        word: "trouble",
        act: Act::Line("logs/m2-2", "trouble something odd"),
    },
];

/// Plants each piece on a copy, and then breaks the fence. Returns how many pieces there were.
pub(crate) fn run() -> Result<usize> {
    let server = Server::with_settings(SETTINGS);
    let folder = tempfile::tempdir()?;
    drive(&server, folder.path())?;
    let clean = words(&server, SOUND, folder.path())?;
    if !clean.is_empty() {
        return Err(format!("the control: nothing is planted, and found: {clean:?}").into());
    }
    for plant in &PLANTS {
        server.sql(
            "postgres",
            &format!("CREATE DATABASE {PLANTED} TEMPLATE {SOUND}"),
        );
        let copy = copied(folder.path())?;
        plant.act.on(&server, copy.path())?;
        insist(plant.word, &words(&server, PLANTED, copy.path())?)?;
        server.sql("postgres", &format!("DROP DATABASE {PLANTED}"));
    }
    Ok(PLANTS.len() + broken_fence::run(&server)?)
}

/// A driver drives some runs, and nothing disturbs it.
fn drive(server: &Server, folder: &Path) -> Result<()> {
    let address = ready(server, SOUND)?;
    queue(server, SOUND, (0..2).map(|number| format!("r-{number}")))?;
    let mut store = Postgres::open(&Address::parse(&address)?, Access::Write)?;
    let mut driver = Driver::new(place(folder, 1), "1", PIECES)?;
    while driver.drive_one(&mut store)? {}
    Ok(())
}

impl Act {
    fn on(&self, server: &Server, folder: &Path) -> Result<()> {
        match self {
            Self::Forged(statement) => {
                let forged = format!("SET session_replication_role = replica; {statement}");
                server.sql(PLANTED, &forged);
            }
            Self::Sql(statement) => {
                server.sql(PLANTED, statement);
            }
            Self::Line(file, line) => {
                let file = fs::OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(folder.join(file));
                writeln!(file?, "{line}")?;
            }
        }
        Ok(())
    }
}

fn copied(folder: &Path) -> Result<TempDir> {
    let copy = tempfile::tempdir()?;
    for part in ["logs", "effects"] {
        fs::create_dir(copy.path().join(part))?;
        for file in fs::read_dir(folder.join(part))? {
            let file = file?;
            fs::copy(file.path(), copy.path().join(part).join(file.file_name()))?;
        }
    }
    Ok(copy)
}

/// What the checker finds.
pub(crate) fn words(server: &Server, database: &str, folder: &Path) -> Result<Vec<&'static str>> {
    let facts = facts::gather(server, database, folder)?;
    let (found, _) = checker::check(&facts, &Excused::default());
    Ok(found.iter().map(Damage::word).collect())
}

pub(crate) fn insist(word: &str, found: &[&str]) -> Result<()> {
    if found.contains(&word) {
        Ok(())
    } else {
        Err(format!("the control: {word} was planted, and found: {found:?}").into())
    }
}
