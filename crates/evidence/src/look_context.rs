//! The context of a look: everything that it needs from outside.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::{ArtifactName, Pipeline, Run};

use crate::content::Contents;
use crate::project::Project;

/// Where to look, and with what.
pub struct LookContext<'a> {
    pub pipeline: &'a Pipeline,
    pub run: &'a Run,
    pub project: &'a Project,
    pub contents: &'a dyn Contents,
    /// The folder of the stat cache. Without one, every file is read every time.
    pub cache: Option<&'a Path>,
    /// Values that must not be stored, whatever their shape.
    pub secrets: &'a [String],
    /// Artifacts that a person gives.
    pub given: BTreeMap<ArtifactName, GivenArtifact>,
    /// The agent's last message, for artifacts that come from it.
    pub reply: Option<&'a str>,
}

/// An artifact that a person gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenArtifact {
    File(PathBuf),
    Bytes(Vec<u8>),
}
