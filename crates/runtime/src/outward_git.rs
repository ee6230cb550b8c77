//! Git that reaches a remote, with the person's settings for the way there. An agent can write the settings of the
//! repository and much of what git remembers, so nothing of that may add to what is sent.

use std::process::Command;

/// Commits as they are stored: what git remembers about them to save time is in files that an agent can write. A look at
/// commits and a push of them must see the same.
pub const AS_STORED: [&str; 4] = [
    "-c",
    "core.commitGraph=false",
    "-c",
    "pack.useBitmaps=false",
];

/// A hook of the repository may be an agent's.
const SETTINGS: [&str; 4] = ["-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0"];

/// A push that sends what it names: no tag, and nothing of a submodule.
const PUSH: [&str; 6] = [
    "push",
    "--quiet",
    "--no-verify",
    "--no-follow-tags",
    "--no-signed",
    "--recurse-submodules=no",
];

/// The words of git for this command.
pub fn words<'a>(command: &[&'a str]) -> Vec<&'a str> {
    [&AS_STORED, &SETTINGS, command].concat()
}

/// The command that pushes this.
pub fn push<'a>(remote: &'a str, refspecs: &[&'a str]) -> Vec<&'a str> {
    [PUSH.as_slice(), &["--", remote], refspecs].concat()
}

/// For git, and for programs that start it: it asks nobody, finds the repository by the folder alone, and takes each
/// commit with its own parents.
pub fn surround(command: &mut Command) {
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    command.env("GIT_TERMINAL_PROMPT", "0");
    command.envs(evidence::git::OWN_PARENTS);
}
