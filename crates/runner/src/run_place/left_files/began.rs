//! What the person's tree had, when a run began, at the paths that come back from it. What the person has changed since
//! then is not overwritten.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use evidence::git::path_of;
use runtime::failure::Failure;

/// The files below these paths, relative to the folder. Links are files; no link is followed.
pub(super) fn files(folder: &Path, paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut pending = paths.to_vec();
    while let Some(path) = pending.pop() {
        let there = folder.join(&path);
        let Ok(kind) = there.symlink_metadata() else {
            continue;
        };
        if kind.is_dir() {
            let entries = fs::read_dir(&there).into_iter().flatten().flatten();
            pending.extend(entries.map(|entry| path.join(entry.file_name())));
        } else {
            files.push(path);
        }
    }
    files.sort_unstable();
    files
}

/// A hash of each file there was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Began(BTreeMap<PathBuf, String>);

impl Began {
    pub(super) fn note(folder: &Path, paths: &[PathBuf], note: &Path) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        for path in files(folder, paths) {
            let Some(hash) = content(&folder.join(&path)) else {
                continue;
            };
            for part in [hash.as_bytes(), path.as_os_str().as_bytes()] {
                bytes.extend_from_slice(part);
                bytes.push(0);
            }
        }
        fs::write(note, &bytes).map_err(Failure::file("write to", note))
    }

    /// Nothing if there is no note: then each file that is there counts as changed.
    pub(super) fn noted(note: &Path) -> Self {
        let bytes = fs::read(note).unwrap_or_default();
        let parts: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
        let files = parts.chunks_exact(2).map(|pair| {
            let hash = String::from_utf8_lossy(pair[0]).into_owned();
            (path_of(pair[1]), hash)
        });
        Self(files.collect())
    }

    /// Would a copy from there lose what the person wrote here?
    pub(super) fn loses(&self, path: &Path, from: &Path, to: &Path) -> bool {
        let here = to.join(path);
        if here.symlink_metadata().is_err() {
            return false;
        }
        let now = content(&here);
        now.is_none() || now.as_ref() != self.0.get(path) && now != content(&from.join(path))
    }
}

/// A hash of a file or of the target of a link; none if it cannot be read.
fn content(path: &Path) -> Option<String> {
    let kind = path.symlink_metadata().ok()?;
    if kind.is_symlink() {
        let target = fs::read_link(path).ok()?;
        return Some(format!(
            "link {}",
            evidence::hash(target.as_os_str().as_bytes())
        ));
    }
    let bytes = kind.is_file().then(|| fs::read(path).ok()).flatten()?;
    Some(evidence::hash(&bytes).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_person_changed_would_be_lost() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let (home, run) = (root.join("home"), root.join("run"));
        for (folder, name, text) in [
            (&home, "out/old", "1"),
            (&home, "out/edited", "1"),
            (&home, "out/both", "1"),
            (&run, "out/old", "2"),
            (&run, "out/edited", "2"),
            (&run, "out/both", "2"),
            (&run, "out/new", "2"),
            (&run, "out/made", "2"),
        ] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let (paths, note) = (["out".into()], root.join("note"));
        Began::note(&home, &paths, &note).unwrap();
        for (name, text) in [("edited", "mine"), ("both", "2"), ("made", "mine")] {
            fs::write(home.join("out").join(name), text).unwrap();
        }
        let lost = |began: &Began| {
            let mut files = files(&run, &paths);
            files.retain(|path| began.loses(path, &run, &home));
            files
        };
        let began = Began::noted(&note);
        let expected: [PathBuf; 2] = ["out/edited".into(), "out/made".into()];
        assert_eq!(lost(&began), expected);
        // Nobody knows.
        let all = lost(&Began::noted(&root.join("absent")));
        assert_eq!(all.len(), 3, "{all:?}");
    }
}
