//! What came along into the worktree of a run by `carry`: a secret or a cache of the person's, which no commit of ours
//! takes and nothing of ours hands on, whatever `.gitignore` says there.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use engine::RunBranch;
use evidence::git::{fields, input};
use runtime::failure::Failure;
use runtime::outward_git::AS_STORED;
use runtime::run_branch::LeftOut;
use runtime::workspace::{OpenRun, Workspace};

use crate::run_place::{self, Checkout, left_files};

/// The paths that came along and do not come back, relative to the project.
pub(crate) struct Belongings(LeftOut);

impl Belongings {
    pub(crate) fn of(workspace: &Workspace<'_>, opened: &OpenRun) -> Self {
        let mut paths = run_place::carried(&workspace.state, &opened.run().id);
        let back = &opened.pipeline.definition().placement.carry_back;
        paths.retain(|path| !back.iter().any(|back| path.starts_with(back)));
        Self(LeftOut::new(paths))
    }

    pub(crate) fn paths(&self) -> &LeftOut {
        &self.0
    }

    /// Refuses to hand this commit of a branch on if an agent committed some of them.
    pub(super) fn require_kept_back(
        &self,
        here: &Checkout<'_>,
        tip: &str,
        branch: &RunBranch,
    ) -> Result<(), Failure> {
        let RunBranch { name, base, .. } = branch;
        let found = self.handed_on(here, tip, base, None)?;
        let Some((first, named)) = told(&found) else {
            return Ok(());
        };
        Err(Failure::refused(format!(
            "commits of the branch {name} have files that came along by `carry` and are not to leave this machine: {named}"
        ))
        .hint(format!(
            "look with `git log {name} -- {first}`; take them out of its commits and deliver again, or push the \
             branch yourself"
        )))
    }

    /// Refuses to keep a tree at the remote if commits below it have some of them, except those of the tree that the
    /// remote has already.
    pub(crate) fn require_kept_back_below(
        &self,
        here: &Checkout<'_>,
        commit: &str,
        branch: &RunBranch,
        before: Option<&str>,
    ) -> Result<(), Failure> {
        let found = self.handed_on(here, commit, &branch.base, before)?;
        let Some((first, named)) = told(&found) else {
            return Ok(());
        };
        Err(Failure::refused(format!(
            "commits in the run's worktree have files that came along by `carry` and are not to leave this machine: {named}"
        ))
        .hint(format!(
            "look there with `git log -- {first}`, and take them out of its commits"
        )))
    }

    /// Those that commits since the base have, and the base has not.
    ///
    /// Each commit is compared with the base. What its parents are believed to be, and what git remembers about commits
    /// to save time, is in files that an agent can write.
    fn handed_on(
        &self,
        here: &Checkout<'_>,
        tip: &str,
        base: &str,
        known: Option<&str>,
    ) -> Result<BTreeSet<Vec<u8>>, Failure> {
        if self.0.is_empty() {
            return Ok(BTreeSet::new());
        }
        let known = match known {
            Some(known) => here.line(&[
                "rev-parse",
                "--verify",
                "--quiet",
                &format!("{known}^{{commit}}"),
            ])?,
            None => None,
        };
        let mut command = here.command()?;
        command
            .args(AS_STORED)
            .args(["rev-list", tip, "--not", base]);
        let commits = here.succeed(command.args(known).arg("--"))?;
        let commits = String::from_utf8_lossy(&commits).into_owned();
        let pairs: String = commits
            .lines()
            .map(|commit| format!("{commit} {base}\n"))
            .collect();
        let mut command = here.command()?;
        command.args(AS_STORED).args([
            "diff-tree",
            "--stdin",
            "-r",
            "-z",
            "--name-only",
            "--no-commit-id",
            "--no-renames",
        ]);
        let touched = here.succeed(command.stdin(input(pairs.as_bytes())?))?;
        let before = here.ask(&["ls-tree", "-r", "-z", "--name-only", base])?;
        let before: BTreeSet<&[u8]> = fields(&before).collect();
        let own = fields(&touched).filter(|path| self.0.has(path) && !before.contains(path));
        Ok(own.map(<[u8]>::to_vec).collect())
    }
}

/// The first of these paths, and some of all on one line.
fn told(found: &BTreeSet<Vec<u8>>) -> Option<(String, String)> {
    let first = Path::new(OsStr::from_bytes(found.first()?));
    let names = found.iter().map(|path| String::from_utf8_lossy(path));
    let names: Vec<String> = names.map(std::borrow::Cow::into_owned).collect();
    Some((first.display().to_string(), left_files::named(&names)))
}
