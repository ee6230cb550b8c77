//! `decide`: judges one event. The same arguments give the same answer today and in a replay.

mod admit;
mod audit;
mod begin;
mod binding;
mod checks;
mod edits;
mod expire;
mod graph;
mod guard;
mod judge_work;
mod moving;
mod outside;
mod panel;
mod pause;
mod people;
mod place;
mod routing;
mod session;
mod task;
mod view;
mod work_end;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub use audit::{Audit, is_same_point};
pub use begin::{begin, fork};
pub use checks::may_check;
pub use edits::WITH_EDITS;

use crate::apply::fold_entry;
use crate::caller::{held, may_act};
use crate::decision::{Decision, Refusal, Reply};
use crate::definition::Mode;
use crate::entry::{Entry, Fact, WorkResult};
use crate::event::{
    Actor, EngineEvent, Event, Happening, PersonEvent, SessionEvent, ToolEvent, Who, WorkEvent,
};
use crate::evidence::Evidence;
use crate::names::{DispatchId, Hash, Time};
use crate::next::next;
use crate::pipeline::Pipeline;
use crate::rule::Rule;
use crate::run::Run;
use crate::stage::Stage;
use crate::usage::Usage;

/// Judges one event.
pub fn decide(pipeline: &Pipeline, run: &Run, event: &Event, evidence: &Evidence) -> Decision {
    let mut draft = Draft {
        pipeline,
        run: Cow::Borrowed(run),
        at: event.at,
        by: event.by.clone(),
        tree: tree(event, evidence),
        evidence,
        entries: Vec::new(),
    };
    let verdict =
        expire::overdue(&mut draft, &event.what).unwrap_or_else(|| judge(&mut draft, &event.what));
    let verdict = lenient(&mut draft, &event.what, verdict);
    let verdict = to_asker(&draft.run, &event.what, verdict);
    Decision {
        rule: verdict.rule,
        reply: verdict.reply,
        entries: draft.entries,
    }
}

/// The tree as it is now. A check has its own evidence of it.
fn tree(event: &Event, evidence: &Evidence) -> Option<Hash> {
    if let Happening::Engine(EngineEvent::ChecksRan { tree, .. }) = &event.what {
        return Some(tree.after);
    }
    evidence.tree
}

fn judge(draft: &mut Draft<'_>, what: &Happening) -> Verdict {
    match what {
        Happening::Work(event) => judge_work(draft, event),
        Happening::Tool(event) => judge_tool(draft, event),
        Happening::Session(event) => judge_session(draft, event),
        Happening::Person(event) => judge_person(draft, event),
        Happening::Engine(event) => judge_engine(draft, event),
    }
}

fn judge_work(draft: &mut Draft<'_>, event: &WorkEvent) -> Verdict {
    match event {
        WorkEvent::Requested {
            agent,
            step,
            model,
            call,
            worker,
            service,
        } => {
            let request = admit::Request {
                agent,
                step: step.as_ref(),
                model: model.as_deref(),
                call: call.as_ref(),
                resumed: None,
                service: service.as_ref(),
            };
            admit::requested(draft, &request, worker.as_ref())
        }
        WorkEvent::Began { worker } => binding::began(draft, worker),
        WorkEvent::Launched { call, worker } => binding::launched(draft, call, worker),
        WorkEvent::MessageRequested { to, call, worker } => {
            binding::written_to(draft, to, call.as_ref(), worker.as_ref())
        }
        WorkEvent::Ended {
            work,
            ending,
            usage,
        } => work_end::ended(draft, work, ending, *usage),
        WorkEvent::CutShort {
            dispatch,
            usage,
            why,
        } => pause::cut_short(draft, *dispatch, *usage, why),
        WorkEvent::WentOn { dispatch, service } => pause::went_on(draft, *dispatch, service),
        WorkEvent::Interrupted { worker } => session::interrupted(draft, worker),
        WorkEvent::Reported {
            agent,
            step,
            said,
            usage,
        } => work_end::reported(draft, agent.as_ref(), step.as_ref(), said.as_ref(), *usage),
    }
}

fn judge_tool(draft: &mut Draft<'_>, event: &ToolEvent) -> Verdict {
    match event {
        ToolEvent::Requested {
            tool,
            worker,
            protected_paths,
            bypass,
        } => guard::requested(
            draft,
            tool,
            worker.as_ref(),
            protected_paths,
            bypass.as_ref(),
        ),
        ToolEvent::Used { worker } => guard::used(draft, worker.as_ref()),
    }
}

