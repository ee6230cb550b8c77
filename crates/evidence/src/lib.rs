//! Evidence: everything that an agent could lie to us with is looked at here, and nowhere else.
//!
//! The engine says what it needs to know; `look` looks, and says what it saw. It never decides.
//! What is wrong with an agent's work is part of the answer; an `Error` means that we could not look.

pub mod artifact;
pub mod beneath;
pub mod check;
pub mod git;
pub mod group;
pub mod process;
pub mod questions;
pub mod steps;
pub mod text;
pub mod tree;

mod bundle;
mod document;
mod error;
mod mark;
mod path;
mod placeholder;
mod project;
mod replace;
mod repository;
mod schema;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::{ArtifactName, Evidence, FieldOf, Format, Hash, Needs, Pipeline, Run};
use sha2::{Digest, Sha256};

pub use artifact::wanted_fields;
pub use error::Error;
pub use mark::Mark;
pub use path::{InsidePath, artifact_path};
pub use project::Project;
pub use replace::{append, mark, replace, written};
pub use repository::Repository;

/// Captured copies by their content hash. The store has them.
pub trait Contents {
    fn content(&self, hash: &Hash) -> Option<Vec<u8>>;
}

impl<F: Fn(&Hash) -> Option<Vec<u8>>> Contents for F {
    fn content(&self, hash: &Hash) -> Option<Vec<u8>> {
        self(hash)
    }
}

/// Where to look, and with what.
pub struct Looking<'a> {
    pub pipeline: &'a Pipeline,
    pub run: &'a Run,
    pub project: &'a Project,
    pub contents: &'a dyn Contents,
    /// A folder of ours for the stat cache. Without one, every file is read every time.
    pub cache: Option<&'a Path>,
    /// Values that must not be stored, whatever their shape.
    pub secrets: &'a [String],
    /// What a person gives in place of an artifact.
    pub given: BTreeMap<ArtifactName, Given>,
    /// The agent's last message, for artifacts that come from it.
    pub reply: Option<&'a str>,
}

/// An artifact from a person's hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    File(PathBuf),
    Bytes(Vec<u8>),
}

/// What was seen, and the bytes behind its hashes, to be stored with the decision.
///
/// Invariant: the bytes of every hash in the evidence that was made now are in `contents`, but for a
/// tree whose manifest nobody asked to keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    pub evidence: Evidence,
    pub contents: Vec<Content>,
}

/// Bytes and their hash. All that is kept has passed redaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    pub hash: Hash,
    pub bytes: Vec<u8>,
}

impl Content {
    pub fn of(bytes: Vec<u8>) -> Self {
        Self {
            hash: hash(&bytes),
            bytes,
        }
    }
}

/// The SHA-256 of these bytes.
pub fn hash(bytes: &[u8]) -> Hash {
    Hash(Sha256::digest(bytes).into())
}

/// Looks at all that the engine needs to know.
pub fn look(needs: &Needs, looking: &Looking<'_>) -> Result<Looked, Error> {
    let mut looked = Looked::default();
    for need in &needs.artifacts {
        let look = artifact::look(need, looking)?;
        looked
            .evidence
            .artifacts
            .insert(need.artifact.clone(), look.seen);
        if !look.commands.is_empty() {
            let commands = &mut looked.evidence.commands;
            commands.insert(need.artifact.clone(), look.commands);
        }
        looked.contents.extend(look.content);
    }
    let inputs = needs.inputs.iter();
    let altered = inputs.filter(|input| !artifact::is_as_captured(input, looking));
    looked.evidence.altered = altered.cloned().collect();
    if needs.tree || needs.keep_tree || needs.changed_since.is_some() {
        look_at_tree(needs, looking, &mut looked)?;
    }
    looked.evidence.holder = needs.holder.as_ref().map(process::life);
    if let Some((field, hash)) = &needs.questions {
        let (content, format) = captured(field, hash, looking, &looked)?;
        looked.evidence.questions = Some(questions::read(&content, format, &field.field));
    }
    if let Some((field, hash)) = &needs.steps {
        let (content, format) = captured(field, hash, looking, &looked)?;
        looked.evidence.steps = Some(steps::read(&content, format, &field.field));
    }
    Ok(looked)
}

fn look_at_tree(needs: &Needs, looking: &Looking<'_>, looked: &mut Looked) -> Result<(), Error> {
    let tree = tree::read(looking)?;
    looked.evidence.tree = Some(tree.hash);
    looked.evidence.changed = match needs.changed_since {
        None => None,
        // The same hash is the same tree, whether its manifest was kept or not.
        Some(old) if old == tree.hash => Some(Vec::new()),
        Some(old) => {
            let manifest = looking.contents.content(&old);
            let manifest = manifest.ok_or(Error::ContentLost { hash: old })?;
            let changed = tree::changed(&manifest, &tree.manifest);
            Some(changed.ok_or(Error::NotAManifest { hash: old })?)
        }
    };
    if needs.keep_tree {
        looked.contents.push(Content {
            hash: tree.hash,
            bytes: tree.manifest,
        });
    }
    Ok(())
}

/// The captured copy of an artifact, which may have been captured just now, and its format.
fn captured<'a>(
    field: &FieldOf,
    hash: &Hash,
    looking: &Looking<'a>,
    looked: &Looked,
) -> Result<(String, &'a Format), Error> {
    let now = looked.contents.iter().find(|content| content.hash == *hash);
    let bytes = match now {
        Some(content) => content.bytes.clone(),
        None => captured_bytes(looking.contents, hash)?,
    };
    let artifact = looking.pipeline.definition().artifacts.get(&field.artifact);
    let artifact = artifact.ok_or(Error::UnknownArtifact {
        artifact: field.artifact.clone(),
    })?;
    Ok((
        String::from_utf8_lossy(&bytes).into_owned(),
        &artifact.format,
    ))
}

/// A captured copy, if its bytes are still the ones that were captured.
fn captured_bytes(contents: &dyn Contents, hash: &Hash) -> Result<Vec<u8>, Error> {
    let bytes = contents
        .content(hash)
        .filter(|bytes| self::hash(bytes) == *hash);
    bytes.ok_or(Error::ContentLost { hash: *hash })
}
