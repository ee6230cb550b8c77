//! Writes: each is one statement, so that it is stored whole or not at all, in one round trip.

use engine::{Decision, Hash, RunId, Status, Time};
use store::parts::{self, Addition, Columns, Line, RunOrigin, Tip, signed};
use store::{Claim, Commit, Content, Error, Fence, Files, Key, Lease, StoredRun, Transacted};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::fault;
use crate::link::{Link, Value};
use crate::read::unknown;
use crate::rows::{self, FenceColumns, plain, unsigned};
use crate::session::NoAnswer;

const APPEND: &str = "SELECT answer, now_version, now_fence, now_claim FROM gatewright.append(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)";
const BEGIN: &str = "SELECT answer, earlier FROM gatewright.begin_run(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
    $26, $27, $28, $29)";
const CLAIM: &str = "SELECT answer, holder, fence, claim, until, is_expired FROM gatewright.claim($1, $2, $3, $4, $5, $6)";
const ADD_CONTENT: &str = "
    INSERT INTO gatewright.contents AS c (hash, added_at, bytes) VALUES ($1, $2, $3)
    ON CONFLICT (hash) DO UPDATE SET added_at = greatest(c.added_at, EXCLUDED.added_at)";
const SET_COMPILED: &str =
    "UPDATE gatewright.definitions SET compiled = $2 WHERE hash = $1 RETURNING 1";

/// Contents as the columns of a statement.
struct ContentColumns<'a> {
    hashes: Vec<&'a [u8]>,
    bytes: Vec<&'a [u8]>,
    named: Vec<&'a [u8]>,
}

impl<'a> ContentColumns<'a> {
    fn of(contents: &'a [Content<'a>], named: &'a [Hash]) -> Self {
        Self {
            hashes: contents
                .iter()
                .map(|content| content.hash.0.as_slice())
                .collect(),
            bytes: contents.iter().map(|content| content.bytes).collect(),
            named: named.iter().map(|hash| hash.0.as_slice()).collect(),
        }
    }
}

/// Lines as the columns of a statement.
struct LineColumns<'a> {
    decisions: Vec<i64>,
    keys: Vec<Option<&'a str>>,
    entries: Vec<&'a str>,
    hashes: Vec<&'a [u8]>,
}

impl<'a> LineColumns<'a> {
    fn of(lines: impl Iterator<Item = &'a Line> + Clone) -> Self {
        let key = |line: &'a Line| line.key.as_ref().map(Key::as_str);
        Self {
            decisions: lines.clone().map(|line| signed(line.decision)).collect(),
            keys: lines.clone().map(key).collect(),
            entries: lines.clone().map(|line| line.text.as_str()).collect(),
            hashes: lines.map(|line| line.hash.0.as_slice()).collect(),
        }
    }
}

/// A decision that was made on this run, and its result.
pub(crate) struct Pending<'a> {
    pub commit: &'a Commit<'a>,
    /// The end of the journal as it was read.
    pub seen: Tip,
    pub lines: Vec<Line>,
    pub named: Vec<Hash>,
    /// The run afterwards.
    pub stored: StoredRun,
    pub updated_at: Time,
}

impl<'a> Pending<'a> {
    /// What the decision adds to the run. Redacts the decision's entries in place.
    pub(crate) fn new(
        commit: &'a Commit<'a>,
        stored: StoredRun,
        decision: &mut Decision,
    ) -> Result<Self, Error> {
        let seen = stored.tip();
        if decision.entries.is_empty() {
            let updated_at = stored.run.touched_at;
            let (lines, named) = (Vec::new(), Vec::new());
            return Ok(Self {
                commit,
                seen,
                lines,
                named,
                stored,
                updated_at,
            });
        }
        let StoredRun { run, .. } = stored;
        let Addition {
            run,
            lines,
            tip,
            named,
        } = parts::append(run, seen, commit.key, commit.secrets, decision)?;
        let updated_at = decision
            .entries
            .last()
            .map_or(run.touched_at, |entry| entry.at);
        let (version, head) = (tip.version, tip.head);
        let stored = StoredRun {
            run,
            version,
            head,
            ..stored
        };
        Ok(Self {
            commit,
            seen,
            lines,
            named,
            stored,
            updated_at,
        })
    }

    /// `None` if it was stored.
    pub(crate) fn store(&self, link: &Link) -> Result<Option<Refused>, Error> {
        let told = |error| fault::told(&link.address, "store a change", error);
        let row = match self.send(link, Sending::First) {
            Err(error) if fault::is_broken(&error) => {
                // Nobody knows whether it was stored. The second statement finds out.
                link.reconnect()?;
                self.send(link, Sending::Again)
            }
            answered => answered,
        };
        let row = row.map_err(told)?;
        let row = row.first().ok_or_else(|| unknown(self.commit.run))?;
        let answer: String = link.get(row, "answer")?;
        match answer.as_str() {
            "stored" => Ok(None),
            "repeated" => Ok(Some(Refused::Repeated)),
            "moved" => Ok(Some(Refused::Moved(unsigned(
                link.get(row, "now_version")?,
            )))),
            "fenced" => Err(Error::Fenced {
                run: self.commit.run.clone(),
                given: self.commit.fence.unwrap_or(Fence::numbered(0)),
                last: rows::fence(link, row, "now_fence", "now_claim")?,
            }),
            "altered" => {
                let what = format!(
                    "the journal of run {} was altered while in use",
                    self.commit.run
                );
                Err(link.damaged(&what))
            }
            _ => Err(unknown(self.commit.run)),
        }
    }

