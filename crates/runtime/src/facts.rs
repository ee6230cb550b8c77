//! The facts of one run, of all runs, and the inbox: gathered here for the command, the terminal screen and the page.
//!
//! A screen that stays open keeps one `Workspace` for reading and one `RunReader` for each run that it shows. It asks
//! `change_number` whether anything was written since its last look. Liveness changes without a write, so it gathers
//! the rows of the runs that are not over again every few seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use engine::{Hash, Mode, Pipeline, Run, RunId, Seconds, StageName, Status, Time};
use store::{Backend as _, RunSummary, ShippedSummary};
use views::facts::{Inbox, InboxEntry, Liveness, QUIET_AFTER, QuietReason, Timeline};
use views::list::{Integrity, RowDepth, RunRow};
use views::next::NextView;
use views::report::ReportView;
use views::status::{JournalFacts, StatusView};
use views::{Freshness, RunContext, Untrusted};

use crate::failure::{Failure, FailureKind};
use crate::workspace::{OpenRun, Workspace, as_of};
use crate::{
    answers, asked_about, drive_settings, find_run, lease_holder, signs, undelivered, work_change,
};

/// A report tells of so many of the latest pieces of work how much they changed.
const MOST_CHANGES: usize = 200;

/// Gathers the facts of many runs. Pipelines are read once each.
#[derive(Default)]
pub struct RunsReader {
    pipelines: BTreeMap<Hash, Rc<Pipeline>>,
    /// Queued runs change only with a write: their rows, by the version that was read.
    queued: BTreeMap<RunId, (u64, RunRow)>,
}

/// Many runs, one row each.
pub struct RunRows {
    pub rows: Vec<RunRow>,
    /// Why some rows show only what the list of the store has.
    pub unreadable: Vec<Failure>,
}

/// What waits for a person.
#[derive(Default)]
pub struct InboxFound {
    pub inbox: Inbox,
    /// The runs that may wait and cannot be read.
    pub unreadable: Vec<Failure>,
}

/// A number that stays the same as long as nobody writes to the store. It means something only to this workspace.
pub fn change_number(workspace: &Workspace<'_>) -> Result<u64, Failure> {
    Ok(workspace.store.change_number()?)
}

impl RunsReader {
    /// A row for each run of all projects, the latest started first. Those that are over are not opened.
    pub fn all(&mut self, workspace: &mut Workspace<'_>, now: Time) -> Result<RunRows, Failure> {
        let summaries = workspace.store.runs(None)?;
        let mut found = self.rows(workspace, &summaries, RowDepth::Summary, now)?;
        found.rows.extend(rows_elsewhere(workspace, now)?);
        Ok(found)
    }

