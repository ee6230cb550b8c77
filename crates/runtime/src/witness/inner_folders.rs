//! The settings folders between a project and the folder in which its session was started: a host prefers the agents there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hosts::SessionHost;

use crate::environment::Environment;

/// Where a host looks for agents, below its settings folder.
pub(super) const AGENTS: &str = "agents";

/// The settings folders below the worktree in which the host looks for agents. Who is not called by the session
/// goes by those that were known before.
pub(super) fn find(
    worktree: &Path,
    environment: &Environment,
    host: &SessionHost,
    known: Vec<&str>,
) -> BTreeSet<PathBuf> {
    let started = environment.project.as_deref();
    // Most sessions are started in the worktree itself, and nothing is below that.
    let started = started.filter(|folder| folder.as_os_str() != worktree.as_os_str());
    let started = started.map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.into()));
    let above = started.iter().flat_map(|folder| folder.ancestors());
    let below = above.filter(|folder| folder.starts_with(worktree) && *folder != worktree);
    let below = below.map(|folder| folder.join(host.places.folder));
    below.chain(known_inner(worktree, host, known)).collect()
}

/// The settings folders below the worktree that hold one of these files of agents.
fn known_inner(worktree: &Path, host: &SessionHost, files: Vec<&str>) -> Vec<PathBuf> {
    let worktree = worktree.to_str().unwrap_or_default();
    let agents = format!("/{}/{AGENTS}/", host.places.folder);
    let mut folders = Vec::new();
    for file in files {
        let Some(inside) = file.strip_prefix(worktree) else {
            continue;
        };
        let above = inside.match_indices(&agents).map(|(at, _)| at);
        // The worktree's own folder is always looked at.
        for at in above.filter(|at| *at > 0 && inside.starts_with('/')) {
            let folder = &inside[..at + 1 + host.places.folder.len()];
            folders.push(PathBuf::from(format!("{worktree}{folder}")));
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_folders_below_the_worktree_are_known_by_their_agents() {
        let host = hosts::DEFAULT_SESSION_HOST;
        for (file, expected) in [
            ("/p/.claude/agents/critic.md", None),
            ("/p/a/.claude/agents/critic.md", Some("/p/a/.claude")),
            ("/p/a/b/.claude/agents/deeper/x.md", Some("/p/a/b/.claude")),
            ("/p/a/.claude/settings.json", None),
            ("/p/a/x.claude/agents/critic.md", None),
            ("/pp/a/.claude/agents/critic.md", None),
            ("/h/.claude/agents/critic.md", None),
        ] {
            let found = known_inner(Path::new("/p"), host, vec![file]);
            let expected: Vec<PathBuf> = expected.map(PathBuf::from).into_iter().collect();
            assert_eq!(found, expected, "{file}");
        }
    }
}
