//! Files outside the project that a tool of a worker names.

use std::path::{Path, PathBuf};

use hosts::Payload;
use runtime::workspace::{OpenRun, Workspace};

use super::{Resolver, folder_of, grounds};

/// Where everybody leaves what nobody keeps.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev"];

/// Those of these paths that lie neither in the project nor in the worker's own folder, nor where programs
/// keep what is their own: temporary folders, and the settings folder of the host.
pub(crate) fn outside(
    workspace: &Workspace<'_>,
    opened: &OpenRun,
    payload: &Payload,
    paths: &[String],
) -> Vec<String> {
    let grounds = grounds(workspace, opened);
    let folder = folder_of(payload, grounds.first().copied());
    let resolver = Resolver::default();
    let own = workspace.context.environment.settings_folder();
    let temporary = TEMPORARY.into_iter().map(PathBuf::from);
    let temporary = temporary.chain([std::env::temp_dir()]).chain(own);
    let known = grounds.into_iter().map(Path::to_owned).chain(temporary);
    let known: Vec<PathBuf> = known.map(|path| resolver.resolved(&path)).collect();
    let paths = paths
        .iter()
        .map(|path| resolver.resolved(&folder.join(path)));
    let outside = paths.filter(|path| !known.iter().any(|known| path.starts_with(known)));
    outside
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}
