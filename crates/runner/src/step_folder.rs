//! A folder of its own for each worker of a task graph, from which its changes come back in order.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use engine::{CallId, DispatchId, Source, StepId, Work};
use evidence::artifact_path;
use runtime::failure::Failure;
use runtime::workspace::{OpenRun, Workspace};

use crate::agent::work::{Delivered, Delivery};
use crate::worktree::{Merged, Prepared, Worktree, Worktrees};

/// How often a worker that waits for its turn looks whether we are stopped.
const GLANCE: Duration = Duration::from_millis(200);

/// The steps at work, in the order in which their changes come back: that of the graph. So a conflict
/// is the same one however fast each of them was.
#[derive(Clone, Default)]
pub struct Queue(Arc<(Mutex<BTreeMap<usize, DispatchId>>, Condvar)>);

impl Queue {
    pub fn join(&self, place: usize, dispatch: DispatchId) {
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

    /// Waits until nobody before this place is at work; not if we are stopped.
    fn wait(&self, place: usize, stop: &AtomicBool) -> Option<()> {
        let (places, changed) = &*self.0;
        let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
        while places.range(..place).next().is_some() {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let waited = changed.wait_timeout(places, GLANCE);
            places = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(())
    }
}

pub struct StepFolder {
    worktrees: Worktrees,
    worktree: Worktree,
    queue: Queue,
    place: usize,
    stop: Arc<AtomicBool>,
    merged: bool,
}

/// Where a worker of a task graph works.
pub enum Where {
    /// In the run's own worktree: nobody else works there meanwhile.
    Together,
    Apart(Box<StepFolder>),
}

/// Does each worker of the present stage work apart?
pub fn is_parallel(opened: &OpenRun) -> bool {
    let run = opened.run();
    let stage = opened.pipeline.stage(&run.position.stage);
    match stage.map(|stage| &stage.work) {
        Some(Work::Steps(work)) => engine::parallel_limit(run, work) > 1,
        _ => false,
    }
}

impl StepFolder {
    /// Makes the folder for this step. Without git there is none, and steps work one after another.
    pub fn make(
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        (step, call, restarts): (&StepId, &CallId, u32),
        (queue, stop): (&Queue, &Arc<AtomicBool>),
    ) -> Result<Where, Failure> {
        if !is_parallel(opened) {
            return Ok(Where::Together);
        }
        let root = workspace.project_of(opened)?.root;
        let worktrees = Worktrees::new(&workspace.state, &root, &opened.run().id);
        let name = name(step, call, restarts);
        match worktrees.prepare(&name, &carried(opened, step)?)? {
            Prepared::NoGit(_) => Ok(Where::Together),
            Prepared::Ready(worktree) => Ok(Where::Apart(Box::new(Self {
                worktrees,
                worktree,
                queue: queue.clone(),
                place: place(opened, step),
                stop: Arc::clone(stop),
                merged: false,
            }))),
        }
    }

    /// Keeps what an interrupted worker did by a ref, and removes its folder: the work begins anew.
    pub fn abandon(
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        (step, call, restarts): (&StepId, &CallId, u32),
    ) -> Result<(), Failure> {
        let root = workspace.project_of(opened)?.root;
        let worktrees = Worktrees::new(&workspace.state, &root, &opened.run().id);
        match worktrees.find(&name(step, call, restarts))? {
            Some(worktree) => worktrees.archive(&worktree),
            None => Ok(()),
        }
    }

    pub fn folder(&self) -> &Path {
        &self.worktree.folder
    }

    /// The same as records keep it.
    pub fn folder_text(&self) -> Result<String, Failure> {
        let folder = self.worktree.folder.to_str();
        folder.map(str::to_owned).ok_or_else(|| {
            Failure::outside("the path of the state folder is no text").hint("set XDG_STATE_HOME")
        })
    }

    /// It begins: whoever is behind it waits.
    pub fn enter(&self, dispatch: DispatchId) {
        self.queue.join(self.place, dispatch);
    }

    /// Its work is judged, or never began. What was merged is in the run's worktree; what was not is
    /// kept by a ref.
    pub fn clear(&self) -> Result<(), Failure> {
        let discarded = self.worktrees.discard(&self.worktree);
        if self.merged {
            discarded
        } else {
            discarded.or_else(|_| self.worktrees.archive(&self.worktree))
        }
    }
}

impl Drop for StepFolder {
    fn drop(&mut self) {
        self.queue.leave(self.place);
    }
}

impl Delivery for StepFolder {
    fn deliver(&mut self) -> Result<Delivered, Failure> {
        if self.queue.wait(self.place, &self.stop).is_none() {
            return Ok(Delivered::Stopped);
        }
        let snapshot = self.worktrees.finish(&self.worktree)?;
        match self.worktrees.merge(&snapshot)? {
            Merged::Nothing | Merged::Clean { .. } => {
                self.merged = true;
                Ok(Delivered::Done)
            }
            Merged::Conflict { paths } => Ok(Delivered::Conflict(paths)),
        }
    }
}

/// What the worktree of this work is called. Work that begins anew has another one.
fn name(step: &StepId, call: &CallId, restarts: u32) -> String {
    format!("{step}-{call}-{restarts}")
}

/// Was this worktree made for the work of this call?
pub fn is_of(worktree: &Worktree, call: &CallId) -> bool {
    let made_for = worktree.name.rsplit_once('-').map(|(name, _)| name);
    made_for.is_some_and(|name| name.ends_with(&format!("-{call}")))
}

/// The paths of all artifacts, which come along whether git ignores them or not.
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
            path.map_err(|reason| Failure::no(format!("{template} is no path: {reason}")))?;
        Ok(path.as_str().to_owned())
    });
    paths.collect()
}

/// The step's place in its graph.
fn place(opened: &OpenRun, step: &StepId) -> usize {
    let graph = opened.run().graphs.get(&opened.run().position.stage);
    let mut members = graph.into_iter().flat_map(|graph| &graph.members);
    members
        .position(|member| member.step.id == *step)
        .unwrap_or_default()
}
