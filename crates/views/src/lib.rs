//! Pipelines and runs as people and machines read them.
//!
//! Invariant: nothing here reads a file, a clock or the environment, and nothing prints. Every text
//! that came from outside passes `safe` before a terminal can see it.

mod briefing;
#[cfg(test)]
mod chance;
mod demand;
pub mod diagram;
mod digest;
mod duty;
mod fact;
mod file;
pub mod history;
mod html;
mod json;
mod layout;
mod limits;
pub mod list;
mod log;
mod markdown;
mod material;
pub mod metrics;
mod model;
pub mod next;
mod paint;
mod placeholder;
pub mod plan;
pub mod progress;
mod refusal;
mod safe;
mod standing;
pub mod status;
mod summary;
mod template;
mod template_check;
#[cfg(test)]
mod tests;
pub mod time;
pub mod why;
mod words;
mod yaml;

pub use briefing::{Handed, briefing, earlier_fault, handed_on, least_share, reminder};
pub use digest::JournalDigest;
pub use fact::Cast;
pub use file::{Shown, file, wants_story};
pub use history::history;
pub use json::json_text;
pub use list::list;
pub use material::Material;
pub use next::next;
pub use paint::{Paint, Style};
pub use refusal::{refusal, refusal_in};
pub use safe::{Outside, is_forbidden, line, safe};
pub use standing::standing;
pub use status::{Freshness, Surroundings, status, unjudged_words};
pub use summary::{Verification, summary};
pub use template::{Template, TemplateError};
pub use template_check::template_problems;
pub use why::why;
