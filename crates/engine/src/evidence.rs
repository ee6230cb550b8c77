//! Evidence: the state of files, trees and processes. The engine says what it needs; the shell reads it.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::change::Change;
use crate::names::{AgentName, ArtifactName, Hash, StepId, Time};
use crate::run::Process;
use crate::stage::{FieldOf, Step};

/// The evidence that is needed before an event can be judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Read and check these artifacts now.
    pub artifacts: Vec<ArtifactNeed>,
    /// Compare the files of these artifacts with what was captured.
    pub inputs: Vec<Input>,
    /// Hash the tree.
    pub tree: bool,
    /// Keep the tree's manifest, because a later comparison will need its paths.
    pub keep_tree: bool,
    /// Name the paths that differ from this tree.
    pub changed_since: Option<Hash>,
    /// Is this process still there?
    pub holder: Option<Process>,
    /// Read the questions in this field of the captured artifact.
    pub questions: Option<(FieldOf, Hash)>,
    /// Read the steps in this field of the captured artifact.
    pub steps: Option<(FieldOf, Hash)>,
    /// Record the tree as the base of later changes.
    pub base: bool,
    /// Measure the change since the run began.
    pub change: Option<ChangeNeed>,
}

/// How a change is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeNeed {
    /// The base that the run recorded when it began, if it did.
    pub base: Option<Hash>,
    /// Count the lines, too.
    pub lines: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactNeed {
    pub artifact: ArtifactName,
    /// The step whose path it is, if the path contains `{step}`.
    pub step: Option<StepId>,
    /// The agent that leaves it, if one is working.
    pub agent: Option<AgentName>,
}

/// An input of a worker: its origin, and the captured content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub artifact: ArtifactName,
    /// The step that left it, in a task graph.
    pub step: Option<StepId>,
    pub content: Hash,
}

/// The evidence. Absent means that nobody looked, so nothing is concluded from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub artifacts: BTreeMap<ArtifactName, Seen>,
    /// When the files of artifacts were last written, where that is known.
    pub written: BTreeMap<ArtifactName, Time>,
    /// The commands in the artifacts that add some.
    pub commands: BTreeMap<ArtifactName, Vec<Vec<String>>>,
    /// Why the worker failed, as the artifacts with a field for that say.
    pub reasons: BTreeMap<ArtifactName, String>,
    /// Fields without the list that a stage takes from them, each with what to write.
    pub unlisted: BTreeMap<ArtifactName, BTreeMap<String, String>>,
    /// Inputs whose file differs from the captured content.
    pub altered: Vec<Input>,
    pub tree: Option<Hash>,
    /// Paths that differ from the tree of `changed_since`. Absent, too, where they cannot be named.
    pub changed: Option<Vec<String>>,
    pub holder: Option<ProcessState>,
    pub questions: Option<Result<Vec<Question>, String>>,
    pub steps: Option<Result<Vec<Step>, String>>,
    /// The base that was recorded, where that was possible.
    pub base: Option<Hash>,
    pub change: Option<Change>,
}

/// Is a process still there?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    Alive,
    Gone,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Absent,
    /// It exists, but not as the definition requires.
    Invalid {
        content: Hash,
        reason: String,
    },
    /// As the definition requires. `word` is the value of its outcome field.
    Valid {
        content: Hash,
        word: Option<String>,
    },
}

impl Seen {
    pub fn content(&self) -> Option<Hash> {
        match self {
            Self::Absent => None,
            Self::Invalid { content, .. } | Self::Valid { content, .. } => Some(*content),
        }
    }
}

/// One question of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub id: String,
    pub text: String,
    /// Suggested answers; any text is an answer when there are none.
    pub options: Vec<String>,
    pub context: Option<String>,
}
