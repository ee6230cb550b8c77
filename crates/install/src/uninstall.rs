//! Uninstalls: restores the original files, or removes our part from files that somebody has changed since.

use hosts::settings::Settings;
use runtime::enrolment;
use runtime::failure::Failure;
use runtime::state::State;

use super::additions::unclear;
use super::disk::BaseFolder;
use super::hooks::{HooksTarget, take_out};
use super::perform::{self, without_ours};
use super::plan::{Change, Plan};
use super::program::OurProgram;
use super::record::{self, FileKind, InstallRecord, InstalledFile, RecordFolder, hash};
use super::settings_files::{LOCAL, SHARED, USER};

/// Plans the removal of what is installed in this folder.
pub(crate) fn plan(
    state: &State,
    base: &BaseFolder,
    record: Option<&InstallRecord>,
    program: &OurProgram,
    target: HooksTarget,
) -> Result<Plan, Failure> {
    let mut plan = Plan::new(base.root());
    let folder = RecordFolder::of(state, base.root());
    let ours = Ours {
        program,
        allowed: record.map_or(&[], |record| record.allowed.as_slice()),
    };
    let kept = record.map(|record| record.files.as_slice());
    for file in kept.unwrap_or_default() {
        restore(&mut plan, &folder, file, ours)?;
    }
    // This also removes hooks that were written by hand, or by an unrecorded installation.
    let known = |path: &str| record.is_some_and(|record| record.file(path).is_some());
    let own = match target {
        HooksTarget::User => USER,
        HooksTarget::Local | HooksTarget::Shared => LOCAL,
    };
    if !known(own) {
        take_out(&mut plan, own, program)?;
    }
    if record.is_none() && !plan.changes.is_empty() && target != HooksTarget::User {
        plan.note(
            "the record of `init` is gone: only the hooks are removed. Files of a pipeline in .claude and .gatewright, and \
             lines in .gitignore, stay"
                .to_owned(),
        );
    }
    if target != HooksTarget::User && !known(SHARED) {
        tell_shared(&mut plan, program)?;
    }
    Ok(plan)
}

/// What is ours in a settings file.
#[derive(Clone, Copy)]
struct Ours<'a> {
    program: &'a OurProgram,
    allowed: &'a [String],
}

/// We do not remove what somebody else has committed.
fn tell_shared(plan: &mut Plan, program: &OurProgram) -> Result<(), Failure> {
    let present = plan.base.read(SHARED)?;
    let settings = present.and_then(|bytes| Settings::parse(&bytes).ok());
    if settings.is_some_and(|settings| !settings.hooks(&program.path).is_empty()) {
        plan.note(format!(
            "{SHARED} has Gatewright's hooks for everybody and stays: another machine wrote it"
        ));
    }
    Ok(())
}

fn restore(
    plan: &mut Plan,
    folder: &RecordFolder,
    file: &InstalledFile,
    ours: Ours<'_>,
) -> Result<(), Failure> {
    let Some(present) = plan.base.read(&file.path)? else {
        return Ok(());
    };
    let before = file.before.as_ref();
    if before == Some(&hash(&present)) {
        return Ok(());
    }
    let original = before.map(|hash| folder.original(hash));
    let after = match (file.after == hash(&present), original) {
        (true, None) => None,
        (true, Some(Some(original))) => Some(original),
        (true, Some(None)) | (false, _) => {
            return changed_since(plan, file, present, ours);
        }
    };
    plan.push(Change {
        path: file.path.clone(),
        kind: file.kind,
        before: Some(present),
        after,
    });
    Ok(())
}

/// Somebody has changed the file: what they wrote stays.
fn changed_since(
    plan: &mut Plan,
    file: &InstalledFile,
    present: Vec<u8>,
    ours: Ours<'_>,
) -> Result<(), Failure> {
    let path = &file.path;
    let left = match &file.kind {
        FileKind::Settings => without_ours(&present, ours.program, ours.allowed),
        FileKind::Marked(marks) => {
            let left = marks.without_ours(&present);
            Some(left.map_err(|unpaired| unclear(path, &unpaired))?)
        }
        FileKind::Made => {
            plan.keep(path, " and stays");
            return Ok(());
        }
    };
    let Some(left) = left else {
        let message = format!("cannot read {path}");
        return Err(Failure::settings(message).hint("nothing was written; fix the file first"));
    };
    plan.keep(path, ": only Gatewright's part is removed");
    // A file that we made, and in which nothing but our part stands, goes whole.
    let is_ours = file.before.is_none() && left.is_empty();
    plan.push(Change {
        path: path.clone(),
        kind: file.kind,
        before: Some(present),
        after: Some(left).filter(|_| !is_ours),
    });
    Ok(())
}

/// Carries the plan out. The hooks go first, and what we know of the project last: a removal that was
/// cut off is finished by the next one.
pub(crate) fn perform(
    state: &State,
    plan: &Plan,
    record: Option<&InstallRecord>,
) -> Result<(), Failure> {
    let settings = |change: &&Change| change.kind == FileKind::Settings;
    let first = plan.changes.iter().filter(settings);
    let then = plan.changes.iter().filter(|change| !settings(change));
    for change in first.chain(then) {
        perform::write(plan, change)?;
    }
    let Some(record) = record else {
        return Ok(());
    };
    for folder in record.folders.iter().rev() {
        plan.base.remove_folder(folder);
    }
    if let Some(project) = &record.project
        && !is_elsewhere(state, record)
    {
        enrolment::uninstall(state, project).map_err(Failure::file("write to", state.folder()))?;
    }
    RecordFolder::of(state, plan.base.root()).clear()
}

/// Is the same project installed in another of its worktrees?
fn is_elsewhere(state: &State, record: &InstallRecord) -> bool {
    let others = record::all(state).into_iter();
    let mut others = others.filter(|other| other.root != record.root);
    others.any(|other| other.project.is_some() && other.project == record.project)
}
