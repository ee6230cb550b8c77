//! Brings the branch of a run into the person's tree, where the two do not contradict each other.

mod in_the_way;
mod merge_commit;
mod planned;
mod target;

use std::collections::BTreeMap;

use engine::{RunBranch, RunId, RunPlace, Status};
use evidence::Project;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::fleet_project::{self, FleetProject, REMOTE};
use runtime::workspace::{OpenRun, Workspace};

use crate::delivery;
pub use crate::run_place::left_files::BroughtBack;
use crate::run_place::{Checkout, left_files};
use target::Target;
pub use target::{MergeTree, TreeChoice};

/// How the merge ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchMerge {
    /// The person's branch had it already.
    Nothing {
        branch: String,
        /// The run left no commit on it.
        is_empty: bool,
    },
    Merged {
        branch: String,
        commit: String,
        files: usize,
    },
    /// Both sides changed these. Nothing was changed.
    Conflict { branch: String, paths: Vec<String> },
}

/// A merge that was asked for, and the tree that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchMergeReport {
    pub tree: MergeTree,
    pub end: BranchMerge,
}

/// The completed runs of this project whose work the person does not have yet.
pub fn candidates(workspace: &mut Workspace<'_>) -> Result<Vec<RunId>, Failure> {
    let is_fleet = workspace.store.fleet().is_some();
    let project = workspace.project()?;
    let unmerged = branches(project, &["--no-merged=HEAD"])?;
    let all = branches(project, &[])?;
    let mut found = Vec::new();
    for run in find_run::completed(workspace)? {
        let Some(opened) = workspace.find(&run)? else {
            continue;
        };
        let is_candidate = opened.run().place.as_ref().is_some_and(|place| {
            let RunBranch { name, base, .. } = &place.branch;
            // Nobody has committed its work yet.
            let is_in_worktree = all.get(name) == Some(base) && opened.has_project();
            let is_in_worktree = is_in_worktree && place.delivered().is_none();
            is_fleet || is_in_worktree || unmerged.contains_key(name)
        });
        if is_candidate {
            found.push(run);
        }
    }
    Ok(found)
}

/// The branches of runs in the person's repository, with their commits, of which this holds.
fn branches(project: &Project, holds: &[&str]) -> Result<BTreeMap<String, String>, Failure> {
    if !project.is_git() {
        return Ok(BTreeMap::new());
    }
    let here = Checkout::of(project)?;
    let mut command = here.command()?;
    command.args(["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)"]);
    command.args(holds).arg("refs/heads/gatewright/");
    // Before the first commit there is no HEAD, and no run with a branch.
    let listed = String::from_utf8_lossy(&here.output(&mut command)?.stdout).into_owned();
    let branches = listed.lines().filter_map(|line| line.split_once(' '));
    Ok(branches
        .map(|(commit, name)| (name.to_owned(), commit.to_owned()))
        .collect())
}

/// Merges the branch of a run into the tree in which it was started.
pub fn merge(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<BranchMergeReport, Failure> {
    let run = &opened.run().id;
    let Some(place) = &opened.run().place else {
        let failure = Failure::refused(format!(
            "{run} works in your tree, so there is nothing to merge"
        ));
        return Err(failure.hint("`git status` shows its changes"));
    };
    may_merge(opened)?;
    if workspace.store.fleet().is_some() {
        return merge_delivered(workspace, opened, place);
    }
    let tree = MergeTree::of(workspace, opened)?;
    if place.delivered().is_none() && opened.has_project() {
        delivery::keep_work(workspace, opened)?;
    }
    let here = Checkout::of(&tree.project)?;
    let name = &place.branch.name;
    let tip = here.branch_tip(name)?.ok_or_else(|| {
        Failure::not_found(format!("the branch {name} of {run} is gone"))
            .hint("`git reflog` may still have its commits")
    })?;
    let name = short_name(&here, &format!("refs/heads/{name}"))?;
    let target = Target {
        here,
        tree: &tree,
        run,
        place,
        name: &name,
    };
    let end = merge_commit::merge(&target, &tip)?;
    Ok(BranchMergeReport { tree, end })
}

/// Copies the ignored files that the pipeline lists in `carry_back` from the run into the tree of the merge.
pub fn bring_back(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    tree: &MergeTree,
) -> Result<BroughtBack, Failure> {
    let is_placed = opened.run().place.is_some();
    if !is_placed || workspace.store.fleet().is_some() {
        return Ok(BroughtBack::default());
    }
    left_files::bring_back(workspace, opened, &tree.project)
}

/// Merges the branch that a machine of the fleet has pushed, into the clone of the project in which we are.
fn merge_delivered(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    place: &RunPlace,
) -> Result<BranchMergeReport, Failure> {
    let (run, home) = (&opened.run().id, &opened.stored.home);
    let is_pushed = place.delivered().is_some_and(|it| it.pushed.is_some());
    if !is_pushed {
        let message = format!("{run} is completed, and its branch is not delivered");
        return Err(Failure::refused(message).hint(format!(
            "a worker of the fleet delivers it: `gatewright status {run}` shows how far it is"
        )));
    }
    let (project, environment) = (workspace.project()?, &workspace.context.environment);
    let remote = fleet_project::remote_of(project, environment)?;
    if remote != *home {
        let (home, remote) = (views::line(home), views::line(&remote));
        let message = format!("{run} belongs to {home}, and {REMOTE} of this project is {remote}");
        return Err(Failure::refused(message).hint("go to a clone of its project, and retry"));
    }
    let reach = FleetProject {
        folder: &project.root,
        environment,
    };
    let tracking = format!("refs/remotes/{REMOTE}/{}", place.branch.name);
    reach.fetch_branch(&place.branch.name, &tracking)?;
    let here = Checkout::of(project)?;
    let tip = here.line(&["rev-parse", "--verify", "--quiet", &tracking])?;
    let gone = || Failure::environment(format!("git has no {tracking} after it was fetched"));
    let tip = tip.ok_or_else(gone)?;
    let tree = MergeTree::typed_in(project);
    let name = short_name(&here, &tracking)?;
    let target = Target {
        here,
        tree: &tree,
        run,
        place,
        name: &name,
    };
    let end = merge_commit::merge(&target, &tip)?;
    Ok(BranchMergeReport { tree, end })
}

/// What a person types for a ref: longer where a tag has the name of a branch.
fn short_name(here: &Checkout<'_>, name: &str) -> Result<String, Failure> {
    let short = here.line(&["rev-parse", "--abbrev-ref=strict", name])?;
    Ok(short.unwrap_or_else(|| name.to_owned()))
}

fn may_merge(opened: &OpenRun) -> Result<(), Failure> {
    let run = &opened.run().id;
    let hint = match engine::status(&opened.pipeline, opened.run()) {
        Status::Completed => return Ok(()),
        Status::Queued | Status::Running | Status::Waiting(_) => {
            format!("`gatewright status {run}` shows where it is")
        }
        Status::Failed | Status::Cancelled => {
            String::from("its branch is yours: merge it with git if you want its work anyway")
        }
    };
    Err(Failure::refused(format!("{run} is not completed")).hint(hint))
}
