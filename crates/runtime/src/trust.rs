//! Trust: a definition from a file does nothing until a person has trusted what it may run.
//!
//! Trust covers a path and every byte: of the definition, of its references, of the scripts in its
//! commands, and of the settings that it uses. Built-in pipelines are trusted, also as a copy of
//! the same bytes.

pub mod diff;
pub mod record;
pub mod scripts;
pub mod summary;

use std::fs;
use std::path::{Path, PathBuf};

use engine::{Definition, Hash};
use language::Sources;
use store::Files;

use crate::definition::{self, Place};
use crate::failure::Failure;
use crate::state::State;
use crate::workspace::Workspace;
use record::TrustRecord;
use scripts::PinnedFile;

/// What a person trusts, or does not.
pub struct Subject {
    /// The file itself, with all links resolved.
    pub path: PathBuf,
    pub files: Files,
    /// Scripts of the project that its commands name.
    pub scripts: Vec<PinnedFile>,
    /// The settings file that it uses, if there is one.
    pub settings: Option<PinnedFile>,
}

impl Subject {
    pub fn new(
        path: &Path,
        sources: &Sources,
        definition: &Definition,
        root: &Path,
    ) -> Result<Self, Failure> {
        let path = fs::canonicalize(path).map_err(Failure::file("look at", path))?;
        let settings = definition.settings.as_deref();
        Ok(Self {
            path,
            files: definition::pinned(sources)?,
            scripts: scripts::named(definition, root)?,
            settings: settings.map_or(Ok(None), |path| scripts::settings(path, root))?,
        })
    }

    /// The hash of everything that is trusted: the path, and every byte of every file.
    pub fn hash(&self) -> Hash {
        let path = self.path.as_os_str().as_encoded_bytes();
        let mut hashed = format!("gatewright trust 1\n{}\n", path.len()).into_bytes();
        hashed.extend_from_slice(path);
        let others = self.scripts.iter().chain(&self.settings);
        let others: Vec<String> = others.map(|piece| piece.line("\n")).collect();
        hashed
            .extend_from_slice(format!("\n{}\n{}", self.files.hash(), others.concat()).as_bytes());
        evidence::hash(&hashed)
    }

    /// The bytes that a run is pinned to.
    fn pinned(&self) -> Result<Files, Failure> {
        scripts::with_manifest(&self.files, &self.scripts)
    }
}

/// The bytes that a new run is pinned to, if a person trusts them. `word` is what was typed.
pub fn pinned(
    workspace: &Workspace<'_>,
    word: &str,
    sources: &Sources,
    definition: &Definition,
) -> Result<Files, Failure> {
    let root = &workspace.project()?.root;
    if is_shipped(sources) {
        return definition::pinned(sources);
    }
    let place = definition::place(word, &workspace.context.folder, root)?;
    let subject = Subject::new(&path(&place, definition, root), sources, definition, root)?;
    require(&workspace.state, word, &subject)?;
    subject.pinned()
}

/// The file that a person trusts. For a built-in pipeline whose groups the project's settings
/// extend, it is the settings file.
pub fn path(place: &Place, definition: &Definition, root: &Path) -> PathBuf {
    match place {
        Place::File { path, .. } => path.clone(),
        Place::Builtin(_) => root.join(definition.settings.as_deref().unwrap_or_default()),
    }
}

/// Are these the bytes of a built-in pipeline?
pub fn is_shipped(sources: &Sources) -> bool {
    let same = |shipped: Sources| {
        shipped.main.bytes == sources.main.bytes && shipped.files == sources.files
    };
    let mut all = language::builtin::all().iter();
    all.any(|builtin| same(builtin.sources()))
}

pub fn require(state: &State, word: &str, subject: &Subject) -> Result<(), Failure> {
    if record::is_trusted(state, subject) {
        return Ok(());
    }
    let earlier = record::of_path(state, &subject.path);
    let message = match earlier.last() {
        Some(earlier) => {
            let changed = changed(earlier, subject).join(", ");
            format!("{word} has changed since it was trusted: {changed}")
        }
        None => format!("{word} is not trusted yet: it may run commands as you"),
    };
    Err(Failure::refused(message).hint(format!("a person must type `gatewright trust {word}`")))
}

/// What differs from the trusted state, in a few words each.
pub fn changed(earlier: &TrustRecord, subject: &Subject) -> Vec<String> {
    let now = record::pieces(subject);
    let is_same = |piece: &&PinnedFile| now.iter().any(|now| now.path == piece.path);
    let gone = earlier.pieces.iter().filter(|piece| !is_same(piece));
    let gone = gone.map(|piece| format!("{} is gone", views::line(&piece.path)));
    let new_or_changed = now.iter().filter_map(|piece| {
        let path = views::line(&piece.path);
        let before = earlier
            .pieces
            .iter()
            .find(|before| before.path == piece.path);
        match before {
            Some(before) if before.hash == piece.hash => None,
            Some(_) => Some(format!("{path} has changed")),
            None => Some(format!("{path} is new")),
        }
    });
    new_or_changed.chain(gone).collect()
}

#[cfg(test)]
mod tests;
