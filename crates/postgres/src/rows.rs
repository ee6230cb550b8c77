//! From rows to values: runs, lines and columns of the list.

use engine::{Definition, Hash, PipelineName, Run, RunId};
use store::parts::{Cached, Columns, Line, RunOrigin, Tip, compiled_from_bytes, state_from_bytes};
use store::{Error, Fence, Key, StoredRun};
use tokio_postgres::Row;

use crate::link::Link;

/// A fence as the columns of a statement.
pub(crate) struct FenceColumns {
    pub number: Option<i64>,
    claim: Option<[u8; 16]>,
}

impl FenceColumns {
    pub(crate) fn of(fence: Option<Fence>) -> Self {
        Self {
            number: fence.map(|fence| signed(fence.number)),
            claim: fence.map(|fence| fence.claim.to_be_bytes()),
        }
    }

    pub(crate) fn claim(&self) -> Option<&[u8]> {
        self.claim.as_ref().map(<[u8; 16]>::as_slice)
    }
}

/// The fence of these two columns. A run that nobody has claimed has no claim.
pub(crate) fn fence(link: &Link, row: &Row, number: &str, claim: &str) -> Result<Fence, Error> {
    let bytes: Vec<u8> = link.get(row, claim)?;
    Ok(Fence {
        number: unsigned(link.get(row, number)?),
        claim: bytes.try_into().map_or(0, u128::from_be_bytes),
    })
}

/// A row of `runs`, with its state still encoded.
pub(crate) struct RunRow {
    pub tip: Tip,
    pub state: Vec<u8>,
    pub project: String,
    pub worktree: String,
    pub pipeline: String,
    /// The hash of the entry at its head.
    last: Option<Hash>,
}

impl RunRow {
    pub(crate) fn read(link: &Link, row: &Row) -> Result<Self, Error> {
        let last: Option<Vec<u8>> = link.get(row, "last")?;
        Ok(Self {
            tip: Tip {
                version: unsigned(link.get(row, "version")?),
                head: hash(link, row, "head")?,
            },
            state: link.get(row, "state")?,
            project: link.get(row, "project")?,
            worktree: link.get(row, "worktree")?,
            pipeline: link.get(row, "pipeline")?,
            last: last.map(|bytes| to_hash(link, &bytes)).transpose()?,
        })
    }

    pub(crate) fn origin(&self) -> RunOrigin<'_> {
        RunOrigin {
            project: &self.project,
            worktree: &self.worktree,
            pipeline: &self.pipeline,
        }
    }

    /// Does the journal end where the row says?
    pub(crate) fn ends_at_head(&self) -> bool {
        self.last == Some(self.tip.head)
    }

    /// The state; `None` if another version of the program wrote it.
    pub(crate) fn state(&self, link: &Link, run: &RunId) -> Result<Option<Run>, Error> {
        match state_from_bytes(&self.state, self.tip, self.origin()) {
            Ok(Cached::Value(state)) => Ok(Some(state)),
            Ok(Cached::OtherFormat) => Ok(None),
            Err(fault) => {
                Err(link.damaged(&format!("the state of run {run} cannot be read: {fault}")))
            }
        }
    }

    pub(crate) fn stored(self, link: &Link, run: Run) -> Result<StoredRun, Error> {
        let wrong = |error| link.damaged(&format!("run {}: {error}", run.id));
        let pipeline = PipelineName::parse(&self.pipeline).map_err(wrong)?;
        Ok(StoredRun {
            run,
            version: self.tip.version,
            head: self.tip.head,
            project: self.project,
            home: self.worktree,
            pipeline,
        })
    }
}

/// The compiled definition; `None` if another version of the program wrote it.
pub(crate) fn compiled(link: &Link, bytes: &[u8], hash: Hash) -> Result<Option<Definition>, Error> {
    match compiled_from_bytes(bytes, hash) {
        Ok(Cached::Value(definition)) => Ok(Some(definition)),
        Ok(Cached::OtherFormat) => Ok(None),
        Err(fault) => Err(link.damaged(&format!(
            "the compiled definition {hash} cannot be read: {fault}"
        ))),
    }
}

pub(crate) fn line(link: &Link, row: &Row) -> Result<Line, Error> {
    let key: Option<String> = link.get(row, "key")?;
    let number = unsigned(link.get(row, "number")?);
    let wrong = |error| link.damaged(&format!("the key of entry {number}: {error}"));
    Ok(Line {
        number,
        decision: unsigned(link.get(row, "decision")?),
        key: key.map(|key| Key::parse(&key)).transpose().map_err(wrong)?,
        text: link.get(row, "entry")?,
        previous: hash(link, row, "previous")?,
        hash: hash(link, row, "hash")?,
    })
}

pub(crate) fn columns(link: &Link, row: &Row) -> Result<Columns, Error> {
    Ok(Columns {
        id: link.get(row, "id")?,
        project: link.get(row, "project")?,
        worktree: link.get(row, "worktree")?,
        pipeline: link.get(row, "pipeline")?,
        task: link.get(row, "task")?,
        stage: link.get(row, "stage")?,
        status: link.get(row, "status")?,
        reason: link.get(row, "reason")?,
        driver: link.get(row, "driver")?,
        overridden: link.get(row, "overridden")?,
        started_at: link.get(row, "started_at")?,
        updated_at: link.get(row, "updated_at")?,
        version: link.get(row, "version")?,
    })
}

pub(crate) fn hash(link: &Link, row: &Row, column: &str) -> Result<Hash, Error> {
    to_hash(link, &link.get::<Vec<u8>>(row, column)?)
}

fn to_hash(link: &Link, bytes: &[u8]) -> Result<Hash, Error> {
    let wrong = |_| link.damaged("a hash does not have 32 bytes");
    Ok(Hash(bytes.try_into().map_err(wrong)?))
}

pub(crate) fn signed(number: u64) -> i64 {
    number.cast_signed()
}

pub(crate) fn unsigned(number: i64) -> u64 {
    number.cast_unsigned()
}

/// What was used: never less than nothing.
pub(crate) fn amount(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The database cannot store this one character in a text.
pub(crate) fn plain(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
