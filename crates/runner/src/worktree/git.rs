//! Git for worktrees: refs and worktrees in the person's repository, everything else in a scratch
//! repository.
//!
//! Settings and attributes of a repository can name programs: filters, merge drivers, hooks. An
//! agent can write them. So every command that reads contents runs in a scratch repository without
//! settings, which shares only the objects.
//!
//! An agent can also run `git gc --prune=now` at any moment. So new objects are made in the scratch
//! repository, and come into the person's as a pack that git may not remove until a ref keeps it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use evidence::Project;
use evidence::git::Git;
use evidence::tree::{ObjectFormat, ObjectStamps};
use runtime::failure::Failure;

use crate::run_place::half_made;

/// The first git with `merge-tree --write-tree`.
const OLDEST: (u32, u32) = (2, 38);

/// Keeps our refs and commits from writing reflogs or starting `gc` in the person's repository.
/// Another git may hold its locks for a while.
const QUIET: [&str; 10] = [
    "-c",
    "core.logAllRefUpdates=false",
    "-c",
    "gc.auto=0",
    "-c",
    "core.fsync=all",
    "-c",
    "core.filesRefLockTimeout=10000",
    "-c",
    "core.packedRefsTimeout=10000",
];

/// How long to wait for somebody's `git gc --prune=now`.
const PRUNING_TIMEOUT: Duration = Duration::from_secs(60);

/// How often to look whether it has ended.
const PRUNING_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The formats of repositories that this process has asked for.
static FORMATS: Mutex<BTreeMap<(PathBuf, u64, SystemTime), ObjectFormat>> =
    Mutex::new(BTreeMap::new());

/// The repository that a run works in.
pub(super) struct Repository {
    pub(super) git: Git,
    project: Project,
    git_dir: PathBuf,
    common_dir: PathBuf,
    pub(super) object_format: ObjectFormat,
}

/// Why worktrees cannot be used here, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoGit {
    pub reason: String,
}

/// The folders of a worktree: the run's own, or one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorktreeDirs {
    pub root: PathBuf,
    pub git_dir: PathBuf,
}

impl Repository {
    /// The repository of a folder, or why it cannot have worktrees.
    pub(super) fn find(folder: &Path) -> Result<Result<Self, NoGit>, Failure> {
        let project = Project::find(folder)?;
        let no_git = |reason: String| Ok(Err(NoGit { reason }));
        let Some(found) = project.repository.clone() else {
            return no_git(String::from("this project is not a git repository"));
        };
        let Ok(git) = Git::find() else {
            return no_git(String::from("git is not installed"));
        };
        let mut repository = Self {
            git,
            project,
            git_dir: found.git_dir,
            common_dir: found.common_dir,
            object_format: ObjectFormat::Sha1,
        };
        Ok(match repository.checked_format()? {
            Ok(format) => {
                repository.object_format = format;
                Ok(repository)
            }
            Err(no_git) => Err(no_git),
        })
    }

    /// The format of its objects, unless git or the format cannot be used.
    fn checked_format(&self) -> Result<Result<ObjectFormat, NoGit>, Failure> {
        let key = self.format_key();
        let known = FORMATS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(format) = key.as_ref().and_then(|key| known.get(key)) {
            return Ok(Ok(*format));
        }
        drop(known);
        let version = self.text(&["version"])?;
        if !is_new_enough(&version) {
            let (major, minor) = OLDEST;
            let needs = format!("worktrees of steps, which need git {major}.{minor}");
            let reason = format!("{version} is too old for {needs}");
            return Ok(Err(NoGit { reason }));
        }
        let format = self.text(&["rev-parse", "--show-object-format"])?;
        let Some(format) = ObjectFormat::parse(&format) else {
            let reason =
                format!("the objects of this repository are in the unknown format {format}");
            return Ok(Err(NoGit { reason }));
        };
        if let Some(key) = key {
            let mut known = FORMATS.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(key, format);
        }
        Ok(Ok(format))
    }

    /// Changes when somebody makes another repository in its place.
    fn format_key(&self) -> Option<(PathBuf, u64, SystemTime)> {
        let settings = self.common_dir.join("config").metadata().ok()?;
        let modified = settings.modified().ok()?;
        Some((self.common_dir.clone(), settings.ino(), modified))
    }

