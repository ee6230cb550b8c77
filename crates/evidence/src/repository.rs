//! Finds and identifies git repositories by reading `.git` ourselves: no program is started.
//!
//! A folder names its repository; we believe it only if the repository confirms it. Otherwise
//! anybody could write a `.git` file and take over another project's identity.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Git's files that contain a path are short.
const LONGEST_LINK: u64 = 64 * 1024;

/// What the `.git` of a folder leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GitEntry {
    /// There is no `.git`, or git does not accept it as a repository.
    Nothing,
    /// A `.git` file with a missing target.
    Broken,
    Repository(Repository),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The folder with this worktree's index and HEAD.
    pub git_dir: PathBuf,
    /// The folder that all worktrees share.
    pub common_dir: PathBuf,
    /// Does the repository list this folder as its worktree?
    pub linked_back: bool,
}

/// Reads the `.git` of a folder whose path is canonical.
pub(crate) fn find(root: &Path) -> GitEntry {
    let dot_git = root.join(".git");
    let Ok(metadata) = fs::symlink_metadata(&dot_git) else {
        return GitEntry::Nothing;
    };
    if metadata.is_file() {
        let target = gitfile(&dot_git).and_then(|target| resolve(root, &target));
        return match target.and_then(|git_dir| repository(root, git_dir)) {
            Some(repository) => GitEntry::Repository(repository),
            None => GitEntry::Broken,
        };
    }
    let repository = fs::canonicalize(&dot_git)
        .ok()
        .and_then(|git_dir| repository(root, git_dir));
    repository.map_or(GitEntry::Nothing, GitEntry::Repository)
}

/// Is this folder itself a repository, as a bare one is?
pub(crate) fn is_git_dir(folder: &Path) -> bool {
    let has_head = fs::symlink_metadata(folder.join("HEAD")).is_ok();
    let has_store = folder.join("objects").is_dir() && folder.join("refs").is_dir();
    has_head && (has_store || folder.join("commondir").is_file())
}

fn repository(root: &Path, git_dir: PathBuf) -> Option<Repository> {
    if !is_git_dir(&git_dir) {
        return None;
    }
    let Some(common) = first_line(&git_dir.join("commondir")) else {
        let linked_back = git_dir.parent() == Some(root) || has_worktree(&git_dir, root);
        return Some(Repository {
            common_dir: git_dir.clone(),
            git_dir,
            linked_back,
        });
    };
    let common_dir = resolve(&git_dir, &common)?;
    let linked_back = is_git_dir(&common_dir) && is_worktree(root, &git_dir, &common_dir);
    Some(Repository {
        git_dir,
        common_dir,
        linked_back,
    })
}

/// Invariant: the back-link counts only in the common folder, where only somebody with write access
/// to the repository can put it.
fn is_worktree(root: &Path, git_dir: &Path, common_dir: &Path) -> bool {
    let is_listed = git_dir.parent() == Some(common_dir.join("worktrees").as_path());
    let back = first_line(&git_dir.join("gitdir")).map(|back| git_dir.join(back));
    let back = back
        .as_deref()
        .and_then(Path::parent)
        .and_then(|back| fs::canonicalize(back).ok());
    is_listed && back.as_deref() == Some(root)
}

/// Does the repository's configuration name this worktree, as for a submodule?
fn has_worktree(git_dir: &Path, root: &Path) -> bool {
    let Some(config) = read_short(&git_dir.join("config")) else {
        return false;
    };
    let worktree = core_worktree(&config).and_then(|worktree| resolve(git_dir, &worktree));
    worktree.as_deref() == Some(root)
}

/// The value of `core.worktree`. Spellings that git never writes are ignored, and then the folder
/// is its own project.
fn core_worktree(config: &str) -> Option<String> {
    let mut in_core = false;
    let mut worktree = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            in_core = line.eq_ignore_ascii_case("[core]");
        } else if let (true, Some((key, value))) = (in_core, line.split_once('='))
            && key.trim().eq_ignore_ascii_case("worktree")
        {
            worktree = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    worktree
}

fn gitfile(path: &Path) -> Option<String> {
    let line = first_line(path)?;
    Some(line.strip_prefix("gitdir:")?.trim().to_owned())
}

fn first_line(path: &Path) -> Option<String> {
    let text = read_short(path)?;
    let line = text.lines().next()?.trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

fn read_short(path: &Path) -> Option<String> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs::File::open(path)
        .ok()?
        .take(LONGEST_LINK)
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}

fn resolve(from: &Path, path: &str) -> Option<PathBuf> {
    fs::canonicalize(from.join(path)).ok()
}
