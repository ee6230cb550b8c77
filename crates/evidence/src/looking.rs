//! Where to look, and with what: all that a look at an agent's work needs from outside.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::{ArtifactName, Pipeline, Run};

use crate::content::Contents;
use crate::project::Project;

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
