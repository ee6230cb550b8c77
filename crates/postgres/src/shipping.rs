//! The copies of journals that decide on other machines: lines are added and never changed.

use engine::{Hash, RunId};
use store::parts::{Columns, Line, Tip, signed};
use store::{
    Access, Adoption, Announcement, CopyState, Error, JournalCopies, Key, Receipt, RunSummary,
    content_hash,
};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::address::Address;
use crate::backend::Postgres;
use crate::link::{Link, Value};
use crate::rows::{hash, plain, unsigned};

const ANNOUNCE: &str = "SELECT gatewright.announce($1, $2, $3, $4, $5, $6, $7)";
const CONTENT: &str = "SELECT gatewright.ship_content($1, $2)";
const SHIP: &str =
    "SELECT answer, at, adopter, person FROM gatewright.ship($1, $2, $3, $4, $5, $6, $7, $8)";
const TIPS: &str =
    "SELECT run, number, hash, adopted_at, adopter, person FROM gatewright.shipped_tips($1, $2)";
const HASHES: &str =
    "SELECT hash FROM gatewright.shipped WHERE machine = $1 AND run = $2 ORDER BY number";
const TELL: &str = "SELECT gatewright.tell_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
const SIGN: &str = "SELECT gatewright.machine_is_there($1)";

/// The copies of one machine's journals.
pub struct ShippedCopies {
    store: Postgres,
    /// The machine's id.
    machine: String,
}

impl ShippedCopies {
    pub fn open(address: &Address, access: Access, machine: &str) -> Result<Self, Error> {
        let store = Postgres::open(address, access)?;
        let machine = machine.to_owned();
        Ok(Self { store, machine })
    }

    fn link(&self) -> &Link {
        &self.store.link
    }

    fn state(&self, row: &Row) -> Result<CopyState, Error> {
        let link = self.link();
        let run: String = link.get(row, "run")?;
        let number: Option<i64> = link.get(row, "number")?;
        let tip = number.map(|number| {
            let head = hash(link, row, "hash")?;
            let version = unsigned(number);
            Ok(Tip { version, head })
        });
        let wrong = |error: engine::NameError| link.damaged(&error.to_string());
        Ok(CopyState {
            run: RunId::parse(&run).map_err(wrong)?,
            tip: tip.transpose()?,
            adoption: adoption(link, row, "adopted_at")?,
        })
    }
}

impl JournalCopies for ShippedCopies {
    fn announce(&self, announcement: &Announcement<'_>) -> Result<(), Error> {
        let files = announcement.files;
        let paths: Vec<&str> = files.iter().map(|(path, _)| path).collect();
        let bytes: Vec<&[u8]> = files.iter().map(|(_, bytes)| bytes).collect();
        let definition = files.hash();
        let values: [Value<'_>; 7] = [
            (&self.machine, Type::TEXT),
            (&announcement.run.as_str(), Type::TEXT),
            (&plain(announcement.project), Type::TEXT),
            (&definition.0.as_slice(), Type::BYTEA),
            (&files.main(), Type::TEXT),
            (&paths, Type::TEXT_ARRAY),
            (&bytes, Type::BYTEA_ARRAY),
        ];
        self.link().rows("ship a run", ANNOUNCE, &values).map(drop)
    }

