//! A worktree for each worker of a task graph. Its changes are merged in the order of the graph.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use engine::{CallId, DispatchId, Source, StepId, Work};
use evidence::artifact_path;
use runtime::failure::Failure;
use runtime::transact;
use runtime::work_change::{self, StepCommits};
use runtime::workspace::{OpenRun, Workspace};

use crate::agent::work::{Delivered, Delivery};
use crate::run_place::{self, left_files};
use crate::surroundings::{Place, Surroundings};
use crate::worktree::{DurableSoon, Merged, Prepared, Snapshot, Worktree, WorktreeAge, Worktrees};

/// How often a worker that waits in the queue checks for a stop.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The steps at work. Changes are merged in the order of the graph, so that a conflict does not
/// depend on the speed of the workers.
#[derive(Clone, Default)]
pub(crate) struct MergeQueue(Arc<(Mutex<BTreeMap<usize, DispatchId>>, Condvar)>);

impl MergeQueue {
    pub(crate) fn join(&self, place: usize, dispatch: DispatchId) {
        let (places, _) = &*self.0;
        let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
        places.insert(place, dispatch);
    }

    fn leave(&self, place: usize) {
        let (places, changed) = &*self.0;
        let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
        places.remove(&place);
        changed.notify_all();
    }

    /// Waits until no earlier step is at work; `None` if we are stopped.
    fn wait(&self, place: usize, stop: &AtomicBool) -> Option<()> {
        let (places, changed) = &*self.0;
        let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
        while places.range(..place).next().is_some() {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let waited = changed.wait_timeout(places, STOP_POLL_INTERVAL);
            places = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(())
    }
}

pub(crate) struct StepFolder {
    worktrees: Worktrees,
    worktree: Worktree,
    /// What came along and changed since then, the worker changed.
    carried_at: SystemTime,
    age: WorktreeAge,
    merge_queue: MergeQueue,
    place: usize,
    stop: Arc<AtomicBool>,
    /// What was merged of the last result.
    merged: Option<Snapshot>,
    durable_soon: Option<DurableSoon>,
}

/// The ignored files of a step that do not come back, or why that is not known.
type LeftFiles = Result<Vec<String>, Failure>;

/// One try at a step; each has a worktree of its own.
#[derive(Clone, Copy)]
pub(crate) struct StepAttempt<'a> {
    pub step: &'a StepId,
    pub call: &'a CallId,
    pub restarts: u32,
}

/// Where a worker of a task graph works.
pub(crate) enum StepLocation {
    /// In the run's own worktree, alone.
    Shared,
    Own(Box<StepFolder>),
}

/// Does each worker of the current stage have its own worktree?
pub(crate) fn is_parallel(opened: &OpenRun) -> bool {
    let run = opened.run();
    let stage = opened.pipeline.stage(&run.position.stage);
    stage.is_some_and(|stage| match &stage.work {
        Work::Steps(work) => engine::parallel_limit(run, work) > 1,
        Work::Agent(_)
        | Work::Open(_)
        | Work::Check(_)
        | Work::Ask(_)
        | Work::Review(_)
        | Work::Route(_)
        | Work::End(_) => false,
    })
}

impl StepFolder {
    /// Creates the worktree for this step. Without git there is none, and steps run one after
    /// another.
    pub(crate) fn create(
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        attempt: StepAttempt<'_>,
        merge_queue: &MergeQueue,
        stop: &Arc<AtomicBool>,
    ) -> Result<StepLocation, Failure> {
        if !is_parallel(opened) {
            return Ok(StepLocation::Shared);
        }
        let root = workspace.project_of(opened)?.root;
        let worktrees = Worktrees::new(&workspace.state, &root, &opened.run().id);
        match worktrees.prepare(&attempt.worktree_name(), &carried(opened, attempt.step)?)? {
            Prepared::NoGit(_) => Ok(StepLocation::Shared),
            Prepared::Ready(worktree, age) => {
                run_place::carry(workspace, opened, &worktree.folder)?;
                let carried_at = SystemTime::now();
                Ok(StepLocation::Own(Box::new(Self {
                    worktrees,
                    worktree,
                    carried_at,
                    age,
                    merge_queue: merge_queue.clone(),
                    place: place(opened, attempt.step),
                    stop: Arc::clone(stop),
                    merged: None,
                    durable_soon: None,
                })))
            }
        }
    }

