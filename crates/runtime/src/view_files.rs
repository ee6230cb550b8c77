//! Views: files in the project that are rendered from the run after a commit, and never read back.

mod record;
mod renderer;

use std::io::ErrorKind;
use std::path::Path;

use engine::{EngineEvent, Entry, Happening, Removed, Standing, View, ViewChange, Who};
use evidence::artifact_path;

use crate::commit;
use crate::workspace::{OpenRun, Workspace};
use record::ViewRecord;
use renderer::{ChangedView, RenderResult};

/// Renders every view of the run's pipeline. Changes by others are recorded and reported first. A
/// failure here does not undo the commit.
pub fn render(workspace: &mut Workspace<'_>, opened: OpenRun) -> OpenRun {
    render_after(workspace, opened, &[])
}

/// The same right after these entries were stored, which are then not read again.
pub fn render_after(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
    stored: &[(u64, Entry)],
) -> OpenRun {
    if opened.pipeline.definition().views.is_empty() {
        return opened;
    }
    let RenderResult { changed, unwritten } = renderer::render(workspace, &opened, stored);
    workspace.notices.extend(unwritten);
    if changed.is_empty() {
        opened
    } else {
        note(workspace, opened, changed)
    }
}

/// The files are restored; now the history records the change.
fn note(workspace: &mut Workspace<'_>, mut opened: OpenRun, changed: Vec<ChangedView>) -> OpenRun {
    for ChangedView { view, path, how } in changed {
        let done = match how {
            ViewChange::Edited => "edited",
            ViewChange::Removed => "removed",
        };
        let path = path.as_str().to_owned();
        let notice = format!(
            "the view `{}` was {done}: it only shows the run; the run is unchanged, and the view is written again",
            views::line(&path)
        );
        let stops = view.removed == Removed::Waits && how == ViewChange::Removed;
        let what = Happening::Engine(EngineEvent::ViewChanged { view, path, how });
        match commit::try_once(workspace, opened.clone(), &Who::Engine, what) {
            Ok(noted) => opened = noted,
            Err(failure) => workspace.notices.push(failure.to_string()),
        }
        if let Standing::Halted { reason } = &opened.run().standing
            && stops
        {
            workspace.notices.push(stopped(&opened, reason));
        } else {
            workspace.notices.push(notice);
        }
    }
    let rendered = renderer::render(workspace, &opened, &[]);
    workspace.notices.extend(rendered.unwritten);
    opened
}

fn stopped(opened: &OpenRun, reason: &str) -> String {
    format!(
        "the run is stopped, because {}: `gatewright answer {run} continue` continues it, \
         `gatewright cancel {run} --reason WHY` ends it",
        views::line(reason),
        run = opened.run().id
    )
}

/// Has somebody removed a view whose removal stops the run? One file access for each such view.
pub fn is_stopped(workspace: &Workspace<'_>, opened: &OpenRun) -> bool {
    let views = &opened.pipeline.definition().views;
    let mut stops = views.iter().filter(|view| view.removed == Removed::Waits);
    let halted = matches!(opened.run().standing, Standing::Halted { .. });
    !halted && stops.any(|view| is_removed(workspace, opened, view))
}

/// Only a view that we wrote can have been removed.
fn is_removed(workspace: &Workspace<'_>, opened: &OpenRun, view: &View) -> bool {
    let (definition, run) = (opened.pipeline.definition(), opened.run());
    let Ok(path) = artifact_path(&view.path, definition, run, None) else {
        return false;
    };
    let file = Path::new(opened.stored.worktree()).join(path.as_str());
    let looked = file.symlink_metadata();
    let gone = looked.is_err_and(|error| error.kind() == ErrorKind::NotFound);
    gone && ViewRecord::read(&workspace.state, &run.id)
        .of(&path)
        .is_some()
}
