//! A program whose sessions hold runs: what its hooks find in their environment, and where its
//! settings lie.

use crate::settings::SettingsFormat;

/// What a program must have so that we can guard its sessions.
pub struct SessionHost {
    pub variables: SessionVariables,
    pub places: SettingsPlaces,
    pub format: SettingsFormat,
    pub connection: HookConnection,
    /// Arguments with which it begins a session, calls the hooks, and ends, without a model.
    pub trial_arguments: &'static [&'static str],
}

/// Variables that a session gives to its hooks and to its commands.
pub struct SessionVariables {
    /// The id of the session.
    pub session: &'static str,
    /// The id of its process.
    pub process: &'static str,
    /// The folder in which it was started.
    pub project: &'static str,
    /// A file whose lines the session's shells run first.
    pub env_file: &'static str,
    /// Set in the hooks that a plugin brings.
    pub plugin: &'static str,
    /// By these its commands know that they run in a session, with the value of each.
    pub marks: &'static [(&'static str, &'static str)],
}

/// Where its settings lie.
pub struct SettingsPlaces {
    /// The variable with the folder of a person's own settings.
    pub folder_variable: &'static str,
    /// That folder below the home, and the folder of a project's settings in the project.
    pub folder: &'static str,
    /// The file of a person's own settings, in their folder.
    pub user: &'static str,
    /// A project's settings for everybody, seen from the project.
    pub shared: &'static str,
    /// A project's settings on this machine.
    pub local: &'static str,
    /// The machine's settings.
    pub managed: &'static str,
    /// Files in both folders that nobody may change from inside a run.
    pub protected: &'static [&'static str],
    /// The file of a project that every session reads.
    pub memory: &'static str,
}

/// How a session talks with its hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookConnection {
    /// Through a socket, whose other end is the session's process.
    Socket,
    /// Through pipes.
    Pipe,
}
