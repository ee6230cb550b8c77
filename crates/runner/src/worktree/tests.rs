//! Worktrees with the real git, in temporary projects.

mod kills;
mod merging;
mod preparing;
mod removing;
mod repositories;
mod spares;
mod waves;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use engine::RunId;
use runtime::state::State;
use testkit::Project;

use super::{Merged, Prepared, Snapshot, Worktree, Worktrees};

/// A project under git, and the worktrees of its run.
struct Story {
    project: Project,
    worktrees: Worktrees,
}

impl Story {
    /// A repository in which these files are committed.
    fn with(files: &[(&str, &str)]) -> Self {
        let project = Project::with_git("unused");
        for (name, content) in files {
            project.write(name, content);
        }
        project.git(["add", "--all"]);
        project.git(["commit", "--quiet", "--allow-empty", "--message=files"]);
        Self::of(project)
    }

    fn of(project: Project) -> Self {
        let root = project.path();
        Self::at(project, &root)
    }

    fn at(project: Project, root: &Path) -> Self {
        let state = State::new(project.state());
        let run = RunId::parse("r-1").unwrap();
        let worktrees = Worktrees::new(&state, root, &run);
        Self { project, worktrees }
    }

    fn prepare(&self, name: &str) -> Worktree {
        self.prepare_with(name, &[])
    }

    fn prepare_with(&self, name: &str, carried: &[&str]) -> Worktree {
        let carried: Vec<String> = carried.iter().map(|path| (*path).to_owned()).collect();
        match self.worktrees.prepare(name, &carried).unwrap() {
            Prepared::Ready(worktree, _) => worktree,
            Prepared::NoGit(no_git) => panic!("{}", no_git.reason),
        }
    }

    /// A worker does this in a worktree of its own, and ends.
    fn step(&self, name: &str, work: impl FnOnce(&Path)) -> Snapshot {
        let worktree = self.prepare(name);
        work(&worktree.folder);
        self.worktrees.finish(&worktree).unwrap()
    }

    fn merge(&self, snapshot: &Snapshot) -> Merged {
        let known = self.worktrees.last_content().unwrap();
        let known = known.as_ref().unwrap_or(&snapshot.base);
        self.worktrees.merge(snapshot, known).unwrap().merged
    }

    /// Git's answer in the project.
    fn git(&self, words: &[&str]) -> String {
        self.project.git(words).stdout
    }

    /// Every file outside of `.git`, with what it holds, one a line.
    fn tree(&self) -> String {
        tree(&self.project.path())
    }
}

fn clean(changed: &[&str]) -> Merged {
    let changed = changed.iter().map(|path| (*path).to_owned()).collect();
    Merged::Clean { changed }
}

fn conflict(paths: &[&str]) -> Merged {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    Merged::Conflict { paths }
}

/// Writes a file and the folders on the way to it.
fn write(root: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn make_program(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Every file and every empty folder below a folder, sorted: `name = content`, `name* = content` for a program, and
/// `name -> target` for a link.
fn tree(root: &Path) -> String {
    let mut lines = Vec::new();
    let mut coming = vec![root.to_owned()];
    while let Some(folder) = coming.pop() {
        if fs::read_dir(&folder).unwrap().next().is_none() {
            let name = folder.strip_prefix(root).unwrap();
            lines.push(format!("{}/ is empty", name.display()));
        }
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap();
            match () {
                () if path.file_name().unwrap() == ".git" => {}
                () if kind.is_dir() => coming.push(path),
                () => lines.push(line(root, &path, &kind)),
            }
        }
    }
    lines.sort_unstable();
    lines.join("\n")
}

fn line(root: &Path, path: &PathBuf, kind: &fs::Metadata) -> String {
    let name = path.strip_prefix(root).unwrap().to_string_lossy();
    if kind.is_symlink() {
        let target = fs::read_link(path).unwrap();
        return format!("{name} -> {}", target.display());
    }
    let star = match kind.permissions().mode() & 0o100 {
        0 => "",
        _ => "*",
    };
    let content = fs::read(path).unwrap();
    format!("{name}{star} = {}", content.escape_ascii())
}
