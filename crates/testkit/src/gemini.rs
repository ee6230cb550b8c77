//! The real Gemini CLI, pinned. [`Agents`](crate::Agents) gives it a home and a scripted model.

use std::path::PathBuf;

use crate::claude::targets;

/// The version that the tests are written for. `cargo xtask test` reads the same file.
pub const VERSION: &str = include_str!("gemini/version.txt").trim_ascii();

/// The program, which `cargo xtask test` has installed. Node runs it.
///
/// # Panics
/// When it is not there: a test is never left out in silence.
pub fn program() -> PathBuf {
    let places = targets().map(|target| {
        let folder = target.join("agents").join(format!("gemini-{VERSION}"));
        folder.join("bundle/gemini.js")
    });
    let found = places.into_iter().find(|place| place.is_file());
    found.unwrap_or_else(|| {
        panic!("Gemini CLI {VERSION} is missing: run `cargo xtask test`, which installs it")
    })
}
