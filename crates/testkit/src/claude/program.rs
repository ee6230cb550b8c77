//! Where the pinned program lies.

use std::env;
use std::path::{Path, PathBuf};

/// The version that the tests are written for. `cargo xtask test` reads the same file.
pub const VERSION: &str = include_str!("version.txt").trim_ascii();

/// The program, which `cargo xtask test` has installed.
///
/// # Panics
/// When it is not there: a test is never left out in silence.
pub fn program() -> PathBuf {
    let places = targets().map(|target| {
        target
            .join("agents")
            .join(format!("claude-{VERSION}/claude"))
    });
    let mut places = places.into_iter();
    let found = places.find(|place| place.is_file());
    found.unwrap_or_else(|| {
        panic!("Claude Code {VERSION} is missing: run `cargo xtask test`, which installs it")
    })
}

/// The target folder of this build, and the one of the repository: one installation does for both.
pub(crate) fn targets() -> [PathBuf; 2] {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).unwrap_or(here);
    let own = root.join("target");
    let chosen = env::var_os("CARGO_TARGET_DIR").map(|folder| root.join(folder));
    [chosen.unwrap_or_else(|| own.clone()), own]
}
