//! Where links lead that come along into a worktree.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

/// How programs begin: a script, and those of Linux and macOS.
const PROGRAMS: [&[u8]; 5] = [
    b"#!",
    b"\x7fELF",
    b"\xcf\xfa\xed\xfe",
    b"\xce\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
];

/// Where a link leads, seen from a copy of its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To the same place in the copy, with this target.
    Inside(PathBuf),
    /// To this place outside.
    Outside(PathBuf),
}

/// Follows nothing.
pub(super) fn leads(folder: &Path, link: &Path, target: &Path) -> Leads {
    let above = link.parent().unwrap_or(folder);
    let absolute = plain(&above.join(target));
    let Ok(inside) = absolute.strip_prefix(folder) else {
        return Leads::Outside(absolute);
    };
    if target.is_relative() {
        return Leads::Inside(target.to_owned());
    }
    let depth = above.strip_prefix(folder).unwrap_or(Path::new(""));
    let up = depth.components().map(|_| Path::new(".."));
    Leads::Inside(up.chain([inside]).collect())
}

/// Is it a program of the system or of a toolchain? It may need what lies beside it, so a copy would not work.
pub(super) fn is_program(path: &Path) -> bool {
    let is_executable = |stat: Metadata| stat.is_file() && stat.permissions().mode() & 0o111 != 0;
    if !path.metadata().is_ok_and(is_executable) {
        return false;
    }
    let mut begins = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4).read_to_end(&mut begins));
    read.is_ok() && PROGRAMS.iter().any(|program| begins.starts_with(program))
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_the_same_place_in_a_copy_or_out_of_it() {
        let inside = |target: &str| Leads::Inside(target.into());
        let outside = |target: &str| Leads::Outside(target.into());
        for (link, target, expected) in [
            ("/p/.env", "../shared.env", outside("/shared.env")),
            ("/p/a/b", "../../../x/./y", outside("/x/y")),
            ("/p/a/b", "../c", inside("../c")),
            ("/p/a/b", "./c", inside("./c")),
            ("/p/a/b", "../../p/c", inside("../../p/c")),
            ("/p/a/b", "../../pq", outside("/pq")),
            ("/p/python", "/usr/bin/python3", outside("/usr/bin/python3")),
            ("/p/a/b/c", "/p/x/y", inside("../../x/y")),
            ("/p/c", "/p/x", inside("x")),
            ("/p/a/c", "/p", inside("../")),
            ("/p/c", "/pq/x", outside("/pq/x")),
        ] {
            let found = leads("/p".as_ref(), link.as_ref(), target.as_ref());
            assert_eq!(found, expected, "{link} -> {target}");
        }
    }

    #[test]
    fn only_what_is_executable_and_begins_like_one_is_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (text, mode, expected) in [
            ("#!/bin/sh\n", 0o755, true),
            ("#!/bin/sh\n", 0o644, false),
            ("KEY=1\n", 0o777, false),
            ("", 0o777, false),
        ] {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_program(&path), expected, "{text} {mode:o}");
        }
        assert!(!is_program(folder.path()));
        assert!(!is_program(&folder.path().join("absent")));
    }
}
