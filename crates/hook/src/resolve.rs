//! Paths with every link followed, each folder looked at once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Paths of one call lie in the same few folders, and what was seen of a folder is remembered.
#[derive(Default)]
pub(super) struct Resolver {
    /// Where each path leads; `None` for what is not there. Texts are compared faster than paths.
    seen: RefCell<BTreeMap<OsString, Option<PathBuf>>>,
}

impl Resolver {
    /// The path with every link followed as far as it exists; the rest is taken by its words.
    pub(super) fn resolved(&self, path: &Path) -> PathBuf {
        let plain = self.plain(path);
        for ancestor in plain.ancestors() {
            if let Some(real) = self.real(ancestor) {
                return match plain.strip_prefix(ancestor) {
                    Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
                    _ => real,
                };
            }
        }
        plain
    }

    /// Without `.` and `..`. Whatever does not exist has no links to follow.
    fn plain(&self, path: &Path) -> PathBuf {
        let is_dot = |part| matches!(part, Component::ParentDir | Component::CurDir);
        if !path.components().any(is_dot) {
            return path.to_owned();
        }
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::ParentDir => {
                    // A link is followed before its parent is meant.
                    if let Some(real) = self.real(&plain) {
                        plain = real;
                    }
                    plain.pop();
                }
                Component::CurDir => {}
                part => plain.push(part),
            }
        }
        plain
    }

    /// Where a path without dots leads, if it leads somewhere.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        if let Some(seen) = self.seen.borrow().get(path.as_os_str()) {
            return seen.clone();
        }
        let real = self.look(path);
        let seen = (path.as_os_str().to_owned(), real.clone());
        self.seen.borrow_mut().extend([seen]);
        real
    }

    fn look(&self, path: &Path) -> Option<PathBuf> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return path.canonicalize().ok();
        };
        if !path.is_absolute() {
            return path.canonicalize().ok();
        }
        let place = self.real(folder)?.join(name);
        match place.read_link() {
            Ok(_) => place.canonicalize().ok(),
            // The system's word for what is there and no link.
            Err(error) if error.kind() == ErrorKind::InvalidInput => Some(place),
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_as_far_as_they_lead() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/inner")).unwrap();
        fs::write(root.join("real/file"), "").unwrap();
        symlink(root.join("real"), root.join("link")).unwrap();
        symlink("real/new.txt", root.join("dangling")).unwrap();
        symlink("link/inner", root.join("twice")).unwrap();
        symlink("round", root.join("round")).unwrap();
        let resolver = Resolver::default();
        for (path, expected) in [
            ("real/a", "real/a"),
            ("link/a", "real/a"),
            ("link/file", "real/file"),
            ("link/file/beneath", "real/file/beneath"),
            ("link/absent/b", "real/absent/b"),
            ("link/inner/../a", "real/a"),
            ("real/./inner/../../link/a", "real/a"),
            ("twice/../a", "real/a"),
            ("twice/b", "real/inner/b"),
            ("dangling", "dangling"),
            ("round/a", "round/a"),
        ] {
            let path = root.join(path);
            assert_eq!(resolver.resolved(&path), root.join(expected), "{path:?}");
        }
    }

    /// The same answers as the system's own, for paths that are there.
    #[test]
    fn what_is_there_is_found_as_the_system_finds_it() {
        let resolver = Resolver::default();
        for path in ["/", "/usr", "/proc/self/exe", "/proc/self/fd/0"] {
            let found = Path::new(path).canonicalize();
            if let Ok(found) = found {
                assert_eq!(resolver.resolved(Path::new(path)), found, "{path}");
            }
        }
    }
}
