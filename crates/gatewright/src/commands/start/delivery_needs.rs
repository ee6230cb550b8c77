//! What the delivery of a new run needs and this machine lacks: said at the start, and not after the night.

use std::path::PathBuf;

use evidence::check;
use runner::delivery;
use runtime::drive_settings::DeliverRequest;
use runtime::failure::Failure;
use runtime::needed_programs::located;
use runtime::workspace::{OpenRun, Workspace};

/// A line for each thing that is missing. A run without a branch delivers nothing, and one of the fleet elsewhere.
pub(super) fn lacking(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    deliver: &DeliverRequest,
) -> Result<Vec<String>, Failure> {
    if opened.run().place.is_none() || workspace.context.fleet().is_some() {
        return Ok(Vec::new());
    }
    let (project, environment) = (workspace.project()?, &workspace.context.environment);
    let needs = delivery::outward_needs(opened.pipeline.definition(), deliver);
    let mut lacking = Vec::new();
    if let Some(remote) = needs.remote
        && !delivery::knows_remote(project, &remote)?
    {
        lacking.push(format!(
            "the project has no remote {remote}, so the branch cannot be pushed yet: `git remote add {remote} ADDRESS` adds it"
        ));
    }
    let path = environment.search_path.clone().unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let search = check::search(&folders, &project.root);
    if let Some(program) = needs.program
        && located(&program, &project.root, &search).is_none()
    {
        lacking.push(format!(
            "{program}, which makes the pull request, is not installed: install it before the run ends"
        ));
    }
    Ok(lacking)
}
