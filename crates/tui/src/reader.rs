//! Reads the facts for the screen: all runs, one run, and the texts that somebody opens.

mod changes;

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use engine::RunId;
use runtime::clock;
use runtime::context::Context;
use runtime::explain;
use runtime::facts::{self, RunReader, RunsReader};
use runtime::failure::{Failure, FailureKind};
use runtime::run_details;
use runtime::worker_log::LogReader;
use runtime::worker_output::WorkerOutput;
use runtime::workspace::{OpenRun, Workspace};
use views::facts::{Inbox, Liveness};
use views::history::HistoryView;
use views::list::RunRow;
use views::{Paint, Style, Untrusted};

use crate::event::{
    Event, Notice, OpenText, RunFacts, RunsFacts, TextTarget, WorkerName, WorkerText, Wrapping,
};
use crate::wanted::{Wanted, WantedDetail, WantedOutput};

use changes::KeptChanges;

/// How many of the latest entries are shown; `gatewright history` shows all.
const MOST_ENTRIES: u64 = 500;

/// How many of a worker's latest lines are shown; `gatewright logs` shows all.
const MOST_LINES: usize = 2_000;

/// A longer line is cut.
const LONGEST_LINE: usize = 2_000;

/// How much of an artifact is shown.
const LONGEST_TEXT: usize = 256 * 1024;

pub(crate) struct Reader<'c> {
    context: &'c Context,
    workspace: Option<Workspace<'c>>,
    runs: RunsReader,
    rows: Vec<RunRow>,
    run: Option<(RunId, RunReader)>,
    entries: LatestEntries,
    log: Option<OpenLog>,
    changes: KeptChanges,
    inbox: Inbox,
    /// Why some runs show little.
    unreadable: Vec<String>,
    change: Option<u64>,
    /// The folder of the store when it was opened.
    folder_id: Option<u64>,
}

/// The latest entries of the shown run, read once for each of its versions.
#[derive(Default)]
struct LatestEntries {
    read: Option<(RunId, u64, Arc<HistoryView>)>,
}

impl LatestEntries {
    fn of(
        &mut self,
        workspace: &Workspace<'_>,
        opened: &OpenRun,
    ) -> Result<Arc<HistoryView>, Failure> {
        let (run, version) = (&opened.run().id, opened.stored.version);
        if let Some((known, at, entries)) = &self.read
            && known == run
            && *at == version
        {
            return Ok(Arc::clone(entries));
        }
        let entries = run_details::latest_entries(workspace, opened, MOST_ENTRIES)?;
        let entries = Arc::new(entries);
        self.read = Some((run.clone(), version, Arc::clone(&entries)));
        Ok(entries)
    }
}

/// The log that is shown.
struct OpenLog {
    run: RunId,
    reader: LogReader,
    output: WorkerOutput,
    text: WorkerText,
}

impl<'c> Reader<'c> {
    pub(crate) fn new(context: &'c Context) -> Self {
        Self {
            context,
            workspace: None,
            runs: RunsReader::default(),
            rows: Vec::new(),
            run: None,
            entries: LatestEntries::default(),
            log: None,
            changes: KeptChanges::default(),
            inbox: Inbox::default(),
            unreadable: Vec::new(),
            change: None,
            folder_id: None,
        }
    }

    /// Which folder the store is in; another one has another number.
    fn folder(&self) -> Option<u64> {
        let state = self.context.state().ok()?;
        let metadata = std::fs::metadata(state.folder()).ok()?;
        Some(metadata.ino())
    }

    /// Has anybody written since the last call? Also a store that came or went is a change.
    pub(crate) fn has_changed(&mut self) -> bool {
        // Those who have it open can still read a store that was deleted or moved away.
        if self.folder() != self.folder_id {
            self.workspace = None;
        }
        let current = self.workspace.as_ref().map(facts::change_number);
        match current {
            Some(Ok(number)) => self.change.replace(number) != Some(number),
            Some(Err(_)) | None => true,
        }
    }

    /// All runs and the shown one, read anew.
    pub(crate) fn all(&mut self, wanted: &Wanted) -> Vec<Event> {
        let read = self.read_all();
        let mut events = self.outcome(read, Event::Runs);
        events.extend(self.one(wanted));
        events
    }

