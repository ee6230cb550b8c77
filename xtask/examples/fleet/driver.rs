//! A driver: claims queued runs, renews its leases, and advances the runs under its fence.
//!
//! It waits for the store's acknowledgement, writes it to its own log, and only then does the work that was
//! acknowledged. Work is a line in a file that is named after run and attempt.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use engine::{Decision, Entry, Fact, Reply, Rule, Time, Who};
use pg_store::{Address, Claimed, Postgres};
use store::conformance::test_run::{TestRun, cancelled, note};
use store::{Access, Backend as _, Claim, Commit, DatabaseFault, Error, Key, Transacted};

use crate::Result;
use crate::log::{Acknowledged, Log, Record, now_ms};
use crate::mark::{Attempt, Mark, Need, Word, needed};

/// How long a lease lasts.
pub(crate) const TERM: Duration = Duration::from_millis(1_200);

/// What a piece of work takes.
const WORK: Duration = Duration::from_millis(25);

const PAUSE: Duration = Duration::from_millis(20);

/// More entries than any run of the battery has.
const ALL: u64 = 10_000;

/// The place of one machine: its logs, the work it does, and its clock.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Of all machines.
    pub folder: PathBuf,
    pub machine: String,
}

impl Place {
    pub(crate) fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }

    pub(crate) fn effects(&self) -> PathBuf {
        self.folder.join("effects")
    }

    /// The file that says how far the machine's clock is off, in milliseconds.
    pub(crate) fn clock(&self) -> PathBuf {
        self.folder.join(format!("clock-{}", self.machine))
    }

    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let true_ms = u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX);
        let offset = fs::read_to_string(self.clock()).unwrap_or_default();
        Time(true_ms.saturating_add_signed(offset.trim().parse().unwrap_or(0)))
    }
}

pub(crate) struct Driver {
    place: Place,
    holder: String,
    pieces: usize,
    log: Log,
    /// The run that it drives, also while the database is away.
    claimed: Option<Claimed>,
    renewed: Instant,
}

/// `driver ADDRESS FOLDER MACHINE PIECES`, until its standard input ends.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let [address, folder, machine, pieces] = arguments else {
        return Err("usage: fleet driver ADDRESS FOLDER MACHINE PIECES".into());
    };
    thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::abort();
    });
    let place = Place {
        folder: PathBuf::from(folder),
        machine: (*machine).to_owned(),
    };
    let (address, pieces) = (Address::parse(address)?, pieces.parse()?);
    let mut driver = Driver::new(place, &std::process::id().to_string(), pieces)?;
    loop {
        if let Err(error) = driver.drive_forever(&address) {
            driver.judge(&error)?;
        }
        thread::sleep(PAUSE);
    }
}

impl Driver {
    pub(crate) fn new(place: Place, process: &str, pieces: usize) -> Result<Self> {
        let holder = format!("{}-{process}", place.machine);
        fs::create_dir_all(place.effects())?;
        Ok(Self {
            log: Log::create(&place.logs(), &holder)?,
            place,
            holder,
            pieces,
            claimed: None,
            renewed: Instant::now(),
        })
    }

    fn drive_forever(&mut self, address: &Address) -> std::result::Result<(), Error> {
        let mut store = Postgres::open(address, Access::Write)?;
        loop {
            if !self.drive_one(&mut store)? {
                thread::sleep(PAUSE);
            }
        }
    }

    /// Drives a run to its end, if there is one to drive.
    pub(crate) fn drive_one(&mut self, store: &mut Postgres) -> std::result::Result<bool, Error> {
        let claimed = match self.claimed.clone() {
            Some(claimed) => claimed,
            None => {
                let Some(claimed) = store.claim_queued(&self.holder, &[], TERM)? else {
                    return Ok(false);
                };
                self.renewed = Instant::now();
                self.add(&Record::Claimed {
                    run: claimed.run.to_string(),
                    fence: claimed.lease.fence.number,
                    holder: self.holder.clone(),
                })?;
                self.claimed = Some(claimed.clone());
                claimed
            }
        };
        match self.drive(store, &claimed) {
            Err(Error::Fenced { run, .. }) => self.add(&Record::Fenced {
                run: run.to_string(),
            })?,
            other => other?,
        }
        self.claimed = None;
        Ok(true)
    }

    /// What a network or a server that is away explains passes. Everything else ends the run for this driver.
    fn judge(&mut self, error: &Error) -> Result<()> {
        let fault = match error {
            Error::Database { fault, .. } => Some(*fault),
            _ => None,
        };
        let record = match (fault, &self.claimed) {
            (Some(DatabaseFault::Unreachable | DatabaseFault::ReadOnly), _) => return Ok(()),
            (Some(DatabaseFault::Damaged), Some(claimed)) => Record::Altered {
                run: claimed.run.to_string(),
            },
            _ => {
                let source = std::error::Error::source(error).map(ToString::to_string);
                Record::Trouble(format!("{error} {}", source.unwrap_or_default()))
            }
        };
        self.claimed = None;
        Ok(self.log.add(&record)?)
    }