    /// A row for each of these. Those that are over are read as far as `over` says.
    pub fn rows<'s>(
        &mut self,
        workspace: &mut Workspace<'_>,
        summaries: impl IntoIterator<Item = &'s RunSummary>,
        over: RowDepth,
        now: Time,
    ) -> Result<RunRows, Failure> {
        let (mut rows, mut unreadable) = (Vec::new(), Vec::new());
        let undelivered = undelivered::runs(&workspace.state);
        // That a run is set aside changes nothing of the run.
        for (run, _) in set_aside(workspace)? {
            self.queued.remove(&run);
        }
        for summary in summaries {
            let is_settled = !find_run::is_active(summary) && !undelivered.contains(&summary.id);
            if over == RowDepth::Summary && is_settled {
                rows.push(brief(summary, Integrity::Intact, now));
                continue;
            }
            if let Some((version, row)) = self.queued.get(&summary.id)
                && *version == summary.version
            {
                rows.push(row.clone());
                continue;
            }
            match self.row(workspace, &summary.id, now) {
                Ok(row) => {
                    self.remember(summary, row.as_ref());
                    rows.extend(row);
                }
                Err(failure) => {
                    rows.push(brief(summary, integrity(&failure)?, now));
                    unreadable.push(failure);
                }
            }
        }
        Ok(RunRows { rows, unreadable })
    }

    fn remember(&mut self, summary: &RunSummary, row: Option<&RunRow>) {
        let queued = row.filter(|row| row.liveness == Some(Liveness::Queued));
        match queued {
            Some(row) => {
                let read = (summary.version, row.clone());
                self.queued.insert(summary.id.clone(), read);
            }
            None => {
                self.queued.remove(&summary.id);
            }
        }
    }

    /// Judges the runs of these rows again that somebody should work on: their liveness changes without a write.
    pub fn judge_again(
        &mut self,
        workspace: &mut Workspace<'_>,
        rows: &mut [RunRow],
        now: Time,
    ) -> Result<(), Failure> {
        for row in rows {
            let is_settled = match row.liveness {
                Some(
                    Liveness::Live { .. }
                    | Liveness::Quiet { .. }
                    | Liveness::OwnerLost { .. }
                    | Liveness::Rests { .. },
                )
                | None => false,
                Some(Liveness::WaitsForYou { .. } | Liveness::Queued | Liveness::Over) => true,
            };
            if row.depth == RowDepth::Whole
                && !is_settled
                && let Some(current) = self.row(workspace, &row.run, now)?
            {
                *row = current;
            }
        }
        Ok(())
    }

    /// Every question that waits, over all projects, and every run whose work is to be delivered. No other run that is
    /// over is opened.
    pub fn inbox(
        &mut self,
        workspace: &mut Workspace<'_>,
        now: Time,
    ) -> Result<InboxFound, Failure> {
        let summaries = workspace.store.active_runs()?;
        self.inbox_among(workspace, &summaries, now)
    }

    /// The same of the runs that somebody has listed.
    pub fn inbox_among(
        &mut self,
        workspace: &mut Workspace<'_>,
        summaries: &[RunSummary],
        now: Time,
    ) -> Result<InboxFound, Failure> {
        let mut unreadable = Vec::new();
        let mut entries = Vec::new();
        for opened in self.waiting(workspace, summaries, &mut unreadable, now)? {
            entries.push(entry(workspace, &opened, now));
        }
        entries.extend(waiting_elsewhere(workspace, now)?);
        for (run, why) in set_aside(workspace)? {
            let summary = summaries.iter().find(|summary| summary.id == run);
            entries.extend(summary.map(|summary| entry_aside(summary, &why, now)));
        }
        let inbox = Inbox::new(entries);
        Ok(InboxFound { inbox, unreadable })
    }

    /// How many runs of all projects wait for a person.
    pub fn count_waiting(
        &mut self,
        workspace: &mut Workspace<'_>,
        now: Time,
    ) -> Result<usize, Failure> {
        let summaries = workspace.store.active_runs()?;
        self.count_waiting_among(workspace, &summaries, now)
    }

    /// The same of the runs that somebody has listed.
    pub fn count_waiting_among(
        &mut self,
        workspace: &mut Workspace<'_>,
        summaries: &[RunSummary],
        now: Time,
    ) -> Result<usize, Failure> {
        let mut unreadable = Vec::new();
        let found = self.waiting(workspace, summaries, &mut unreadable, now)?;
        let aside = set_aside(workspace)?.len();
        Ok(found.len() + waiting_elsewhere(workspace, now)?.len() + aside)
    }

    /// The runs that wait for a person now: also those past their `ttl` of which nobody has recorded that.
    fn waiting(
        &mut self,
        workspace: &mut Workspace<'_>,
        summaries: &[RunSummary],
        unreadable: &mut Vec<Failure>,
        now: Time,
    ) -> Result<Vec<OpenRun>, Failure> {
        let may_wait = |summary: &&RunSummary| match summary.status {
            Status::Running | Status::Waiting(_) => true,
            Status::Queued | Status::Completed | Status::Failed | Status::Cancelled => false,
        };
        let waiting = summaries.iter().filter(may_wait).map(|it| it.id.clone());
        // A run has its note from the beginning, so it may be among both.
        let mut runs: BTreeSet<RunId> = waiting.collect();
        runs.extend(undelivered::runs(&workspace.state));
        let mut found = Vec::new();
        for run in runs {
            match self.open(workspace, &run) {
                Ok(Some(opened)) if waits(&opened, now) => found.push(opened),
                Ok(Some(opened)) if waits_undelivered(workspace, &opened)? => found.push(opened),
                Ok(Some(_) | None) => {}
                Err(failure) => {
                    integrity(&failure)?;
                    unreadable.push(failure);
                }
            }
        }
        Ok(found)
    }

    /// The run with its pipeline; none if the run has gone meanwhile.
    fn open(
        &mut self,
        workspace: &mut Workspace<'_>,
        run: &RunId,
    ) -> Result<Option<OpenRun>, Failure> {
        let Some(stored) = workspace.store.run(run)? else {
            return Ok(None);
        };
        let hash = stored.run.definition;
        let pipeline = match self.pipelines.get(&hash) {
            Some(known) => Rc::clone(known),
            None => Rc::new(workspace.pipeline(hash)?),
        };
        self.pipelines.insert(hash, Rc::clone(&pipeline));
        let stored = Rc::new(stored);
        Ok(Some(OpenRun { stored, pipeline }))
    }

    fn row(
        &mut self,
        workspace: &mut Workspace<'_>,
        run: &RunId,
        now: Time,
    ) -> Result<Option<RunRow>, Failure> {
        let Some(opened) = self.open(workspace, run)? else {
            return Ok(None);
        };
        let run = as_of(&opened.pipeline, opened.run(), now);
        let signs = signs::of(workspace, &opened, &run, now)?;
        let row = RunRow::new(&opened.pipeline, &run, context(&opened, &run, now));
        let row = row.with_repository(&opened.stored.project);
        let row = row.with_rehearsal(drive_settings::is_rehearsal(&workspace.state, &run));
        let row = row.with_undelivered(undelivered::of(&workspace.state, &opened));
        let row = row.with_liveness(Liveness::of(&signs));
        Ok(Some(row.with_rest(signs.rest)))
    }
}

