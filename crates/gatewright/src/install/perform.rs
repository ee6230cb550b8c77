//! Carrying a plan out, step by step: what is kept of the files comes first, so that every step can be
//! taken back, and a run that was cut off is finished by the next one.

use std::path::Path;

use hosts::settings::Settings;
use runtime::enrolment::{self, Installed};
use runtime::failure::Failure;
use runtime::state::State;

use super::plan::{Change, Plan};
use super::program::Program;
use super::record::{Kept, Kind, Record, Shelf, hash};

/// One thing that is done or not done.
pub enum Step<'a> {
    /// Keeps the files as they were, and writes down what will be done.
    Keep,
    Change(&'a Change),
    /// Tells the hooks what is installed in this project.
    Tell(&'a Installed),
}

/// An installation that is about to happen.
pub struct Performing<'a> {
    pub state: &'a State,
    pub plan: &'a Plan,
    pub program: &'a Program,
    /// What is installed in the project afterwards; nothing for a person's own settings.
    pub installed: Option<&'a Installed>,
}

impl<'a> Performing<'a> {
    /// All steps in their order. The hooks are told last: until then they have nothing to say.
    pub fn steps(&self) -> Vec<Step<'a>> {
        let settings = |change: &&Change| change.kind == Kind::Settings;
        let others = self.plan.changes.iter().filter(|it| !settings(it));
        let settings = self.plan.changes.iter().filter(settings);
        let changes = others.chain(settings).map(Step::Change);
        let told = self.installed.map(Step::Tell);
        std::iter::once(Step::Keep)
            .chain(changes)
            .chain(told)
            .collect()
    }

    pub fn take(&self, step: &Step<'_>) -> Result<(), Failure> {
        match step {
            Step::Keep => self.keep(),
            Step::Change(change) => write(self.plan, change),
            Step::Tell(installed) => enrolment::install(self.state, installed)
                .map_err(Failure::file("write to", self.state.folder())),
        }
    }

    fn keep(&self) -> Result<(), Failure> {
        let root = self.plan.base.root();
        let shelf = Shelf::of(self.state, root);
        let mut record = shelf.read()?.unwrap_or_default();
        record.root = root.display().to_string();
        record.project = self.installed.map(|installed| installed.project.clone());
        for change in &self.plan.changes {
            let after = hash(change.after.as_deref().unwrap_or_default());
            let before = self.before(&shelf, &record, change)?;
            for folder in self.plan.base.missing_folders(&change.path) {
                if !record.folders.contains(&folder) {
                    record.folders.push(folder);
                }
            }
            record.put(Kept {
                path: change.path.clone(),
                kind: change.kind,
                before,
                after,
            });
        }
        shelf.write(&record)
    }

    /// What a file goes back to: as it was before we first touched it, or, where somebody has changed
    /// it since, as it is now without our part.
    fn before(
        &self,
        shelf: &Shelf,
        record: &Record,
        change: &Change,
    ) -> Result<Option<String>, Failure> {
        let Some(present) = &change.before else {
            return Ok(None);
        };
        match record.file(&change.path) {
            Some(kept) if kept.after == hash(present) => Ok(kept.before.clone()),
            Some(_) => {
                let without = original(change.kind, present, self.program);
                shelf.keep(without.as_deref().unwrap_or(present)).map(Some)
            }
            None => shelf.keep(present).map(Some),
        }
    }
}

/// A file as it would be without our part. A mark that lost its other end has been told by the plan.
fn original(kind: Kind, present: &[u8], program: &Program) -> Option<Vec<u8>> {
    match kind {
        Kind::Settings => without_ours(present, program),
        Kind::Marked(marks) => marks.without_ours(present).ok(),
        Kind::Made => None,
    }
}

pub fn without_ours(bytes: &[u8], program: &Program) -> Option<Vec<u8>> {
    let settings = Settings::parse(bytes).ok()?;
    let text = settings.without_hooks(&program.path).ok()?;
    Some(text.into_bytes())
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
    Failure::no(format!("{path} changed in the meantime")).hint("retry")
}

/// The folder of the state, made if need be, for whoever waits for a turn in it.
pub fn prepare(state: &State) -> Result<(), Failure> {
    use std::os::unix::fs::DirBuilderExt as _;
    let folder: &Path = state.folder();
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(Failure::file("make", folder))
}
