//! What a page reads: the store as it is now, with readers that remember how far they have read.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use engine::{RunId, Time};
use runtime::clock;
use runtime::context::Context;
use runtime::facts::{InboxFound, RunReader, RunRows, RunsReader};
use runtime::failure::Failure;
use runtime::figures::{self, FiguresFound, FiguresReader};
use runtime::ids;
use runtime::workspace::{OpenRun, Workspace};
use store::{Backend as _, RunSummary, StoredRun};
use views::facts::{Inbox, InboxEntry};
use views::list::RowDepth;
use views::metrics::Metrics;

use crate::fleet::FleetRuns;
use crate::page::Base;
use crate::run_list::{RunList, Runs};
use crate::topic::HelpTopic;

/// How many runs are remembered, the latest looked at.
const MOST_READERS: usize = 16;

/// Figures count the latest runs, so many.
pub(crate) const MOST_COUNTED: usize = 2_000;

/// Readers of runs, shared by all who look at the same one: a second look costs what has happened since.
#[derive(Default)]
pub(crate) struct Readers {
    runs: Mutex<Vec<(RunId, RunReader)>>,
    figures: Mutex<FiguresReader>,
    /// Of the runs of the fleet. Who counts holds it.
    fleet_figures: Mutex<FiguresReader>,
    list: RunList,
}

/// The figures of runs of the fleet, one by one, or why there are none.
#[derive(Default)]
pub(crate) struct FleetFigures {
    pub runs: Vec<(RunSummary, Metrics)>,
    pub missing: Option<Failure>,
}

/// Can somebody act on this page?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acting {
    WithCode,
    Nobody,
}

/// What is known of the fleet of this machine.
#[derive(Clone)]
pub(crate) enum Glance {
    /// It has joined none.
    Alone,
    Read(Arc<FleetRuns>),
    Away(Failure),
}

/// The stores of one look.
#[derive(Clone, Copy)]
pub(crate) struct Stores<'a> {
    pub home: &'a Context,
    /// For the runs of the fleet, where there is a connection.
    pub fleet: Option<&'a Context>,
}

/// One look at the stores.
pub(crate) struct Reading<'a> {
    /// Absent where no run was ever started.
    home: Option<Workspace<'a>>,
    /// Opened when a run of the fleet is read.
    fleet: Option<Workspace<'a>>,
    stores: Stores<'a>,
    pub glance: Glance,
    runs: RunsReader,
    pub now: Time,
    pub base: &'a Base,
    pub acting: Acting,
    pub readers: &'a Readers,
    pub topics: &'static [HelpTopic],
    listed: Option<Listed>,
    /// Counted beforehand, because the database of the fleet may be slow.
    pub fleet_figures: FleetFigures,
}

/// The runs of all projects, the latest started first.
#[derive(Clone)]
struct Listed {
    home: Runs,
    /// Those of the fleet, too.
    all: Runs,
}

impl Readers {
    /// Takes the reader of this run out, or makes one. A run that has become shorter is another one.
    pub(crate) fn take(&self, run: &RunId, version: u64) -> RunReader {
        let mut readers = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let place = readers.iter().position(|(known, _)| known == run);
        let known = place.map(|place| readers.remove(place).1);
        known
            .filter(|reader| reader.timeline().version() <= version)
            .unwrap_or_else(|| RunReader::new(run.clone()))
    }

    pub(crate) fn put(&self, run: RunId, reader: RunReader) {
        let mut readers = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|(known, _)| *known != run);
        readers.push((run, reader));
        if readers.len() > MOST_READERS {
            readers.remove(0);
        }
    }
}

impl Readers {
    /// The figures of the latest runs of the fleet. Only one counts at a time: the first time takes longest.
    pub(crate) fn count_fleet(
        &self,
        workspace: &mut Workspace<'_>,
        runs: &[RunSummary],
    ) -> Result<Vec<(RunSummary, Metrics)>, Failure> {
        let busy = |_| Failure::environment("the runs of the fleet are being counted").hint("wait");
        let mut reader = self.fleet_figures.try_lock().map_err(busy)?;
        let (now, mut counted) = (in_steps(clock::now()), Vec::new());
        for run in runs.iter().take(MOST_COUNTED) {
            let figures = if ids::is_of_fleet(&run.id) {
                reader.read(workspace, [run], now)?.figures
            } else {
                figures::elsewhere(run)
            };
            counted.push((run.clone(), figures));
        }
        Ok(counted)
    }
}