    /// The run's worktree.
    pub(super) fn here(&self) -> WorktreeDirs {
        WorktreeDirs {
            root: self.project.root.clone(),
            git_dir: self.git_dir.clone(),
        }
    }

    /// One of our worktrees. Its `.git` file is not read: the worker may have changed it.
    pub(super) fn linked(&self, root: &Path, id: &str) -> WorktreeDirs {
        WorktreeDirs {
            root: root.to_owned(),
            git_dir: self.common_dir.join("worktrees").join(id),
        }
    }

    /// A worktree as a project, whose files git lists.
    pub(super) fn project(&self, dirs: &WorktreeDirs) -> Project {
        Project {
            root: dirs.root.clone(),
            key: self.project.key.clone(),
            repository: Some(evidence::Repository {
                git_dir: dirs.git_dir.clone(),
                common_dir: self.common_dir.clone(),
                linked_back: true,
            }),
        }
    }

    /// What is known of the files of a worktree, in this file.
    pub(super) fn stamps(&self, root: PathBuf, file: PathBuf) -> ObjectStamps {
        ObjectStamps {
            root,
            file,
            format: self.object_format,
        }
    }

    /// The commit of a worktree, if it has one.
    pub(super) fn head(&self, dirs: &WorktreeDirs) -> Result<Option<String>, Failure> {
        self.commit_of(dirs, "HEAD")
    }

    /// The commit of a ref.
    pub(super) fn kept(&self, name: &str) -> Result<Option<String>, Failure> {
        self.commit_of(&self.here(), name)
    }

    /// The value of a ref.
    pub(super) fn value(&self, name: &str) -> Result<Option<String>, Failure> {
        let mut command = self.command(&self.here());
        command.args(["rev-parse", "--verify", "--quiet", name]);
        let output = start(&mut command)?;
        Ok(output.status.success().then(|| line(&output.stdout)))
    }

    /// The folder that all worktrees share.
    pub(super) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    fn commit_of(&self, dirs: &WorktreeDirs, name: &str) -> Result<Option<String>, Failure> {
        let commit = format!("{name}^{{commit}}");
        let mut command = self.command(dirs);
        command.args(["rev-parse", "--verify", "--quiet", &commit]);
        let output = start(&mut command)?;
        Ok(output.status.success().then(|| line(&output.stdout)))
    }

    /// Waits a while for a `git gc` that removes young objects: it may not know of our refs yet.
    pub(super) fn wait_for_pruning(&self) {
        let end = Instant::now() + PRUNING_TIMEOUT;
        while self.is_pruned() && Instant::now() < end {
            std::thread::sleep(PRUNING_POLL_INTERVAL);
        }
    }

    fn is_pruned(&self) -> bool {
        let text = fs::read_to_string(self.common_dir.join("gc.pid")).unwrap_or_default();
        let process = text
            .split_whitespace()
            .next()
            .and_then(|id| id.parse::<u32>().ok());
        let words = process.and_then(|id| fs::read(format!("/proc/{id}/cmdline")).ok());
        let words = words.unwrap_or_default();
        words
            .split(|byte| *byte == 0)
            .any(|word| word.starts_with(b"--prune"))
    }

    /// Lets git remove packs again that a killed process handed over for refs with this prefix.
    pub(super) fn release_packs(&self, record: &str) {
        let packs = self.objects().join("pack");
        let listed = fs::read_dir(&packs).into_iter().flatten();
        let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        for name in names.filter_map(|name| Some(name.strip_suffix(".keep")?.to_owned())) {
            let keep_file = packs.join(format!("{name}.keep"));
            let note = fs::read_to_string(&keep_file).unwrap_or_default();
            if note.starts_with(record) {
                for end in ["pack", "idx"] {
                    let _ = fs::remove_file(packs.join(unfinished(&name, end)));
                }
                let _ = fs::remove_file(keep_file);
            }
        }
    }

    pub(super) fn keep(&self, name: &str, commit: &str) -> Result<(), Failure> {
        self.text(&["update-ref", "--no-deref", name, commit])
            .map(drop)
    }

    pub(super) fn forget(&self, name: &str) -> Result<(), Failure> {
        self.text(&["update-ref", "--no-deref", "-d", name])
            .map(drop)
    }

