//! `decide`: judges one event. The same arguments give the same answer today and in a replay.

mod admit;
mod begin;
mod checks;
mod expire;
mod graph;
mod moving;
mod panel;
mod people;
mod session;
mod settle;
mod work;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub use begin::{begin, fork};
pub use checks::may_check;
pub(crate) use graph::usable;
pub(crate) use moving::{resume_at, targets};
pub(crate) use panel::{APPROVED, EXCEEDED, NEEDS_CHANGES, NEEDS_CLARIFICATION};
pub(crate) use people::choices;

use crate::apply::fold_entry;
use crate::decision::{Decision, Refusal, Reply};
use crate::definition::Mode;
use crate::entry::{Entry, Fact};
use crate::event::{Event, Happening, Who};
use crate::evidence::Evidence;
use crate::names::{Hash, Time};
use crate::next::next;
use crate::pipeline::Pipeline;
use crate::rule::Rule;
use crate::run::Run;
use crate::stage::Stage;

/// Judges one event.
pub fn decide(pipeline: &Pipeline, run: &Run, event: &Event, evidence: &Evidence) -> Decision {
    let mut draft = Draft {
        pipeline,
        run: run.clone(),
        at: event.at,
        by: event.by.clone(),
        tree: tree(event, evidence),
        evidence,
        entries: Vec::new(),
    };
    let verdict =
        expire::overdue(&mut draft, &event.what).unwrap_or_else(|| judge(&mut draft, &event.what));
    let verdict = advisory(&mut draft, &event.what, verdict);
    Decision {
        rule: verdict.rule,
        reply: verdict.reply,
        entries: draft.entries,
    }
}

/// The tree as it is now. A check brings its own look at it.
fn tree(event: &Event, evidence: &Evidence) -> Option<Hash> {
    match &event.what {
        Happening::ChecksRan { tree, .. } => Some(tree.after),
        _ => evidence.tree,
    }
}

fn judge(draft: &mut Draft<'_>, what: &Happening) -> Verdict {
    match what {
        Happening::SessionStarted { session } => session::started(draft, session),
        Happening::SessionEnded { session } => session::ended(draft, session),
        Happening::PromptSubmitted => session::prompted(draft),
        Happening::StopRequested { background_work } => session::stop(draft, *background_work),
        Happening::ToolRequested { tool } => session::tool(draft, tool),
        Happening::TakenUp => session::taken_up(draft),

        Happening::AgentRequested { agent, step } => admit::request(draft, agent, step.as_ref()),
        Happening::AgentEnded {
            work,
            ending,
            usage,
        } => settle::ended(draft, work, ending, *usage),
        Happening::Reported {
            agent,
            step,
            said,
            usage,
        } => settle::reported(draft, agent.as_ref(), step.as_ref(), said.as_ref(), *usage),

        Happening::ChecksRan {
            stage,
            visit,
            results,
            tree,
        } => checks::ran(draft, stage, *visit, results, tree),
        Happening::StepsRead { stage, visit } => graph::read(draft, stage, *visit),

        Happening::Answered(answer) => people::answered(draft, answer),
        Happening::FinishAsked => people::finish(draft),
        Happening::SkipAsked { outcome, reason } => people::skip(draft, outcome.as_ref(), reason),
        Happening::RetryAsked => people::retry(draft),
        Happening::CancelAsked { reason } => people::cancel(draft, reason),
        Happening::ResetAsked { reason } => people::reset(draft, reason),
        Happening::CheckpointAsked { name } => people::checkpoint(draft, name),
        Happening::RestoreAsked {
            entry,
            state,
            reason,
        } => people::restore(draft, *entry, state, reason),
        Happening::TimePassed => Verdict {
            rule: Rule::Quiet,
            reply: Reply::Done,
        },
    }
}

/// An advisory pipeline says what it would refuse, and lets it through.
fn advisory(draft: &mut Draft<'_>, what: &Happening, verdict: Verdict) -> Verdict {
    let gated = matches!(
        what,
        Happening::AgentRequested { .. }
            | Happening::ToolRequested { .. }
            | Happening::StopRequested { .. }
    );
    match (&verdict.reply, draft.pipeline.definition().mode) {
        (Reply::Refuse(refusal) | Reply::Hold(refusal), Mode::Advisory) if gated => {
            let message = format!("not enforced: {}", refusal.reason);
            draft.record(
                Rule::Advised,
                Fact::Warned {
                    message: message.clone(),
                },
            );
            Verdict {
                rule: Rule::Advised,
                reply: Reply::Inject(message),
            }
        }
        _ => verdict,
    }
}

/// What was decided about one event.
pub(crate) struct Verdict {
    pub rule: Rule,
    pub reply: Reply,
}

impl Verdict {
    fn done(rule: Rule) -> Self {
        Self {
            rule,
            reply: Reply::Done,
        }
    }
}

/// A decision in the making: the run as it will be, and the entries that make it so.
pub(crate) struct Draft<'a> {
    pub pipeline: &'a Pipeline,
    pub run: Run,
    pub at: Time,
    pub by: Who,
    pub tree: Option<Hash>,
    pub evidence: &'a Evidence,
    pub entries: Vec<Entry>,
}

impl<'a> Draft<'a> {
    /// Invariant: the draft's run changes only by entries, so a replay gives the same run.
    pub fn record(&mut self, rule: Rule, fact: Fact) {
        let entry = Entry {
            at: self.at,
            by: self.by.clone(),
            rule,
            fact,
        };
        let folded = fold_entry(&mut self.run, &entry);
        debug_assert!(
            folded.is_ok(),
            "an entry of our own does not fit: {folded:?}"
        );
        self.entries.push(entry);
    }

    /// A copy on which a judgement can be tried before it is made.
    pub fn trial(&self) -> Draft<'a> {
        Draft {
            run: self.run.clone(),
            by: self.by.clone(),
            entries: Vec::new(),
            ..*self
        }
    }

    /// Makes a trial's entries one's own.
    pub fn adopt(&mut self, trial: Draft<'a>) {
        self.run = trial.run;
        self.entries.extend(trial.entries);
    }

    /// The stage that the run is in. A run is pinned to its definition, so it is there.
    pub fn stage(&self) -> Option<&'a Stage> {
        self.pipeline.stage(&self.run.position.stage)
    }

    /// Records that something was not allowed, and says so with the legal next step.
    pub fn refuse(&mut self, rule: Rule, what: &str, reason: String) -> Verdict {
        let fact = Fact::Refused {
            what: String::from(what),
            reason: reason.clone(),
        };
        self.record(rule, fact);
        Verdict {
            rule,
            reply: Reply::Refuse(self.refusal(rule, reason)),
        }
    }

    pub fn refusal(&self, rule: Rule, reason: String) -> Refusal {
        Refusal {
            rule,
            reason,
            next: next(self.pipeline, &self.run),
        }
    }

    /// Only a person can do this.
    pub fn person(&mut self, what: &str) -> Result<(), Verdict> {
        if self.by.is_human() {
            return Ok(());
        }
        let reason = format!("only a person can {what} a run");
        Err(self.refuse(Rule::PersonOnly, what, reason))
    }

    /// Events of a session count only when it holds the run.
    pub fn bound(&self) -> Result<(), Verdict> {
        let Who::Session(session) = &self.by else {
            return Ok(());
        };
        match &self.run.session {
            Some(binding)
                if binding.session == *session
                    && binding.state == crate::run::BindingState::Active =>
            {
                Ok(())
            }
            _ => Err(Verdict::done(Rule::NotBound)),
        }
    }
}
