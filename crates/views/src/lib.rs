//! Pipelines and runs as people and machines read them.
//!
//! Invariant: nothing here reads a file, a clock or the environment, and nothing prints. Every text
//! that came from outside passes `safe` before a terminal can see it.

mod briefing;
mod cause;
pub mod change;
pub mod charts;
pub mod diagram;
mod digest;
mod duty;
mod fact;
pub mod facts;
mod file;
pub mod gantt;
pub mod history;
mod html;
mod json;
mod layout;
mod limits;
pub mod list;
mod log;
mod main_way;
mod markdown;
pub mod metrics;
mod model;
pub mod next;
pub mod night;
mod owner;
mod paint;
mod person_line;
pub mod picture;
mod pipeline_state;
mod placeholder;
pub mod plan;
pub mod progress;
pub mod queue;
mod refusal;
pub mod report;
mod requirement;
mod rest;
mod routed;
mod safe;
mod session_prompt;
pub mod status;
mod summary;
mod template;
mod template_check;
#[cfg(test)]
mod test_random;
#[cfg(test)]
mod tests;
pub mod time;
mod undelivered;
mod view_input;
pub mod why;
mod words;
mod yaml;

pub use briefing::{BriefingInputs, attempt, briefing, quoted_contents, reminder, smallest_quote};
pub use cause::Causes;
pub use digest::JournalDigest;
pub use duty::worker_settings;
pub use fact::{AgentNames, delivered};
pub use file::{ViewContent, file, is_due, needs_journal, reads_contents};
pub use history::{entry_line, history, history_after};
pub use json::json_text;
pub use layout::{cut, pad, width, wrap};
pub use list::list;
pub use next::{next, next_by};
pub use owner::Owner;
pub use paint::{Paint, Style};
pub use person_line::{not_a_persons_answer, not_an_answer, unfinished};
pub use pipeline_state::keep_replies;
pub use refusal::{hold_in, refusal, refusal_by, refusal_in};
pub use safe::{Untrusted, is_forbidden, line, safe};
pub use session_prompt::{report_path, session_prompt};
pub use status::{Freshness, RunContext, UnguardedLine, outside_words, status, unjudged_words};
pub use summary::{Verification, summary};
pub use template::{Template, TemplateError};
pub use template_check::{own_templates, template_problems};
pub use view_input::ViewInput;
pub use why::why;
pub use words::adopted_elsewhere;
pub use words::stage_kind;
pub use words::{limit as limit_words, limit_reason, usage_json};