fn judge_session(draft: &mut Draft<'_>, event: &SessionEvent) -> Verdict {
    match event {
        SessionEvent::Started {
            session,
            process,
            heir_of,
            unverified_host,
        } => {
            let arrival = session::Arrival {
                session,
                process: *process,
                heir_of: heir_of.as_ref(),
                unverified_host: unverified_host.as_deref(),
            };
            session::started(draft, &arrival)
        }
        SessionEvent::Ended { session } => session::ended(draft, session),
        SessionEvent::PromptSubmitted { text } => session::prompted(draft, text),
        SessionEvent::StopRequested { background_work } => session::stop(draft, *background_work),
        SessionEvent::TodosMarked { done } => session::todos(draft, done),
        SessionEvent::HooksRemoved { how } => session::unhooked(draft, how),
        SessionEvent::Remarked { message } => session::remarked(draft, message),
        SessionEvent::Unevaluated { what } => session::unevaluated(draft, what),
        SessionEvent::RefusedUnjudged { what } => session::refused_unjudged(draft, what),
        SessionEvent::Unguarded(found) => session::unguarded(draft, found),
    }
}

fn judge_person(draft: &mut Draft<'_>, event: &PersonEvent) -> Verdict {
    match event {
        PersonEvent::Answered(answer) => people::answered(draft, answer),
        PersonEvent::EditsTaken => edits::taken(draft),
        PersonEvent::FinishAsked => people::finish(draft),
        PersonEvent::SkipAsked { outcome, reason } => people::skip(draft, outcome.as_ref(), reason),
        PersonEvent::RetryAsked => people::retry(draft),
        PersonEvent::CancelAsked { reason } => people::cancel(draft, reason),
        PersonEvent::ResetAsked { reason } => people::reset(draft, reason),
        PersonEvent::BypassAsked { until, reason } => people::bypass(draft, *until, reason),
        PersonEvent::CheckpointAsked { name } => people::checkpoint(draft, name),
        PersonEvent::Vouched {
            environment,
            programs,
        } => people::vouched(draft, *environment, programs),
        PersonEvent::RestoreAsked {
            entry,
            state,
            reason,
        } => people::restore(draft, *entry, state, reason),
        PersonEvent::AdoptAsked { machine, entry } => people::adopt(draft, machine, *entry),
    }
}

fn judge_engine(draft: &mut Draft<'_>, event: &EngineEvent) -> Verdict {
    match event {
        EngineEvent::TakenUp => session::taken_up(draft),
        EngineEvent::Placed { folder, on } => place::made(draft, folder, on.as_ref()),
        EngineEvent::Relocated(to) => place::relocated(draft, to),
        EngineEvent::Delivered(delivered) => place::delivered(draft, delivered),
        EngineEvent::DeliveryFailed { reason } => place::failed(draft, reason),
        EngineEvent::ChecksRan {
            stage,
            visit,
            results,
            tree,
        } => checks::ran(draft, stage, *visit, results, tree),
        EngineEvent::StepsRead { stage, visit } => graph::read(draft, stage, *visit),
        EngineEvent::RouteReached { stage, visit } => routing::reached(draft, stage, *visit),
        EngineEvent::ViewChanged { view, path, how } => view::disturbed(draft, view, path, *how),
        EngineEvent::TimePassed => Verdict::done(Rule::Quiet),
        EngineEvent::LeftUnused => session::left_unused(draft),
        EngineEvent::Driven { ms } => pause::driven(draft, *ms),
        EngineEvent::Capped { what } => pause::capped(draft, what),
        EngineEvent::LimitKnown(limit) => pause::limit_known(draft, limit),
        EngineEvent::ChangedOutside(change) => outside::changed(draft, change),
    }
}

/// Is this a step of an agent or a session, which a gate may refuse?
fn is_gated(what: &Happening) -> bool {
    match what {
        Happening::Tool(_) => true,
        Happening::Person(_) | Happening::Engine(_) => false,
        Happening::Work(event) => match event {
            WorkEvent::Requested { .. }
            | WorkEvent::Began { .. }
            | WorkEvent::MessageRequested { .. } => true,
            WorkEvent::Launched { .. }
            | WorkEvent::Ended { .. }
            | WorkEvent::CutShort { .. }
            | WorkEvent::WentOn { .. }
            | WorkEvent::Interrupted { .. }
            | WorkEvent::Reported { .. } => false,
        },
        Happening::Session(event) => match event {
            SessionEvent::StopRequested { .. }
            | SessionEvent::TodosMarked { .. }
            | SessionEvent::HooksRemoved { .. } => true,
            SessionEvent::Started { .. }
            | SessionEvent::Ended { .. }
            | SessionEvent::PromptSubmitted { .. }
            | SessionEvent::Remarked { .. }
            | SessionEvent::Unevaluated { .. }
            | SessionEvent::RefusedUnjudged { .. }
            | SessionEvent::Unguarded(_) => false,
        },
    }
}

/// A worker that is refused something goes on with its own work: who else works is not its concern.
fn to_asker(run: &Run, what: &Happening, mut verdict: Verdict) -> Verdict {
    if let (Reply::Refuse(refusal), Some(asker)) = (&mut verdict.reply, asker(what))
        && run.work_of(&asker.id).is_some()
    {
        refusal.next.clear();
        refusal.own_work = true;
    }
    verdict
}