/// Gathers all facts of one run. It remembers how far it has read the journal, so that a second look costs what has
/// happened since.
pub struct RunReader {
    run: RunId,
    timeline: Timeline,
}

impl RunReader {
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            timeline: Timeline::default(),
        }
    }

    /// The way of the run through its stages, as far as it was read.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// All facts of the run now.
    pub fn read(
        &mut self,
        workspace: &mut Workspace<'_>,
        now: Time,
    ) -> Result<StatusView, Failure> {
        let opened = workspace.read(&self.run)?;
        self.read_opened(workspace, &opened, now)
    }

    /// The same of a run that somebody has just opened.
    pub fn read_opened(
        &mut self,
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        now: Time,
    ) -> Result<StatusView, Failure> {
        self.catch_up(workspace, opened)?;
        let run = as_of(&opened.pipeline, opened.run(), now);
        let signs = signs::of(workspace, opened, &run, now)?;
        let asks = waits(opened, now).then(|| read_entry(workspace, opened, now));
        Ok(present(opened, now)
            .with_liveness(Liveness::of(&signs))
            .with_rest(signs.rest)
            .with_inbox(asks.transpose()?)
            .with_rehearsal(drive_settings::is_rehearsal(&workspace.state, &run))
            .with_undelivered(undelivered::of(&workspace.state, opened))
            .with_journal(&opened.pipeline, &run, &self.timeline, opened.stored.head)
            .with_workers(
                &opened.pipeline,
                &run,
                signs::workers(&workspace.state, &run),
                now,
            ))
    }

    /// How long the run was in each stage that it has left.
    pub fn spent(
        &mut self,
        workspace: &Workspace<'_>,
        opened: &OpenRun,
    ) -> Result<BTreeMap<StageName, Seconds>, Failure> {
        self.catch_up(workspace, opened)?;
        Ok(self.timeline.spent())
    }

    /// The report of the run.
    pub fn report(
        &mut self,
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        now: Time,
    ) -> Result<ReportView, Failure> {
        let status = self.read_opened(workspace, opened, now)?;
        let run = as_of(&opened.pipeline, opened.run(), now);
        let head = Some(opened.stored.head);
        let journal = JournalFacts::new(&opened.pipeline, &run, &self.timeline, head);
        let attempts = self.timeline.visits().rev().flat_map(|it| &it.attempts);
        let changes = attempts.take(MOST_CHANGES).filter_map(|attempt| {
            let stat = work_change::stat(&workspace.state, &run.id, attempt.dispatch)?;
            Some((attempt.dispatch, stat))
        });
        let changes = changes.collect();
        let report = ReportView::new(&opened.pipeline, &run, status, journal);
        Ok(report.with_changes(changes))
    }

    /// Reads the entries up to the run as it was opened.
    fn catch_up(&mut self, workspace: &Workspace<'_>, opened: &OpenRun) -> Result<(), Failure> {
        let (run, to) = (&self.run, opened.stored.version);
        let timeline = &mut self.timeline;
        let from = timeline.version() + 1;
        workspace.store.walk_from(run, from, to, &mut |stored| {
            timeline.add(&opened.pipeline, stored.number, &stored.entry);
            Ok(())
        })?;
        Ok(())
    }
}

