//! The commit of a run on its branch.

use engine::RunPlace;
use evidence::git::{fields, input};
use evidence::{Project, artifact_path};
use runtime::failure::Failure;
use runtime::run_branch::{LeftOut, Staging, is_below};
use runtime::workspace::OpenRun;

use super::belongings::Belongings;
use super::texts::TRAILER;
use crate::run_place::{Checkout, complaint, stale_locks};

/// Commits all of the run's files on its branch and returns the commit. A run that changed nothing has the
/// commit that it began with. A repeated call returns the same commit.
pub(super) fn commit(
    project: &Project,
    opened: &OpenRun,
    place: &RunPlace,
    belongings: &Belongings,
    message: &str,
) -> Result<String, Failure> {
    if let Some(repository) = &project.repository {
        stale_locks::remove(repository, &opened.run().id, Some(&place.branch.name));
        stale_locks::remove_in_worktree(repository, &project.root);
    }
    let here = Checkout::of(project)?;
    let head = here.line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
    let head = head.ok_or_else(|| {
        Failure::environment("the run's worktree has no commit").hint("check it with `git status`")
    })?;
    let commits = [head.as_str(), &place.branch.base];
    add(&here, project, opened, belongings.paths(), &commits)?;
    let tree = text(here.ask(&["write-tree"])?);
    let head_tree = text(here.ask(&["rev-parse", &format!("{head}^{{tree}}")])?);
    let is_ours = has_trailer(&here, &head, opened)?;
    if tree == head_tree && (head == place.branch.base || is_ours) {
        set_branch(&here, place, &head)?;
        return Ok(head);
    }
    // Where the agent committed all by itself, this commit has only the message.
    let commit = write_commit(&here, &tree, &head, message)?;
    set_branch(&here, place, &commit)?;
    Ok(commit)
}

/// Puts into the index what counts: all changes of tracked files, and new files that are neither ignored,
/// nor litter, nor views, nor what came along, nor what the pipeline says that nobody commits.
fn add(
    here: &Checkout<'_>,
    project: &Project,
    opened: &OpenRun,
    belongings: &LeftOut,
    commits: &[&str],
) -> Result<(), Failure> {
    let staging = Staging {
        command: &|| here.command(),
        hint: "repair the repository and retry",
    };
    staging.changes()?;
    let mut new: Vec<Vec<u8>> = evidence::tree::files(project)?;
    let left_out = left_out(here, opened)?;
    let tracked = sorted(&here.ask(&["ls-files", "-z", "--cached"])?);
    let submodules = submodules(here)?;
    new.retain(|path| {
        let is_known = tracked.binary_search(path).is_ok() || left_out.binary_search(path).is_ok();
        // A submodule has commits of its own.
        !is_known && !belongings.has(path) && !submodules.iter().any(|it| is_below(path, it))
    });
    if !new.is_empty() {
        let words = ["add", "--pathspec-from-file=-", "--pathspec-file-nul"];
        let mut command = here.command()?;
        command.env("GIT_LITERAL_PATHSPECS", "1").args(words);
        here.succeed(command.stdin(input(&new.join(&0))?))?;
    }
    // An agent may have put them into the index without a commit.
    staging.take_out(belongings, commits)
}

/// New files that nobody commits: views, and what the pipeline tells git to ignore.
fn left_out(here: &Checkout<'_>, opened: &OpenRun) -> Result<Vec<Vec<u8>>, Failure> {
    let (definition, run) = (opened.pipeline.definition(), opened.run());
    let views = definition.views.iter();
    let views = views.filter_map(|view| artifact_path(&view.path, definition, run, None).ok());
    let views = views.map(|path| format!("--exclude=/{}", path.as_str()));
    let ignores = definition
        .ignores
        .iter()
        .map(|line| format!("--exclude={line}"));
    let patterns: Vec<String> = views.chain(ignores).collect();
    if patterns.is_empty() {
        return Ok(Vec::new());
    }
    let mut command = here.command()?;
    command
        .args(["ls-files", "-z", "--others", "--ignored"])
        .args(patterns);
    Ok(sorted(&here.succeed(&mut command)?))
}

/// The paths of submodules in the index.
fn submodules(here: &Checkout<'_>) -> Result<Vec<Vec<u8>>, Failure> {
    let listed = here.ask(&["ls-files", "-z", "--stage"])?;
    let submodules = fields(&listed).filter(|line| line.starts_with(b"160000 "));
    let paths = submodules.filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1));
    Ok(paths.map(<[u8]>::to_vec).collect())
}

fn sorted(listed: &[u8]) -> Vec<Vec<u8>> {
    let mut paths: Vec<Vec<u8>> = fields(listed).map(<[u8]>::to_vec).collect();
    paths.sort_unstable();
    paths
}

fn has_trailer(here: &Checkout<'_>, commit: &str, opened: &OpenRun) -> Result<bool, Failure> {
    let format = format!("--format=%(trailers:key={TRAILER},valueonly)");
    let words = ["rev-list", "--max-count=1", &format];
    // The first line is the commit.
    let named = text(here.ask(&[words.as_slice(), &[commit, "--"]].concat())?);
    Ok(named
        .lines()
        .any(|line| line.trim() == opened.run().id.as_str()))
}

/// The author is the person, as git knows them.
fn write_commit(
    here: &Checkout<'_>,
    tree: &str,
    parent: &str,
    message: &str,
) -> Result<String, Failure> {
    let mut command = here.command()?;
    if here.line(&["config", "user.email"])?.is_none() {
        command.args([
            "-c",
            "user.name=gatewright",
            "-c",
            "user.email=gatewright@localhost",
        ]);
    }
    command.args([
        "commit-tree",
        "--no-gpg-sign",
        tree,
        "-p",
        parent,
        "-F",
        "-",
    ]);
    // A task may be longer than an argument of a command.
    let written = here.succeed(command.stdin(input(message.as_bytes())?))?;
    Ok(text(written))
}

/// Moves the branch, if nobody else did meanwhile.
fn set_branch(here: &Checkout<'_>, place: &RunPlace, commit: &str) -> Result<(), Failure> {
    let name = &place.branch.name;
    let before = here.branch_tip(name)?;
    if before.as_deref() == Some(commit) {
        return Ok(());
    }
    if let Some(before) = &before {
        let mut command = here.command()?;
        command.args(["merge-base", "--is-ancestor", before, commit]);
        if !here.output(&mut command)?.status.success() {
            let message =
                format!("the branch {name} has commits that the run's worktree does not have");
            return Err(Failure::refused(message).hint("merge them there, or rename the branch"));
        }
    }
    let full = format!("refs/heads/{name}");
    let zeros = "0".repeat(commit.len());
    let mut command = here.command()?;
    command.args(["update-ref", "-m", "gatewright: deliver"]);
    command.args([&full, commit, before.as_deref().unwrap_or(&zeros)]);
    let output = here.output(&mut command)?;
    if output.status.success() {
        Ok(())
    } else {
        Err(Failure::environment(format!(
            "git cannot move the branch {name} ({})",
            complaint(&output)
        ))
        .hint("deliver again"))
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
