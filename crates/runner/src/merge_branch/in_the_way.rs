//! What a merge would overwrite in the person's tree though git does not track it: files that git ignores are lost
//! without a word.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use evidence::git::{fields, input, path_of};
use runtime::failure::Failure;

use super::planned::{Change, MergedFile, text};
use super::target::Target;

/// What is at a path that a merge would write.
enum Occupant {
    Nothing,
    /// Untracked, and it has other bytes for sure.
    Other(Vec<u8>),
    /// An untracked file at the path itself.
    File,
}

/// The untracked files where a merge would write, ignored ones too.
pub(super) struct Untracked {
    /// Those that would be lost.
    pub in_the_way: Vec<String>,
    /// Those with the bytes that the merge writes.
    pub same: Vec<Vec<u8>>,
}

pub(super) fn find(target: &Target<'_>, changes: &[Change]) -> Result<Untracked, Failure> {
    let listed = target.here.ask(&["ls-files", "-z", "--cached"])?;
    let look = Look {
        root: &target.tree.project.root,
        tracked: fields(&listed).collect(),
    };
    let mut found = BTreeSet::new();
    let mut files = Vec::new();
    for change in changes {
        let Some(written) = &change.written else {
            continue;
        };
        match look.at(&change.path, written) {
            Occupant::Nothing => {}
            Occupant::Other(path) => {
                found.insert(path);
            }
            Occupant::File => files.push((change.path.as_slice(), written)),
        }
    }
    let same = same(target, &files)?;
    let files = files.iter().map(|(path, _)| path.to_vec());
    found.extend(files.filter(|path| !same.contains(path)));
    Ok(Untracked {
        in_the_way: found.iter().map(|path| text(path)).collect(),
        same,
    })
}

struct Look<'a> {
    root: &'a Path,
    tracked: BTreeSet<&'a [u8]>,
}

impl Look<'_> {
    fn at(&self, path: &[u8], written: &MergedFile) -> Occupant {
        for above in folders_above(path) {
            match self.root.join(path_of(above)).symlink_metadata() {
                Ok(kind) if kind.is_dir() => {}
                // Git replaces what it tracks, and anything else would be lost.
                Ok(_) if self.tracked.contains(above) => return Occupant::Nothing,
                Ok(_) => return Occupant::Other(above.to_vec()),
                Err(_) => return Occupant::Nothing,
            }
        }
        let Ok(kind) = self.root.join(path_of(path)).symlink_metadata() else {
            return Occupant::Nothing;
        };
        if kind.is_dir() {
            // A submodule gets the folder that is there.
            let untracked = (!written.is_submodule()).then(|| self.untracked_in(path));
            return untracked
                .flatten()
                .map_or(Occupant::Nothing, Occupant::Other);
        }
        if self.tracked.contains(path) {
            Occupant::Nothing
        } else if kind.is_file() && written.is_file() {
            Occupant::File
        } else {
            Occupant::Other(path.to_vec())
        }
    }

    /// Something in a folder that git does not track.
    fn untracked_in(&self, folder: &[u8]) -> Option<Vec<u8>> {
        let Ok(entries) = fs::read_dir(self.root.join(path_of(folder))) else {
            return Some(folder.to_vec());
        };
        let mut entries = entries.flatten();
        entries.find_map(|entry| {
            let path = [folder, b"/", entry.file_name().as_bytes()].concat();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.untracked_in(&path),
                Ok(_) | Err(_) => (!self.tracked.contains(path.as_slice())).then_some(path),
            }
        })
    }
}

impl MergedFile {
    fn is_submodule(&self) -> bool {
        self.mode == b"160000"
    }

    fn is_file(&self) -> bool {
        self.mode.starts_with(b"100")
    }
}

/// The folders on the way to a path, the outermost first.
fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = path.iter().enumerate();
    let ends = ends.filter(|(_, byte)| **byte == b'/');
    ends.map(|(end, _)| &path[..end])
}

/// The files that a merge would write as they are.
fn same(target: &Target<'_>, files: &[(&[u8], &MergedFile)]) -> Result<Vec<Vec<u8>>, Failure> {
    // Git asks for the objects of all or of none.
    let readable = files.iter().filter(|(path, _)| {
        let there = target.tree.project.root.join(path_of(path));
        fs::File::open(there).is_ok()
    });
    let readable: Vec<_> = readable.collect();
    if readable.is_empty() {
        return Ok(Vec::new());
    }
    let paths: Vec<&[u8]> = readable.iter().map(|(path, _)| *path).collect();
    let objects = objects(target, &paths)?;
    let same = readable.iter().zip(&objects);
    let same = same.filter(|((_, written), object)| written.object == **object);
    Ok(same.map(|((path, _), _)| path.to_vec()).collect())
}

/// A pattern of git's ignored files that is this path alone.
pub(super) fn pattern(path: &[u8]) -> Vec<u8> {
    let mut pattern = vec![b'/'];
    for byte in path {
        match byte {
            b'\\' | b'*' | b'?' | b'[' | b' ' => pattern.extend([b'\\', *byte]),
            // A pattern is one line.
            b'\n' => pattern.push(b'?'),
            byte => pattern.push(*byte),
        }
    }
    pattern.push(b'\n');
    pattern
}

/// The objects that git would make of files, in their order.
fn objects(target: &Target<'_>, paths: &[&[u8]]) -> Result<Vec<String>, Failure> {
    let lines: Vec<u8> = paths.iter().flat_map(|path| quoted(path)).collect();
    let mut command = target.here.command()?;
    command.args(["hash-object", "--stdin-paths"]);
    let listed = target.here.succeed(command.stdin(input(&lines)?))?;
    Ok(text(&listed).lines().map(str::to_owned).collect())
}

/// A path as a line of its own, as git reads it whatever is in it.
fn quoted(path: &[u8]) -> Vec<u8> {
    let mut line = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            b'\n' => line.extend(b"\\n"),
            byte => line.push(*byte),
        }
    }
    line.extend(b"\"\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_line_whatever_is_in_it() {
        assert_eq!(quoted(b"a b\r"), b"\"a b\r\"\n");
        assert_eq!(quoted(b"a\"b\\c\nd"), b"\"a\\\"b\\\\c\\nd\"\n");
    }

    #[test]
    fn a_pattern_is_one_path_whatever_is_in_it() {
        assert_eq!(pattern(b"a/b.txt"), b"/a/b.txt\n");
        assert_eq!(pattern(b"!a [1]*\\ "), b"/!a\\ \\[1]\\*\\\\\\ \n");
        assert_eq!(pattern(b"a\nb"), b"/a?b\n");
    }

    #[test]
    fn folders_above_a_path_begin_with_the_outermost() {
        let above: Vec<&[u8]> = folders_above(b"a/b/c.txt").collect();
        assert_eq!(above, [b"a".as_slice(), b"a/b"]);
        assert_eq!(folders_above(b"a.txt").count(), 0);
    }
}