    fn put_content(&self, bytes: &[u8]) -> Result<(), Error> {
        let hash = content_hash(bytes);
        let values: [Value<'_>; 2] = [(&hash.0.as_slice(), Type::BYTEA), (&bytes, Type::BYTEA)];
        let sent = self.link().rows("ship a content", CONTENT, &values);
        sent.map(drop)
    }

    fn add(&self, run: &RunId, lines: &[Line]) -> Result<Receipt, Error> {
        let Some(first) = lines.first() else {
            return Ok(Receipt::Stored);
        };
        let decisions: Vec<i64> = lines.iter().map(|line| signed(line.decision)).collect();
        let keys = lines.iter().map(|line| line.key.as_ref().map(Key::as_str));
        let keys: Vec<Option<&str>> = keys.collect();
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        let hashes: Vec<&[u8]> = lines.iter().map(|line| line.hash.0.as_slice()).collect();
        let values: [Value<'_>; 8] = [
            (&self.machine, Type::TEXT),
            (&run.as_str(), Type::TEXT),
            (&signed(first.number), Type::INT8),
            (&first.previous.0.as_slice(), Type::BYTEA),
            (&decisions, Type::INT8_ARRAY),
            (&keys, Type::TEXT_ARRAY),
            (&texts, Type::TEXT_ARRAY),
            (&hashes, Type::BYTEA_ARRAY),
        ];
        let row = self.link().row("ship entries", SHIP, &values)?;
        let row = row.ok_or_else(|| {
            self.link()
                .damaged("the server gives no answer to a shipped batch")
        })?;
        receipt(self.link(), &row)
    }

    fn states(&self, runs: &[RunId]) -> Result<Vec<CopyState>, Error> {
        let runs: Vec<&str> = runs.iter().map(RunId::as_str).collect();
        let values: [Value<'_>; 2] = [(&self.machine, Type::TEXT), (&runs, Type::TEXT_ARRAY)];
        let rows = self.link().rows("look at shipped runs", TIPS, &values)?;
        rows.iter().map(|row| self.state(row)).collect()
    }

    fn hashes(&self, run: &RunId) -> Result<Vec<Hash>, Error> {
        let values: [Value<'_>; 2] = [(&self.machine, Type::TEXT), (&run.as_str(), Type::TEXT)];
        let rows = self.link().rows("read shipped entries", HASHES, &values)?;
        rows.iter()
            .map(|row| hash(self.link(), row, "hash"))
            .collect()
    }

    fn tell(&self, run: &RunSummary) -> Result<(), Error> {
        let columns = Columns::of_summary(run);
        let (task, reason) = (plain(&columns.task), columns.reason.as_deref().map(plain));
        let values: [Value<'_>; 12] = [
            (&self.machine, Type::TEXT),
            (&columns.id, Type::TEXT),
            (&columns.pipeline, Type::TEXT),
            (&task, Type::TEXT),
            (&columns.stage, Type::TEXT),
            (&columns.status, Type::TEXT),
            (&reason, Type::TEXT),
            (&columns.driver, Type::TEXT),
            (&columns.overridden, Type::BOOL),
            (&columns.started_at, Type::INT8),
            (&columns.updated_at, Type::INT8),
            (&columns.version, Type::INT8),
        ];
        let told = self.link().rows("ship how a run stands", TELL, &values);
        told.map(drop)
    }

    fn sign(&self) -> Result<(), Error> {
        let values: [Value<'_>; 1] = [(&self.machine, Type::TEXT)];
        let signed = self.link().rows("register this machine", SIGN, &values);
        signed.map(drop)
    }
}

fn receipt(link: &Link, row: &Row) -> Result<Receipt, Error> {
    let answer: String = link.get(row, "answer")?;
    let at = || {
        link.get::<Option<i64>>(row, "at")
            .map(|at| unsigned(at.unwrap_or(0)))
    };
    match answer.as_str() {
        "stored" => Ok(Receipt::Stored),
        "unknown" => Ok(Receipt::Unknown),
        "gap" => Ok(Receipt::Gap { last: at()? }),
        "differs" => Ok(Receipt::Differs { at: at()? }),
        _ => match adoption(link, row, "at")? {
            Some(adoption) => Ok(Receipt::Adopted(adoption)),
            None => Err(link.damaged("the server gives an unknown answer to a shipped batch")),
        },
    }
}

fn adoption(link: &Link, row: &Row, entry: &str) -> Result<Option<Adoption>, Error> {
    let Some(by) = link.get::<Option<String>>(row, "adopter")? else {
        return Ok(None);
    };
    Ok(Some(Adoption {
        by,
        person: link
            .get::<Option<String>>(row, "person")?
            .unwrap_or_default(),
        entry: unsigned(link.get::<Option<i64>>(row, entry)?.unwrap_or(0)),
    }))
}