/// Waits that last grow in steps, so that an idle page stays as it is.
fn in_steps(now: Time) -> Time {
    Time(now.0 - now.0 % 60_000)
}

impl<'a> Reading<'a> {
    pub(crate) fn new(
        stores: Stores<'a>,
        glance: Glance,
        base: &'a Base,
        acting: Acting,
        readers: &'a Readers,
        topics: &'static [HelpTopic],
    ) -> Result<Self, Failure> {
        Ok(Self {
            home: Workspace::if_exists(stores.home)?,
            fleet: None,
            stores,
            glance,
            runs: RunsReader::default(),
            now: clock::now(),
            base,
            acting,
            readers,
            topics,
            listed: None,
            fleet_figures: FleetFigures::default(),
        })
    }

    /// The runs of all projects, the latest started first: the same list during this look.
    pub(crate) fn summaries(&mut self) -> Result<Runs, Failure> {
        Ok(self.listed()?.all)
    }

    fn listed(&mut self) -> Result<Listed, Failure> {
        if let Some(known) = &self.listed {
            return Ok(known.clone());
        }
        let home = match &self.home {
            Some(workspace) => self.readers.list.read(workspace.state.folder())?,
            None => Runs::default(),
        };
        let all = match &self.glance {
            Glance::Read(fleet) => merged(&home, &fleet.summaries),
            Glance::Alone | Glance::Away(_) => Arc::clone(&home),
        };
        let listed = Listed { home, all };
        self.listed = Some(listed.clone());
        Ok(listed)
    }

    /// How many runs of all projects wait for a person.
    pub(crate) fn waiting(&mut self) -> Result<usize, Failure> {
        let listed = self.listed()?;
        let at_home = match &mut self.home {
            Some(workspace) => {
                let runs = &mut self.runs;
                runs.count_waiting_among(workspace, &listed.home, self.now)?
            }
            None => 0,
        };
        Ok(at_home + self.fleet_inbox().len())
    }

    fn fleet_inbox(&self) -> &[InboxEntry] {
        match &self.glance {
            Glance::Read(fleet) => &fleet.inbox,
            Glance::Alone | Glance::Away(_) => &[],
        }
    }

    /// What waits for a person, the oldest first.
    pub(crate) fn inbox(&mut self) -> Result<InboxFound, Failure> {
        let listed = self.listed()?;
        let mut found = match &mut self.home {
            Some(workspace) => self.runs.inbox_among(workspace, &listed.home, self.now)?,
            None => InboxFound::default(),
        };
        let of_fleet = self.fleet_inbox();
        if !of_fleet.is_empty() {
            let entries = found.inbox.entries().iter().chain(of_fleet);
            found.inbox = Inbox::new(entries.cloned().collect());
        }
        Ok(found)
    }

    /// A row for each of these. Those that are over are shown from the list alone.
    pub(crate) fn rows(&mut self, summaries: &[&RunSummary]) -> Result<RunRows, Failure> {
        // Guarded runs of other machines have ids like those of this one.
        let known = self.listed()?.home;
        let known: BTreeSet<&RunId> = known.iter().map(|run| &run.id).collect();
        let at_home = summaries.iter().copied();
        let at_home = at_home.filter(|run| known.contains(&run.id));
        let mut found = match &mut self.home {
            Some(workspace) => {
                let runs = &mut self.runs;
                runs.rows(workspace, at_home, RowDepth::Summary, self.now)?
            }
            None => RunRows {
                rows: Vec::new(),
                unreadable: Vec::new(),
            },
        };
        if let Glance::Read(fleet) = &self.glance {
            let elsewhere = summaries.iter().filter(|run| !known.contains(&run.id));
            let wanted = elsewhere.filter_map(|run| fleet.rows.get(&run.id));
            found.rows.extend(wanted.cloned());
            let places = summaries.iter().enumerate();
            let places: BTreeMap<_, _> = places.map(|(place, run)| (&run.id, place)).collect();
            found.rows.sort_by_key(|row| places.get(&row.run).copied());
        }
        Ok(found)
    }

    /// A run that waits for a person, as the inbox has it.
    pub(crate) fn asking(&mut self, run: &RunId) -> Option<OpenRun> {
        if ids::is_of_fleet(run) {
            return match &self.glance {
                Glance::Read(fleet) => fleet.asking(run),
                Glance::Alone | Glance::Away(_) => None,
            };
        }
        self.home.as_mut()?.find(run).ok().flatten()
    }

