//! Commits a worktree: exactly the bytes on disk, without using its index.
//!
//! No filter runs and no link is followed: git gets the bytes from us, in one stream. It gets only what a
//! commit with nearly the same files does not have: the stamps of files tell which they are.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write};
use std::process::{Child, Stdio};

use evidence::Project;
use evidence::beneath::{self, Folder, Refused};
use evidence::tree::{ListedObjects, ObjectStamps, TreeObject, escape};
use runtime::failure::Failure;
use rustix::fs::{FileType, Stat};

use super::disk::is_ours;
use super::folder_removal::open_folder;
use super::git::{failed, not_started};
use super::scratch::{EMAIL, NAME, Scratch};
use super::trees::{TreeEntry, TreeListing};

/// Files up to this length are read before their length is written, so they may change meanwhile.
const READ_AT_ONCE: u64 = 8 * 1024 * 1024;

/// What a commit is made of.
pub(super) struct TreeCommit<'a> {
    /// The worktree as git lists it.
    pub project: &'a Project,
    /// What is known of its files.
    pub stamps: &'a ObjectStamps,
    /// A commit with nearly the same files: git gets only what differs from it.
    pub like: Option<String>,
    /// Paths that count besides those that git lists. Missing files are skipped.
    pub also: ForcedPaths,
    pub parents: Vec<String>,
    pub about: String,
}

/// Paths that count even if git ignores them.
pub(super) enum ForcedPaths {
    These(Vec<Vec<u8>>),
    /// These, and all that the commit with nearly the same files has.
    TheseAndLike(Vec<Vec<u8>>),
}

/// A worktree as a commit. No ref keeps it yet.
pub(super) struct Committed {
    pub commit: String,
    /// Where it may differ from the commit with nearly the same files; `None` if that cannot be read.
    pub changed: Option<Vec<Vec<u8>>>,
    /// The files of the commit, if they are known.
    pub items: Option<Vec<(Vec<u8>, TreeObject)>>,
}

impl Committed {
    /// A commit of an earlier time, whose files git must tell.
    pub(super) fn earlier(commit: &str) -> Self {
        Self {
            commit: commit.to_owned(),
            changed: None,
            items: None,
        }
    }
}

/// Writes the commit.
pub(super) fn write(
    scratch: &Scratch<'_>,
    tree_commit: &TreeCommit<'_>,
) -> Result<Committed, Failure> {
    let (changes, before) = Changes::of(scratch, tree_commit)?;
    let commit = import(scratch, tree_commit, &changes)?;
    if changes.are_none() {
        before.keep(&commit);
    }
    Ok(changes.committed(commit))
}

/// The same, unless the first parent has the same files: then that is the commit.
pub(super) fn write_changes(
    scratch: &Scratch<'_>,
    tree_commit: &TreeCommit<'_>,
) -> Result<Committed, Failure> {
    let (changes, _) = Changes::of(scratch, tree_commit)?;
    let commit = match tree_commit.parents.first().filter(|_| changes.are_none()) {
        Some(parent) => parent.clone(),
        None => import(scratch, tree_commit, &changes)?,
    };
    Ok(changes.committed(commit))
}