    fn send(&self, link: &Link, sending: Sending) -> Result<Vec<Row>, NoAnswer> {
        let again = sending == Sending::Again;
        let commit = self.commit;
        let columns = listed(
            &self.stored,
            (commit.status)(&self.stored.run),
            self.updated_at,
        );
        let state =
            parts::state_to_bytes(&self.stored.run, self.stored.tip(), self.stored.origin());
        let contents = ContentColumns::of(commit.contents, &self.named);
        let (run, seen, key) = (
            commit.run.as_str(),
            signed(self.seen.version),
            commit.key.map(Key::as_str),
        );
        let (head, fence) = (self.seen.head.0.as_slice(), FenceColumns::of(commit.fence));
        let lines = LineColumns::of(self.lines.iter());
        let values: [Value<'_>; 19] = [
            (&run, Type::TEXT),
            (&seen, Type::INT8),
            (&head, Type::BYTEA),
            (&key, Type::TEXT),
            (&fence.number, Type::INT8),
            (&fence.claim(), Type::BYTEA),
            (&again, Type::BOOL),
            (&lines.entries, Type::TEXT_ARRAY),
            (&lines.hashes, Type::BYTEA_ARRAY),
            (&columns.task, Type::TEXT),
            (&columns.stage, Type::TEXT),
            (&columns.status, Type::TEXT),
            (&columns.reason, Type::TEXT),
            (&columns.overridden, Type::BOOL),
            (&columns.updated_at, Type::INT8),
            (&state, Type::BYTEA),
            (&contents.hashes, Type::BYTEA_ARRAY),
            (&contents.bytes, Type::BYTEA_ARRAY),
            (&contents.named, Type::BYTEA_ARRAY),
        ];
        match sending {
            Sending::First => link.rows_once(APPEND, &values),
            Sending::Again => link.rows_again(APPEND, &values),
        }
    }

    pub(crate) fn done(self, decision: Decision) -> Transacted {
        let numbers = self.seen.version + 1..self.stored.version + 1;
        Transacted::Done {
            decision,
            stored: Box::new(self.stored),
            numbers,
        }
    }
}

/// Is it known that nobody has stored it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    First,
    Again,
}

/// Why a decision was not stored.
pub(crate) enum Refused {
    Repeated,
    Moved(u64),
}

/// The columns of the list, as the database can store them.
fn listed(stored: &StoredRun, status: Status, updated_at: Time) -> Columns {
    let columns = Columns::of(
        &stored.run,
        stored.origin(),
        stored.tip(),
        &status,
        updated_at,
    );
    Columns {
        task: plain(&columns.task),
        reason: columns.reason.as_deref().map(plain),
        ..columns
    }
}

/// A run that is stored for the first time.
pub(crate) struct FirstStore<'a> {
    pub stored: &'a StoredRun,
    pub status: Status,
    pub updated_at: Time,
    pub key: Option<&'a Key>,
    pub files: &'a Files,
    pub compiled: &'a engine::Definition,
    pub lines: Vec<&'a Line>,
    pub contents: &'a [Content<'a>],
    pub named: &'a [Hash],
}

/// How that ended.
pub(crate) enum Begun {
    New,
    /// The key began this run before.
    Earlier(String),
    Exists,
}

impl FirstStore<'_> {
    pub(crate) fn store(&self, link: &Link) -> Result<Begun, Error> {
        let stored = self.stored;
        let columns = listed(stored, self.status.clone(), self.updated_at);
        let state = parts::state_to_bytes(&stored.run, stored.tip(), stored.origin());
        let compiled = parts::compiled_to_bytes(self.compiled, stored.run.definition);
        let contents = ContentColumns::of(self.contents, self.named);
        let (root, key) = (parts::root(&stored.run.id), self.key.map(Key::as_str));
        let (head, definition) = (stored.head.0.as_slice(), stored.run.definition.0.as_slice());
        let (paths, files): (Vec<&str>, Vec<&[u8]>) = self.files.iter().unzip();
        let lines = LineColumns::of(self.lines.iter().copied());
        let main = self.files.main();
        let root = root.0.as_slice();
        let values: [Value<'_>; 29] = [
            (&columns.id, Type::TEXT),
            (&columns.project, Type::TEXT),
            (&columns.worktree, Type::TEXT),
            (&columns.pipeline, Type::TEXT),
            (&key, Type::TEXT),
            (&columns.task, Type::TEXT),
            (&columns.driver, Type::TEXT),
            (&columns.started_at, Type::INT8),
            (&columns.stage, Type::TEXT),
            (&columns.status, Type::TEXT),
            (&columns.reason, Type::TEXT),
            (&columns.overridden, Type::BOOL),
            (&columns.updated_at, Type::INT8),
            (&columns.version, Type::INT8),
            (&head, Type::BYTEA),
            (&state, Type::BYTEA),
            (&definition, Type::BYTEA),
            (&main, Type::TEXT),
            (&compiled, Type::BYTEA),
            (&paths, Type::TEXT_ARRAY),
            (&files, Type::BYTEA_ARRAY),
            (&root, Type::BYTEA),
            (&lines.decisions, Type::INT8_ARRAY),
            (&lines.keys, Type::TEXT_ARRAY),
            (&lines.entries, Type::TEXT_ARRAY),
            (&lines.hashes, Type::BYTEA_ARRAY),
            (&contents.hashes, Type::BYTEA_ARRAY),
            (&contents.bytes, Type::BYTEA_ARRAY),
            (&contents.named, Type::BYTEA_ARRAY),
        ];
        let row = link.row("begin a run", BEGIN, &values)?;
        begun(link, &row.ok_or_else(|| unknown(&stored.run.id))?)
    }
}

