//! A picture of a worktree: a commit of exactly the bytes that lie there, taken without its index.
//!
//! No filter is run and no link is followed: git gets the bytes from us, in one stream.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use evidence::beneath::{self, Folder, Refused};
use evidence::tree::escape;
use runtime::failure::Failure;
use rustix::fs::{FileType, Stat};

use super::disk::is_ours;
use super::git::{EMAIL, NAME, Scratch, failed, not_started};

/// Up to this length a file is read before its length is told, so that it may change meanwhile.
const READ_AT_ONCE: u64 = 8 * 1024 * 1024;

/// What a commit is made of.
pub struct Picture<'a> {
    pub root: &'a Path,
    /// Where files may lie. What is not there is left out.
    pub files: Vec<Vec<u8>>,
    pub parents: Vec<String>,
    pub about: String,
}

/// Takes the picture and says under which commit it is to be found. No ref keeps it yet.
pub fn take(scratch: &Scratch<'_>, picture: &Picture<'_>) -> Result<String, Failure> {
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
    let told = tell(&mut git, picture);
    if let Err(Told::Failed(failure)) = told {
        // It has not heard the end, so it keeps nothing; if it is gone already, so much the better.
        let _ = git.kill();
        let _ = git.wait();
        return Err(failure);
    }
    let output = git.wait_with_output().map_err(not_started)?;
    if told.is_err() || !output.status.success() {
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
enum Told {
    /// Git listens no longer, and says why itself.
    Hung,
    Failed(Failure),
}

impl From<io::Error> for Told {
    fn from(_: io::Error) -> Self {
        Self::Hung
    }
}

fn tell(git: &mut Child, picture: &Picture<'_>) -> Result<(), Told> {
    let Some(input) = git.stdin.take() else {
        return Err(Told::Failed(Failure::bug(
            "git was started without an input",
        )));
    };
    let mut stream = BufWriter::with_capacity(64 * 1024, input);
    begin(&mut stream, picture)?;
    let root = Folder::open(picture.root)
        .map_err(|cause| Told::Failed(Failure::file("read", picture.root)(cause)))?;
    for path in picture.files.iter().filter(|path| is_ours(path)) {
        match tell_file(&mut stream, &root, path) {
            // What is gone, or lies behind a link, is not in the picture.
            Err(Missed::Refused(
                Refused::Absent | Refused::Link(_) | Refused::NotAFolder(_) | Refused::NotAFile(_),
            )) => {}
            Err(Missed::Refused(Refused::Io(cause))) => {
                let path = picture.root.join(escape(path));
                return Err(Told::Failed(Failure::file("read", &path)(cause)));
            }
            Err(Missed::Hung) => return Err(Told::Hung),
            Ok(()) => {}
        }
    }
    stream.write_all(b"\ndone\n")?;
    Ok(stream.flush()?)
}

fn begin(stream: &mut impl Write, picture: &Picture<'_>) -> io::Result<()> {
    writeln!(stream, "commit refs/heads/picture\nmark :1")?;
    writeln!(stream, "committer {NAME} <{EMAIL}> now")?;
    writeln!(stream, "data {}\n{}", picture.about.len(), picture.about)?;
    for (at, parent) in picture.parents.iter().enumerate() {
        let word = if at == 0 { "from" } else { "merge" };
        writeln!(stream, "{word} {parent}")?;
    }
    writeln!(stream, "deleteall")
}

enum Missed {
    Refused(Refused),
    Hung,
}

impl Missed {
    /// The stream itself could not be written to.
    fn hung(_: io::Error) -> Self {
        Self::Hung
    }
}

impl From<Refused> for Missed {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

fn tell_file(stream: &mut impl Write, root: &Folder, path: &[u8]) -> Result<(), Missed> {
    let (above, name) = match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (&path[..0], path),
    };
    let folder = root.descend_path(above)?;
    let stat = folder.stat(name)?;
    if beneath::kind(&stat) == FileType::Symlink {
        let target = folder.link(name).map_err(Refused::Io)?;
        return tell_bytes(stream, "120000", path, &target).map_err(Missed::hung);
    }
    let (file, stat) = folder.file(name)?;
    tell_content(stream, path, file, &stat)
}

fn tell_content(
    stream: &mut impl Write,
    path: &[u8],
    mut file: File,
    stat: &Stat,
) -> Result<(), Missed> {
    let mode = if stat.st_mode & 0o100 == 0 {
        "100644"
    } else {
        "100755"
    };
    let length = u64::try_from(stat.st_size).unwrap_or_default();
    if length <= READ_AT_ONCE {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Refused::Io)?;
        return tell_bytes(stream, mode, path, &bytes).map_err(Missed::hung);
    }
    tell_head(stream, mode, path, length).map_err(Missed::hung)?;
    let copied = io::copy(&mut file.take(length), stream).map_err(Missed::hung)?;
    if copied < length {
        let changing = io::Error::other("it becomes shorter while it is read");
        return Err(Missed::Refused(Refused::Io(changing)));
    }
    writeln!(stream).map_err(Missed::hung)
}

fn tell_bytes(stream: &mut impl Write, mode: &str, path: &[u8], bytes: &[u8]) -> io::Result<()> {
    tell_head(stream, mode, path, bytes.len() as u64)?;
    stream.write_all(bytes)?;
    writeln!(stream)
}

fn tell_head(stream: &mut impl Write, mode: &str, path: &[u8], length: u64) -> io::Result<()> {
    write!(stream, "M {mode} inline ")?;
    stream.write_all(&quoted(path))?;
    writeln!(stream, "\ndata {length}")
}

/// A path in quotes, as git reads it; what is not plain is told by its number.
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
