//! What came along into the worktree of a run by `carry`: a secret or a cache of the person's, which no commit of ours
//! takes and no delivery hands on, whatever `.gitignore` says there.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use engine::RunBranch;
use runtime::failure::Failure;
use runtime::run_branch::file_with;
use runtime::workspace::{OpenRun, Workspace};

use super::commit::{is_below, split};
use crate::run_place::{self, Checkout, left_files};

/// The paths that came along and do not come back, relative to the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Belongings(Vec<PathBuf>);

impl Belongings {
    pub(super) fn of(workspace: &Workspace<'_>, opened: &OpenRun) -> Self {
        let mut paths = run_place::carried(&workspace.state, &opened.run().id);
        let back = &opened.pipeline.definition().placement.carry_back;
        paths.retain(|path| !back.iter().any(|back| path.starts_with(back)));
        Self(paths)
    }

    pub(super) fn has(&self, path: &[u8]) -> bool {
        let mut all = self.0.iter();
        all.any(|own| is_below(path, own.as_os_str().as_bytes()))
    }

    /// Takes out of the index what an agent put there without a commit. What the run began with stays.
    pub(super) fn unstage(&self, here: &Checkout<'_>, base: &str) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let head = self.tracked(here, "HEAD")?;
        let before = self.tracked(here, base)?;
        let mut staged = split(&here.ask(&["ls-files", "-z", "--cached"])?);
        staged.retain(|path| self.has(path) && !head.contains(path) && !before.contains(path));
        if staged.is_empty() {
            return Ok(());
        }
        let mut command = here.command()?;
        command.args(["update-index", "--force-remove", "-z", "--stdin"]);
        let input = file_with(&staged.join(&0))?;
        here.succeed(command.stdin(Stdio::from(input))).map(drop)
    }

    /// Refuses to hand a branch on in which an agent committed some of them.
    pub(super) fn require_kept_back(
        &self,
        here: &Checkout<'_>,
        branch: &RunBranch,
    ) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let RunBranch { name, base, .. } = branch;
        let before = self.tracked(here, base)?;
        let range = format!("{base}..refs/heads/{name}");
        let words = [
            "log",
            "-z",
            "--format=",
            "--name-only",
            "--no-renames",
            "-m",
        ];
        let mut touched = split(&here.ask(&[words.as_slice(), &[&range, "--"]].concat())?);
        touched.retain(|path| self.has(path) && !before.contains(path));
        touched.dedup();
        let Some(first) = touched.first() else {
            return Ok(());
        };
        let first = Path::new(std::ffi::OsStr::from_bytes(first))
            .display()
            .to_string();
        let names: Vec<String> = touched
            .iter()
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect();
        Err(Failure::refused(format!(
            "commits of the branch {name} have files that came along by `carry` and are not to leave this machine: {}",
            left_files::named(&names)
        ))
        .hint(format!(
            "look with `git log {name} -- {first}`; take them out of its commits and deliver again, or push the \
             branch yourself"
        )))
    }

    fn tracked(&self, here: &Checkout<'_>, commit: &str) -> Result<Vec<Vec<u8>>, Failure> {
        let mut tracked = split(&here.ask(&["ls-tree", "-r", "-z", "--name-only", commit])?);
        tracked.retain(|path| self.has(path));
        Ok(tracked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_along_is_known_with_all_that_is_in_it() {
        let own = Belongings(vec![".env".into(), "node_modules".into()]);
        for (path, expected) in [
            (".env", true),
            ("node_modules/a/b", true),
            (".env.example", false),
            ("src/.env", false),
            ("node_modules2/a", false),
        ] {
            assert_eq!(own.has(path.as_bytes()), expected, "{path}");
        }
    }
}