fn begun(link: &Link, row: &Row) -> Result<Begun, Error> {
    let earlier: Option<String> = link.get(row, "earlier")?;
    match (link.get::<String>(row, "answer")?.as_str(), earlier) {
        ("begun", _) => Ok(Begun::New),
        (_, Some(earlier)) => Ok(Begun::Earlier(earlier)),
        (_, None) => Ok(Begun::Exists),
    }
}

pub(crate) fn claim(link: &Link, run: &RunId, claim: &Claim<'_>) -> Result<Lease, Error> {
    let milliseconds =
        |term: std::time::Duration| i64::try_from(term.as_millis()).unwrap_or(i64::MAX / 2);
    let (kind, holder, given, term) = match *claim {
        Claim::Acquire { holder, term, dead } => {
            ("acquire", Some(holder), dead, Some(milliseconds(term)))
        }
        Claim::Renew { fence, term } => ("renew", None, Some(fence), Some(milliseconds(term))),
        Claim::Release { fence } => ("release", None, Some(fence), None),
    };
    let fence = FenceColumns::of(given);
    let values: [Value<'_>; 6] = [
        (&run.as_str(), Type::TEXT),
        (&kind, Type::TEXT),
        (&holder, Type::TEXT),
        (&fence.number, Type::INT8),
        (&fence.claim(), Type::BYTEA),
        (&term, Type::INT8),
    ];
    let row = link.row("claim a run", CLAIM, &values)?;
    let row = row.ok_or_else(|| unknown(run))?;
    claimed(link, run, &row, given)
}

/// The lease, or why there is none. `given` is what the caller has.
fn claimed(link: &Link, run: &RunId, row: &Row, given: Option<Fence>) -> Result<Lease, Error> {
    let run = run.clone();
    let answer: String = link.get(row, "answer")?;
    if answer == "unknown" {
        return Err(Error::UnknownRun { run });
    }
    let last = rows::fence(link, row, "fence", "claim")?;
    if answer == "fenced" {
        let given = given.unwrap_or(Fence::numbered(0));
        return Err(Error::Fenced { run, given, last });
    }
    let holder = link.get(row, "holder")?;
    let until = Time(unsigned(link.get(row, "until")?));
    match answer.as_str() {
        "leased" => Ok(Lease {
            holder,
            fence: last,
            until,
            is_expired: link.get(row, "is_expired")?,
        }),
        _ => Err(Error::Held { run, holder, until }),
    }
}

pub(crate) fn add_content(link: &Link, hash: Hash, bytes: &[u8], at: Time) -> Result<(), Error> {
    let values: [Value<'_>; 3] = [
        (&hash.0.as_slice(), Type::BYTEA),
        (&signed(at.0), Type::INT8),
        (&bytes, Type::BYTEA),
    ];
    link.rows("store a content", ADD_CONTENT, &values).map(drop)
}

pub(crate) fn set_compiled(
    link: &Link,
    source: Hash,
    compiled: &engine::Definition,
) -> Result<(), Error> {
    let bytes = parts::compiled_to_bytes(compiled, source);
    let values: [Value<'_>; 2] = [(&source.0.as_slice(), Type::BYTEA), (&bytes, Type::BYTEA)];
    let set = link.row("store a definition", SET_COMPILED, &values)?;
    set.map(drop)
        .ok_or(Error::UnknownDefinition { hash: source })
}

/// The stored run of these parts.
pub(crate) fn stored_run(
    run: engine::Run,
    tip: Tip,
    origin: RunOrigin<'_>,
    compiled: &engine::Definition,
) -> StoredRun {
    StoredRun {
        run,
        version: tip.version,
        head: tip.head,
        project: origin.project.to_owned(),
        home: origin.worktree.to_owned(),
        pipeline: compiled.name.clone(),
    }
}