/// The guarded runs of the other machines of the fleet, as those machines say, the latest started first.
pub fn elsewhere(workspace: &Workspace<'_>) -> Result<Vec<ShippedSummary>, Failure> {
    let (Some(fleet), Some(seat)) = (workspace.store.fleet(), workspace.context.fleet()) else {
        return Ok(Vec::new());
    };
    let mut shipped = fleet.shipped_runs()?;
    shipped.retain(|it| it.machine != seat.machine);
    Ok(shipped)
}

/// A row for each of them.
pub fn rows_elsewhere(workspace: &Workspace<'_>, now: Time) -> Result<Vec<RunRow>, Failure> {
    let shipped = elsewhere(workspace)?;
    Ok(shipped.iter().map(|it| row_elsewhere(it, now)).collect())
}

/// A machine that ships gives signs; how its session works, only the machine knows.
pub fn row_elsewhere(shipped: &ShippedSummary, now: Time) -> RunRow {
    let row = brief(&shipped.summary, Integrity::Intact, now);
    let silent = Seconds(shipped.silent_ms / 1_000);
    let liveness = match row.liveness {
        None if silent < QUIET_AFTER => Some(Liveness::Live { last_sign: silent }),
        None => Some(Liveness::Quiet {
            since: silent,
            why: QuietReason::Silent,
        }),
        known => known,
    };
    RunRow {
        liveness,
        machine: Some(Untrusted::new(&shipped.name)),
        ..row
    }
}

/// The runs that no worker of the fleet takes any more.
fn set_aside(workspace: &Workspace<'_>) -> Result<Vec<(RunId, String)>, Failure> {
    let fleet = workspace.store.fleet();
    Ok(fleet.map_or(Ok(Vec::new()), |fleet| fleet.set_aside())?)
}

/// A person must put it back.
fn entry_aside(summary: &RunSummary, why: &str, now: Time) -> InboxEntry {
    InboxEntry {
        run: summary.id.clone(),
        pipeline: summary.pipeline.clone(),
        project: Untrusted::new(&summary.worktree),
        task: Untrusted::new(&summary.task),
        stage: summary.stage.clone(),
        since: summary.updated_at,
        age: now.since(summary.updated_at),
        asks: Untrusted::new(format!("set aside: {why}")),
        questions: Vec::new(),
        about: Vec::new(),
        commands: vec![format!("gatewright resume {}", summary.id)],
        shown_by: "gatewright queue".to_owned(),
    }
}

/// Those of them that wait for a person: they are answered there.
fn waiting_elsewhere(workspace: &Workspace<'_>, now: Time) -> Result<Vec<InboxEntry>, Failure> {
    let mut entries = Vec::new();
    for ShippedSummary { name, summary, .. } in elsewhere(workspace)? {
        let Status::Waiting(reason) = &summary.status else {
            continue;
        };
        let shown_by = format!("gatewright next {}", summary.id);
        entries.push(InboxEntry {
            run: summary.id.clone(),
            pipeline: summary.pipeline.clone(),
            project: Untrusted::new(&summary.project),
            task: Untrusted::new(&summary.task),
            stage: summary.stage.clone(),
            since: summary.updated_at,
            age: now.since(summary.updated_at),
            asks: Untrusted::new(format!("on {name}: {reason}")),
            questions: Vec::new(),
            about: Vec::new(),
            commands: vec![shown_by.clone()],
            shown_by,
        });
    }
    Ok(entries)
}

/// The liveness of a run, and nothing else.
pub fn liveness(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    now: Time,
) -> Result<Liveness, Failure> {
    let run = as_of(&opened.pipeline, opened.run(), now);
    Ok(Liveness::of(&signs::of(workspace, opened, &run, now)?))
}

/// What the run itself says, without its journal and without signs.
pub fn present(opened: &OpenRun, now: Time) -> StatusView {
    let run = as_of(&opened.pipeline, opened.run(), now);
    views::status(&opened.pipeline, &run, context(opened, &run, now))
}