    /// Why some runs show little or nothing, beside those that were just read.
    pub(crate) fn fleet_problems(&self) -> &[Failure] {
        match &self.glance {
            Glance::Alone => &[],
            Glance::Read(fleet) => &fleet.unreadable,
            Glance::Away(why) => std::slice::from_ref(why),
        }
    }

    /// The figures of the latest runs, and of how many.
    pub(crate) fn figures(
        &mut self,
        wanted: impl Fn(&RunSummary) -> bool,
    ) -> Result<(FiguresFound, usize), Failure> {
        let now = in_steps(self.now);
        let home = self.listed()?.home;
        let summaries = home.iter().filter(|run| wanted(run));
        let summaries: Vec<&RunSummary> = summaries.take(MOST_COUNTED).collect();
        let mut reader = self
            .readers
            .figures
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut found = match &mut self.home {
            Some(workspace) => reader.read(workspace, summaries.iter().copied(), now)?,
            None => FiguresFound::default(),
        };
        let known: BTreeSet<&RunId> = home.iter().map(|run| &run.id).collect();
        let in_fleet = self.fleet_figures.runs.iter();
        let in_fleet = in_fleet.filter(|(run, _)| wanted(run) && !known.contains(&run.id));
        let in_fleet: Vec<_> = in_fleet.collect();
        for (_, figures) in &in_fleet {
            found.figures.add(figures.clone());
        }
        Ok((found, summaries.len() + in_fleet.len()))
    }

    /// The store that this run is in.
    pub(crate) fn workspace_of(&mut self, run: &RunId) -> Result<&mut Workspace<'a>, Failure> {
        if !ids::is_of_fleet(run) {
            return self.home.as_mut().ok_or_else(no_run);
        }
        let opened = match self.fleet.take() {
            Some(opened) => opened,
            None => Workspace::for_reading(self.fleet_context()?)?,
        };
        Ok(self.fleet.insert(opened))
    }

    fn fleet_context(&self) -> Result<&'a Context, Failure> {
        self.stores.fleet.ok_or_else(|| no_fleet(&self.glance))
    }

    /// The run with exactly this id.
    pub(crate) fn stored(&mut self, run: &RunId) -> Result<StoredRun, Failure> {
        let elsewhere = self.elsewhere(run);
        let found = self
            .workspace_of(run)
            .and_then(|workspace| Ok(workspace.store.run(run)?));
        match (found, elsewhere) {
            (Ok(Some(found)), _) => Ok(found),
            (Ok(None) | Err(_), Some(elsewhere)) => Err(elsewhere),
            (Ok(None), None) => Err(store::Error::UnknownRun { run: run.clone() }.into()),
            (Err(failure), None) => Err(failure),
        }
    }

    /// What is to be said of a guarded run of another machine, of which only the list is known here.
    fn elsewhere(&self, run: &RunId) -> Option<Failure> {
        let Glance::Read(fleet) = &self.glance else {
            return None;
        };
        let machine = fleet.rows.get(run)?.machine.as_ref()?.line();
        let message = format!("{run} is a guarded run of {machine}, and is shown there");
        Some(Failure::not_found(message).hint(format!(
            "if {machine} is lost, `gatewright adopt {run}` continues the run here"
        )))
    }
}

/// Both lists are sorted already.
fn merged(home: &Runs, fleet: &[RunSummary]) -> Runs {
    let known: BTreeSet<&RunId> = home.iter().map(|run| &run.id).collect();
    let elsewhere = fleet.iter().filter(|run| !known.contains(&run.id));
    let mut all: Vec<RunSummary> = home.iter().chain(elsewhere).cloned().collect();
    all.sort_by_key(|run| Reverse(run.started_at));
    Arc::new(all)
}

/// Why no run of the fleet can be read.
pub(crate) fn no_fleet(glance: &Glance) -> Failure {
    match glance {
        Glance::Away(why) => why.clone(),
        Glance::Alone | Glance::Read(_) => {
            Failure::not_found("the run is of a fleet, and this machine has joined none")
                .hint("type `gatewright fleet join ADDRESS`, and start the page again")
        }
    }
}

fn no_run() -> Failure {
    Failure::not_found("no run was ever started here")
        .hint("type `gatewright demo` to see one, or `gatewright run` to start one")
}
