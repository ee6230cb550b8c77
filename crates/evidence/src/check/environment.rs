//! The environment of a command: a short list of variables, and the search path.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use engine::HomeFolder;
use tempfile::TempDir;

use super::{CheckEnvironment, SYSTEM_PATH};
use crate::Error;

/// Where the system has its temporary files.
const TEMPORARY: &str = "/tmp";

const PASSED: [&str; 5] = ["HOME", "LANG", "LOGNAME", "TMPDIR", "USER"];

/// What a person's environment may tell a check besides its PATH: who they are, and where their tools have their
/// things. None of these puts code into a program that was found by itself.
const CAPTURED: [&str; 49] = [
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "CARGO_HOME",
    "CONDA_DEFAULT_ENV",
    "CONDA_PREFIX",
    "DENO_DIR",
    "DENO_INSTALL",
    "DOTNET_ROOT",
    "FNM_DIR",
    "FNM_MULTISHELL_PATH",
    "GEM_HOME",
    "GOBIN",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_USER_HOME",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LOGNAME",
    "MISE_DATA_DIR",
    "NVM_BIN",
    "NVM_DIR",
    "PNPM_HOME",
    "POETRY_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "PYENV_VIRTUAL_ENV",
    "RBENV_ROOT",
    "RBENV_VERSION",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTUP_AUTO_INSTALL",
    "SDKMAN_DIR",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TZ",
    "USER",
    "UV_CACHE_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Where programs keep what is the account's own, beside its home.
const BESIDE_HOME: [&str; 3] = ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// May a check have this variable?
pub fn is_captured(name: &str) -> bool {
    (CAPTURED.contains(&name) || name.starts_with("LC_")) && may_pass(name)
}

/// A variable with one of these in its name holds a secret.
const SECRET_WORDS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"];

/// Variables that put other code into a program, or that are ours to set: by how they begin, and by name.
const FORBIDDEN_BEGINNINGS: [&str; 9] = [
    "BASH_FUNC_",
    "DYLD_",
    "GATEWRIGHT",
    "GIT_",
    "LD_",
    "PERL5",
    "PYTHON",
    "RUBY",
    "RUSTC",
];
const FORBIDDEN: [&str; 11] = [
    "BASH_ENV",
    "ENV",
    "GOFLAGS",
    "JAVA_TOOL_OPTIONS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "RUSTFLAGS",
    "SHELL",
    "TERM",
    "TMPDIR",
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
        let is_listed = name.starts_with("LC_") && may_pass(name);
        PASSED.contains(&name) || is_listed || surroundings.pass.iter().any(|pass| pass == name)
    };
    Ok(chosen(surroundings, search, is_passed))
}

/// The whole environment of a check: what a person's environment says, and folders of its own.
pub(super) fn of_check(
    surroundings: &CheckEnvironment,
    search: &SearchPath,
    private: &PrivateFolders,
) -> Result<BTreeMap<OsString, OsString>, Error> {
    if let Some(name) = surroundings.pass.iter().find(|name| !may_pass(name)) {
        return Err(Error::Variable { name: name.clone() });
    }
    let is_passed = |name: &OsStr| {
        let is_asked_for = surroundings.pass.iter().any(|pass| name == pass.as_str());
        is_asked_for || name.to_str().is_some_and(is_captured)
    };
    let mut variables = chosen(surroundings, search, is_passed);
    if let Some(home) = &private.home {
        for name in BESIDE_HOME {
            variables.remove(OsStr::new(name));
        }
        variables.insert("HOME".into(), home.into());
    }
    variables.insert("TMPDIR".into(), private.temporary.clone().into());
    // What `pip install --user` and `usercustomize.py` leave is not part of the interpreter.
    variables.insert("PYTHONNOUSERSITE".into(), "1".into());
    Ok(variables)
}

fn chosen(
    surroundings: &CheckEnvironment,
    search: &SearchPath,
    is_passed: impl Fn(&OsStr) -> bool,
) -> BTreeMap<OsString, OsString> {
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
    variables
}

/// Folders of a check alone. They go with this.
pub(super) struct PrivateFolders {
    temporary: PathBuf,
    /// An empty home, where the stage asks for one.
    home: Option<PathBuf>,
    folder: TempDir,
}

impl PrivateFolders {
    /// They are made where the system has its temporary files, wherever a variable says that they are.
    pub(super) fn make(home: HomeFolder) -> Result<Self, Error> {
        let unmade = |cause| Error::Unreadable {
            path: TEMPORARY.to_owned(),
            cause,
        };
        let folder = tempfile::Builder::new()
            .prefix("gatewright-")
            .tempdir_in(TEMPORARY)
            .map_err(unmade)?;
        let within = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).map(|()| path).map_err(unmade)
        };
        Ok(Self {
            temporary: within("tmp")?,
            home: match home {
                HomeFolder::Own => None,
                HomeFolder::Private => Some(within("home")?),
            },
            folder,
        })
    }

    /// Where the holder of a command reports.
    pub(super) fn report(&self) -> PathBuf {
        self.folder.path().join("report")
    }
}

fn may_pass(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    let is_secret = SECRET_WORDS.iter().any(|word| upper.contains(word));
    let is_forbidden = FORBIDDEN.contains(&upper.as_str())
        || FORBIDDEN_BEGINNINGS
            .iter()
            .any(|beginning| upper.starts_with(beginning));
    is_name && !is_secret && !is_forbidden
}

/// Where programs are searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchPath {
    pub folders: Vec<PathBuf>,
    /// Given folders that are not searched, and why. Missing folders are not listed.
    pub dropped: Vec<(PathBuf, &'static str)>,
    /// Those of the folders that lie in the project.
    pub inside: BTreeSet<PathBuf>,
    /// The programs in them when a person gave them.
    pub known: BTreeSet<PathBuf>,
}

/// The folders to search for the programs of a check: those of the project, too, where they are among the
/// given ones, as with a virtual environment.
pub fn search_for_checks(given: &[PathBuf], known: &BTreeSet<PathBuf>, root: &Path) -> SearchPath {
    let mut found = search(given, root);
    let (inside, dropped) = found
        .dropped
        .into_iter()
        .partition::<Vec<_>, _>(|(folder, why)| {
            *why == INSIDE && !is_writable_by_others(&folder.canonicalize().unwrap_or_default())
        });
    found.dropped = dropped;
    found.inside = inside.into_iter().map(|(folder, _)| folder).collect();
    found.known.clone_from(known);
    let mut folders: Vec<PathBuf> = Vec::new();
    let searched =
        |folder: &&PathBuf| found.inside.contains(*folder) || found.folders.contains(folder);
    for folder in given.iter().filter(searched).chain(&found.folders) {
        if !folders.contains(folder) {
            folders.push(folder.clone());
        }
    }
    found.folders = folders;
    found
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

/// Why a folder of the project is not searched.
const INSIDE: &str = "inside the project";

/// Why a folder is not searched: an agent can write in the project, and anybody in a public folder.
fn danger(folder: &Path, real: &Path, root: &Path) -> Option<&'static str> {
    let has_colon = folder.as_os_str().as_encoded_bytes().contains(&b':');
    match () {
        () if !folder.is_absolute() => Some("relative"),
        () if has_colon => Some("it contains a colon"),
        () if real.starts_with(root) => Some(INSIDE),
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
