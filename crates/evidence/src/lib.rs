//! Evidence: everything that an agent could forge is read here, and nowhere else.
//!
//! The engine names what it needs; `look` reads it and reports it. It never decides. Faults in an
//! agent's work are part of the report; an `Error` means that the evidence could not be read.
//!
//! The modules form layers. A module uses those of earlier layers, and earlier ones of its own:
//!
//! 1. texts and errors: `error`, `text`, `escape`, `redaction`, `system_path`
//! 2. the machine: `beneath`, `small_file`, `group`, `hold`, `watched_process`, `process`, `git`, `repository`, `project`, `placeholder`, `path`, `file_stamp`, `replace`
//! 3. what a look needs: `content`, `look_context`
//! 4. the content of a file: `document`, `bundle`, `schema`, `questions`, `steps`
//! 5. the looks: `tree`, `check`, `artifact`, `look`

pub mod artifact;
pub mod beneath;
pub mod check;
pub mod git;
pub mod group;
pub mod hold;
pub mod process;
pub mod questions;
pub mod small_file;
pub mod steps;
pub mod text;
pub mod tree;
pub mod watched_process;

mod bundle;
mod change;
mod content;
mod document;
mod error;
mod escape;
mod file_stamp;
mod look;
mod look_context;
mod path;
mod placeholder;
mod project;
mod redaction;
mod replace;
mod repository;
mod schema;
mod system_path;

pub use artifact::required_fields;
pub use change::{
    ChangedText, ChangedTexts, PictureChange, Side, Since, TreePicture, changed_texts,
    commit_change,
};
pub use content::{Content, Contents, hash};
pub use error::Error;
pub use file_stamp::FileStamp;
pub use look::{Looked, look};
pub use look_context::{GivenArtifact, LookContext};
pub use path::{InsidePath, artifact_path};
pub use project::Project;
pub use redaction::redact_document;
pub use replace::ViewFolder;
pub use repository::Repository;