fn import(
    scratch: &Scratch<'_>,
    tree_commit: &TreeCommit<'_>,
    changes: &Changes,
) -> Result<String, Failure> {
    let tree = match &tree_commit.like {
        Some(like) if tree_commit.parents.first() != Some(like) && scratch.is_first_try => {
            Some(scratch.tree(like)?)
        }
        Some(_) | None => None,
    };
    let marks = scratch.folder().join("marks");
    let mut command = scratch.command();
    command
        .args(["fast-import", "--quiet", "--force", "--done", "--depth=0"])
        .arg("--date-format=now")
        .arg(format!("--export-marks={}", marks.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut git = command.spawn().map_err(not_started)?;
    let written = write_stream(&mut git, tree_commit, tree.as_deref(), changes);
    if let Err(StreamError::Failed(failure)) = written {
        // Git has not seen the end of the stream, so it keeps nothing. It may be gone already.
        let _ = git.kill();
        let _ = git.wait();
        return Err(failure);
    }
    let output = git.wait_with_output().map_err(not_started)?;
    if written.is_err() || !output.status.success() {
        return Err(failed(&output));
    }
    let text = std::fs::read_to_string(&marks).map_err(Failure::file("read", &marks))?;
    let commit = text
        .lines()
        .find_map(|line| line.strip_prefix(":1 "))
        .map(str::to_owned);
    commit.ok_or_else(|| Failure::bug("git made a commit and did not say which"))
}

/// Why the stream ended early.
enum StreamError {
    /// Git closed the stream; its stderr says why.
    GitClosed,
    Failed(Failure),
}

impl From<io::Error> for StreamError {
    fn from(_: io::Error) -> Self {
        Self::GitClosed
    }
}

/// What git does not know of the worktree yet.
struct Changes {
    since: Since,
    /// What git must read.
    written: Vec<Vec<u8>>,
    /// All that is there.
    now: ListedObjects,
}

/// What the files are compared with.
enum Since {
    /// Nothing: all files are written.
    Nothing,
    /// The commit with nearly the same files.
    Like { removed: Vec<Vec<u8>> },
}

impl Changes {
    /// Everything after a failure: an object of that commit may be missing. With the files that the commit with
    /// nearly the same files has.
    fn of(
        scratch: &Scratch<'_>,
        tree_commit: &TreeCommit<'_>,
    ) -> Result<(Self, TreeListing), Failure> {
        let compared = tree_commit.like.as_ref().filter(|_| scratch.is_first_try);
        let (needed, paths) = match &tree_commit.also {
            ForcedPaths::These(paths) => (compared, paths),
            ForcedPaths::TheseAndLike(paths) => (tree_commit.like.as_ref(), paths),
        };
        let listing = needed.map_or(Ok(TreeListing::empty()), |like| {
            TreeListing::of(scratch, like)
        })?;
        let before = listing.entries()?;
        let mut also: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
        if matches!(tree_commit.also, ForcedPaths::TheseAndLike(_)) {
            also.extend(before.iter().map(|entry| entry.path));
        }
        also.retain(|path| is_ours(path));
        let mut now = tree_commit.stamps.list(tree_commit.project, &also)?;
        now.retain(|(path, _)| is_ours(path));
        let changes = match compared {
            Some(_) => Self::between(before, now),
            None => Self {
                since: Since::Nothing,
                written: now.iter().map(|(path, _)| path.clone()).collect(),
                now,
            },
        };
        Ok((changes, listing))
    }

    /// Has it the same files as the commit with nearly the same files?
    fn are_none(&self) -> bool {
        match &self.since {
            Since::Nothing => false,
            Since::Like { removed } => removed.is_empty() && self.written.is_empty(),
        }
    }

    /// Both are sorted by their paths.
    fn between(before: Vec<TreeEntry<'_>>, now: ListedObjects) -> Self {
        let (mut removed, mut written) = (Vec::new(), Vec::new());
        let mut before = before.into_iter().peekable();
        for (path, object) in &now {
            while let Some(gone) = before.next_if(|entry| entry.path < path.as_slice()) {
                removed.push(gone.path.to_vec());
            }
            let old = before.next_if(|entry| entry.path == path);
            let Some(object) = object else {
                removed.extend(old.map(|_| path.clone()));
                continue;
            };
            let is_same =
                |old: &TreeEntry<'_>| old.object == object.name && old.mode == object.kind.mode();
            if !old.is_some_and(|old| is_same(&old)) {
                // If it is gone when it is read, it must be gone from the commit, too.
                removed.extend(old.map(|_| path.clone()));
                written.push(path.clone());
            }
        }
        removed.extend(before.map(|entry| entry.path.to_vec()));
        Self {
            since: Since::Like { removed },
            written,
            now,
        }
    }

    fn committed(self, commit: String) -> Committed {
        let there = |now: ListedObjects| {
            let there = now.into_iter();
            there.filter_map(|(path, object)| Some((path, object?)))
        };
        // A file may change before git reads it.
        let items = self.written.is_empty().then(|| there(self.now).collect());
        let changed = match self.since {
            Since::Nothing => None,
            Since::Like { removed } => {
                let mut changed = [removed, self.written].concat();
                changed.sort_unstable();
                changed.dedup();
                Some(changed)
            }
        };
        Committed {
            commit,
            changed,
            items,
        }
    }
}

fn write_stream(
    git: &mut Child,
    tree_commit: &TreeCommit<'_>,
    tree: Option<&str>,
    changes: &Changes,
) -> Result<(), StreamError> {
    let Some(input) = git.stdin.take() else {
        return Err(StreamError::Failed(Failure::bug(
            "git was started without an input",
        )));
    };
    let mut stream = BufWriter::with_capacity(64 * 1024, input);
    write_header(&mut stream, tree_commit)?;
    match &changes.since {
        Since::Nothing => writeln!(stream, "deleteall")?,
        Since::Like { removed } => {
            if let Some(tree) = tree {
                writeln!(stream, "M 040000 {tree} \"\"")?;
            }
            for path in removed {
                stream.write_all(b"D ")?;
                stream.write_all(&quoted(path))?;
                writeln!(stream)?;
            }
        }
    }
    let root = &tree_commit.stamps.root;
    let folder = open_folder(root)
        .map_err(|cause| StreamError::Failed(Failure::file("read", root)(cause)))?;
    for path in &changes.written {
        match write_file(&mut stream, &folder, path) {
            // Missing files, and files behind a link, are not part of the commit.
            Err(FileError::Refused(
                Refused::Absent | Refused::Link(_) | Refused::NotAFolder(_) | Refused::NotAFile(_),
            )) => {}
            Err(FileError::Refused(Refused::Io(cause))) => {
                let path = root.join(escape(path));
                return Err(StreamError::Failed(Failure::file("read", &path)(cause)));
            }
            Err(FileError::GitClosed) => return Err(StreamError::GitClosed),
            Ok(()) => {}
        }
    }
    stream.write_all(b"\ndone\n")?;
    Ok(stream.flush()?)
}

fn write_header(stream: &mut impl Write, tree_commit: &TreeCommit<'_>) -> io::Result<()> {
    writeln!(stream, "commit refs/heads/picture\nmark :1")?;
    writeln!(stream, "committer {NAME} <{EMAIL}> now")?;
    writeln!(
        stream,
        "data {}\n{}",
        tree_commit.about.len(),
        tree_commit.about
    )?;
    for (at, parent) in tree_commit.parents.iter().enumerate() {
        let word = if at == 0 { "from" } else { "merge" };
        writeln!(stream, "{word} {parent}")?;
    }
    Ok(())
}

enum FileError {
    Refused(Refused),
    GitClosed,
}

impl FileError {
    /// The stream itself could not be written to.
    fn git_closed(_: io::Error) -> Self {
        Self::GitClosed
    }
}

impl From<Refused> for FileError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

fn write_file(stream: &mut impl Write, root: &Folder, path: &[u8]) -> Result<(), FileError> {
    let (above, name) = beneath::split(path);
    let folder = root.descend_path(above)?;
    let stat = folder.stat(name)?;
    if beneath::kind(&stat) == FileType::Symlink {
        let target = folder.link(name).map_err(Refused::Io)?;
        return write_bytes(stream, "120000", path, &target).map_err(FileError::git_closed);
    }
    let (file, stat) = folder.file(name)?;
    write_content(stream, path, file, &stat)
}

fn write_content(
    stream: &mut impl Write,
    path: &[u8],
    mut file: File,
    stat: &Stat,
) -> Result<(), FileError> {
    let mode = if stat.st_mode & 0o100 == 0 {
        "100644"
    } else {
        "100755"
    };
    let length = u64::try_from(stat.st_size).unwrap_or_default();
    if length <= READ_AT_ONCE {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Refused::Io)?;
        return write_bytes(stream, mode, path, &bytes).map_err(FileError::git_closed);
    }
    write_head(stream, mode, path, length).map_err(FileError::git_closed)?;
    let copied = io::copy(&mut file.take(length), stream).map_err(FileError::git_closed)?;
    if copied < length {
        let changing = io::Error::other("it became shorter during the read");
        return Err(FileError::Refused(Refused::Io(changing)));
    }
    writeln!(stream).map_err(FileError::git_closed)
}

fn write_bytes(stream: &mut impl Write, mode: &str, path: &[u8], bytes: &[u8]) -> io::Result<()> {
    write_head(stream, mode, path, bytes.len() as u64)?;
    stream.write_all(bytes)?;
    writeln!(stream)
}

fn write_head(stream: &mut impl Write, mode: &str, path: &[u8], length: u64) -> io::Result<()> {
    write!(stream, "M {mode} inline ")?;
    stream.write_all(&quoted(path))?;
    writeln!(stream, "\ndata {length}")
}

/// A path in quotes, as git reads it; other bytes are written as octal numbers.
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b' '..=b'~' => quoted.push(*byte),
            _ => quoted.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_as_git_reads_it() {
        let check = |path: &[u8], expected: &str| {
            assert_eq!(String::from_utf8(quoted(path)).unwrap(), expected);
        };
        check(b"a/b c", "\"a/b c\"");
        check(b"a\"b\\c\nd", "\"a\\\"b\\\\c\\012d\"");
        check(b"\xff\xc3\xa4", "\"\\377\\303\\244\"");
    }
}