/// The worker that asks, where it is not the session itself.
fn asker(what: &Happening) -> Option<&Actor> {
    match what {
        Happening::Tool(ToolEvent::Requested { worker, .. } | ToolEvent::Used { worker }) => {
            worker.as_ref()
        }
        Happening::Work(
            WorkEvent::Requested { worker, .. } | WorkEvent::MessageRequested { worker, .. },
        ) => worker.as_ref().map(|asker| &asker.actor),
        Happening::Work(_)
        | Happening::Session(_)
        | Happening::Person(_)
        | Happening::Engine(_) => None,
    }
}

/// An advisory pipeline and a bypassed run report what they would refuse, and allow it.
fn lenient(draft: &mut Draft<'_>, what: &Happening, verdict: Verdict) -> Verdict {
    let (Reply::Refuse(refusal) | Reply::Hold(refusal)) = &verdict.reply else {
        return verdict;
    };
    let Some((rule, word)) = draft.leniency().filter(|_| is_gated(what)) else {
        return verdict;
    };
    let message = format!("{word}: {}", refusal.reason);
    // It was allowed, so the journal does not say that it was refused.
    draft
        .entries
        .retain(|entry| !matches!(entry.fact, Fact::Refused { .. }));
    // Every tool of an agent that was not admitted, or that strayed, would leave a line.
    let repeats = match what {
        Happening::Tool(ToolEvent::Requested { .. }) => verdict.rule == Rule::Unadmitted,
        Happening::Tool(ToolEvent::Used { .. }) => true,
        Happening::Work(_)
        | Happening::Session(_)
        | Happening::Person(_)
        | Happening::Engine(_) => false,
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
    /// Copied when the first entry changes it: most judgements leave none.
    pub run: Cow<'a, Run>,
    pub at: Time,
    pub by: Who,
    pub tree: Option<Hash>,
    pub evidence: &'a Evidence,
    pub entries: Vec<Entry>,
}

impl<'a> Draft<'a> {
    /// Invariant: the draft's run changes only by entries, so a replay gives the same run.
    pub(crate) fn record(&mut self, rule: Rule, fact: Fact) {
        let entry = Entry {
            at: self.at,
            by: self.by.clone(),
            rule,
            fact,
        };
        let folded = fold_entry(self.run.to_mut(), &entry);
        debug_assert!(
            folded.is_ok(),
            "an entry of the engine does not apply: {folded:?}"
        );
        self.entries.push(entry);
    }

    /// Ends open work that did not fail: it costs no attempt.
    pub(crate) fn drop_work(&mut self, dispatch: DispatchId, rule: Rule) {
        let fact = Fact::Ended {
            dispatch,
            result: WorkResult::Dropped,
            usage: Usage::default(),
        };
        self.record(rule, fact);
    }

    /// A copy on which a judgement can be tried before it is made.
    pub(crate) fn trial(&self) -> Draft<'a> {
        Draft {
            run: self.run.clone(),
            by: self.by.clone(),
            entries: Vec::new(),
            ..*self
        }
    }

    /// Adopts the entries of a trial.
    pub(crate) fn adopt(&mut self, trial: Draft<'a>) {
        self.run = trial.run;
        self.entries.extend(trial.entries);
    }

    /// The stage that the run is in. A run is pinned to its definition, so it is there.
    pub(crate) fn stage(&self) -> Option<&'a Stage> {
        self.pipeline.stage(&self.run.position.stage)
    }

    /// Records that something was not allowed, and says so with the legal next step.
    pub(crate) fn refuse(&mut self, rule: Rule, what: &str, reason: String) -> Verdict {
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

    pub(crate) fn refusal(&self, rule: Rule, reason: String) -> Refusal {
        Refusal {
            rule,
            reason,
            next: next(self.pipeline, &self.run),
            own_work: false,
            artifact: None,
        }
    }

    /// The rule by which refusals are allowed now, and its word.
    pub(crate) fn leniency(&self) -> Option<(Rule, &'static str)> {
        match (self.pipeline.definition().mode, &self.run.bypass) {
            (_, Some(bypass)) if self.at < bypass.until => Some((Rule::Bypassed, "bypassed")),
            (Mode::Advisory, _) => Some((Rule::Advised, "not enforced")),
            (Mode::Enforced, _) => None,
        }
    }

    /// Only a person can do this, and through a session only in the one that holds the run.
    pub(crate) fn person(&mut self, what: &str) -> Result<(), Verdict> {
        if let (Who::Through(_), Err(_)) = (&self.by, self.bound()) {
            let reason = "this session does not hold the run: type it in the session that does";
            return Err(self.refuse(Rule::NotBound, what, String::from(reason)));
        }
        match may_act(&self.by, held(&self.run)) {
            Ok(()) => Ok(()),
            Err(reason) => Err(self.refuse(Rule::PersonOnly, what, reason)),
        }
    }

    /// Events of a session count only when it holds the run.
    pub(crate) fn bound(&self) -> Result<(), Verdict> {
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
