//! The host in whose settings `init` installs our hooks, and its installation on this machine.

use std::path::PathBuf;
use std::process::Command;

use hosts::settings::SettingsFormat;
use hosts::{DEFAULT_SESSION_HOST, Program, SettingsPlaces, Version};
use runner::agent::version;
use runtime::environment::Environment;

use super::program;

pub const HOST: Program = Program::DEFAULT;
/// Its name for people.
pub const TITLE: &str = HOST.title();
pub const PLACES: &SettingsPlaces = &DEFAULT_SESSION_HOST.places;
pub const FORMAT: &SettingsFormat = &DEFAULT_SESSION_HOST.format;

/// The name of our plugin for it.
pub const PLUGIN: &str = "gatewright";

/// The version with which we were tested, and the first one whose hooks block when they fail.
pub const TESTED: Version = HOST.tested();
pub const BLOCKING: Version = HOST.oldest();

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub path: PathBuf,
    /// Its version, or why we could not get it.
    pub version: Result<Version, String>,
}

/// The host that people start by its name.
pub fn find(environment: &Environment) -> Option<Host> {
    let path = program::find(environment, HOST.word())?;
    let version = version::read(Command::new(&path).arg("--version"));
    let version = version.map(|(_, version)| version);
    let version = version.map_err(|reason| format!("it does not print its version: {reason}"));
    Some(Host { path, version })
}
