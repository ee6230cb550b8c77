//! Carries out an installation step by step. It saves the original files first, so that every step can
//! be undone, and the next `init` finishes an interrupted installation.

use std::path::Path;

use hosts::settings::Settings;
use runtime::enrolment::{self, Installed};
use runtime::failure::Failure;
use runtime::state::{self, State};

use super::plan::{Change, Plan};
use super::program::OurProgram;
use super::record::{FileKind, InstallRecord, InstalledFile, RecordFolder, hash};

/// One atomic step of an installation.
pub enum InstallStep<'a> {
    /// Saves the original files, and records what will change.
    SaveOriginals,
    Change(&'a Change),
    /// Records for the hooks what is installed in this project.
    EnrolProject(&'a Installed),
}

/// Carries out an installation.
pub struct Installer<'a> {
    pub state: &'a State,
    pub plan: &'a Plan,
    pub program: &'a OurProgram,
    /// What the project has afterwards; `None` for a person's own settings.
    pub installed: Option<&'a Installed>,
}

impl<'a> Installer<'a> {
    /// All steps in order. The hooks come after what they call for, and enrolment is last.
    pub fn steps(&self) -> Vec<InstallStep<'a>> {
        let settings = |change: &&Change| change.kind == FileKind::Settings;
        let others = self.plan.changes.iter().filter(|it| !settings(it));
        let settings = self.plan.changes.iter().filter(settings);
        let changes = others.chain(settings).map(InstallStep::Change);
        let told = self.installed.map(InstallStep::EnrolProject);
        std::iter::once(InstallStep::SaveOriginals)
            .chain(changes)
            .chain(told)
            .collect()
    }

    pub fn take(&self, step: &InstallStep<'_>) -> Result<(), Failure> {
        match step {
            InstallStep::SaveOriginals => self.keep(),
            InstallStep::Change(change) => write(self.plan, change),
            InstallStep::EnrolProject(installed) => enrolment::install(self.state, installed)
                .map_err(Failure::file("write to", self.state.folder())),
        }
    }

    fn keep(&self) -> Result<(), Failure> {
        let root = self.plan.base.root();
        let folder = RecordFolder::of(self.state, root);
        let mut record = folder.read()?.unwrap_or_default();
        record.root = root.display().to_string();
        record.project = self.installed.map(|installed| installed.project.clone());
        for change in &self.plan.changes {
            let after = hash(change.after.as_deref().unwrap_or_default());
            let before = self.before(&folder, &record, change)?;
            for folder in self.plan.base.missing_folders(&change.path) {
                if !record.folders.contains(&folder) {
                    record.folders.push(folder);
                }
            }
            record.put(InstalledFile {
                path: change.path.clone(),
                kind: change.kind,
                before,
                after,
            });
        }
        for rule in &self.plan.allowed {
            if !record.allowed.contains(rule) {
                record.allowed.push(rule.clone());
            }
        }
        folder.write(&record)
    }

    /// What a file goes back to: as it was before we first touched it, or, where somebody has changed
    /// it since, as it is now without our part.
    fn before(
        &self,
        folder: &RecordFolder,
        record: &InstallRecord,
        change: &Change,
    ) -> Result<Option<String>, Failure> {
        let Some(present) = &change.before else {
            return Ok(None);
        };
        match record.file(&change.path) {
            Some(kept) if kept.after == hash(present) => Ok(kept.before.clone()),
            Some(_) => {
                let without = original(change.kind, present, self.program, &record.allowed);
                folder.keep(without.as_deref().unwrap_or(present)).map(Some)
            }
            None => folder.keep(present).map(Some),
        }
    }
}

/// A file as it would be without our part. A mark that lost its other end has been told by the plan.
fn original(
    kind: FileKind,
    present: &[u8],
    program: &OurProgram,
    allowed: &[String],
) -> Option<Vec<u8>> {
    match kind {
        FileKind::Settings => without_ours(present, program, allowed),
        FileKind::Marked(marks) => marks.without_ours(present).ok(),
        FileKind::Made => None,
    }
}

pub fn without_ours(bytes: &[u8], program: &OurProgram, allowed: &[String]) -> Option<Vec<u8>> {
    let settings = Settings::parse(bytes).ok()?;
    let text = settings.without_hooks(&program.path).ok()?;
    let settings = Settings::parse(text.as_bytes()).ok()?;
    Some(settings.without_allowed(allowed).ok()?.into_bytes())
}

/// Writes or removes one file, if it still is what was shown.
pub fn write(plan: &Plan, change: &Change) -> Result<(), Failure> {
    if plan.base.read(&change.path)? != change.before {
        return Err(moved(&change.path));
    }
    match &change.after {
        Some(bytes) => plan.base.write(&change.path, bytes),
        None => plan.base.remove(&change.path),
    }
}

fn moved(path: &str) -> Failure {
    Failure::refused(format!("{path} changed in the meantime")).hint("retry")
}

/// Creates the state folder if necessary, so that a lock can be taken in it.
pub fn prepare(state: &State) -> Result<(), Failure> {
    let folder: &Path = state.folder();
    state::make_folder(folder).map_err(Failure::file("make", folder))
}