    /// The same without what a write would have changed: who is alive, and what is shown of one run.
    pub(crate) fn judged(&mut self, wanted: &Wanted) -> Vec<Event> {
        let judged = self.judge();
        let mut events = self.outcome(judged, Event::Runs);
        events.extend(self.one(wanted));
        events
    }

    /// The shown run.
    pub(crate) fn one(&mut self, wanted: &Wanted) -> Vec<Event> {
        let Some(run) = &wanted.run else {
            return Vec::new();
        };
        let read = self.read_run(run, wanted.detail.as_ref());
        match read {
            Ok(Some(facts)) => vec![Event::Run(Box::new(facts))],
            Ok(None) => Vec::new(),
            // It was deleted meanwhile, and leaves the list at the next look.
            Err(failure) if failure.kind == FailureKind::NotFound => Vec::new(),
            Err(failure) => vec![Event::Trouble(Some(failure.to_string()))],
        }
    }

    /// The text that somebody wants to read.
    pub(crate) fn open(&mut self, target: &TextTarget) -> Event {
        match self.text(target) {
            Ok(text) => Event::Opened(text),
            Err(failure) => Event::Notice(Notice {
                style: Style::Bad,
                text: failure.to_string(),
            }),
        }
    }

    fn outcome<T>(&mut self, read: Result<T, Failure>, event: impl Fn(T) -> Event) -> Vec<Event> {
        match read {
            Ok(found) => vec![Event::Trouble(None), event(found)],
            Err(failure) => {
                // The next look opens it anew.
                self.workspace = None;
                vec![Event::Trouble(Some(failure.to_string()))]
            }
        }
    }

    fn read_all(&mut self) -> Result<RunsFacts, Failure> {
        let now = clock::now();
        if self.workspace.is_none() {
            self.workspace = Workspace::if_exists(self.context)?;
            self.run = None;
            self.entries = LatestEntries::default();
            self.change = None;
            self.folder_id = self.folder();
        }
        let Some(workspace) = &mut self.workspace else {
            self.rows.clear();
            return Ok(RunsFacts::default());
        };
        let found = self.runs.all(workspace, now)?;
        let asking = self.runs.inbox(workspace, now)?;
        self.rows = found.rows;
        self.inbox = asking.inbox;
        let failures = found.unreadable.iter().chain(&asking.unreadable);
        let unreadable: BTreeSet<String> = failures.map(ToString::to_string).collect();
        self.unreadable = unreadable.into_iter().collect();
        Ok(self.runs_facts())
    }

    fn judge(&mut self) -> Result<RunsFacts, Failure> {
        let now = clock::now();
        let Some(workspace) = &mut self.workspace else {
            return self.read_all();
        };
        let before = waiting(&self.rows);
        self.runs.judge_again(workspace, &mut self.rows, now)?;
        if waiting(&self.rows) != before {
            self.inbox = self.runs.inbox(workspace, now)?.inbox;
        }
        Ok(self.runs_facts())
    }

    fn runs_facts(&self) -> RunsFacts {
        RunsFacts {
            inbox: self.inbox.clone(),
            rows: self.rows.clone(),
            unreadable: self.unreadable.clone(),
            fleet_away: None,
        }
    }

    fn read_run(
        &mut self,
        run: &RunId,
        wanted: Option<&WantedDetail>,
    ) -> Result<Option<RunFacts>, Failure> {
        let Some(workspace) = &mut self.workspace else {
            return Ok(None);
        };
        let now = clock::now();
        let opened = workspace.read(run)?;
        let same = self.run.take().filter(|(shown, _)| shown == run);
        let (_, mut reader) = same.unwrap_or_else(|| (run.clone(), RunReader::new(run.clone())));
        let status = reader.read_opened(workspace, &opened, now)?;
        let facts = RunFacts {
            status,
            spine: run_details::spine(&opened, &reader, now),
            choices: run_details::choices(&opened, now),
            entries: self.entries.of(workspace, &opened)?,
            workers: Vec::new(),
            output: None,
            changes: match wanted {
                Some(WantedDetail::Changes) => {
                    self.changes
                        .rows(&workspace.state, &opened, reader.timeline())
                }
                Some(WantedDetail::Output(_)) | None => Vec::new(),
            },
        };
        self.run = Some((run.clone(), reader));
        let output = match wanted {
            Some(WantedDetail::Output(output)) => Some(output),
            Some(WantedDetail::Changes) | None => None,
        };
        Ok(Some(self.with_output(run, facts, output)))
    }

