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

use engine::{CallId, Dispatch, EngineEvent, OutsideChange, RefHandling};
use runtime::claim;
use runtime::failure::Failure;
use runtime::file_lock::FileLock;
use runtime::ids;
use runtime::transact;
use runtime::workspace::{OpenRun, Workspace};
use store::Key;

use self::baseline::{Baseline, Found, Pending};
use self::judge::{RefDifference, RefEvidence, STASH, Workplace};
use crate::engine_event;
use crate::run_place::left_files;
use crate::worktree::{
    MergeReport, Merged, RefState, RunContent, Snapshot, WorktreeOwner, Worktrees,
    changed_settings, is_temporary,
};

/// How long to wait for another worker that compares or merges.
const LOCK_TIMEOUT: Duration = Duration::from_secs(300);

/// The surroundings of a run's workers.
pub(crate) struct Surroundings {
    worktrees: Worktrees,
    /// The ref of the branch of a run that does not work in the person's tree.
    branch: Option<String>,
}

/// Does the worker have a worktree of its own?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    Project,
    /// One that begins with this commit, which has the files of the project as they are now.
    NewWorktree {
        base: &'a str,
    },
    /// One from an earlier time, which began with this commit.
    OldWorktree {
        base: &'a str,
    },
}

/// What to compare.
#[derive(Clone, Copy, Debug)]
enum Compared<'a> {
    Refs,
    /// Without the files that a merge of ours wrote.
    RefsAndFiles {
        merged: &'a BTreeSet<String>,
    },
}

