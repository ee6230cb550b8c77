//! The pure core of Gatewright: pipelines, runs, events, and the decisions about them.
//!
//! Invariant: no clock, file, process or random number is reachable from here. `no_std` keeps it so.
#![no_std]

extern crate alloc;

mod amount;
mod apply;
mod assign;
mod backoff;
mod caller;
mod check;
mod decide;
pub mod decision;
pub mod definition;
pub mod entry;
pub mod event;
pub mod evidence;
mod inside;
mod leaves;
pub mod names;
mod nearest;
mod needs;
pub mod next;
pub mod pattern;
pub mod pipeline;
pub mod problem;
mod redact;
pub mod rule;
pub mod run;
mod safe;
pub mod stage;
mod status;
pub mod view;

pub use amount::{amount, counter_limit, parallel_limit, round_limit};
pub use apply::{Damage, apply, replay};
pub use assign::{SESSION, session_works};
pub use backoff::backoff;
pub use caller::{Held, held, may_act};
pub use decide::{begin, decide, fork, may_check, usable as usable_steps};
pub use decision::{Decision, Refusal, Reply};
pub use definition::*;
pub use entry::{Along, CheckVerdict, Entry, Fact, Move, Started, WorkResult, arrival};
pub use event::*;
pub use evidence::*;
pub use leaves::leaves_of;
pub use names::*;
pub use nearest::nearest;
pub use needs::{asked, file_inputs, needs, needs_at_start};
pub use next::{Choice, Input, Next, NextDuty, inputs, next, pending, question_of};
pub use pattern::{AgentPattern, PathGlob};
pub use pipeline::{Checked, Pipeline};
pub use problem::{CheckRule, Place, Problem, Severity};
pub use redact::{REDACTED, redact};
pub use rule::Rule;
pub use run::*;
pub use safe::{is_forbidden, safe};
pub use stage::*;
pub use status::{is_over, is_stale, status};
pub use view::{LoopOf, Removed, Saying, View, ViewFormat};
