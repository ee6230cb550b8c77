//! Trust: a definition from a file does nothing until a person has seen what it may run.
//!
//! What is trusted is a path with every byte: of the definition, of what it refers to, of the scripts
//! that its commands name, and of the settings from which it takes values. The pipelines that come with
//! the program are trusted as shipped, also as a copy of the same bytes.

pub mod diff;
pub mod record;
pub mod scripts;
pub mod shown;

use std::fs;
use std::path::{Path, PathBuf};

use engine::{Definition, Hash};
use language::Sources;
use store::Files;

use crate::definition::{self, Place};
use crate::failure::Failure;
use crate::state::State;
use crate::workspace::Workspace;
use record::Record;
use scripts::Piece;

/// What a person trusts, or does not.
pub struct Subject {
    /// The file itself, whatever links lead to it.
    pub path: PathBuf,
    pub files: Files,
    /// Scripts of the project that its commands name.
    pub scripts: Vec<Piece>,
    /// The settings file from which it takes values, where there is one.
    pub settings: Option<Piece>,
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

    /// The identity of all that is trusted: the path, and every byte of every file.
    pub fn hash(&self) -> Hash {
        let path = self.path.as_os_str().as_encoded_bytes();
        let mut told = format!("gatewright trust 1\n{}\n", path.len()).into_bytes();
        told.extend_from_slice(path);
        let others = self.scripts.iter().chain(&self.settings);
        let others: Vec<String> = others.map(|piece| piece.line("\n")).collect();
        told.extend_from_slice(format!("\n{}\n{}", self.files.hash(), others.concat()).as_bytes());
        evidence::hash(&told)
    }

    /// The bytes to which a run is pinned.
    fn pinned(&self) -> Result<Files, Failure> {
        scripts::with_manifest(&self.files, &self.scripts)
    }
}

/// The bytes to which a new run is pinned, if a person trusts them. `word` is what was typed.
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

/// The file that a person answers for. A pipeline that comes with the program is not as shipped where the
/// project's settings add to its groups: then it is those settings.
pub fn path(place: &Place, definition: &Definition, root: &Path) -> PathBuf {
    match place {
        Place::File { path, .. } => path.clone(),
        Place::Builtin(_) => root.join(definition.settings.as_deref().unwrap_or_default()),
    }
}

/// Are these the bytes of a pipeline that comes with the program?
pub fn is_shipped(sources: &Sources) -> bool {
    let same = |shipped: Sources| {
        shipped.main.bytes == sources.main.bytes && shipped.files == sources.files
    };
    let mut all = language::builtin::all().iter();
    all.any(|builtin| same(builtin.sources()))
}

pub fn require(state: &State, word: &str, subject: &Subject) -> Result<(), Failure> {
    if record::is_there(state, subject.hash()) {
        return Ok(());
    }
    let earlier = record::of_path(state, &subject.path);
    let message = match earlier.last() {
        Some(earlier) => {
            let changed = changed(earlier, subject).join(", ");
            format!("{word} is not as it was when it was trusted: {changed}")
        }
        None => format!("{word} is not trusted yet: it may run commands as you"),
    };
    Err(Failure::no(message).hint(format!(
        "a person looks at it with `gatewright trust {word}`"
    )))
}

/// What differs from what was trusted, each in a few words.
pub fn changed(earlier: &Record, subject: &Subject) -> Vec<String> {
    let now = record::pieces(subject);
    let is_same = |piece: &&Piece| now.iter().any(|now| now.path == piece.path);
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
