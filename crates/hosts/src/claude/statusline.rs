//! What Claude Code tells its status line.

use engine::SessionId;

use super::wire::{self, Workspace};
use crate::hook::{self, Unreadable};

/// A status line's input, as far as it tells us something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statusline {
    pub session: Option<SessionId>,
    /// Where the session works now.
    pub cwd: Option<String>,
    /// Where it was started.
    pub project_dir: Option<String>,
    /// The host's own version.
    pub version: Option<String>,
}

/// Reads a status line's input. What is missing or of another type is left out: a status line never
/// complains.
pub fn read(stdin: &[u8]) -> Result<Statusline, Unreadable> {
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