impl Surroundings {
    /// `None` without git: then all files are compared by the rules of the stages alone.
    pub(crate) fn of(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Option<Self>, Failure> {
        let project = workspace.project_of(opened)?;
        let worktrees = Worktrees::new(&workspace.state, &project.root, &opened.run().id);
        let place = opened.run().place.as_ref();
        let branch = place.map(|place| format!("refs/heads/{}", place.branch.name));
        Ok(project.is_git().then_some(Self { worktrees, branch }))
    }

    /// The file into which git writes what a worker does with it.
    pub(crate) fn trace(workspace: &Workspace<'_>, call: &CallId) -> PathBuf {
        claim::file_beside(&workspace.state, call, "git")
    }

    /// Before a worker starts. The first one takes the baseline; others compare with it later, too.
    pub(crate) fn begin(&self, call: &CallId, place: Place<'_>) -> Result<(), Failure> {
        let _lock = self.lock()?;
        let folder = self.worktrees.folder();
        let mut baseline = match Baseline::read(folder)? {
            Some(baseline) => baseline,
            None => {
                let fresh = self.fresh()?;
                if self.branch.is_some() {
                    self.worktrees.pin(&fresh.state())?;
                }
                fresh
            }
        };
        if baseline.tree.is_none() {
            baseline.tree = match place {
                Place::Project => None,
                Place::NewWorktree { base } => {
                    self.worktrees.keep_content(base)?;
                    Some(base.to_owned())
                }
                Place::OldWorktree { base } => Some(self.worktrees.look(base)?.commit),
            };
            if baseline.tree.is_some() {
                self.worktrees.pin(&baseline.state())?;
            }
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
        let merged = &BTreeSet::new();
        self.compare_as(workspace, opened, Compared::RefsAndFiles { merged })
    }

    /// The same with the refs alone.
    pub(crate) fn compare_refs(
        &self,
        workspace: &mut Workspace<'_>,
        opened: OpenRun,
    ) -> Result<OpenRun, Failure> {
        self.compare_as(workspace, opened, Compared::Refs)
    }

    fn compare_as(
        &self,
        workspace: &mut Workspace<'_>,
        opened: OpenRun,
        compared: Compared<'_>,
    ) -> Result<OpenRun, Failure> {
        if Baseline::read(self.worktrees.folder())?.is_none() {
            return Ok(opened);
        }
        let _lock = self.lock()?;
        self.compare_locked(workspace, opened, compared)
    }

    /// Compares all when no worker is at work. An orchestrator may have died in the middle of a merge.
    pub(crate) fn compare_at_rest(
        &self,
        workspace: &mut Workspace<'_>,
        opened: OpenRun,
    ) -> Result<OpenRun, Failure> {
        if Baseline::read(self.worktrees.folder())?.is_none() {
            return Ok(opened);
        }
        let _lock = self.lock()?;
        let merged = &self.worktrees.merged_paths()?;
        self.compare_locked(workspace, opened, Compared::RefsAndFiles { merged })
    }

    /// Merges what a worker left, and compares the files with the same look. Nobody takes what is merged for a
    /// stranger's change.
    pub(crate) fn merge(
        &self,
        workspace: &mut Workspace<'_>,
        opened: &OpenRun,
        snapshot: &Snapshot,
    ) -> Result<Merged, Failure> {
        let _lock = self.lock()?;
        let baseline = Baseline::read(self.worktrees.folder())?;
        let Some((mut baseline, known)) = baseline.and_then(Baseline::with_tree) else {
            let known = self.worktrees.last_content()?;
            let known = known.unwrap_or_else(|| snapshot.base.clone());
            return Ok(self.worktrees.merge(snapshot, &known)?.merged);
        };
        let MergeReport { merged, seen } = self.worktrees.merge(snapshot, &known)?;
        let opened = opened.clone();
        match (seen, &merged) {
            (Some(content), _) => {
                let none = BTreeSet::new();
                let found = self.found_files(workspace, &opened, &content, &none)?;
                baseline.tree = Some(content.commit);
                self.note(workspace, opened, baseline, found)?;
            }
            (None, Merged::Clean { changed }) => {
                let merged = &changed.iter().cloned().collect();
                self.compare_locked(workspace, opened, Compared::RefsAndFiles { merged })?;
            }
            (None, Merged::Nothing | Merged::Conflict { .. }) => {
                let merged = &BTreeSet::new();
                self.compare_locked(workspace, opened, Compared::RefsAndFiles { merged })?;
            }
        }
        Ok(merged)
    }

    fn compare_locked(
        &self,
        workspace: &mut Workspace<'_>,
        opened: OpenRun,
        compared: Compared<'_>,
    ) -> Result<OpenRun, Failure> {
        let folder = self.worktrees.folder();
        let Some(mut baseline) = Baseline::read(folder)? else {
            return Ok(opened);
        };
        let during = at_work(&opened, &baseline);
        let mut found: Vec<Found> = Vec::new();
        if let Some(now) = self.worktrees.ref_state()? {
            let differences = self.ref_differences(workspace, &baseline, &during, &now)?;
            baseline.advance(now, &differences);
            found.extend(differences.into_iter().map(Found::of_ref));
        }
        let opened = self.tell_settings(workspace, opened, &mut baseline, &during)?;
        if let (Compared::RefsAndFiles { merged }, Some(known)) = (compared, &baseline.tree) {
            let content = self.worktrees.look(known)?;
            found.extend(self.found_files(workspace, &opened, &content, merged)?);
            baseline.tree = Some(content.commit);
        }
        self.note(workspace, opened, baseline, found)
    }

    /// Names settings and hooks of the repository that changed: git would start programs that they name, as the person.
    fn tell_settings(
        &self,
        workspace: &mut Workspace<'_>,
        opened: OpenRun,
        baseline: &mut Baseline,
        during: &[Dispatch],
    ) -> Result<OpenRun, Failure> {
        let now = self.worktrees.settings()?;
        let before = std::mem::replace(&mut baseline.settings, now);
        let changed = changed_settings(&before, &baseline.settings);
        // An earlier version kept none.
        if changed.is_empty() || before.is_empty() {
            return Ok(opened);
        }
        let during: Vec<String> = during.iter().map(|work| work.id.to_string()).collect();
        let message = format!(
            "settings of the git repository changed while {} worked: {}; look with `git config --local --list`",
            during.join(", "),
            left_files::named(&changed)
        );
        Ok(transact::remark(workspace, opened, None, &message)?.opened)
    }

    /// Keeps the baseline with what was found, then acts on it and records it.
    fn note(
        &self,
        workspace: &mut Workspace<'_>,
        opened: OpenRun,
        mut baseline: Baseline,
        found: impl IntoIterator<Item = Found>,
    ) -> Result<OpenRun, Failure> {
        let during = at_work(&opened, &baseline);
        let numbers: Vec<u32> = during.iter().map(|work| work.id.0).collect();
        for found in found {
            baseline.pending.push(Pending {
                key: ids::key()?.as_str().to_owned(),
                during: numbers.clone(),
                found,
            });
        }
        // Invariant: what was found is durable before anything is done about it.
        baseline.write(self.worktrees.folder())?;
        self.settle(workspace, opened, baseline)
    }

    /// The files of the project that differ and that no merge of ours wrote.
    fn found_files(
        &self,
        workspace: &mut Workspace<'_>,
        opened: &OpenRun,
        content: &RunContent,
        merged: &BTreeSet<String>,
    ) -> Result<Option<Found>, Failure> {
        let Some(changed) = &content.changed else {
            let text = "cannot tell which files of the project others changed: the commit with their \
                        earlier content is gone from the repository";
            transact::remark(workspace, opened.clone(), None, text)?;
            return Ok(None);
        };
        let counted = workspace.looking_in_project(opened, |looking| {
            evidence::tree::which_count(looking, changed)
        })?;
        let paths = counted.into_iter();
        let paths = paths.filter(|path| !merged.contains(path) && !is_temporary(path));
        let paths: Vec<String> = paths.collect();
        Ok((!paths.is_empty()).then_some(Found::Project { paths }))
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
            let is_theirs = match log.owner {
                WorktreeOwner::Step => true,
                WorktreeOwner::Run => self.branch.is_some() && baseline.tree.is_none(),
                WorktreeOwner::Other => false,
            };
            if is_theirs {
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
            workplace: match (&baseline.tree, &self.branch) {
                (Some(_), _) => Workplace::Own(self.worktrees.roots()?),
                (None, Some(name)) => Workplace::Branch {
                    name: name.clone(),
                    folder: self.worktrees.top()?,
                },
                (None, None) => Workplace::Project,
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
            settings: self.worktrees.settings()?,
            ..Baseline::default()
        })
    }

    fn forget(&self, baseline: &Baseline) -> Result<(), Failure> {
        let folder = self.worktrees.folder();
        if baseline.tree.is_some() || self.branch.is_some() {
            self.worktrees.unpin()?;
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
