//! Adoption: a machine reads what another one has shipped of a run, and goes on with it.

use engine::{Hash, RunId};
use store::parts::{Line, signed};
use store::{Error, Files, ShippedRun};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::backend::Postgres;
use crate::link::{Link, Value};
use crate::rows::{hash, line, unsigned};

const COPIES: &str = "
    SELECT r.machine, coalesce(m.name, r.machine) AS name, tip.number, tip.hash, taken.adopter, taken.adopter_name,
        gatewright.now_ms()
            - coalesce(m.seen_at, floor(extract(epoch FROM tip.received_at) * 1000)::bigint) AS silent
    FROM gatewright.shipped_runs r
    LEFT JOIN gatewright.machines m ON m.id = r.machine
    CROSS JOIN LATERAL (
        SELECT s.number, s.hash, s.received_at FROM gatewright.shipped s
        WHERE s.machine = r.machine AND s.run = r.run ORDER BY s.number DESC LIMIT 1) AS tip
    LEFT JOIN LATERAL (
        SELECT a.adopter, a.adopter_name FROM gatewright.adoptions a
        WHERE a.machine = r.machine AND a.run = r.run ORDER BY a.adopted_at DESC LIMIT 1) AS taken ON true
    WHERE r.run = $1 ORDER BY tip.received_at DESC";
const FILES: &str = "
    SELECT r.project, d.main, f.path, f.bytes
    FROM gatewright.shipped_runs r
    JOIN gatewright.shipped_definitions d ON d.hash = r.definition
    JOIN gatewright.shipped_files f ON f.definition = r.definition
    WHERE r.machine = $1 AND r.run = $2";
const LINES: &str = "
    SELECT number, decision, key, entry, previous, hash FROM gatewright.shipped
    WHERE machine = $1 AND run = $2 AND number <= $3 ORDER BY number";
const CONTENTS: &str = "SELECT bytes FROM gatewright.shipped_contents WHERE hash = ANY ($1)";
const ADOPT: &str = "SELECT gatewright.adopt($1, $2, $3, $4, $5, $6, $7, $8) AS answer";

/// A machine's copy of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineCopy {
    /// The machine's id.
    pub machine: String,
    pub name: String,
    pub entries: u64,
    /// The hash of the last one.
    pub head: Hash,
    /// How long nothing was heard of the machine, in milliseconds.
    pub silent: i64,
    pub adopter: Option<Adopter>,
}

/// The machine that goes on with the run of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopter {
    pub machine: String,
    pub name: String,
}

/// Who adopts a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adopting<'a> {
    /// The machine's id.
    pub machine: &'a str,
    pub name: &'a str,
    pub person: &'a str,
    /// They know that another machine has adopted it before.
    pub again: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdoptionAnswer {
    Adopted,
    /// Entries have arrived since the copy was read.
    Moved,
    /// A third machine was faster.
    Taken,
}

impl Postgres {
    /// Every machine's copy of this run, the latest first.
    pub fn copies_of(&self, run: &RunId) -> Result<Vec<MachineCopy>, Error> {
        let values: [Value<'_>; 1] = [(&run.as_str(), Type::TEXT)];
        let rows = self.link.rows("look at shipped runs", COPIES, &values)?;
        rows.iter().map(|row| copy(&self.link, row)).collect()
    }

    /// What a machine has shipped of a run.
    pub fn shipped_run(&self, run: &RunId, copy: &MachineCopy) -> Result<ShippedRun, Error> {
        let link = &self.link;
        let values: [Value<'_>; 3] = [
            (&copy.machine, Type::TEXT),
            (&run.as_str(), Type::TEXT),
            (&signed(copy.entries), Type::INT8),
        ];
        let doing = "read a shipped run";
        let lines = link.rows(doing, LINES, &values)?;
        let lines = lines.iter().map(|row| line(link, row));
        let lines: Vec<Line> = lines.collect::<Result<_, _>>()?;
        let rows = link.rows(doing, FILES, &values[..2])?;
        let (project, files) = files(link, &rows)?;
        let contents = self.contents(&lines)?;
        Ok(ShippedRun {
            run: run.clone(),
            project,
            files,
            lines,
            contents,
        })
    }

    fn contents(&self, lines: &[Line]) -> Result<Vec<Vec<u8>>, Error> {
        // What cannot be read is refused when the copy is put together.
        let entries = lines.iter().map(|line| store::entry_from_json(&line.text));
        let hashes: Vec<Hash> = entries
            .filter_map(Result::ok)
            .flat_map(|entry| store::hashes(&entry))
            .collect();
        let hashes: Vec<&[u8]> = hashes.iter().map(|hash| hash.0.as_slice()).collect();
        let values: [Value<'_>; 1] = [(&hashes, Type::BYTEA_ARRAY)];
        let rows = self.link.rows("read a shipped run", CONTENTS, &values)?;
        rows.iter().map(|row| self.link.get(row, "bytes")).collect()
    }

    /// From now on the other machine's entries of this run are refused.
    pub fn adopt(
        &self,
        run: &RunId,
        copy: &MachineCopy,
        adopting: &Adopting<'_>,
    ) -> Result<AdoptionAnswer, Error> {
        let values: [Value<'_>; 8] = [
            (&copy.machine, Type::TEXT),
            (&run.as_str(), Type::TEXT),
            (&signed(copy.entries), Type::INT8),
            (&copy.head.0.as_slice(), Type::BYTEA),
            (&adopting.machine, Type::TEXT),
            (&adopting.name, Type::TEXT),
            (&adopting.person, Type::TEXT),
            (&adopting.again, Type::BOOL),
        ];
        let row = self.link.row("adopt a run", ADOPT, &values)?;
        let answer = row.map(|row| self.link.get::<String>(&row, "answer"));
        match answer.transpose()?.as_deref() {
            Some("adopted") => Ok(AdoptionAnswer::Adopted),
            Some("moved") => Ok(AdoptionAnswer::Moved),
            Some("taken") => Ok(AdoptionAnswer::Taken),
            Some(_) | None => Err(self.link.damaged("a shipped run has vanished")),
        }
    }
}

fn copy(link: &Link, row: &Row) -> Result<MachineCopy, Error> {
    let adopter: Option<String> = link.get(row, "adopter")?;
    let name: Option<String> = link.get(row, "adopter_name")?;
    Ok(MachineCopy {
        machine: link.get(row, "machine")?,
        name: link.get(row, "name")?,
        entries: unsigned(link.get(row, "number")?),
        head: hash(link, row, "hash")?,
        silent: link.get(row, "silent")?,
        adopter: adopter
            .zip(name)
            .map(|(machine, name)| Adopter { machine, name }),
    })
}

/// Where the run was, and the files of its definition.
fn files(link: &Link, rows: &[Row]) -> Result<(String, Files), Error> {
    let first = rows.first();
    let first = first.ok_or_else(|| link.damaged("a shipped run has no definition"))?;
    let (project, main): (String, String) = (link.get(first, "project")?, link.get(first, "main")?);
    let files = rows.iter();
    let files = files.map(|row| Ok((link.get(row, "path")?, link.get(row, "bytes")?)));
    let files = Files::new(&main, files.collect::<Result<_, Error>>()?)?;
    Ok((project, files))
}
