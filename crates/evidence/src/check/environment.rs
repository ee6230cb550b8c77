//! What a command may know of our surroundings: a short list of variables, and where programs lie.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{SYSTEM_PATH, Surroundings};
use crate::Error;

const PASSED: [&str; 5] = ["HOME", "LANG", "LOGNAME", "TMPDIR", "USER"];

/// A variable with one of these in its name holds a secret.
const SECRET_WORDS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"];

/// Variables that put other code into a program, or that are ours to set.
const FORBIDDEN: [&str; 7] = [
    "LD_",
    "DYLD_",
    "BASH_ENV",
    "ENV",
    "PATH",
    "TERM",
    "GATEWRIGHT",
];

/// The whole environment of a command.
pub fn variables(
    surroundings: &Surroundings,
    search: &[PathBuf],
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
        .iter()
        .map(|folder| folder.as_os_str())
        .collect::<Vec<_>>()
        .join(OsStr::new(":"));
    variables.insert(OsString::from("PATH"), path);
    variables.insert(OsString::from("TERM"), OsString::from("dumb"));
    Ok(variables)
}

fn may_pass(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    let is_secret = SECRET_WORDS.iter().any(|word| upper.contains(word));
    let is_forbidden = FORBIDDEN
        .iter()
        .any(|forbidden| match forbidden.ends_with('_') {
            true => upper.starts_with(forbidden),
            false => upper == *forbidden,
        });
    is_name && !is_secret && !is_forbidden
}

/// The folders to search for programs: the given ones that are safe, then the system's.
pub fn search(given: &[PathBuf], root: &Path) -> Vec<PathBuf> {
    let mut search: Vec<PathBuf> = Vec::new();
    let safe = given.iter().filter(|folder| is_safe(folder, root)).cloned();
    for folder in safe.chain(SYSTEM_PATH.map(PathBuf::from)) {
        if !search.contains(&folder) {
            search.push(folder);
        }
    }
    search
}

/// A folder in the project is the agent's, and one that anybody can write to is anybody's.
fn is_safe(folder: &Path, root: &Path) -> bool {
    let Ok(real) = std::fs::canonicalize(folder) else {
        return false;
    };
    let is_private = |folder: &Path| {
        std::fs::metadata(folder).is_ok_and(|metadata| metadata.mode() & 0o002 == 0)
    };
    let has_colon = folder.as_os_str().as_encoded_bytes().contains(&b':');
    folder.is_absolute()
        && !has_colon
        && real.is_dir()
        && !real.starts_with(root)
        && real.ancestors().all(is_private)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_folders_come_first_unless_they_are_the_project_s() {
        let given = [PathBuf::from("/usr"), PathBuf::from("/usr/bin")];
        assert_eq!(search(&given, Path::new("/srv"))[..2], given);
        let system = SYSTEM_PATH.map(PathBuf::from);
        assert_eq!(search(&given, Path::new("/usr")), system);
        assert_eq!(
            search(&[PathBuf::from("/tmp"), PathBuf::from("/")], Path::new("/")),
            system
        );
        assert_eq!(search(&[], Path::new("/srv")), system);
    }
}
