//! What surrounds a worker: the person's refs, which all worktrees share, and the project itself.
//!
//! Both are compared: as they were before a worker starts, and after it has ended. Refs that a step moved
//! are put back; what may be a person's doing is recorded and left. A baseline on disk survives a kill, so
//! that the next orchestrator compares, too.

mod baseline;
pub(crate) mod git_trace;
mod head_log;
mod judge;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use engine::{CallId, Dispatch, EngineEvent, Hash, OutsideChange, RefHandling};
use runtime::claim;
use runtime::failure::Failure;
use runtime::file_lock::FileLock;
use runtime::ids;
use runtime::workspace::{OpenRun, Workspace};
use store::Key;

use self::baseline::{Baseline, Found, Pending};
use self::judge::{RefDifference, RefEvidence, STASH, Workplace};
use crate::engine_event;
use crate::worktree::{RefState, Worktrees, is_temporary};

/// How long to wait for another worker that compares or merges.
const LOCK_TIMEOUT: Duration = Duration::from_secs(300);

/// The surroundings of a run's workers.
pub(crate) struct Surroundings {
    worktrees: Worktrees,
}

/// Does the worker have a worktree of its own?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Project,
    OwnWorktree,
}

/// What a merge of ours changed in the project.
pub(crate) type MergedPaths = Vec<String>;

