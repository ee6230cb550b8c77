//! `log`: a line for each transition, approval, refusal, error and warning.

use engine::{Entry, Fact, WorkResult};

use crate::fact::{AgentNames, sentence};
use crate::safe::line;
use crate::time::rfc3339;

/// Adds the line of an entry, if it has one.
pub(crate) fn push(log: &mut String, entry: &Entry, names: &AgentNames) {
    if let Some(kind) = kind(entry) {
        log.push_str(&row(entry, kind, names));
    }
}

/// `[2025-11-25T12:05:21Z] [gatewright] blocked: … (GW-R21)`.
fn row(entry: &Entry, kind: &str, names: &AgentNames) -> String {
    format!(
        "[{}] [gatewright] {kind}{} ({})\n",
        rfc3339(entry.at),
        line(sentence(entry, names).raw()),
        entry.rule.code()
    )
}

/// What a line begins with; `None` for what is only in the history.
fn kind(entry: &Entry) -> Option<&'static str> {
    match &entry.fact {
        Fact::Admitted { .. } => Some("approved: "),
        Fact::Refused { .. } => Some("blocked: "),
        Fact::Ended { result, .. } => Some(kind_of_end(result)),
        Fact::StepFailed { .. } | Fact::Stuck { .. } => Some("error: "),
        Fact::Retried { .. }
        | Fact::StepRetried { .. }
        | Fact::SentBack { .. }
        | Fact::Noted { .. }
        | Fact::Unevaluated { .. }
        | Fact::Unguarded(_)
        | Fact::AcceptedUnguarded { .. }
        | Fact::ChangedOutside(_)
        | Fact::Overridden { .. }
        | Fact::Held { .. }
        | Fact::Abandoned
        | Fact::WentStale
        | Fact::Limited(_)
        | Fact::OverBudget { .. }
        | Fact::Halted { .. }
        | Fact::RoundsSpent { .. }
        | Fact::DeliveryFailed { .. }
        | Fact::Adopted { .. }
        | Fact::Bypassed { .. } => Some("warning: "),
        Fact::Attached { .. }
        | Fact::Detached { .. }
        | Fact::Began { .. }
        | Fact::Worked { .. }
        | Fact::CutShort { .. }
        | Fact::WentOn { .. }
        | Fact::Driven { .. }
        | Fact::Captured { .. } => None,
        // The sentence of a warning says that it is one.
        Fact::Warned { .. }
        | Fact::Started(_)
        | Fact::Forked { .. }
        | Fact::TakenUp
        | Fact::Placed(_)
        | Fact::Relocated(_)
        | Fact::Delivered(_)
        | Fact::TaskGiven { .. }
        | Fact::NextTaskGiven { .. }
        | Fact::TaskBegan { .. }
        | Fact::Unstuck
        | Fact::Checked { .. }
        | Fact::GatePassed { .. }
        | Fact::ReviewerApproved { .. }
        | Fact::ReviewerFound { .. }
        | Fact::Fixed { .. }
        | Fact::RoundStarted { .. }
        | Fact::Planned { .. }
        | Fact::StepsRevived { .. }
        | Fact::Routed(_)
        | Fact::Answered { .. }
        | Fact::Approved { .. }
        | Fact::Moved(_)
        | Fact::Continued { .. }
        | Fact::Cancelled { .. }
        | Fact::Reset { .. }
        | Fact::Checkpointed { .. }
        | Fact::Vouched { .. }
        | Fact::Restored { .. } => Some(""),
    }
}

fn kind_of_end(result: &WorkResult) -> &'static str {
    match result {
        WorkResult::Fault { .. } => "error: ",
        WorkResult::Outcome(_) | WorkResult::Late | WorkResult::Dropped => "",
    }
}
