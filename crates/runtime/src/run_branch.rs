//! The branch of a run that works in a worktree of its own: its name, and the commit it begins with.

mod filters;
mod staging;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use engine::{Definition, PlaceKind, RunBranch, RunId};
use evidence::git::{Git, input, path_of};
use evidence::{Project, Repository};

use crate::failure::Failure;
use crate::state::{self, State};
pub use staging::{LeftOut, Staging, is_below};

/// The namespace of these branches.
const PREFIX: &str = "gatewright";

/// The longest part of a branch's name that comes from the task, in characters.
const LONGEST_SLUG: usize = 40;

/// The folder of all worktrees of runs, in the state folder.
const FOLDER: &str = "places";

/// The file that names the person's own worktree, for the removal of runs.
const HOME: &str = "home";

/// What helps where uncommitted changes cannot be taken along.
const COMMIT_FIRST: &str = "commit or stash them, or start without --with-changes";

/// Where a new run is to work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaceRequest {
    pub wish: PlaceWish,
    /// Does the branch begin with what the person has not committed?
    pub with_changes: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlaceWish {
    /// As the pipeline says; otherwise in the person's tree.
    #[default]
    AsDefined,
    /// As the pipeline says; otherwise on a branch, where there can be one.
    BranchIfPossible,
    Tree,
    Branch,
}

impl PlaceRequest {
    /// The typed options in words.
    pub fn words(self) -> Vec<String> {
        let wish = match self.wish {
            PlaceWish::AsDefined | PlaceWish::BranchIfPossible => None,
            PlaceWish::Tree => Some("in place"),
            PlaceWish::Branch => Some("on a branch"),
        };
        let changes = self.with_changes.then_some("with uncommitted changes");
        wish.into_iter().chain(changes).map(str::to_owned).collect()
    }
}

/// Where a run will work, and why not on a branch if that was wanted.
pub enum ChosenPlace {
    Tree,
    /// A branch was wanted, but cannot be made here.
    TreeBecause(String),
    Branch(BranchBase),
}

/// What a branch begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchBase {
    base: String,
    from: Option<String>,
    with_changes: bool,
}

impl PlaceRequest {
    /// Chooses the place of a new run.
    pub fn choose(
        self,
        project: &Project,
        definition: &Definition,
    ) -> Result<ChosenPlace, Failure> {
        let (is_branch, is_demanded) = self.wants_branch(definition);
        if !is_branch {
            return Ok(ChosenPlace::Tree);
        }
        match base(project, self.with_changes)? {
            Ok(base) => Ok(ChosenPlace::Branch(base)),
            Err(reason) if is_demanded => Err(no_branch(project, &reason)),
            Err(reason) => Ok(ChosenPlace::TreeBecause(reason)),
        }
    }

