//! The input of Claude Code's status line.

use engine::SessionId;

use super::wire::{self, Workspace};
use crate::hook::{self, PayloadError};

/// The fields of a status line's input that we use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statusline {
    pub session: Option<SessionId>,
    /// The current folder of the session.
    pub cwd: Option<String>,
    /// The folder in which it started.
    pub project_dir: Option<String>,
    /// The host's own version.
    pub version: Option<String>,
}

/// Reads a status line's input. Fields that are missing or have another type become `None`, because a
/// status line must not fail.
pub fn read(stdin: &[u8]) -> Result<Statusline, PayloadError> {
    let input: wire::Statusline<'_> = hook::input(stdin)?;
    let text = |raw| hook::text(raw).map(String::from);
    let workspace: Option<Workspace<'_>> = hook::shape(input.workspace);
    let session = hook::text(input.session_id);
    Ok(Statusline {
        session: session.and_then(|session| SessionId::parse(&session).ok()),
        cwd: text(input.cwd),
        project_dir: workspace.and_then(|workspace| text(workspace.project_dir)),
        version: text(input.version),
    })
}