fn context<'o>(opened: &'o OpenRun, run: &Run, now: Time) -> RunContext<'o> {
    RunContext {
        project: &opened.stored.home,
        now,
        freshness: freshness(&opened.pipeline, run, now),
    }
}

/// Is the run past its `ttl`?
pub fn freshness(pipeline: &Pipeline, run: &Run, now: Time) -> Freshness {
    if engine::is_stale(pipeline, run, now) {
        Freshness::Stale
    } else {
        Freshness::Fresh
    }
}

fn waits(opened: &OpenRun, now: Time) -> bool {
    let run = as_of(&opened.pipeline, opened.run(), now);
    matches!(engine::status(&opened.pipeline, &run), Status::Waiting(_))
}

/// Is its work to be handed over, and nobody does it now?
fn waits_undelivered(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<bool, Failure> {
    if undelivered::of(&workspace.state, opened).is_none() {
        return Ok(false);
    }
    let held = workspace.store.lease(&opened.run().id)?;
    Ok(lease_holder::driver(held.as_ref()).is_none())
}

/// What the run asks, as `next` shows it, with the questions of a worker.
fn entry(workspace: &Workspace<'_>, opened: &OpenRun, now: Time) -> InboxEntry {
    let next = asked(workspace, opened, now);
    entry_of(opened, &next, now)
}

/// The same with the text of what it is about.
fn read_entry(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    now: Time,
) -> Result<InboxEntry, Failure> {
    let next = asked_about::with_contents(workspace, asked(workspace, opened, now))?;
    Ok(entry_of(opened, &next, now))
}

fn entry_of(opened: &OpenRun, next: &NextView, now: Time) -> InboxEntry {
    let run = as_of(&opened.pipeline, opened.run(), now);
    InboxEntry::new(&opened.pipeline, &run, next, &opened.stored.home, now)
}

fn asked(workspace: &Workspace<'_>, opened: &OpenRun, now: Time) -> NextView {
    let run = as_of(&opened.pipeline, opened.run(), now);
    let legal = engine::next(&opened.pipeline, &run);
    let next = views::next(&opened.pipeline, &run, &legal);
    let next = next.with_undelivered(undelivered::of(&workspace.state, opened));
    let asked = engine::asked(&opened.pipeline, &run);
    // Questions that cannot be read are shown by `next`, as they were written.
    let questions = answers::questions(workspace, opened).ok().flatten();
    match asked.zip(questions) {
        Some(((field, _), questions)) => next.with_questions(&field.artifact, questions),
        None => next,
    }
}

/// What can be shown of a run that cannot be read. What is wrong with all runs is an error.
fn integrity(failure: &Failure) -> Result<Integrity, Failure> {
    match failure.kind {
        FailureKind::Store => Ok(Integrity::Damaged),
        // This version does not accept its definition.
        FailureKind::Refused => Ok(Integrity::Intact),
        FailureKind::Usage
        | FailureKind::NotFound
        | FailureKind::Settings
        | FailureKind::Environment
        | FailureKind::Unreachable
        | FailureKind::Bug => Err(failure.clone()),
    }
}

/// The row of a run by its summary alone.
fn brief(summary: &RunSummary, integrity: Integrity, now: Time) -> RunRow {
    let idle = now.since(summary.updated_at);
    let liveness = match &summary.status {
        Status::Queued => Some(Liveness::Queued),
        Status::Waiting(_) => Some(Liveness::WaitsForYou { since: idle }),
        Status::Completed | Status::Failed | Status::Cancelled => Some(Liveness::Over),
        // Whose it is, only the run knows.
        Status::Running => None,
    };
    let row = RunRow {
        run: summary.id.clone(),
        pipeline: summary.pipeline.clone(),
        integrity,
        depth: RowDepth::Summary,
        status: summary.status.clone(),
        liveness,
        rest: None,
        stage: summary.stage.clone(),
        task: Untrusted::new(&summary.task),
        project: Untrusted::new(&summary.worktree),
        repository: Untrusted::new(&summary.worktree),
        driver: summary.driver,
        machine: None,
        rehearsal: false,
        mode: Mode::Enforced,
        freshness: Freshness::Fresh,
        session: None,
        bypass: None,
        unjudged: 0,
        unguarded: 0,
        overrides: usize::from(summary.overridden),
        undelivered: None,
        started_at: summary.started_at,
        touched_at: summary.updated_at,
        idle,
    };
    row.with_repository(&summary.project)
}
