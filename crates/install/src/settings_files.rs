//! The settings files of the host that may have hooks, for one project.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use evidence::Project;
use hosts::settings::Settings;
use runtime::environment::Environment;

use super::host::PLACES;

/// Who a settings file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The machine's.
    Managed,
    /// A person's, for all projects.
    User,
    /// The main worktree's: the host reads them in linked worktrees too.
    Main,
    /// The project's, for everybody.
    Shared,
    /// The project's, on this machine.
    Local,
}

pub(crate) const SHARED: &str = PLACES.shared;
pub(crate) const LOCAL: &str = PLACES.local;
pub(crate) const USER: &str = PLACES.user;

/// The host reads no longer file.
const MOST_BYTES: u64 = 2 * 1024 * 1024;

/// A settings file and its current state.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSettingsFile {
    pub scope: Scope,
    pub path: PathBuf,
    pub found: FileState,
}

/// What a settings file contains.
#[derive(Clone, Debug, PartialEq)]
pub enum FileState {
    Missing,
    Settings(Settings),
    /// The file exists, but the host cannot read it either.
    Unusable(String),
}

impl HostSettingsFile {
    fn look(scope: Scope, path: PathBuf) -> Self {
        let found = match read(&path) {
            Ok(None) => FileState::Missing,
            Ok(Some(bytes)) => match Settings::parse(&bytes) {
                Ok(settings) => FileState::Settings(settings),
                Err(unfit) => FileState::Unusable(unfit.to_string()),
            },
            Err(cause) => FileState::Unusable(format!("cannot read it ({cause})")),
        };
        Self { scope, path, found }
    }

    pub fn settings(&self) -> Option<&Settings> {
        match &self.found {
            FileState::Settings(settings) => Some(settings),
            FileState::Missing | FileState::Unusable(_) => None,
        }
    }
}

/// Every settings file that applies to this project, whether it exists or not.
pub(crate) fn look(environment: &Environment, project: &Project) -> Vec<HostSettingsFile> {
    let managed = Some((Scope::Managed, PathBuf::from(PLACES.managed)));
    let user = environment.settings_folder();
    let user = user.map(|folder| (Scope::User, folder.join(USER)));
    let main = main_root(project).map(|root| (Scope::Main, root.join(LOCAL)));
    let own = [(Scope::Shared, SHARED), (Scope::Local, LOCAL)];
    let own = own.map(|(scope, name)| (scope, project.root.join(name)));
    // The host reads the settings of the folder in which it was started, too.
    let started = environment
        .project
        .as_ref()
        .filter(|root| **root != project.root);
    let started = started.map(|root| (Scope::Shared, root.join(SHARED)));
    let all = managed
        .into_iter()
        .chain(user)
        .chain(main)
        .chain(own)
        .chain(started);
    all.map(|(scope, path)| HostSettingsFile::look(scope, path))
        .collect()
}

/// The main worktree, seen from a linked one.
fn main_root(project: &Project) -> Option<PathBuf> {
    project.main_root().filter(|root| *root != project.root)
}

pub(super) fn read(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(cause) => match cause.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => return Ok(None),
            _ => return Err(cause),
        },
    };
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Err(std::io::Error::other("it is not a file of that kind"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
