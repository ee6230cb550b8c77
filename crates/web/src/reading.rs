//! What a page reads: the store as it is now, with readers that remember how far they have read.

use std::sync::{Arc, Mutex, PoisonError};

use engine::{RunId, Time};
use runtime::clock;
use runtime::context::Context;
use runtime::facts::{RunReader, RunsReader};
use runtime::failure::Failure;
use runtime::figures::{FiguresFound, FiguresReader};
use runtime::workspace::Workspace;
use store::{Backend as _, RunSummary, StoredRun};

use crate::page::Base;
use crate::run_list::{RunList, Runs};
use crate::topic::HelpTopic;

/// So many runs are remembered, the latest looked at.
const MOST_READERS: usize = 16;

/// Figures count the latest runs, so many.
pub(crate) const MOST_COUNTED: usize = 2_000;

/// Readers of runs, shared by all who look at the same one: a second look costs what has happened since.
#[derive(Default)]
pub(crate) struct Readers {
    runs: Mutex<Vec<(RunId, RunReader)>>,
    figures: Mutex<FiguresReader>,
    list: RunList,
}

/// Can somebody act on this page?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acting {
    WithCode,
    Nobody,
}

/// One look at the store.
pub(crate) struct Reading<'a> {
    /// Absent where no run was ever started.
    pub workspace: Option<Workspace<'a>>,
    pub runs: RunsReader,
    pub now: Time,
    pub base: &'a Base,
    pub acting: Acting,
    pub readers: &'a Readers,
    pub topics: &'static [HelpTopic],
    listed: Option<Runs>,
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

impl<'a> Reading<'a> {
    pub(crate) fn new(
        context: &'a Context,
        base: &'a Base,
        acting: Acting,
        readers: &'a Readers,
        topics: &'static [HelpTopic],
    ) -> Result<Self, Failure> {
        Ok(Self {
            workspace: Workspace::if_exists(context)?,
            runs: RunsReader::default(),
            now: clock::now(),
            base,
            acting,
            readers,
            topics,
            listed: None,
        })
    }

    /// The runs of all projects, the latest started first: the same list during this look.
    pub(crate) fn summaries(&mut self) -> Result<Runs, Failure> {
        if let Some(known) = &self.listed {
            return Ok(Arc::clone(known));
        }
        let runs = match &self.workspace {
            Some(workspace) => self.readers.list.read(workspace.state.folder())?,
            None => Runs::default(),
        };
        self.listed = Some(Arc::clone(&runs));
        Ok(runs)
    }

    /// How many runs of all projects wait for a person.
    pub(crate) fn waiting(&mut self) -> Result<usize, Failure> {
        let summaries = self.summaries()?;
        match &mut self.workspace {
            Some(workspace) => {
                let runs = &mut self.runs;
                runs.count_waiting_among(workspace, &summaries, self.now)
            }
            None => Ok(0),
        }
    }

    /// The figures of the latest runs, and of how many.
    pub(crate) fn figures(
        &mut self,
        wanted: impl Fn(&RunSummary) -> bool,
    ) -> Result<(FiguresFound, usize), Failure> {
        // Waits that last grow in steps, so that an idle page stays as it is.
        let now = Time(self.now.0 - self.now.0 % 60_000);
        let summaries = self.summaries()?;
        let summaries = summaries.iter().filter(|run| wanted(run));
        let summaries: Vec<&RunSummary> = summaries.take(MOST_COUNTED).collect();
        let mut reader = self
            .readers
            .figures
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let workspace = self.workspace.as_mut().ok_or_else(no_run)?;
        let found = reader.read(workspace, summaries.iter().copied(), now)?;
        Ok((found, summaries.len()))
    }

    pub(crate) fn workspace(&mut self) -> Result<&mut Workspace<'a>, Failure> {
        self.workspace.as_mut().ok_or_else(no_run)
    }

    /// The run with exactly this id.
    pub(crate) fn stored(&mut self, run: &RunId) -> Result<StoredRun, Failure> {
        let found = self.workspace()?.store.run(run)?;
        found.ok_or_else(|| store::Error::UnknownRun { run: run.clone() }.into())
    }
}

fn no_run() -> Failure {
    Failure::not_found("no run was ever started here")
        .hint("type `gatewright demo` to see one, or `gatewright run` to start one")
}
