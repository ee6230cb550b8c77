//! Brings the branch of a run into the person's tree, where the two do not contradict each other.

use std::collections::BTreeMap;
use std::path::Path;

use engine::{RunBranch, RunId, RunPlace, Status};
use evidence::Project;
use runtime::failure::Failure;
use runtime::find_run;
use runtime::fleet_project::{self, FleetProject, REMOTE};
use runtime::workspace::{OpenRun, Workspace};

use crate::delivery;
use crate::run_place::{Checkout, complaint, left_files};

/// How the merge ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchMerge {
    /// The person's branch had it already.
    Nothing { branch: String },
    Merged {
        branch: String,
        commit: String,
        files: usize,
    },
    /// Both sides changed these. Nothing was changed.
    Conflict { branch: String, paths: Vec<String> },
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
pub fn merge(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<BranchMerge, Failure> {
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
    if place.delivered().is_none() && opened.has_project() {
        delivery::keep_work(workspace, opened)?;
    }
    let home = Project::find(Path::new(&opened.stored.home))?;
    let here = Checkout::of(&home)?;
    let branch = &place.branch;
    let tip = here.branch_tip(&branch.name)?.ok_or_else(|| {
        Failure::not_found(format!("the branch {} of {run} is gone", branch.name))
            .hint("`git reflog` may still have its commits")
    })?;
    merge_tip(&here, &branch.name, &tip)
}

/// Copies the ignored files that the pipeline lists in `carry_back` from the run into the tree in which it was started.
pub fn bring_back(workspace: &Workspace<'_>, opened: &OpenRun) -> Result<Vec<String>, Failure> {
    let is_placed = opened.run().place.is_some();
    if !is_placed || workspace.store.fleet().is_some() {
        return Ok(Vec::new());
    }
    left_files::bring_back(workspace, opened, &workspace.home_of(opened)?)
}

/// Merges the branch that a machine of the fleet has pushed, into the clone of the project in which we are.
fn merge_delivered(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    place: &RunPlace,
) -> Result<BranchMerge, Failure> {
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
    let name = format!("{REMOTE}/{}", place.branch.name);
    let tracking = format!("refs/remotes/{name}");
    reach.fetch_branch(&place.branch.name, &tracking)?;
    let here = Checkout::of(project)?;
    let tip = here.line(&["rev-parse", "--verify", "--quiet", &tracking])?;
    let gone = || Failure::environment(format!("git has no {tracking} after it was fetched"));
    merge_tip(&here, &name, &tip.ok_or_else(gone)?)
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

/// Merges this commit, which git knows by this name.
fn merge_tip(here: &Checkout<'_>, name: &str, tip: &str) -> Result<BranchMerge, Failure> {
    let name = name.to_owned();
    let head = here.line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
    let head = head.unwrap_or_default();
    let mut command = here.command()?;
    command.args(["merge-base", "--is-ancestor", tip, &head]);
    if here.output(&mut command)?.status.success() {
        return Ok(BranchMerge::Nothing { branch: name });
    }
    if let Some(paths) = conflicts(here, &head, tip)? {
        return Ok(BranchMerge::Conflict {
            branch: name,
            paths,
        });
    }
    let mut command = here.command()?;
    if here.line(&["config", "user.email"])?.is_none() {
        command.args([
            "-c",
            "user.name=gatewright",
            "-c",
            "user.email=gatewright@localhost",
        ]);
    }
    command.args(["merge", "--quiet", "--no-edit", "--no-gpg-sign", &name]);
    let output = here.output(&mut command)?;
    if !output.status.success() {
        let message = format!("git does not merge {name} ({})", complaint(&output));
        return Err(Failure::refused(message).hint("commit or stash your changes, then retry"));
    }
    let commit = here.line(&["rev-parse", "HEAD"])?.unwrap_or_default();
    let changed = here.ask(&["diff", "--name-only", "-z", &head, &commit])?;
    Ok(BranchMerge::Merged {
        branch: name,
        commit,
        files: changed.iter().filter(|byte| **byte == 0).count(),
    })
}

/// The paths that both sides changed, if a merge would need a person.
fn conflicts(here: &Checkout<'_>, head: &str, tip: &str) -> Result<Option<Vec<String>>, Failure> {
    let mut command = here.command()?;
    command.args([
        "merge-tree",
        "--write-tree",
        "--name-only",
        "--no-messages",
        "-z",
        head,
        tip,
    ]);
    let output = here.output(&mut command)?;
    match output.status.code() {
        Some(0) => Ok(None),
        Some(1) => {
            let fields = output.stdout.split(|byte| *byte == 0).skip(1);
            let paths = fields.filter(|path| !path.is_empty());
            let mut paths: Vec<String> = paths
                .map(|path| String::from_utf8_lossy(path).into_owned())
                .collect();
            paths.dedup();
            Ok(Some(paths))
        }
        _ => Err(
            Failure::environment(format!("git failed ({})", complaint(&output)))
                .hint("repair the repository and retry"),
        ),
    }
}