    /// The same with the output of a worker, where that is shown.
    fn with_output(
        &mut self,
        run: &RunId,
        mut facts: RunFacts,
        wanted: Option<&WantedOutput>,
    ) -> RunFacts {
        let (Some(workspace), Some(wanted)) = (&self.workspace, wanted) else {
            self.log = None;
            return facts;
        };
        let logs = LogReader::all(&workspace.state, run);
        facts.workers = logs.iter().map(worker_name).collect();
        let dispatch = match wanted {
            WantedOutput::Of(dispatch) => Some(*dispatch),
            WantedOutput::Latest => logs.last().map(|log| log.head.dispatch),
        };
        let is_open = |log: &OpenLog| log.run == *run && Some(log.text.dispatch) == dispatch;
        if !self.log.as_ref().is_some_and(is_open) {
            let mut logs = logs.into_iter();
            let log = logs.find(|log| Some(log.head.dispatch) == dispatch);
            self.log = log.map(|reader| OpenLog::new(run.clone(), reader));
        }
        facts.output = self.log.as_mut().map(OpenLog::read);
        facts
    }

    fn text(&mut self, target: &TextTarget) -> Result<OpenText, Failure> {
        let gone = || Failure::not_found("the store is gone").hint("retry");
        let workspace = self.workspace.as_mut().ok_or_else(gone)?;
        match target {
            TextTarget::Change { run } => changes::of_run(workspace, run),
            TextTarget::WorkChange { run, of } => {
                let known = self.run.as_ref().filter(|(shown, _)| shown == run);
                changes::of_work(workspace, run, of, known.map(|(_, reader)| reader))
            }
            TextTarget::Why { run, entry } => {
                let why = explain::why(workspace, run, *entry)?.text(Paint::Plain);
                Ok(OpenText {
                    title: format!("why {run} {entry}"),
                    lines: why
                        .lines()
                        .map(|line| (Style::Normal, line.to_owned()))
                        .collect(),
                    wrapping: Wrapping::On,
                })
            }
            TextTarget::Artifact { name, content, .. } => {
                let text = run_details::content(workspace, *content)?;
                let missing = || Failure::not_found(format!("the content of {name} is not kept"));
                Ok(OpenText {
                    title: views::line(name),
                    lines: text_lines(&text.ok_or_else(missing)?),
                    wrapping: Wrapping::On,
                })
            }
        }
    }
}

/// The runs that wait for a person.
fn waiting(rows: &[RunRow]) -> Vec<RunId> {
    let waits = |row: &&RunRow| matches!(row.liveness, Some(Liveness::WaitsForYou { .. }));
    let waiting = rows.iter().filter(waits);
    waiting.map(|row| row.run.clone()).collect()
}

fn worker_name(log: &LogReader) -> WorkerName {
    WorkerName {
        dispatch: log.head.dispatch,
        agent: log.head.agent.to_string(),
    }
}

fn text_lines(text: &Untrusted) -> Vec<(Style, String)> {
    let raw = text.raw();
    let mut end = raw.len().min(LONGEST_TEXT);
    while !raw.is_char_boundary(end) {
        end -= 1;
    }
    let shown = Untrusted::new(&raw[..end]).block();
    let lines = shown.lines().map(|line| line.replace('\t', "    "));
    let mut lines: Vec<_> = lines.map(|line| (Style::Normal, line)).collect();
    if end < raw.len() {
        let text = format!("… {} more bytes are not shown", raw.len() - end);
        lines.push((Style::Dim, text));
    }
    lines
}

impl OpenLog {
    fn new(run: RunId, reader: LogReader) -> Self {
        Self {
            run,
            output: WorkerOutput::of(&reader.head),
            text: WorkerText {
                dispatch: reader.head.dispatch,
                lines: Vec::new(),
                dropped: 0,
            },
            reader,
        }
    }

    /// Reads what is new.
    fn read(&mut self) -> WorkerText {
        for line in self.reader.lines() {
            let texts = self.output.texts(&line, false);
            let texts = texts
                .iter()
                .map(|it| views::progress::short(it, LONGEST_LINE));
            self.text.lines.extend(texts.map(Untrusted::new));
        }
        let over = self.text.lines.len().saturating_sub(MOST_LINES);
        self.text.lines.drain(..over);
        self.text.dropped += over;
        self.text.clone()
    }
}
