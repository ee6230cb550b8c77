//! Commits a worktree: exactly the bytes on disk, without using its index.
//!
//! No filter runs and no link is followed: git gets the bytes from us, in one stream. It gets only what the
//! first parent does not have: the stamps of files tell which they are.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write};
use std::process::{Child, Stdio};

use evidence::Project;
use evidence::beneath::{self, Folder, Refused};
use evidence::tree::{ObjectKind, ObjectStamps, TreeObject, escape};
use runtime::failure::Failure;
use rustix::fs::{FileType, Stat};

use super::disk::is_ours;
use super::git::{failed, not_started};
use super::scratch::{EMAIL, NAME, Scratch};
use super::trees::{self, TreeEntry};

/// Files up to this length are read before their length is written, so they may change meanwhile.
const READ_AT_ONCE: u64 = 8 * 1024 * 1024;

/// What a commit is made of.
pub(super) struct TreeCommit<'a> {
    /// The worktree as git lists it.
    pub project: &'a Project,
    /// What is known of its files.
    pub stamps: &'a ObjectStamps,
    /// Paths that count besides those that git lists. Missing files are skipped.
    pub also: ForcedPaths,
    pub parents: Vec<String>,
    pub about: String,
}

/// Paths that count even if git ignores them.
pub(super) enum ForcedPaths {
    These(Vec<Vec<u8>>),
    /// These, and all that the first parent has.
    TheseAndParent(Vec<Vec<u8>>),
}

/// Writes the commit and returns its id. No ref keeps it yet.
pub(super) fn write(
    scratch: &Scratch<'_>,
    tree_commit: &TreeCommit<'_>,
) -> Result<String, Failure> {
    let changes = Changes::of(scratch, tree_commit)?;
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
    let written = write_stream(&mut git, tree_commit, &changes);
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
enum Changes {
    /// Everything: these files.
    Whole(Vec<Vec<u8>>),
    /// What differs from the first parent.
    Some {
        removed: Vec<Vec<u8>>,
        written: Vec<Vec<u8>>,
    },
}

impl Changes {
    /// Everything after a failure: an object of the parent may be missing.
    fn of(scratch: &Scratch<'_>, tree_commit: &TreeCommit<'_>) -> Result<Self, Failure> {
        let parent = tree_commit.parents.first();
        let before = |parent: Option<&String>| {
            let entries = parent.map_or(Ok(Vec::new()), |parent| trees::entries(scratch, parent));
            entries.map(|mut entries| {
                entries.sort_unstable_by(|left, right| left.path.cmp(&right.path));
                entries
            })
        };
        let compared = parent.filter(|_| scratch.is_first_try);
        let (before, mut also) = match &tree_commit.also {
            ForcedPaths::These(paths) => (before(compared)?, paths.clone()),
            ForcedPaths::TheseAndParent(paths) => {
                let before = before(parent)?;
                let of_parent = before.iter().map(|entry| entry.path.clone());
                let also = of_parent.chain(paths.iter().cloned()).collect();
                (before, also)
            }
        };
        also.retain(|path| is_ours(path));
        let mut now = tree_commit.stamps.list(tree_commit.project, also)?;
        now.retain(|(path, _)| is_ours(path));
        Ok(match compared {
            Some(_) => Self::between(before, now.into_iter()),
            None => Self::Whole(now.into_iter().map(|(path, _)| path).collect()),
        })
    }

    /// Both are sorted by their paths.
    fn between(
        before: Vec<TreeEntry>,
        now: impl Iterator<Item = (Vec<u8>, Option<TreeObject>)>,
    ) -> Self {
        let (mut removed, mut written) = (Vec::new(), Vec::new());
        let mut before = before.into_iter().peekable();
        for (path, object) in now {
            while let Some(gone) = before.next_if(|entry| entry.path < path) {
                removed.push(gone.path);
            }
            let old = before.next_if(|entry| entry.path == path);
            let Some(object) = object else {
                removed.extend(old.map(|_| path));
                continue;
            };
            let is_same =
                |old: &TreeEntry| old.object == object.name && old.mode == mode(object.kind);
            if !old.as_ref().is_some_and(is_same) {
                // If it is gone when it is read, it must be gone from the commit, too.
                removed.extend(old.map(|old| old.path));
                written.push(path);
            }
        }
        removed.extend(before.map(|entry| entry.path));
        Self::Some { removed, written }
    }
}

fn mode(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::File => "100644",
        ObjectKind::Program => "100755",
        ObjectKind::Link => "120000",
    }
}

fn write_stream(
    git: &mut Child,
    tree_commit: &TreeCommit<'_>,
    changes: &Changes,
) -> Result<(), StreamError> {
    let Some(input) = git.stdin.take() else {
        return Err(StreamError::Failed(Failure::bug(
            "git was started without an input",
        )));
    };
    let mut stream = BufWriter::with_capacity(64 * 1024, input);
    write_header(&mut stream, tree_commit)?;
    let written = match changes {
        Changes::Whole(files) => {
            writeln!(stream, "deleteall")?;
            files
        }
        Changes::Some { removed, written } => {
            for path in removed {
                stream.write_all(b"D ")?;
                stream.write_all(&quoted(path))?;
                writeln!(stream)?;
            }
            written
        }
    };
    let root = &tree_commit.stamps.root;
    let folder = Folder::open(root)
        .map_err(|cause| StreamError::Failed(Failure::file("read", root)(cause)))?;
    for path in written {
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