    /// Removes what was kept for further steps.
    pub(crate) fn remove_spares(
        workspace: &Workspace<'_>,
        opened: &OpenRun,
    ) -> Result<(), Failure> {
        let root = workspace.project_of(opened)?.root;
        Worktrees::new(&workspace.state, &root, &opened.run().id).remove_spares()
    }

    /// Keeps the work of an interrupted worker under a ref and removes its worktree: the work
    /// restarts.
    pub(crate) fn abandon(
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        attempt: StepAttempt<'_>,
    ) -> Result<(), Failure> {
        let root = workspace.project_of(opened)?.root;
        let worktrees = Worktrees::new(&workspace.state, &root, &opened.run().id);
        match worktrees.find(&attempt.worktree_name())? {
            Some(worktree) => worktrees.archive(&worktree),
            None => Ok(()),
        }
    }

    /// Was there a worktree for this try, which is gone?
    pub(crate) fn is_lost(
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        attempt: StepAttempt<'_>,
    ) -> Result<bool, Failure> {
        let root = workspace.project_of(opened)?.root;
        let worktrees = Worktrees::new(&workspace.state, &root, &opened.run().id);
        let worktree = worktrees.find(&attempt.worktree_name())?;
        Ok(worktree.is_some_and(|worktree| !worktree.is_there()))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.worktree.folder
    }

    pub(crate) fn surroundings_place(&self) -> Place<'_> {
        let base = self.worktree.base.as_str();
        match self.age {
            WorktreeAge::New => Place::NewWorktree { base },
            WorktreeAge::Old => Place::OldWorktree { base },
        }
    }

    /// The folder as records store it.
    pub(crate) fn folder_text(&self) -> Result<String, Failure> {
        let folder = self.worktree.folder.to_str();
        folder.map(str::to_owned).ok_or_else(|| {
            Failure::environment("the path of the state folder is not valid UTF-8")
                .hint("set XDG_STATE_HOME")
        })
    }

    /// The step starts: later steps wait for it.
    pub(crate) fn enter(&mut self, dispatch: DispatchId) {
        self.durable_soon = Some(DurableSoon::begin(&self.worktrees, &self.worktree));
        self.merge_queue.join(self.place, dispatch);
    }

    /// Removes the worktree of work that is judged or never started. Unmerged work is kept under a
    /// ref.
    pub(crate) fn clear(&mut self) -> Result<(), Failure> {
        self.durable_soon = None;
        match &self.merged {
            Some(merged) => self.worktrees.retire(&self.worktree, merged),
            None => {
                let discarded = self.worktrees.discard(&self.worktree);
                discarded.or_else(|_| self.worktrees.archive(&self.worktree))
            }
        }
    }
}

impl StepFolder {
    /// Merges what the worker left. Meanwhile we look for ignored files that do not come back.
    fn merge(
        &self,
        workspace: &mut Workspace<'_>,
        opened: &OpenRun,
        snapshot: &Snapshot,
    ) -> Result<(Merged, LeftFiles), Failure> {
        let surroundings = Surroundings::of(workspace, opened)?;
        let surroundings = surroundings.ok_or_else(|| {
            Failure::environment("the project is no longer a git repository")
                .hint("restore its .git folder and retry")
        })?;
        let home = workspace.project_of(opened)?;
        let placement = &opened.pipeline.definition().placement;
        let (folder, carried_at) = (&self.worktree.folder, self.carried_at);
        thread::scope(|scope| {
            let looking = scope.spawn(|| left_files::of_step(&home, placement, folder, carried_at));
            let merged = surroundings.merge(workspace, opened, snapshot);
            let left = looking.join();
            let left = left.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok((merged?, left))
        })
    }