impl Surroundings {
    /// `None` without git: then all files are compared by the rules of the stages alone.
    pub(crate) fn of(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Option<Self>, Failure> {
        let project = workspace.project_of(opened)?;
        let worktrees = Worktrees::new(&workspace.state, &project.root, &opened.run().id);
        Ok(project.is_git().then_some(Self { worktrees }))
    }

    /// The file into which git writes what a worker does with it.
    pub(crate) fn trace(workspace: &Workspace<'_>, call: &CallId) -> PathBuf {
        claim::file_beside(&workspace.state, call, "git")
    }

    /// Before a worker starts. The first one takes the baseline; others compare with it later, too.
    pub(crate) fn begin(
        &self,
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        call: &CallId,
        place: Place,
    ) -> Result<(), Failure> {
        let _lock = self.lock()?;
        let folder = self.worktrees.folder();
        let mut baseline = match Baseline::read(folder)? {
            Some(baseline) => baseline,
            None => self.fresh()?,
        };
        if place == Place::OwnWorktree && baseline.tree.is_none() {
            self.worktrees.pin(&baseline.state())?;
            let tree = workspace.looking_in_project(opened, evidence::tree::read)?;
            baseline.tree = Some(baseline::keep_tree(folder, &tree)?);
        }
        baseline.users.insert(call.as_str().to_owned());
        baseline.write(folder)
    }

    /// After a worker has ended, or did not start.
    pub(crate) fn end(&self, call: &CallId) -> Result<(), Failure> {
        let _lock = self.lock()?;
        let folder = self.worktrees.folder();
        let Some(mut baseline) = Baseline::read(folder)? else {
            return Ok(());
        };
        baseline.users.remove(call.as_str());
        if baseline.users.is_empty() && baseline.pending.is_empty() {
            self.forget(&baseline)
        } else {
            baseline.write(folder)
        }
    }

    /// When no worker of the run is at work any more.
    pub(crate) fn end_all(&self) -> Result<(), Failure> {
        let _lock = self.lock()?;
        match Baseline::read(self.worktrees.folder())? {
            Some(baseline) => self.forget(&baseline),
            None => Ok(()),
        }
    }

    /// Compares, acts and records.
    pub(crate) fn compare(
        &self,
        workspace: &mut Workspace<'_>,
        opened: OpenRun,
    ) -> Result<OpenRun, Failure> {
        if Baseline::read(self.worktrees.folder())?.is_none() {
            return Ok(opened);
        }
        let _lock = self.lock()?;
        self.compare_locked(workspace, opened, &BTreeSet::new())
    }

    /// The same when no worker is at work. An orchestrator may have died in the middle of a merge.
    pub(crate) fn compare_at_rest(
        &self,
        workspace: &mut Workspace<'_>,
        opened: OpenRun,
    ) -> Result<OpenRun, Failure> {
        if Baseline::read(self.worktrees.folder())?.is_none() {
            return Ok(opened);
        }
        let _lock = self.lock()?;
        let merged = self.worktrees.merged_paths()?;
        self.compare_locked(workspace, opened, &merged)
    }

    /// Compares, then merges, so that nobody takes what is merged for a stranger's change.
    pub(crate) fn around_merge<T>(
        &self,
        workspace: &mut Workspace<'_>,
        opened: &OpenRun,
        merge: impl FnOnce() -> Result<(T, MergedPaths), Failure>,
    ) -> Result<T, Failure> {
        let _lock = self.lock()?;
        let opened = self.compare_locked(workspace, opened.clone(), &BTreeSet::new())?;
        let (merged, paths) = merge()?;
        let paths: BTreeSet<String> = paths.into_iter().collect();
        self.compare_locked(workspace, opened, &paths)?;
        Ok(merged)
    }

    fn compare_locked(
        &self,
        workspace: &mut Workspace<'_>,
        opened: OpenRun,
        merged: &BTreeSet<String>,
    ) -> Result<OpenRun, Failure> {
        let folder = self.worktrees.folder();
        let Some(mut baseline) = Baseline::read(folder)? else {
            return Ok(opened);
        };
        let earlier = baseline.tree.clone();
        let during = at_work(&opened, &baseline);
        let numbers: Vec<u32> = during.iter().map(|work| work.id.0).collect();
        let mut found: Vec<Found> = Vec::new();
        if let Some(now) = self.worktrees.ref_state()? {
            let differences = self.ref_differences(workspace, &baseline, &during, &now)?;
            baseline.advance(now, &differences);
            found.extend(differences.into_iter().map(Found::of_ref));
        }
        if let Some(before) = &baseline.tree {
            let (paths, now) = self.file_differences(workspace, &opened, before, merged)?;
            found.extend((!paths.is_empty()).then_some(Found::Project { paths }));
            baseline.tree = Some(now);
        }
        for found in found {
            baseline.pending.push(Pending {
                key: ids::key()?.as_str().to_owned(),
                during: numbers.clone(),
                found,
            });
        }
        // Invariant: what was found is durable before anything is done about it.
        baseline.write(folder)?;
        if let Some(old) = earlier.filter(|old| Some(old) != baseline.tree.as_ref()) {
            baseline::forget_tree(folder, &old);
        }
        self.settle(workspace, opened, baseline)
    }

    /// The files of the project that differ and that no merge of ours wrote, and the tree as it is now.
    fn file_differences(
        &self,
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        before: &str,
        merged: &BTreeSet<String>,
    ) -> Result<(Vec<String>, String), Failure> {
        let folder = self.worktrees.folder();
        let now = match Hash::parse(before) {
            Some(before) => workspace.looking_in_project(opened, |looking| {
                evidence::tree::read_unless(looking, &before)
            })?,
            None => Some(workspace.looking_in_project(opened, evidence::tree::read)?),
        };
        let Some(now) = now else {
            return Ok((Vec::new(), before.to_owned()));
        };
        let old = baseline::kept_tree(folder, before);
        let mut paths = evidence::tree::changed(&old, &now.manifest).unwrap_or_default();
        paths.retain(|path| !merged.contains(path) && !is_temporary(path));
        Ok((paths, baseline::keep_tree(folder, &now)?))
    }

    fn ref_differences(
        &self,
        workspace: &Workspace<'_>,
        baseline: &Baseline,
        during: &[Dispatch],
        now: &RefState,
    ) -> Result<Vec<RefDifference>, Failure> {
        let before = baseline.state();
        // Logs and traces are read only when something differs.
        if before == *now {
            return Ok(Vec::new());
        }
        let calls = during.iter().filter_map(|work| work.call.as_ref());
        let traces = calls.map(|call| Self::trace(workspace, call));
        let (mut elsewhere, mut own) = (Vec::new(), Vec::new());
        for log in self.worktrees.head_logs()? {
            let known = baseline.logs.get(&log.worktree).copied().unwrap_or(0);
            let lines = head_log::lines_after(&log.path, known);
            if log.is_ours {
                own.extend(lines);
            } else {
                elsewhere.extend(lines);
            }
        }
        let last_line = |name: &str| {
            let path = self.worktrees.ref_log(name).ok().flatten()?;
            head_log::last_line(&path)
        };
        let evidence = RefEvidence {
            workplace: match baseline.tree {
                Some(_) => Workplace::Own(self.worktrees.roots()?),
                None => Workplace::Project,
            },
            elsewhere,
            own,
            commands: traces.flat_map(|trace| git_trace::read(&trace)).collect(),
            appeared: &baseline.appeared,
            last_line: &last_line,
        };
        Ok(judge::differences(&before, now, &evidence))
    }

    /// Does what is pending and records it, each once.
    fn settle(
        &self,
        workspace: &mut Workspace<'_>,
        mut opened: OpenRun,
        mut baseline: Baseline,
    ) -> Result<OpenRun, Failure> {
        while let Some(pending) = baseline.pending.first() {
            let (handling, kept) = self.act(&pending.found)?;
            let change = pending.change(handling, kept);
            opened = record(workspace, opened, &pending.key, &change)?;
            baseline.pending.remove(0);
            baseline.write(self.worktrees.folder())?;
        }
        Ok(opened)
    }

    /// Puts a ref back, after the value that it loses is kept.
    fn act(&self, found: &Found) -> Result<(RefHandling, Option<String>), Failure> {
        let Found::Ref {
            name,
            before,
            after,
            put_back: true,
            ..
        } = found
        else {
            return Ok((RefHandling::Left, None));
        };
        if let (STASH, Some(entry)) = (name.as_str(), before) {
            return Ok((self.worktrees.put_stash_back(entry)?, None));
        }
        let kept = match after {
            Some(after) => self.worktrees.keep_value(after)?,
            None => None,
        };
        let handling = self
            .worktrees
            .put_back(name, before.as_deref(), after.as_deref())?;
        Ok((handling, kept))
    }

    fn fresh(&self) -> Result<Baseline, Failure> {
        let state = self.worktrees.ref_state()?.unwrap_or_default();
        let logs = self.worktrees.head_logs()?.into_iter();
        let logs: BTreeMap<String, u64> = logs
            .map(|log| (log.worktree, head_log::length(&log.path)))
            .collect();
        Ok(Baseline {
            refs: state.refs,
            stash: state.stash,
            head: state.head,
            logs,
            ..Baseline::default()
        })
    }

    fn forget(&self, baseline: &Baseline) -> Result<(), Failure> {
        let folder = self.worktrees.folder();
        if let Some(tree) = &baseline.tree {
            self.worktrees.unpin()?;
            baseline::forget_tree(folder, tree);
        }
        Baseline::remove(folder)
    }

    fn lock(&self) -> Result<FileLock, Failure> {
        let folder = self.worktrees.make_folder()?;
        FileLock::wait_for(&folder.join("refs.lock"), LOCK_TIMEOUT)
    }
}

/// The work for which the baseline is kept.
fn at_work(opened: &OpenRun, baseline: &Baseline) -> Vec<Dispatch> {
    let open = opened.run().dispatches.values();
    let is_user = |call: &CallId| baseline.users.contains(call.as_str());
    let known = open.filter(|work| work.call.as_ref().is_some_and(is_user));
    known.cloned().collect()
}

fn record(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    key: &str,
    change: &OutsideChange,
) -> Result<OpenRun, Failure> {
    let key = Key::parse(key).map_err(|problem| Failure::bug(problem.to_string()))?;
    let event = EngineEvent::ChangedOutside(change.clone());
    engine_event::submit(workspace, opened, &event, Some(&key))
}
