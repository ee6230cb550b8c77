//! Where the repository and its target folder are, and how its cargo is called.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::failure::Failure;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

pub(crate) fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// A folder of our own on the disk that the build lies on. The system's temporary folder may be
/// memory, where a sync costs nothing and a measurement of it means nothing.
pub(crate) fn scratch(name: &str) -> Result<TempDir, Failure> {
    let parent = target().join("xtask");
    std::fs::create_dir_all(&parent).map_err(Failure::file("make", &parent))?;
    let prefix = format!("{name}-");
    let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(&parent);
    folder.map_err(Failure::file("make a folder in", &parent))
}

/// The cargo that runs us, in the root of the repository.
pub(crate) fn cargo() -> Command {
    in_root(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// Builds an example of xtask, with the features of the whole workspace: so it shares what the tests have built.
pub(crate) fn build_example(name: &str) -> Result<PathBuf, Failure> {
    succeed(cargo().args(["build", "--quiet", "--workspace", "--example", name]))?;
    Ok(target().join("debug/examples").join(name))
}

/// The rustc that belongs to it.
pub(crate) fn rustc() -> Command {
    in_root(env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc")))
}

fn in_root(program: OsString) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Runs a command with our streams and fails when it fails.
pub(crate) fn succeed(command: &mut Command) -> Result<(), Failure> {
    let name = name(command);
    let status = command.status().map_err(Failure::program(&name))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::no(format!("{name} failed: {status}")))
    }
}

/// What the program is called, without the folder in which it lies.
fn name(command: &Command) -> String {
    let program = Path::new(command.get_program());
    program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Runs a command and hands back what it printed.
pub(crate) fn read(command: &mut Command) -> Result<String, Failure> {
    let name = name(command);
    let output = command.output().map_err(Failure::program(&name))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(Failure::no(format!(
        "{name} failed: {}\n{}",
        output.status,
        complaint.trim_end()
    )))
}

/// Is there a program of this name on the search path?
pub(crate) fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
