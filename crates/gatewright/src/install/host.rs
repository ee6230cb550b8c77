//! The Claude Code of this machine: where it lies and how old it is.

use std::path::PathBuf;
use std::process::Command;

use hosts::{Program, Version};

use super::program;
use runner::agent::version;
use runtime::environment::Environment;

/// The version with which we were tested, and the first one whose hooks block when they fail.
pub const TESTED: Version = Program::Claude.tested();
pub const BLOCKING: Version = Program::Claude.oldest();

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub path: PathBuf,
    /// What it says of itself, or why it says nothing.
    pub version: Result<Version, String>,
}

/// The Claude Code that people start by its name.
pub fn find(environment: &Environment) -> Option<Host> {
    let path = program::find(environment, Program::Claude.word())?;
    let version = version::read(Command::new(&path).arg("--version"));
    let version = version.map(|(_, version)| version);
    let version = version.map_err(|reason| format!("it does not print its version: {reason}"));
    Some(Host { path, version })
}
