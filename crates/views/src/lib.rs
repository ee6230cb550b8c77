//! Pipelines and runs as people and machines read them.
//!
//! Invariant: nothing here reads a file, a clock or the environment, and nothing prints. Every text
//! that came from outside passes `safe` before a terminal can see it.

mod briefing;
#[cfg(test)]
mod chance;
mod demand;
pub mod diagram;
mod fact;
mod file;
pub mod history;
mod json;
mod layout;
mod limits;
pub mod list;
mod markdown;
pub mod metrics;
pub mod next;
mod paint;
pub mod plan;
pub mod progress;
mod refusal;
mod safe;
mod seeds;
mod standing;
pub mod status;
mod summary;
#[cfg(test)]
mod tests;
pub mod time;
pub mod why;
mod words;

pub use briefing::{Handed, briefing, earlier_fault, handed_on, least_share, reminder};
pub use fact::Cast;
pub use file::{Material, Shown, file, wants_story};
pub use history::history;
pub use json::json_text;
pub use list::list;
pub use next::next;
pub use paint::{Paint, Style};
pub use refusal::{refusal, refusal_in};
pub use safe::{Outside, is_forbidden, line, safe};
pub use seeds::{Chronicle, workflow_schema};
pub use standing::standing;
pub use status::{Freshness, Surroundings, status, unjudged_words};
pub use summary::{Verification, summary};
pub use why::why;
