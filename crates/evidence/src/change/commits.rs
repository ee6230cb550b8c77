//! What differs between two commits, for people who want to see what a step in a worktree of its own changed. It decides nothing.

use std::process::Stdio;

use super::old_text::OldTexts;
use super::picture::PictureChange;
use super::texts::{ChangedText, MOST_FILES, Side, side};
use crate::git::Git;
use crate::project::Project;

/// The files that differ between two commits of this project's repository. The error says why that is not known.
pub fn commit_change(project: &Project, from: &str, to: &str) -> Result<PictureChange, String> {
    let repository = project.repository.as_ref();
    let repository = repository.ok_or("this folder is not a git repository")?;
    let git = Git::find().map_err(|error| error.to_string())?;
    let mut command = git.command(&project.root, &repository.git_dir);
    command.args(["diff-tree", "-r", "--no-renames", "--name-only", "-z"]);
    command.args([from, to]).stderr(Stdio::null());
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err("git cannot compare the two commits".to_owned());
    }
    let paths = output.stdout.split(|byte| *byte == 0);
    let paths = paths.filter_map(|path| std::str::from_utf8(path).ok());
    let paths: Vec<&str> = paths.filter(|path| !path.is_empty()).collect();
    let mut texts = OldTexts::open(&project.root, repository)?;
    let mut of = |commit: &str, path: &str| match texts.of_commit(commit, path) {
        Ok(None) => Side::Absent,
        Ok(Some(bytes)) => side(Ok(bytes)),
        Err(reason) => Side::Unseen(reason),
    };
    let files = paths.iter().take(MOST_FILES).map(|path| ChangedText {
        old: of(from, path),
        new: of(to, path),
        path: (*path).to_owned(),
    });
    Ok(PictureChange {
        files: files.collect(),
        all: paths.len(),
    })
}
