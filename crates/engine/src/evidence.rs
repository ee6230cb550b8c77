//! Evidence: what we saw when we looked. The engine says what it needs; the shell looks.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::names::{AgentName, ArtifactName, Hash, StepId};
use crate::run::Process;
use crate::stage::{FieldOf, Step};

/// What must be looked at before an event can be judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Read and check these artifacts now.
    pub artifacts: Vec<ArtifactNeed>,
    /// Compare the files of these artifacts with what was captured.
    pub inputs: Vec<Input>,
    /// Hash the tree.
    pub tree: bool,
    /// Keep the tree's manifest, because a later comparison will want its paths.
    pub keep_tree: bool,
    /// Name the paths that differ from this tree.
    pub changed_since: Option<Hash>,
    /// Is this process still there?
    pub holder: Option<Process>,
    /// Read the questions in this field of the captured artifact.
    pub questions: Option<(FieldOf, Hash)>,
    /// Read the steps in this field of the captured artifact.
    pub steps: Option<(FieldOf, Hash)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactNeed {
    pub artifact: ArtifactName,
    /// The step whose path it is, where the path holds `{step}`.
    pub step: Option<StepId>,
    /// Who leaves it, where somebody is at work.
    pub agent: Option<AgentName>,
}

/// Something that a worker is given to read: whose it is, and the captured content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub artifact: ArtifactName,
    /// The step that left it, in a task graph.
    pub step: Option<StepId>,
    pub content: Hash,
}

/// What was seen. Absent means that nobody looked, and nothing is concluded from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub artifacts: BTreeMap<ArtifactName, Seen>,
    /// The commands in those of them that bring some.
    pub commands: BTreeMap<ArtifactName, Vec<Vec<String>>>,
    /// Inputs whose file is not what was captured any more.
    pub altered: Vec<Input>,
    pub tree: Option<Hash>,
    /// Paths that differ from the tree of `changed_since`.
    pub changed: Option<Vec<String>>,
    pub holder: Option<ProcessState>,
    pub questions: Option<Result<Vec<Question>, String>>,
    pub steps: Option<Result<Vec<Step>, String>>,
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
    /// There, but not as the definition wants it.
    Invalid {
        content: Hash,
        reason: String,
    },
    /// As the definition wants it. `word` is what its outcome field says.
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