    /// Ignored files of a step do not come back. That is said, so that nobody looks for them in vain.
    fn tell_left(
        &self,
        workspace: &mut Workspace<'_>,
        opened: &OpenRun,
        left: &LeftFiles,
    ) -> Result<(), Failure> {
        let name = &self.worktree.name;
        let message = match left {
            Ok(left) if left.is_empty() => return Ok(()),
            Ok(left) => format!(
                "the worktree of {name} had ignored files that were not brought back: {}; `carry_back` in the \
                 pipeline names what is",
                left_files::named(left)
            ),
            // The work itself is merged.
            Err(failure) => format!(
                "if the worktree of {name} had ignored files, they were not brought back ({})",
                views::line(&failure.to_string())
            ),
        };
        transact::remark(workspace, opened.clone(), None, &message).map(drop)
    }
}

impl Drop for StepFolder {
    fn drop(&mut self) {
        self.merge_queue.leave(self.place);
    }
}

impl Delivery for StepFolder {
    fn is_lost(&self) -> bool {
        !self.worktree.is_there()
    }

    fn deliver(
        &mut self,
        workspace: &mut Workspace<'_>,
        opened: &OpenRun,
        dispatch: DispatchId,
    ) -> Result<Delivered, Failure> {
        if self.merge_queue.wait(self.place, &self.stop).is_none() {
            return Ok(Delivered::Stopped);
        }
        self.merged = None;
        let snapshot = self.worktrees.finish(&self.worktree)?;
        let commits = StepCommits {
            base: &snapshot.base,
            result: &snapshot.commit,
        };
        work_change::keep_step(workspace, opened, dispatch, commits);
        let (merged, left) = self.merge(workspace, opened, &snapshot)?;
        match merged {
            Merged::Nothing | Merged::Clean { .. } => {
                self.merged = Some(snapshot);
                self.tell_left(workspace, opened, &left)?;
                Ok(Delivered::Done)
            }
            Merged::Conflict { paths } => Ok(Delivered::Conflict(paths)),
        }
    }
}

impl StepAttempt<'_> {
    /// Work that restarts gets a new worktree, so the number of restarts is part of the name.
    fn worktree_name(&self) -> String {
        format!("{}-{}-{}", self.step, self.call, self.restarts)
    }
}

/// Was this worktree made for this call?
pub(crate) fn belongs_to(worktree: &Worktree, call: &CallId) -> bool {
    let made_for = worktree.name.rsplit_once('-').map(|(name, _)| name);
    made_for.is_some_and(|name| name.ends_with(&format!("-{call}")))
}

/// The paths of all artifacts and of what comes back, which are copied even if git ignores them.
fn carried(opened: &OpenRun, step: &StepId) -> Result<Vec<String>, Failure> {
    let definition = opened.pipeline.definition();
    let files = definition.artifacts.values();
    let templates = files.filter_map(|artifact| match &artifact.source {
        Source::File(template) => Some(template),
        Source::Reply | Source::Answers => None,
    });
    let paths = templates.map(|template| {
        let path = artifact_path(template, definition, opened.run(), Some(step));
        let path =
            path.map_err(|reason| Failure::refused(format!("{template} is not a path: {reason}")))?;
        Ok(path.as_str().to_owned())
    });
    let back = definition.placement.carry_back.iter().cloned().map(Ok);
    paths.chain(back).collect()
}

/// The step's index in its graph.
fn place(opened: &OpenRun, step: &StepId) -> usize {
    let graph = opened.run().graphs.get(&opened.run().position.stage);
    let mut members = graph.into_iter().flat_map(|graph| &graph.members);
    members
        .position(|member| member.step.id == *step)
        .unwrap_or_default()
}
