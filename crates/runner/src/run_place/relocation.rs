//! The worktree of a fleet's run on a machine that takes the run over: made from the last tree that was kept.

use std::fs;
use std::path::Path;

use engine::{EngineEvent, Relocation, RunBranch, RunPlace};
use evidence::Project;
use runtime::failure::Failure;
use runtime::run_branch;
use runtime::state::write_durably;
use runtime::undelivered;
use runtime::workspace::{OpenRun, Workspace};

use super::{BRANCH, Checkout, MADE, PlaceFiles, Remarks, carry_from_project, text};
use crate::engine_event;

/// Makes the worktree here, if another machine has it or it is gone. After a kill the same call completes it.
pub(crate) fn make_here(
    workspace: &mut Workspace<'_>,
    opened: OpenRun,
) -> Result<(OpenRun, Remarks), Failure> {
    let none = Remarks::new();
    let Some(seat) = workspace.context.fleet().cloned() else {
        return Ok((opened, none));
    };
    let Some(RunPlace {
        branch,
        folder: Some(there),
        machine,
        ..
    }) = opened.run().place.clone()
    else {
        return Ok((opened, none));
    };
    let is_ours = machine.as_ref() == Some(&seat.machine);
    if is_ours && Path::new(&there).is_dir() {
        return Ok((opened, none));
    }
    let run = opened.run().id.clone();
    let kept = match workspace.store.fleet() {
        Some(fleet) => fleet.kept_tree(&run)?,
        None => None,
    };
    let home = workspace.home_of(&opened)?;
    let files = PlaceFiles::of(&workspace.state, &run, &home);
    run_branch::note_home(&workspace.state, &run, &home)?;
    files.check_out_kept(&home, &branch, kept.as_deref())?;
    let remarks = carry_from_project(workspace, &opened, &home, &files)?;
    undelivered::note_open(&workspace.state, &run)?;
    for (mark, content) in [(BRANCH, branch.name.as_str()), (MADE, "")] {
        let note = files.mark(mark);
        write_durably(&note, content).map_err(Failure::file("write to", &note))?;
    }
    if is_ours {
        return Ok((opened, remarks));
    }
    let event = EngineEvent::Relocated(Relocation {
        folder: text(&files.worktree)?,
        on: seat.on_machine(&workspace.state, &home)?,
        commit: kept.unwrap_or(branch.base),
    });
    let opened = engine_event::submit(workspace, opened, &event, None)?;
    Ok((opened, remarks))
}

impl PlaceFiles {
    /// The branch at the commit that the run was at, and the files as they were kept.
    fn check_out_kept(
        &self,
        home: &Project,
        branch: &RunBranch,
        kept: Option<&str>,
    ) -> Result<(), Failure> {
        let here = Checkout::of(home)?;
        here.forget_worktree(&self.worktree)?;
        if self.worktree.exists() {
            fs::remove_dir_all(&self.worktree).map_err(Failure::file("remove", &self.worktree))?;
        }
        let at = kept.map_or_else(|| branch.base.clone(), |kept| format!("{kept}^"));
        let folder = text(&self.worktree)?;
        here.ask(&["worktree", "prune"])?;
        here.ask(&[
            "worktree",
            "add",
            "--quiet",
            "--force",
            "-B",
            &branch.name,
            &folder,
            &at,
        ])?;
        let Some(kept) = kept else {
            return Ok(());
        };
        let worktree = Project::find(&self.worktree)?;
        let there = Checkout::of(&worktree)?;
        there.ask(&["read-tree", "--reset", "-u", kept])?;
        there.ask(&["reset", "--quiet"]).map(drop)
    }
}