    fn drive(&mut self, store: &mut Postgres, claimed: &Claimed) -> std::result::Result<(), Error> {
        let run = &claimed.run;
        loop {
            let Some(stored) = store.run(run)? else {
                return Err(Error::UnknownRun { run: run.clone() });
            };
            let journal = store.journal(run, 1, ALL)?;
            let marks: Vec<Mark> = journal.iter().filter_map(|it| mark_of(&it.entry)).collect();
            let attempt = match needed(marks.iter(), self.pieces) {
                Need::Work(attempt) => attempt,
                Need::End => {
                    let (piece, number) = (self.pieces, 1);
                    let attempt = Attempt { piece, number };
                    self.write(store, claimed, stored.version, Word::Over, attempt)?;
                    continue;
                }
                Need::Nothing => {
                    return store.end_queued(run, claimed.lease.fence);
                }
            };
            let begun = self.write(store, claimed, stored.version, Word::Begin, attempt)?;
            let Some(version) = begun else { continue };
            self.work(run.as_str(), attempt)?;
            // One that slept goes on as if nothing had happened: only the fence of its writes may stop it.
            let ended = self.write(store, claimed, version, Word::End, attempt)?;
            if ended.is_some() {
                self.renew(store, claimed)?;
            }
        }
    }

    /// The version afterwards, if the store acknowledged it as ours.
    fn write(
        &mut self,
        store: &mut Postgres,
        claimed: &Claimed,
        seen: u64,
        word: Word,
        attempt: Attempt,
    ) -> std::result::Result<Option<u64>, Error> {
        let (run, fence) = (claimed.run.as_str(), claimed.lease.fence);
        let mark = Mark {
            word,
            attempt,
            holder: self.holder.clone(),
            fence: fence.number,
        };
        let test_run = TestRun::new(run).map_err(|_| Error::UnknownRun {
            run: claimed.run.clone(),
        })?;
        let key = Key::parse(&mark.key(run)).ok();
        let commit = Commit {
            key: key.as_ref(),
            fence: Some(fence),
            ..test_run.commit(seen)
        };
        let now = self.place.now();
        let transacted = store.transact(&commit, &mut |_| decided(&mark, now))?;
        let Transacted::Done {
            stored, numbers, ..
        } = transacted
        else {
            return Ok(None);
        };
        self.add(&Record::Acknowledged(Acknowledged {
            at_ms: now_ms(),
            run: run.to_owned(),
            number: numbers.start,
            mark,
        }))?;
        Ok(Some(stored.version))
    }

    /// The side effect of a counted attempt.
    fn work(&self, run: &str, attempt: Attempt) -> std::result::Result<(), Error> {
        let Attempt { piece, number } = attempt;
        let path = self.place.effects().join(format!("{run} {piece} {number}"));
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let done = file.and_then(|mut file| writeln!(file, "{}", self.holder));
        done.map_err(io_error(&path))?;
        thread::sleep(WORK);
        Ok(())
    }

    /// When to renew is judged by a clock that nobody sets.
    fn renew(&mut self, store: &mut Postgres, claimed: &Claimed) -> std::result::Result<(), Error> {
        if self.renewed.elapsed() < TERM / 3 {
            return Ok(());
        }
        let fence = claimed.lease.fence;
        store.claim(&claimed.run, &Claim::Renew { fence, term: TERM })?;
        self.renewed = Instant::now();
        Ok(())
    }

    fn add(&mut self, record: &Record) -> std::result::Result<(), Error> {
        let path = self.place.logs();
        self.log.add(record).map_err(io_error(&path))
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io {
        doing: "write",
        path,
        source,
    }
}

fn mark_of(entry: &Entry) -> Option<Mark> {
    match &entry.fact {
        Fact::Noted { message } => Mark::parse(message),
        _ => None,
    }
}

/// The decision that writes this mark, and ends the run with the last one.
pub(crate) fn decided(mark: &Mark, at: Time) -> Decision {
    let last = (mark.word == Word::Over).then(cancelled);
    let facts = [note(&mark.to_string())].into_iter().chain(last);
    let entry = |fact| Entry {
        at,
        by: Who::Engine,
        rule: Rule::Quiet,
        fact,
    };
    Decision {
        reply: Reply::Done,
        entries: facts.map(entry).collect(),
        rule: Rule::Quiet,
    }
}
