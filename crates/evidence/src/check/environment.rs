//! The environment of a command: a short list of variables, and the search path.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{CheckEnvironment, SYSTEM_PATH};
use crate::Error;

const PASSED: [&str; 5] = ["HOME", "LANG", "LOGNAME", "TMPDIR", "USER"];

/// A variable with one of these in its name holds a secret.
const SECRET_WORDS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"];

/// Variables that inject code into a program, or that we set ourselves.
const FORBIDDEN: [&str; 7] = [
    "LD_",
    "DYLD_",
    "BASH_ENV",
    "ENV",
    "PATH",
    "TERM",
    "GATEWRIGHT",
];

/// The complete environment of a command.
pub fn variables(
    surroundings: &CheckEnvironment,
    search: &SearchPath,
) -> Result<BTreeMap<OsString, OsString>, Error> {
    if let Some(name) = surroundings.pass.iter().find(|name| !may_pass(name)) {
        return Err(Error::Variable { name: name.clone() });
    }
    let is_passed = |name: &OsStr| {
        let Some(name) = name.to_str() else {
            return false;
        };
        let is_listed = PASSED.contains(&name) || name.starts_with("LC_");
        (is_listed && may_pass(name)) || surroundings.pass.iter().any(|pass| pass == name)
    };
    let passed = surroundings
        .variables
        .iter()
        .filter(|(name, _)| is_passed(name));
    let mut variables: BTreeMap<_, _> = passed.map(|(n, v)| (n.clone(), v.clone())).collect();
    let path = search
        .folders
        .iter()
        .map(|folder| folder.as_os_str())
        .collect::<Vec<_>>()
        .join(OsStr::new(":"));
    variables.insert(OsString::from("PATH"), path);
    variables.insert(OsString::from("TERM"), OsString::from("dumb"));
    variables.extend(surroundings.own.clone());
    Ok(variables)
}

fn may_pass(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    let is_secret = SECRET_WORDS.iter().any(|word| upper.contains(word));
    let is_forbidden = FORBIDDEN.iter().any(|forbidden| {
        if forbidden.ends_with('_') {
            upper.starts_with(forbidden)
        } else {
            upper == *forbidden
        }
    });
    is_name && !is_secret && !is_forbidden
}

/// Where programs are searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    pub folders: Vec<PathBuf>,
    /// Given folders that are not searched, and why. Missing folders are not listed.
    pub dropped: Vec<(PathBuf, &'static str)>,
}

/// The folders to search for programs: the safe ones of those given, then the system's.
pub fn search(given: &[PathBuf], root: &Path) -> SearchPath {
    let mut search = SearchPath::default();
    let mut add = |folder: PathBuf| {
        if !search.folders.contains(&folder) {
            search.folders.push(folder);
        }
    };
    let mut dropped = Vec::new();
    for folder in given {
        match std::fs::canonicalize(folder) {
            Ok(real) if real.is_dir() => match danger(folder, &real, root) {
                Some(why) => dropped.push((folder.clone(), why)),
                None => add(folder.clone()),
            },
            Ok(_) | Err(_) => {}
        }
    }
    SYSTEM_PATH.map(PathBuf::from).into_iter().for_each(add);
    SearchPath { dropped, ..search }
}

/// Why a folder is not searched: an agent can write in the project, and anybody in a public folder.
fn danger(folder: &Path, real: &Path, root: &Path) -> Option<&'static str> {
    let has_colon = folder.as_os_str().as_encoded_bytes().contains(&b':');
    match () {
        () if !folder.is_absolute() => Some("relative"),
        () if has_colon => Some("it holds a colon"),
        () if real.starts_with(root) => Some("inside the project"),
        () if is_writable_by_others(real) => Some("anybody can write there or above"),
        () => None,
    }
}

/// Can somebody else replace it, or write into it? In a folder like `/tmp` everybody can create
/// files, but not change those of others.
fn is_writable_by_others(real: &Path) -> bool {
    const OTHERS_WRITE: u32 = 0o002;
    const STICKY: u32 = 0o1000;
    let us = rustix::process::getuid().as_raw();
    let mut below_is_ours = false;
    for folder in real.ancestors() {
        let Ok(metadata) = std::fs::metadata(folder) else {
            return true;
        };
        let is_open = metadata.mode() & OTHERS_WRITE != 0;
        let is_sticky = metadata.mode() & STICKY != 0;
        if is_open && !(is_sticky && below_is_ours) {
            return true;
        }
        below_is_ours = metadata.uid() == 0 || metadata.uid() == us;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_folders_come_first_unless_they_are_the_project_s() {
        let given = [PathBuf::from("/usr"), PathBuf::from("/usr/bin")];
        let folders = |given: &[PathBuf], root: &str| search(given, Path::new(root)).folders;
        assert_eq!(folders(&given, "/srv")[..2], given);
        let system = SYSTEM_PATH.map(PathBuf::from);
        assert_eq!(folders(&given, "/usr"), system);
        assert_eq!(
            folders(&[PathBuf::from("/tmp"), PathBuf::from("/")], "/"),
            system
        );
        assert_eq!(folders(&[], "/srv"), system);
    }

    #[test]
    fn what_is_dropped_is_told_with_its_reason() {
        let given = ["/tmp", ".", "/usr/bin", "/usr/lib", "/no/such/folder"].map(PathBuf::from);
        let dropped = search(&given, Path::new("/usr/lib")).dropped;
        let told: Vec<_> = dropped
            .iter()
            .map(|(folder, why)| format!("{} {why}", folder.display()))
            .collect();
        assert_eq!(
            told,
            [
                "/tmp anybody can write there or above",
                ". relative",
                "/usr/lib inside the project"
            ]
        );
    }

    #[test]
    fn a_folder_of_ours_among_everybodys_is_ours() {
        use std::fs::{Permissions, set_permissions};
        use std::os::unix::fs::PermissionsExt as _;

        let around = tempfile::tempdir().unwrap();
        let inner = around.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        for (mode, around_is_writable, inner_is_writable) in [
            (0o700, false, false),
            (0o777, true, true),
            (0o1777, true, false),
        ] {
            set_permissions(around.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(
                is_writable_by_others(around.path()),
                around_is_writable,
                "{mode:o}"
            );
            assert_eq!(is_writable_by_others(&inner), inner_is_writable, "{mode:o}");
        }
    }
}
