//! `decide`: judges one event. The same arguments give the same answer today and in a replay.

mod admit;
mod begin;
mod binding;
mod checks;
mod expire;
mod graph;
mod guard;
mod moving;
mod panel;
mod people;
mod session;
mod settle;
mod view;
mod work;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub use begin::{begin, fork};
pub use checks::may_check;

use crate::apply::fold_entry;
use crate::caller::{held, may_act};
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
    let verdict = lenient(&mut draft, &event.what, verdict);
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
        Happening::AgentRequested { .. }
        | Happening::AgentBegan { .. }
        | Happening::AgentLaunched { .. }
        | Happening::MessageRequested { .. }
        | Happening::AgentEnded { .. }
        | Happening::Reported { .. } => of_work(draft, what),

        Happening::ToolRequested {
            tool,
            worker,
            touches,
            door,
        } => guard::requested(draft, tool, worker.as_ref(), touches, door.as_ref()),
        Happening::ToolUsed { worker } => guard::used(draft, worker.as_ref()),

        Happening::ChecksRan {
            stage,
            visit,
            results,
            tree,
        } => checks::ran(draft, stage, *visit, results, tree),
        Happening::StepsRead { stage, visit } => graph::read(draft, stage, *visit),

        Happening::Answered(_)
        | Happening::FinishAsked
        | Happening::SkipAsked { .. }
        | Happening::RetryAsked
        | Happening::CancelAsked { .. }
        | Happening::ResetAsked { .. }
        | Happening::BypassAsked { .. }
        | Happening::CheckpointAsked { .. }
        | Happening::RestoreAsked { .. } => of_people(draft, what),

        Happening::SessionStarted { .. }
        | Happening::SessionEnded { .. }
        | Happening::PromptSubmitted
        | Happening::StopRequested { .. }
        | Happening::TodosMarked { .. }
        | Happening::HooksRemoved { .. }
        | Happening::Remarked { .. }
        | Happening::ViewDisturbed { .. }
        | Happening::Unevaluated { .. }
        | Happening::TakenUp
        | Happening::TimePassed => of_session(draft, what),
    }
}

/// Agents that are asked for, begin and end.
fn of_work(draft: &mut Draft<'_>, what: &Happening) -> Verdict {
    match what {
        Happening::AgentRequested {
            agent,
            step,
            call,
            worker,
        } => {
            let request = admit::Request {
                agent,
                step: step.as_ref(),
                call: call.as_ref(),
                resumed: None,
            };
            admit::requested(draft, &request, worker.as_ref())
        }
        Happening::AgentBegan { worker } => binding::began(draft, worker),
        Happening::AgentLaunched { call, worker } => binding::launched(draft, call, worker),
        Happening::MessageRequested { to, call, worker } => {
            binding::written_to(draft, to, call.as_ref(), worker.as_ref())
        }
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
        _ => quiet(),
    }
}

/// What a person says.
fn of_people(draft: &mut Draft<'_>, what: &Happening) -> Verdict {
    match what {
        Happening::Answered(answer) => people::answered(draft, answer),
        Happening::FinishAsked => people::finish(draft),
        Happening::SkipAsked { outcome, reason } => people::skip(draft, outcome.as_ref(), reason),
        Happening::RetryAsked => people::retry(draft),
        Happening::CancelAsked { reason } => people::cancel(draft, reason),
        Happening::ResetAsked { reason } => people::reset(draft, reason),
        Happening::BypassAsked { until, reason } => people::bypass(draft, *until, reason),
        Happening::CheckpointAsked { name } => people::checkpoint(draft, name),
        Happening::RestoreAsked {
            entry,
            state,
            reason,
        } => people::restore(draft, *entry, state, reason),
        _ => quiet(),
    }
}

/// What a session does, and time that passes.
fn of_session(draft: &mut Draft<'_>, what: &Happening) -> Verdict {
    match what {
        Happening::SessionStarted {
            session,
            process,
            heir_of,
        } => session::started(draft, session, *process, heir_of.as_ref()),
        Happening::SessionEnded { session } => session::ended(draft, session),
        Happening::PromptSubmitted => session::prompted(draft),
        Happening::StopRequested { background_work } => session::stop(draft, *background_work),
        Happening::TodosMarked { done } => session::todos(draft, done),
        Happening::HooksRemoved { how } => session::unhooked(draft, how),
        Happening::Remarked { message } => session::remarked(draft, message),
        Happening::ViewDisturbed { view, path, how } => view::disturbed(draft, view, path, *how),
        Happening::Unevaluated { what } => session::unevaluated(draft, what),
        Happening::TakenUp => session::taken_up(draft),
        _ => quiet(),
    }
}

fn quiet() -> Verdict {
    Verdict::done(Rule::Quiet)
}

/// An advisory pipeline and a bypassed run say what they would refuse, and let it through.
fn lenient(draft: &mut Draft<'_>, what: &Happening, verdict: Verdict) -> Verdict {
    let gated = matches!(
        what,
        Happening::AgentRequested { .. }
            | Happening::AgentBegan { .. }
            | Happening::MessageRequested { .. }
            | Happening::ToolRequested { .. }
            | Happening::ToolUsed { .. }
            | Happening::TodosMarked { .. }
            | Happening::HooksRemoved { .. }
            | Happening::StopRequested { .. }
    );
    let (Reply::Refuse(refusal) | Reply::Hold(refusal)) = &verdict.reply else {
        return verdict;
    };
    let Some((rule, word)) = draft.leniency().filter(|_| gated) else {
        return verdict;
    };
    let message = format!("{word}: {}", refusal.reason);
    // It was let through, so the journal does not say that it was refused.
    draft
        .entries
        .retain(|entry| !matches!(entry.fact, Fact::Refused { .. }));
    // Every tool of an agent that was not admitted, or that strayed, would leave a line.
    let repeats = match what {
        Happening::ToolRequested { .. } => verdict.rule == Rule::Unadmitted,
        Happening::ToolUsed { .. } => true,
        _ => false,
    };
    if !repeats {
        let message = message.clone();
        draft.record(rule, Fact::Warned { message });
    }
    Verdict {
        rule,
        reply: Reply::Inject(message),
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

    /// The rule by which refusals are let through now, and its word.
    pub fn leniency(&self) -> Option<(Rule, &'static str)> {
        match (self.pipeline.definition().mode, &self.run.bypass) {
            (_, Some(bypass)) if self.at < bypass.until => Some((Rule::Bypassed, "bypassed")),
            (Mode::Advisory, _) => Some((Rule::Advised, "not enforced")),
            (Mode::Enforced, _) => None,
        }
    }

    /// Only a person can do this, and through a session only in the one that holds the run.
    pub fn person(&mut self, what: &str) -> Result<(), Verdict> {
        if let (Who::Through(_), Err(_)) = (&self.by, self.bound()) {
            let reason = "this session does not hold the run: say it in the one that does";
            return Err(self.refuse(Rule::NotBound, what, String::from(reason)));
        }
        match may_act(&self.by, held(&self.run)) {
            Ok(()) => Ok(()),
            Err(reason) => Err(self.refuse(Rule::PersonOnly, what, reason)),
        }
    }

    /// Events of a session count only when it holds the run.
    pub fn bound(&self) -> Result<(), Verdict> {
        let Some(session) = self.by.session() else {
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
