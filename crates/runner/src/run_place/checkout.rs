//! Git in the person's repository, for the branches and worktrees of runs. It starts no program of theirs.

use std::path::Path;
use std::process::{Command, Output};

use engine::{RunBranch, RunId};
use evidence::git::Git;
use evidence::{Project, Repository};
use runtime::failure::Failure;
use runtime::run_branch;

use super::half_made;

/// Commits and refs are durable, nothing is collected, and another git may hold its locks for a while.
const SETTINGS: [&str; 10] = [
    "-c",
    "gc.auto=0",
    "-c",
    "core.fsync=committed,reference",
    "-c",
    "core.filesRefLockTimeout=10000",
    "-c",
    "core.packedRefsTimeout=10000",
    "-c",
    "checkout.workers=0",
];

/// A checkout of the person's repository: their own, or that of a run.
pub(crate) struct Checkout<'a> {
    git: Git,
    root: &'a Path,
    repository: &'a Repository,
}

impl<'a> Checkout<'a> {
    pub(crate) fn of(project: &'a Project) -> Result<Self, Failure> {
        let repository = project.repository.as_ref().ok_or_else(|| {
            let message = format!(
                "{} is not a git repository any more",
                project.root.display()
            );
            Failure::environment(message).hint("restore it")
        })?;
        // Where a tree is gone, the repository can still be asked.
        let root = if project.root.is_dir() {
            &project.root
        } else {
            &repository.common_dir
        };
        Ok(Self {
            git: Git::find()?,
            root,
            repository,
        })
    }

    pub(crate) fn command(&self) -> Result<Command, Failure> {
        let git_dir = &self.repository.git_dir;
        let mut command = self.git.without_filters(self.root, git_dir)?;
        command.args(SETTINGS);
        Ok(command)
    }

    pub(crate) fn output(&self, command: &mut Command) -> Result<Output, Failure> {
        let output = command.output().map_err(evidence::Error::GitStart);
        Ok(output?)
    }

    /// The output of a command that must succeed.
    pub(crate) fn ask(&self, words: &[&str]) -> Result<Vec<u8>, Failure> {
        self.succeed(self.command()?.args(words))
    }

    pub(crate) fn succeed(&self, command: &mut Command) -> Result<Vec<u8>, Failure> {
        let output = self.output(command)?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(
                Failure::environment(format!("git failed ({})", complaint(&output)))
                    .hint("repair the repository and retry"),
            )
        }
    }

    /// The one line that a command answers; `None` if it says no.
    pub(crate) fn line(&self, words: &[&str]) -> Result<Option<String>, Failure> {
        let output = self.output(self.command()?.args(words))?;
        let line = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok((output.status.success() && !line.is_empty()).then_some(line))
    }

    /// The commit that a branch names.
    pub(crate) fn branch_tip(&self, branch: &str) -> Result<Option<String>, Failure> {
        let name = format!("refs/heads/{branch}^{{commit}}");
        self.line(&["rev-parse", "--verify", "--quiet", &name])
    }

    pub(super) fn add_worktree(
        &self,
        folder: &Path,
        branch: &RunBranch,
        exists: bool,
    ) -> Result<(), Failure> {
        let mut exists = exists;
        let output = half_made::with_retries(|| {
            let output = self.worktree_added(folder, branch, exists)?;
            // A try that fails may have made the branch.
            exists = exists || self.branch_tip(&branch.name)?.is_some();
            Ok(output)
        })?;
        if output.status.success() {
            Ok(())
        } else {
            Err(Failure::environment(format!(
                "git cannot make the worktree of {} ({})",
                branch.name,
                complaint(&output)
            ))
            .hint("make sure that `git worktree add` works here"))
        }
    }

    fn worktree_added(
        &self,
        folder: &Path,
        branch: &RunBranch,
        exists: bool,
    ) -> Result<Output, Failure> {
        let mut command = self.command()?;
        command.args(["worktree", "add", "--quiet"]);
        if exists {
            command.arg(folder).arg(&branch.name);
        } else {
            command
                .args(["-b", &branch.name])
                .arg(folder)
                .arg(&branch.base);
        }
        self.output(&mut command)
    }

    /// Removes git's record of a worktree, with its files. Does nothing if git does not know it.
    pub(super) fn forget_worktree(&self, folder: &Path) -> Result<(), Failure> {
        let mut command = self.command()?;
        command
            .args(["worktree", "remove", "--force", "--force"])
            .arg(folder);
        self.output(&mut command).map(drop)
    }

    /// The branch keeps what the run begins with from now on, or nothing needs it any more.
    pub(super) fn release_base(&self, run: &RunId) -> Result<(), Failure> {
        let kept = run_branch::base_ref(run);
        self.ask(&["update-ref", "-d", &kept]).map(drop)
    }

    /// Refuses if the commit that a branch begins with is gone, as after an amended commit and a collection.
    pub(super) fn require_base(&self, branch: &RunBranch, run: &RunId) -> Result<(), Failure> {
        let commit = format!("{}^{{commit}}", branch.base);
        let output = self.output(self.command()?.args(["cat-file", "-e", &commit]))?;
        if output.status.success() {
            return Ok(());
        }
        let message = format!(
            "the commit {} that {run} begins with is not in the repository any more",
            branch.base
        );
        let hint = format!("`gatewright cancel {run} --reason WHY`, and start its task again");
        Err(Failure::refused(message).hint(hint))
    }

    /// One line about submodules, which git leaves empty in a new worktree.
    pub(super) fn submodule_remark(&self, branch: &RunBranch) -> Option<String> {
        let words = ["ls-tree", "-r", "--full-tree", "--format=%(objecttype)"];
        let listed = self
            .ask(&[words.as_slice(), &[&branch.base]].concat())
            .ok()?;
        let listed = String::from_utf8_lossy(&listed);
        listed.lines().any(|kind| kind == "commit").then(|| {
            "submodules are empty in the run's worktree: let the work fetch what it needs with \
             `git submodule update --init`"
                .to_owned()
        })
    }

    /// One line about files that have other bytes in a worktree of ours than in the person's.
    pub(super) fn filter_remark(&self) -> Option<String> {
        let pattern = [
            "grep",
            "--quiet",
            "--cached",
            "-e",
            "filter=",
            "--",
            ".gitattributes",
            "*/.gitattributes",
        ];
        let output = self.output(self.command().ok()?.args(pattern)).ok()?;
        output.status.success().then(|| {
            "filters of git, such as those of LFS, do not run in the run's worktree: such files have the bytes that git stores"
                .to_owned()
        })
    }
}

/// What git said about a failure, in one line.
pub(crate) fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    evidence::text::line(text.trim(), 300)
}
