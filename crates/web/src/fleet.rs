//! What the page knows of the fleet: its runs are read in the background, so that no page waits for the database.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Pipeline, RunId};
use runtime::clock;
use runtime::context::SharedContext;
use runtime::facts::{self, RunsReader};
use runtime::failure::Failure;
use runtime::fleet_reach;
use runtime::fleet_seat::{ConnectFleet, FleetSeat};
use runtime::workspace::{OpenRun, Workspace};
use store::{Backend as _, RunSummary, StoredRun};
use views::facts::InboxEntry;
use views::list::{RowDepth, RunRow};

/// How often we ask whether anybody wrote to the fleet.
const BETWEEN_LOOKS: Duration = Duration::from_secs(2);

/// How often the runs are read although nobody wrote: owners die and fall silent without a word.
const BETWEEN_JUDGEMENTS: Duration = Duration::from_secs(6);

/// What was read longer ago than this is not shown as present.
const OLDEST: Duration = Duration::from_secs(15);

/// The fleet of this machine, as the pages see it.
pub(crate) struct Fleet(Arc<Shared>);

#[derive(Default)]
struct Shared {
    latest: Mutex<Latest>,
    /// When the database answered last.
    answered: Mutex<Option<Instant>>,
    /// The first look has ended.
    looked: Condvar,
}

/// How the last look went.
#[derive(Default)]
enum Latest {
    #[default]
    Never,
    Read(Arc<FleetRuns>),
    Away(Failure),
}

/// The runs of the fleet at one moment.
pub(crate) struct FleetRuns {
    pub seat: FleetSeat,
    /// The latest started first.
    pub summaries: Vec<RunSummary>,
    pub rows: BTreeMap<RunId, RunRow>,
    pub inbox: Vec<InboxEntry>,
    pub unreadable: Vec<Failure>,
    /// The runs of the inbox, for their forms.
    asking: BTreeMap<RunId, (StoredRun, Pipeline)>,
}

impl FleetRuns {
    /// A run that waits for a person.
    pub(crate) fn asking(&self, run: &RunId) -> Option<OpenRun> {
        let (stored, pipeline) = self.asking.get(run)?;
        Some(OpenRun {
            stored: Rc::new(stored.clone()),
            pipeline: Rc::new(pipeline.clone()),
        })
    }
}

impl Fleet {
    /// Begins to read in the background, until the process ends.
    pub(crate) fn begin(context: SharedContext, connect: Arc<ConnectFleet>) -> Self {
        let shared = Arc::new(Shared::default());
        let reading = Arc::clone(&shared);
        let thread = thread::Builder::new().spawn(move || {
            loop {
                let why = follow(&reading, &context, &connect);
                reading.publish(Latest::Away(fleet_reach::away(&why)));
                thread::sleep(fleet_reach::BETWEEN_ATTEMPTS);
            }
        });
        if let Err(cause) = thread {
            let why = Failure::environment(format!("cannot start a thread ({cause})"));
            shared.publish(Latest::Away(why));
        }
        Self(shared)
    }

    /// The runs as they were read last, or why they cannot be read.
    pub(crate) fn latest(&self) -> Result<Arc<FleetRuns>, Failure> {
        let latest = self.0.latest();
        let waited = self
            .0
            .looked
            .wait_timeout_while(latest, fleet_reach::PATIENCE, |latest| {
                matches!(latest, Latest::Never)
            });
        let (latest, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Latest::Read(_) if self.0.is_silent() => Err(fleet_reach::away(&fleet_reach::silent())),
            Latest::Read(runs) => Ok(Arc::clone(runs)),
            Latest::Away(why) => Err(why.clone()),
            Latest::Never => Err(fleet_reach::away(&fleet_reach::silent())),
        }
    }
}

impl Shared {
    fn latest(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A server or a network that froze says nothing, for long.
    fn is_silent(&self) -> bool {
        self.answered().is_some_and(|at| at.elapsed() > OLDEST)
    }

    fn answered(&self) -> MutexGuard<'_, Option<Instant>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, latest: Latest) {
        *self.latest() = latest;
        self.looked.notify_all();
    }
}

/// Reads again and again, until that fails.
fn follow(shared: &Shared, context: &SharedContext, connect: &Arc<ConnectFleet>) -> Failure {
    let seat = match fleet_reach::connected(connect) {
        Ok(seat) => seat,
        Err(why) => return why,
    };
    let (context, mut reader) = (context.to_context(), FleetReader::default());
    let context = context.in_fleet(seat.clone());
    let mut workspace = match Workspace::for_reading(&context) {
        Ok(workspace) => workspace,
        Err(why) => return why,
    };
    loop {
        match reader.look(&mut workspace, &seat) {
            Ok(Some(runs)) => shared.publish(Latest::Read(Arc::new(runs))),
            Ok(None) => {}
            Err(why) => return why,
        }
        *shared.answered() = Some(Instant::now());
        thread::sleep(BETWEEN_LOOKS);
    }
}

/// Remembers what it has read.
#[derive(Default)]
struct FleetReader {
    runs: RunsReader,
    seen: Option<(u64, Instant)>,
}

impl FleetReader {
    /// The runs as they are now; nothing where nobody has written since the last look.
    fn look(
        &mut self,
        workspace: &mut Workspace<'_>,
        seat: &FleetSeat,
    ) -> Result<Option<FleetRuns>, Failure> {
        let number = facts::change_number(workspace)?;
        let is_same =
            |(seen, at): (u64, Instant)| seen == number && at.elapsed() < BETWEEN_JUDGEMENTS;
        if self.seen.is_some_and(is_same) {
            return Ok(None);
        }
        self.seen = Some((number, Instant::now()));
        self.read(workspace, seat).map(Some)
    }

    fn read(
        &mut self,
        workspace: &mut Workspace<'_>,
        seat: &FleetSeat,
    ) -> Result<FleetRuns, Failure> {
        let now = clock::now();
        let mut summaries = workspace.store.runs(None)?;
        let mut found = self
            .runs
            .rows(workspace, &summaries, RowDepth::Summary, now)?;
        let asking = self.runs.inbox_among(workspace, &summaries, now)?;
        for shipped in facts::elsewhere(workspace)? {
            found.rows.push(facts::row_elsewhere(&shipped, now));
            summaries.push(shipped.summary);
        }
        summaries.sort_by_key(|run| std::cmp::Reverse(run.started_at));
        let inbox = asking.inbox.entries().to_vec();
        let mut opened = BTreeMap::new();
        for entry in &inbox {
            if let Some(run) = workspace.find(&entry.run)? {
                let kept = (
                    StoredRun::clone(&run.stored),
                    Pipeline::clone(&run.pipeline),
                );
                opened.insert(entry.run.clone(), kept);
            }
        }
        let rows = found.rows.into_iter().map(|row| (row.run.clone(), row));
        Ok(FleetRuns {
            seat: seat.clone(),
            summaries,
            rows: rows.collect(),
            inbox,
            unreadable: found
                .unreadable
                .into_iter()
                .chain(asking.unreadable)
                .collect(),
            asking: opened,
        })
    }
}
