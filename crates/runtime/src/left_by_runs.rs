//! What the runs of a project left in it: artifacts and views.

use std::collections::BTreeSet;
use std::path::Path;

use store::Backend as _;

use crate::failure::Failure;
use crate::workspace::Workspace;
use crate::{find_run, path_collision};

/// How many runs it reads, the newest first.
const MOST_RUNS: usize = 100;

/// The files that exist, relative to the project.
pub fn paths(workspace: &mut Workspace<'_>) -> Result<Vec<String>, Failure> {
    let mut found = BTreeSet::new();
    for summary in find_run::of_project(workspace)?.iter().take(MOST_RUNS) {
        let Some(stored) = workspace.store.run(&summary.id)? else {
            continue;
        };
        let opened = workspace.opened(stored)?;
        let named = path_collision::paths(opened.pipeline.definition(), opened.run())?;
        let root = Path::new(opened.stored.worktree());
        let there = named.iter().map(evidence::InsidePath::as_str);
        let there = there.filter(|path| root.join(path).exists());
        found.extend(there.map(str::to_owned));
    }
    Ok(found.into_iter().collect())
}
