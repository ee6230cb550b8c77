//! Views: files in the project that are rendered from the run after a commit, and never read back.

mod painter;
mod record;

use std::io::ErrorKind;
use std::path::Path;

use engine::{EngineEvent, Happening, Removed, Standing, View, ViewChange, Who};
use evidence::artifact_path;

use crate::commit;
use crate::workspace::{OpenRun, Workspace};
use painter::{Disturbed, Painted};
use record::Record;

/// Renders every view of the run's pipeline. What somebody did to one is put into the history first,
/// and told. The commit stands whatever happens to its pictures.
pub fn render(workspace: &mut Workspace<'_>, opened: OpenRun) -> OpenRun {
    if opened.pipeline.definition().views.is_empty() {
        return opened;
    }
    workspace.context.expect_delay();
    let Painted {
        disturbed,
        unwritten,
    } = painter::paint(workspace, &opened);
    workspace.notices.extend(unwritten);
    if disturbed.is_empty() {
        opened
    } else {
        note(workspace, opened, disturbed)
    }
}

/// The files are as they should be again; now the history says why they had to be.
fn note(workspace: &mut Workspace<'_>, mut opened: OpenRun, disturbed: Vec<Disturbed>) -> OpenRun {
    for Disturbed { view, path, how } in disturbed {
        let done = match how {
            ViewChange::Edited => "edited",
            ViewChange::Removed => "removed",
        };
        let path = path.as_str().to_owned();
        let notice = format!(
            "the view `{}` was {done}: it only shows the run, nothing changed, and it was written again",
            views::line(&path)
        );
        let stops = view.removed == Removed::Waits && how == ViewChange::Removed;
        let what = Happening::Engine(EngineEvent::ViewChanged { view, path, how });
        match commit::alone(workspace, opened.clone(), &Who::Engine, what) {
            Ok(noted) => opened = noted,
            Err(failure) => workspace.notices.push(failure.to_string()),
        }
        let notice = match &opened.run().standing {
            Standing::Halted { reason } if stops => stopped(&opened, reason),
            _ => notice,
        };
        workspace.notices.push(notice);
    }
    let painted = painter::paint(workspace, &opened);
    workspace.notices.extend(painted.unwritten);
    opened
}

fn stopped(opened: &OpenRun, reason: &str) -> String {
    format!(
        "the run is stopped, because {}: `gatewright answer {run} continue` lets it go on, \
         `gatewright cancel {run} --reason WHY` ends it",
        views::line(reason),
        run = opened.run().id
    )
}

/// Has somebody removed a view whose removal stops the run? One look at the disk for each such view,
/// and none for others.
pub fn is_stopped(workspace: &Workspace<'_>, opened: &OpenRun) -> bool {
    let views = &opened.pipeline.definition().views;
    let mut stops = views.iter().filter(|view| view.removed == Removed::Waits);
    let halted = matches!(opened.run().standing, Standing::Halted { .. });
    !halted && stops.any(|view| is_removed(workspace, opened, view))
}

/// Only what we once wrote can have been removed.
fn is_removed(workspace: &Workspace<'_>, opened: &OpenRun, view: &View) -> bool {
    let (definition, run) = (opened.pipeline.definition(), opened.run());
    let Ok(path) = artifact_path(&view.path, definition, run, None) else {
        return false;
    };
    let file = Path::new(&opened.stored.worktree).join(path.as_str());
    let looked = file.symlink_metadata();
    let gone = looked.is_err_and(|error| error.kind() == ErrorKind::NotFound);
    gone && Record::read(&workspace.state, &run.id).of(&path).is_some()
}