    /// Refuses what `choose` refuses, and writes nothing: uncommitted changes stay uncommitted.
    pub fn refuse_impossible(
        self,
        project: &Project,
        definition: &Definition,
    ) -> Result<(), Failure> {
        let (is_branch, is_demanded) = self.wants_branch(definition);
        if !is_branch {
            return Ok(());
        }
        match base(project, false)? {
            Err(reason) if is_demanded => Err(no_branch(project, &reason)),
            Ok(_) if self.with_changes => require_unfiltered(project),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

fn no_branch(project: &Project, reason: &str) -> Failure {
    let hint = match &project.repository {
        Some(_) => "make a commit first, or add --in-place",
        None => "type `git init` and make a commit first, or add --in-place",
    };
    let message = format!("a run cannot have a branch of its own here: {reason}");
    Failure::refused(message).hint(hint)
}

impl PlaceRequest {
    /// Will the run work on a branch of its own, where there can be one?
    pub fn is_branch(self, definition: &Definition) -> bool {
        self.wants_branch(definition).0
    }

    /// On a branch? And only there?
    fn wants_branch(self, definition: &Definition) -> (bool, bool) {
        match (self.wish, definition.placement.place) {
            (PlaceWish::Tree, _) => (false, false),
            (PlaceWish::Branch, _) => (true, true),
            (PlaceWish::AsDefined | PlaceWish::BranchIfPossible, Some(kind)) => {
                (kind == PlaceKind::Branch, false)
            }
            (PlaceWish::AsDefined, None) => (self.with_changes, self.with_changes),
            (PlaceWish::BranchIfPossible, None) => (true, self.with_changes),
        }
    }
}

impl BranchBase {
    pub fn branch(&self, run: &RunId, task: &str) -> RunBranch {
        let Self {
            base,
            from,
            with_changes,
        } = self.clone();
        RunBranch {
            name: branch_name(run, task),
            base,
            from,
            with_changes,
        }
    }

    /// Keeps uncommitted work that a branch begins with. No ref names its commit until the branch is there, and
    /// a collection of git would take it.
    pub(crate) fn keep(
        &self,
        state: &State,
        project: &Project,
        run: &RunId,
    ) -> Result<(), Failure> {
        let (true, Some(repository)) = (self.with_changes, &project.repository) else {
            return Ok(());
        };
        note_home(state, run, project)?;
        let here = Checkout {
            git: &Git::find()?,
            root: &project.root,
            repository,
        };
        let mut command = here.command()?;
        command.args(["update-ref", &base_ref(run), &self.base]);
        let output = here.output(&mut command)?;
        if output.status.success() {
            return Ok(());
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        let complaint = evidence::text::line(complaint.trim(), 300);
        Err(Failure::environment(format!(
            "git cannot keep the uncommitted changes ({complaint})"
        ))
        .hint(COMMIT_FIRST))
    }
}

/// The ref of uncommitted work that a run's branch begins with, until the branch is there.
pub fn base_ref(run: &RunId) -> String {
    format!("refs/gatewright/{run}/base.start")
}

/// Names the person's own worktree in the folder of the run's place, for its removal.
pub fn note_home(state: &State, run: &RunId, home: &Project) -> Result<(), Failure> {
    let folder = run_folder(state, run);
    fs::create_dir_all(&folder).map_err(Failure::file("make", &folder))?;
    let root = home.root.to_str().ok_or_else(|| {
        Failure::environment("the path of the project is not valid UTF-8")
            .hint("move the project to another folder")
    })?;
    let note = folder.join(HOME);
    state::write_durably(&note, root).map_err(Failure::file("write to", &note))
}

/// The project of a place, as noted.
pub fn noted_home(state: &State, run: &RunId) -> PathBuf {
    let note = run_folder(state, run).join(HOME);
    PathBuf::from(fs::read_to_string(note).unwrap_or_default())
}

/// The folder of a run's worktree. It has the project's name, which tools like to show.
pub fn folder(state: &State, run: &RunId, project: &Project) -> PathBuf {
    let name = project.root.file_name().unwrap_or("project".as_ref());
    run_folder(state, run).join(name)
}

/// The folder of all places.
pub fn places(state: &State) -> PathBuf {
    state.folder().join(FOLDER)
}

/// All that belongs to the place of a run.
pub fn run_folder(state: &State, run: &RunId) -> PathBuf {
    place_in(state.folder(), run.as_str())
}

/// The same in a state folder that nobody has opened.
pub fn place_in(state: &Path, run: &str) -> PathBuf {
    state.join(FOLDER).join(run)
}

/// The commit that a branch begins with, or why there is none.
fn base(project: &Project, with_changes: bool) -> Result<Result<BranchBase, String>, Failure> {
    let Some(repository) = &project.repository else {
        return Ok(Err("this project is not a git repository".to_owned()));
    };
    let Ok(git) = Git::find() else {
        return Ok(Err("git is not installed".to_owned()));
    };
    let here = Checkout {
        git: &git,
        root: &project.root,
        repository,
    };
    let Some(head) = here.line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])? else {
        return Ok(Err("the repository has no commit yet".to_owned()));
    };
    let from = here.line(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    let changed = if with_changes {
        here.uncommitted(&head)?
    } else {
        None
    };
    Ok(Ok(BranchBase {
        with_changes: changed.is_some(),
        base: changed.unwrap_or(head),
        from,
    }))
}

/// Can a branch begin with the uncommitted changes of this project, which is a git repository?
fn require_unfiltered(project: &Project) -> Result<(), Failure> {
    let Some(repository) = &project.repository else {
        return Ok(());
    };
    let here = Checkout {
        git: &Git::find()?,
        root: &project.root,
        repository,
    };
    here.require_unfiltered()
}

/// The person's own checkout.
struct Checkout<'a> {
    git: &'a Git,
    root: &'a Path,
    repository: &'a Repository,
}

impl Checkout<'_> {
    fn command(&self) -> Result<Command, Failure> {
        let git_dir = &self.repository.git_dir;
        let mut command = self.git.without_filters(self.root, git_dir)?;
        command.args(["-c", "gc.auto=0"]);
        Ok(command)
    }

    fn output(&self, command: &mut Command) -> Result<Output, Failure> {
        let started = command.output().map_err(evidence::Error::GitStart);
        Ok(started?)
    }

    /// What git answers; `None` if it says no.
    fn line(&self, words: &[&str]) -> Result<Option<String>, Failure> {
        let output = self.output(self.command()?.args(words))?;
        let line = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok((output.status.success() && !line.is_empty()).then_some(line))
    }

    /// A commit of the tree as it is, if it differs from this one. Neither the person's index nor a ref
    /// changes.
    fn uncommitted(&self, head: &str) -> Result<Option<String>, Failure> {
        let hint = COMMIT_FIRST;
        self.require_unfiltered()?;
        let tree = self.tree(&LeftOut::default(), &[], hint)?;
        if Some(&tree)
            == self
                .line(&["rev-parse", &format!("{head}^{{tree}}")])?
                .as_ref()
        {
            return Ok(None);
        }
        let about = "Uncommitted work when the run began";
        self.commit_tree(&tree, &[head], about, hint).map(Some)
    }

    /// Refuses if a changed file has a filter of git. None runs here, so its bytes on the disk would get into a commit:
    /// what a filter encrypts in plain text, what it stores elsewhere as a whole.
    fn require_unfiltered(&self) -> Result<(), Failure> {
        let git_dir = &self.repository.git_dir;
        let keys = self.git.program_keys(self.root, git_dir)?;
        let names = filters::configured(&keys);
        if names.is_empty() {
            return Ok(());
        }
        let listing = [
            "ls-files",
            "-z",
            "--modified",
            "--others",
            "--exclude-standard",
        ];
        let changed = self.bytes(&listing)?;
        let mut command = self.command()?;
        command.args(["check-attr", "-z", "--stdin", "filter"]);
        let answer = answered(command.stdin(input(&changed)?), COMMIT_FIRST)?;
        let filtered = filters::filtered(&answer, &names);
        // A file that is gone has no bytes that could get anywhere.
        let mut filtered = filtered.into_iter().map(path_of);
        let is_there = |path: &PathBuf| self.root.join(path).symlink_metadata().is_ok();
        let Some(path) = filtered.find(is_there) else {
            return Ok(());
        };
        let message = format!(
            "{} has changes and a filter of git, which does not run for the branch of a run",
            evidence::text::line(&path.to_string_lossy(), 200)
        );
        let hint = "commit them first, or start without --with-changes; if nothing has changed, type `git status` and retry";
        Err(Failure::refused(message).hint(hint))
    }

    fn bytes(&self, words: &[&str]) -> Result<Vec<u8>, Failure> {
        answered(self.command()?.args(words), COMMIT_FIRST)
    }

    /// The id of the tree as it is, without these files, unless one of these commits has them.
    fn tree(&self, left_out: &LeftOut, commits: &[&str], hint: &str) -> Result<String, Failure> {
        let scratch = tempfile::tempdir().map_err(Failure::file("make", Path::new("a folder")))?;
        let index = scratch.path().join("index");
        let own = self.repository.git_dir.join("index");
        // Git compares files by the index's stamps, so the copy saves reading them all.
        if own.exists() {
            fs::copy(&own, &index).map_err(Failure::file("read", &own))?;
        }
        let command = || -> Result<Command, Failure> {
            let mut command = self.command()?;
            command.env("GIT_INDEX_FILE", &index);
            Ok(command)
        };
        let staging = Staging {
            command: &command,
            hint,
        };
        staging.changes()?;
        staging.new_files(left_out)?;
        staging.take_out(left_out, commits)?;
        self.answer(command()?.arg("write-tree"), hint)
    }

    fn commit_tree(
        &self,
        tree: &str,
        parents: &[&str],
        about: &str,
        hint: &str,
    ) -> Result<String, Failure> {
        let mut command = self.command()?;
        command.args(["-c", "user.name=gatewright"]);
        command.args(["-c", "user.email=gatewright@localhost"]);
        // The same tree makes the same commit, so that nothing is sent twice.
        command.env("GIT_AUTHOR_DATE", "@0 +0000");
        command.env("GIT_COMMITTER_DATE", "@0 +0000");
        command.args(["commit-tree", tree, "-m", about]);
        for parent in parents {
            command.args(["-p", parent]);
        }
        self.answer(&mut command, hint)
    }

    fn answer(&self, command: &mut Command, hint: &str) -> Result<String, Failure> {
        let said = answered(command, hint)?;
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }
}

/// What git prints. Its failure comes with this hint.
fn answered(command: &mut Command, hint: &str) -> Result<Vec<u8>, Failure> {
    let output = command.output().map_err(evidence::Error::GitStart)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let complaint = evidence::text::line(complaint.trim(), 300);
    Err(Failure::environment(format!(
        "git cannot read the uncommitted changes ({complaint})"
    ))
    .hint(hint))
}

/// A commit of a worktree as it is, on top of its last one, without these files unless that one or the base of the run
/// has them. Neither its index nor a ref changes.
///
/// The tree that was kept before is its second parent, so a machine that fetches the new one has that one, too.
pub fn commit_of_tree(
    project: &Project,
    about: &str,
    kept: Option<&str>,
    left_out: &LeftOut,
    base: &str,
) -> Result<String, Failure> {
    let gone = || {
        let message = format!(
            "{} is not a git repository any more",
            project.root.display()
        );
        Failure::environment(message).hint("restore it")
    };
    let here = Checkout {
        git: &Git::find()?,
        root: &project.root,
        repository: project.repository.as_ref().ok_or_else(gone)?,
    };
    let named = |name: &str| here.line(&["rev-parse", "--verify", "--quiet", name]);
    let head = named("HEAD^{commit}")?.ok_or_else(gone)?;
    let hint = "make sure that `git add --all` works in the run's worktree";
    let tree = here.tree(left_out, &[&head, base], hint)?;
    // Another machine may have kept one that is not here; it has a ref of its own.
    let before = match kept {
        Some(kept) => named(&format!("{kept}^{{commit}}"))?,
        None => None,
    };
    let Some(before) = before else {
        return here.commit_tree(&tree, &[&head], about, hint);
    };
    let is_same = named(&format!("{before}^{{tree}}"))?.as_ref() == Some(&tree)
        && named(&format!("{before}^1"))?.as_ref() == Some(&head);
    if is_same {
        return Ok(before);
    }
    here.commit_tree(&tree, &[&head, &before], about, hint)
}

/// `gatewright/r-7f3k2a-add-jwt-login`: the run, and some of its task.
fn branch_name(run: &RunId, task: &str) -> String {
    let slug = slug(task);
    if slug.is_empty() {
        format!("{PREFIX}/{run}")
    } else {
        format!("{PREFIX}/{run}-{slug}")
    }
}

/// The first words of a text, in letters that every file system and shell takes.
fn slug(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let words = line.split(|c: char| !c.is_ascii_alphanumeric());
    let mut slug = String::new();
    for word in words.filter(|word| !word.is_empty()) {
        let length = slug.len() + 1 + word.len();
        if length > LONGEST_SLUG {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_ascii_lowercase());
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a filter hides would be stored as it is if a failed look at filters meant that there are none.
    #[test]
    fn a_git_that_fails_is_not_one_that_finds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let git = Git::find().unwrap();
        let git_dir = folder.path().join(".git");
        let mut made = git.command(folder.path(), &git_dir);
        assert!(made.args(["init", "--quiet"]).status().unwrap().success());
        let project = Project::find(folder.path()).unwrap();
        let here = Checkout {
            git: &git,
            root: &project.root,
            repository: project.repository.as_ref().unwrap(),
        };
        assert!(here.bytes(&["ls-files", "-z"]).unwrap().is_empty());
        fs::write(git_dir.join("index"), "no index").unwrap();
        assert!(here.bytes(&["ls-files", "-z"]).is_err());
    }

    #[test]
    fn a_branch_is_named_after_the_run_and_its_task() {
        let run = RunId::parse("r-1").unwrap();
        for (task, name) in [
            ("Add JWT login", "gatewright/r-1-add-jwt-login"),
            (
                "  Fix: the `parser`!\nand more",
                "gatewright/r-1-fix-the-parser",
            ),
            ("übergröße", "gatewright/r-1-bergr-e"),
            ("日本語", "gatewright/r-1"),
            ("-- ..lock", "gatewright/r-1-lock"),
            (
                "one two three four five six seven eight nine ten eleven",
                "gatewright/r-1-one-two-three-four-five-six-seven-eight",
            ),
            (&"x".repeat(300), "gatewright/r-1"),
        ] {
            assert_eq!(branch_name(&run, task), name);
        }
    }
}
