//! The copy of a fleet's run that its orchestrator leaves for the hooks of a worker: they decide on this machine, whatever
//! the network does.
//!
//! It lies beside the claim of the work, in the state folder, which no worker may change.

use std::fs;
use std::path::PathBuf;

use engine::{CallId, Dispatch, Hash};
use store::{Backend as _, RunCopy, StoredRun};

use crate::claim;
use crate::failure::Failure;
use crate::state::{self, State};
use crate::workspace::{OpenRun, Workspace};

/// The copy of a run for the hooks of one worker, as it was last written.
pub struct HookCopy {
    path: PathBuf,
    copy: RunCopy,
}

impl HookCopy {
    /// Leaves the copy, for a run of a fleet. It is durable when this returns.
    pub fn leave(
        workspace: &Workspace<'_>,
        opened: &OpenRun,
        dispatch: &Dispatch,
        call: &CallId,
    ) -> Result<Option<Self>, Failure> {
        if workspace.store.fleet().is_none() {
            return Ok(None);
        }
        let stored = workspace.store.run(&opened.run().id)?;
        let stored = stored.unwrap_or_else(|| opened.stored.as_ref().clone());
        // What the tree is compared with, after each tool that wrote.
        let before = dispatch.tree.map(|hash| content(workspace, hash));
        let this = Self {
            path: path(&workspace.state, call),
            copy: RunCopy {
                stored,
                compiled: opened.pipeline.definition().clone(),
                contents: before.transpose()?.flatten().into_iter().collect(),
            },
        };
        state::write_bytes(&this.path, &this.copy.to_bytes())
            .map_err(Failure::file("write to", &this.path))?;
        Ok(Some(this))
    }

    /// The run has changed: its hooks learn it.
    pub fn renew(&mut self, stored: &StoredRun) -> Result<(), Failure> {
        if self.copy.stored.version == stored.version {
            return Ok(());
        }
        self.copy.stored = stored.clone();
        state::write_quickly(&self.path, &self.copy.to_bytes())
            .map_err(Failure::file("write to", &self.path))
    }
}

/// A tree whose list was not kept is compared by its hash alone.
fn content(workspace: &Workspace<'_>, hash: Hash) -> Result<Option<Vec<u8>>, Failure> {
    Ok(workspace.store.content(hash)?)
}

/// The copy that was left for this work; `None` if there is none that this version can read.
pub fn read(state: &State, call: &CallId) -> Option<RunCopy> {
    RunCopy::from_bytes(&fs::read(path(state, call)).ok()?)
}

fn path(state: &State, call: &CallId) -> PathBuf {
    claim::file_beside(state, call, "run")
}
