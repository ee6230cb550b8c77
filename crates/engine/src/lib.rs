//! The pure core of Gatewright: pipelines, runs, events, and the decisions about them.
//!
//! Invariant: no clock, file, process or random number is reachable from here. `no_std` keeps it so.
//!
//! The modules form layers. A module uses those of earlier layers, and earlier ones of its own:
//!
//! 1. words: `names`, `pattern`, `amount`, `outcome`, `rule`, `place`; texts: `nearest`, `project_path`, `safe`, `redact`
//! 2. what a pipeline file says: `route`, `stage`, `view`, `definition`, `leaves`, `steps`
//! 3. what is recorded: `check_result`, `change`, `cause`, `run`, `event`, `entry`, `apply`, `evidence`
//! 4. a definition that is checked: `problem`, `transition`, `check`, `pipeline`
//! 5. what may happen now: `limits`, `question`, `status`, `duty`, `needed_list`, `inputs`, `assign`, `next`, `routing`
//! 6. the judgement: `caller`, `backoff`, `decision`, `needs`, `decide`
#![no_std]

extern crate alloc;

mod amount;
mod apply;
mod assign;
mod backoff;
mod budget;
mod caller;
mod cause;
mod change;
mod check;
mod check_result;
mod decide;
mod decision;
mod definition;
mod duty;
mod entry;
mod event;
mod evidence;
mod inputs;
mod leaves;
mod limits;
mod names;
mod nearest;
mod needed_list;
mod needs;
mod next;
mod outcome;
mod outside;
mod pattern;
mod pipeline;
mod place;
mod problem;
mod project_path;
mod question;
mod redact;
mod route;
mod routing;
mod rule;
mod run;
mod safe;
mod shell_words;
mod stage;
mod status;
mod steps;
mod transition;
mod usage;
mod view;

pub use amount::Amount;
pub use apply::{Damage, apply, replay};
pub use assign::session_works;
pub use backoff::{backoff, limit_backoff};
pub use budget::{
    BudgetLine, InFlight, Resource, budget_lines, cents, cost_left, cost_text, is_capped,
    overspent, overspent_with, overspent_within_turn, span, usage_text,
};
pub use caller::{Held, held, may_act};
pub use cause::{CommandEnd, Happened, MoveReason, Passage};
pub use change::{Change, HeldRoute, LineCount, Miss, Routed, Unmet};
pub use check::{LongerWay, longer_ways};
pub use check_result::*;
pub use decide::{Audit, WITH_EDITS, begin, decide, fork, is_same_point, may_check};
pub use decision::{ArtifactFault, ArtifactProblem, Decision, Refusal, Reply};
pub use definition::*;
pub use duty::leaves_of;
pub use entry::{Entry, Fact, Move, Placed, Started, WorkResult, arrival};
pub use event::*;
pub use evidence::*;
pub use inputs::{file_inputs, inputs, products};
pub use limits::{amount, counter_limit, parallel_limit, round_limit};
pub use names::*;
pub use nearest::nearest;
pub use needed_list::listed_fields;
pub use needs::{asked, needs, needs_at_start, shows_change};
pub use next::{Choice, Next, NextDuty, next, pending};
pub use outcome::{CustomOutcome, Fault, Outcome};
pub use outside::{Author, MovedRef, Outside, OutsideChange, RefHandling};
pub use pattern::{AgentPattern, PathGlob};
pub use pipeline::{Checked, Pipeline};
pub use place::{
    Deliver, Delivered, Delivery, DeliveryState, OnMachine, PlaceKind, Placement, Relocation,
    RunBranch, RunPlace,
};
pub use problem::{CheckRule, Place, Problem, Severity};
pub use question::question_of;
pub use redact::{REDACTED, redact};
pub use route::{RouteRule, RouteWork};
pub use routing::limiting_rules;
pub use rule::Rule;
pub use run::*;
pub use safe::{has_forbidden, is_forbidden, safe};
pub use shell_words::shell_words;
pub use stage::*;
pub use status::{is_over, is_stale, is_unused, status};
pub use steps::usable_steps;
pub use transition::edge_targets;
pub use usage::Usage;
pub use view::{LoopView, Readers, Removed, TextOrParam, View, ViewFormat, ViewTemplate};
