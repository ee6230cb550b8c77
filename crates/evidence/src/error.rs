//! Why evidence could not be read. Faults in an agent's work are evidence, not errors.

use std::io;
use std::path::PathBuf;

use engine::{ArtifactName, Hash, StageName};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot find the folder {}; run this in a folder that exists", .path.display())]
    Folder {
        path: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("cannot read {path}; make it readable, or remove it")]
    Unreadable {
        path: String,
        #[source]
        cause: io::Error,
    },
    #[error("cannot write the view {path}: {reason}; free its path")]
    Unwritable { path: String, reason: String },
    #[error("the artifact {artifact} has no usable path: {reason}")]
    ArtifactPath {
        artifact: ArtifactName,
        reason: String,
    },
    #[error("the pipeline declares no artifact {artifact}; correct the pipeline")]
    UnknownArtifact { artifact: ArtifactName },
    #[error("the schema of the artifact {artifact} cannot be used: {reason}; correct the pipeline")]
    Schema {
        artifact: ArtifactName,
        reason: String,
    },
    #[error("the captured content {hash} is not in the store; run `gatewright verify`")]
    ContentLost { hash: Hash },
    #[error("the captured content {hash} is not a list of files; run `gatewright verify`")]
    NotAManifest { hash: Hash },

    #[error("git was not found in {searched}, and this project needs it; install git")]
    GitMissing { searched: String },
    #[error("git could not be started; make sure that `git --version` works")]
    GitStart(#[source] io::Error),
    #[error("git cannot list the files of {}: {message}; repair the repository", .root.display())]
    GitFailed { root: PathBuf, message: String },
    #[error(
        "{} has more than {limit} files; make it a git repository whose .gitignore leaves out what is generated",
        .root.display()
    )]
    TooManyFiles { root: PathBuf, limit: usize },
    #[error("repositories are nested more than {limit} deep at {path}; move some out")]
    TooDeep { path: String, limit: usize },

    #[error("the stage {stage} runs no commands; `check` is for check stages")]
    NotACheck { stage: StageName },
    #[error(
        "the commands of {stage} come from the artifact {artifact}, which {reason}; a person has to approve it first"
    )]
    NotApproved {
        stage: StageName,
        artifact: ArtifactName,
        reason: &'static str,
    },
    #[error("the artifact {artifact} gives no commands for {stage}: {reason}")]
    NoCommands {
        stage: StageName,
        artifact: ArtifactName,
        reason: String,
    },
    #[error("check commands do not get the variable {name}; remove it from the settings")]
    Variable { name: String },
    #[error(
        "the check was interrupted, and its commands were killed; run `gatewright check` again"
    )]
    Interrupted,
    #[error("cannot watch the command `{command}`; run `gatewright check` again")]
    Watching {
        command: String,
        #[source]
        cause: io::Error,
    },
}
