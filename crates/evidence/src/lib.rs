//! Evidence: everything that an agent could lie to us with is looked at here, and nowhere else.
//!
//! The engine says what it needs to know; `look` looks, and says what it saw. It never decides.
//! What is wrong with an agent's work is part of the answer; an `Error` means that we could not look.
//!
//! The modules form layers. A module uses those of earlier layers, and earlier ones of its own:
//!
//! 1. texts and errors: `error`, `text`, `escape`, `system_path`
//! 2. the machine: `beneath`, `group`, `watched_process`, `process`, `git`, `repository`, `project`, `placeholder`, `path`, `file_stamp`, `replace`
//! 3. what a look needs: `content`, `looking`
//! 4. what lies in a file: `document`, `bundle`, `schema`, `questions`, `steps`
//! 5. the looks: `tree`, `check`, `artifact`, `look`

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
pub mod watched_process;

mod bundle;
mod content;
mod document;
mod error;
mod escape;
mod file_stamp;
mod look;
mod looking;
mod path;
mod placeholder;
mod project;
mod replace;
mod repository;
mod schema;
mod system_path;

pub use artifact::wanted_fields;
pub use content::{Content, Contents, hash};
pub use error::Error;
pub use file_stamp::FileStamp;
pub use look::{Looked, look};
pub use looking::{Given, Looking};
pub use path::{InsidePath, artifact_path};
pub use project::Project;
pub use replace::{append, mark, replace, written};
pub use repository::Repository;
