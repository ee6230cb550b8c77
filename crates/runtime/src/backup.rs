//! Backups: the state of a run before a reset, named in its journal and stored in a file next to
//! the store.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use engine::{CheckpointName, RunId};
use store::StoredRun;

use crate::failure::Failure;
use crate::workspace::Workspace;

/// The name of the checkpoint before a reset.
pub fn name(stored: &StoredRun) -> Result<CheckpointName, Failure> {
    CheckpointName::parse(&format!("before-reset-{}", stored.version))
        .map_err(|problem| Failure::bug(problem.to_string()))
}

/// Writes the whole run to a file next to the store.
pub fn write(
    workspace: &Workspace<'_>,
    run: &RunId,
    name: &CheckpointName,
) -> Result<PathBuf, Failure> {
    let folder = workspace.state.backups()?;
    let path = folder.join(format!("{run}.{name}.jsonl"));
    let mut file =
        tempfile::NamedTempFile::new_in(&folder).map_err(Failure::file("write to", &folder))?;
    store::export(&workspace.store, run, &mut file)?;
    let kept = file.flush().and_then(|()| file.as_file().sync_all());
    kept.map_err(Failure::file("write", &path))?;
    file.persist(&path)
        .map_err(|failed| Failure::file("write", &path)(failed.error))?;
    fs::File::open(&folder)
        .and_then(|folder| folder.sync_all())
        .map_err(Failure::file("write to", &folder))?;
    Ok(path)
}