    /// All refs with this prefix.
    pub(super) fn refs(&self, record: &str) -> Result<Vec<String>, Failure> {
        let listed = self.text(&["for-each-ref", "--format=%(refname)", record])?;
        Ok(listed.lines().map(str::to_owned).collect())
    }

    /// Makes a worktree at a commit without any files, and returns git's id for it.
    pub(super) fn add_worktree(&self, root: &Path, commit: &str) -> Result<String, Failure> {
        let output = half_made::with_retries(|| {
            let mut command = self.command(&self.here());
            command
                .args(["worktree", "add", "--quiet", "--detach", "--no-checkout"])
                .arg(root)
                .arg(commit);
            start(&mut command)
        })?;
        if !output.status.success() {
            return Err(failed(&output));
        }
        let made = Project::find(root)?.repository;
        let made = made.filter(|made| made.linked_back && made.common_dir == self.common_dir);
        let id = made.and_then(|made| Some(made.git_dir.file_name()?.to_str()?.to_owned()));
        id.ok_or_else(|| {
            Failure::environment(format!("git made no worktree at {}", root.display()))
                .hint("make sure that `git worktree add` works in this repository")
        })
    }

    /// Removes git's record of a worktree whose folder is gone. Git may not know it; that is no
    /// error.
    pub(super) fn forget_worktree(&self, root: &Path) -> Result<(), Failure> {
        let mut command = self.command(&self.here());
        command.args(["worktree", "remove", "--force"]).arg(root);
        start(&mut command).map(drop)
    }

    /// The `merge` attributes of these paths, in their order.
    pub(super) fn merge_attributes(&self, paths: &[&[u8]]) -> Result<Vec<Vec<u8>>, Failure> {
        let mut command = self.command(&self.here());
        command.args(["check-attr", "-z", "--stdin", "merge"]);
        let output = with_input(&mut command, &paths.join(&0))?;
        let words: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        Ok(words
            .chunks_exact(3)
            .map(|triple| triple[2].to_vec())
            .collect())
    }

    /// The folder of its objects.
    pub(super) fn objects(&self) -> PathBuf {
        self.common_dir.join("objects")
    }

    fn text(&self, words: &[&str]) -> Result<String, Failure> {
        let output = succeed(self.command(&self.here()).args(words))?;
        Ok(line(&output))
    }

    pub(super) fn command(&self, dirs: &WorktreeDirs) -> Command {
        let mut command = self.git.command(&dirs.root, &dirs.git_dir);
        command.args(QUIET);
        command
    }
}

/// The name of a file of a pack that is not complete. Git removes temporary files and indexes without a
/// pack, and leaves this alone.
pub(super) fn unfinished(pack: &str, end: &str) -> String {
    format!("new-{pack}-{end}")
}

/// Runs git and fails unless it succeeds.
pub(super) fn succeed(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let output = start(command)?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(failed(&output))
    }
}

/// The process could not start, which says nothing about the repository.
pub(super) fn not_started(cause: std::io::Error) -> Failure {
    Failure::from(evidence::Error::GitStart(cause))
}

/// The failure of a git command, with its stderr.
pub(super) fn failed(output: &Output) -> Failure {
    let complaint = String::from_utf8_lossy(&output.stderr);
    let complaint = evidence::text::line(complaint.trim(), 300);
    Failure::environment(format!("git failed ({complaint})"))
        .hint("repair the repository and retry")
}

pub(super) fn start(command: &mut Command) -> Result<Output, Failure> {
    command.output().map_err(not_started)
}

pub(super) fn with_input(command: &mut Command, input: &[u8]) -> Result<Vec<u8>, Failure> {
    succeed(command.stdin(evidence::git::input(input)?))
}

pub(super) fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

fn is_new_enough(version: &str) -> bool {
    let number = version.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mut parts = number.split(|c: char| !c.is_ascii_digit());
    let mut part = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
    (part(), part()) >= OLDEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_git_is_told_by_its_version() {
        let check = |version, expected| assert_eq!(is_new_enough(version), expected, "{version}");
        check("git version 2.47.3", true);
        check("git version 2.38.0", true);
        check("git version 2.39.5 (Apple Git-154)", true);
        check("git version 3.0.rc1", true);
        check("git version 2.37.9", false);
        check("git version 1.99.1", false);
        check("git", false);
    }
}
