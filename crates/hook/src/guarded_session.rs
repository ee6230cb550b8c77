//! A session at its hook, with the run that it holds: what all parts of a hook submit events through.

use std::path::Path;
use std::time::Duration;

use engine::{Fact, Happening, Rule, SessionId, Who, WorkEvent};
use hosts::Payload;
use runtime::failure::Failure;
use runtime::transact::{self, Decided, MakeRequest, Options, Request, Target};
use runtime::witness::{self, Range};
use runtime::workspace::{OpenRun, Workspace};
use store::Key;

use super::answer;

/// How long a hook waits for the store. The host's own limit is longer, and what comes after it is
/// an allow.
pub(super) const PATIENCE: Duration = Duration::from_secs(4);

/// A session at its hook, with the run that it holds.
pub(super) struct Guarded<'d, 'c> {
    pub workspace: &'d mut Workspace<'c>,
    pub session: SessionId,
    pub opened: OpenRun,
    /// What the person at the session should hear of the run's views.
    pub notices: Vec<String>,
}

impl Guarded<'_, '_> {
    /// Who acts in most events: the session itself.
    pub(super) fn session_itself(&self) -> Who {
        Who::Session(self.session.clone())
    }

    /// A person, seen through the session.
    pub(super) fn person(&self) -> Who {
        Who::Through(self.session.clone())
    }

    /// Submits what happened, as the session's own act. It counts as often as it is submitted.
    pub(super) fn submit(&mut self, what: Happening) -> Result<Decided, Failure> {
        self.submit_once(None, what)
    }

    /// The same for the request that the host's call is about: with a key it counts once.
    pub(super) fn submit_once(
        &mut self,
        key: Option<&Key>,
        what: Happening,
    ) -> Result<Decided, Failure> {
        let by = &self.session_itself();
        self.submit_with(Options { by, key }, &mut |_, _, _| {
            Ok(Request::from(what.clone()))
        })
    }

    /// The same with a request that depends on the run. It is made anew whenever the run has changed.
    pub(super) fn submit_with(
        &mut self,
        options: Options<'_>,
        make: &mut MakeRequest<'_>,
    ) -> Result<Decided, Failure> {
        let seen = Target::Seen(Box::new(self.opened.clone()));
        let decided = transact::transact(self.workspace, seen, options, make)?;
        self.opened = decided.opened.clone();
        self.notices.extend(decided.notices.iter().cloned());
        Ok(decided)
    }

    /// Asks the other witnesses what no hook saw.
    pub(super) fn reconcile(&mut self, payload: &Payload, processes: Range) -> Result<(), Failure> {
        if processes == Range::All {
            self.workspace.context.expect_delay();
        }
        let record = payload.transcript.as_deref().map(Path::new);
        let before = self.opened.run().unguarded.len();
        self.opened = witness::reconcile(self.workspace, self.opened.clone(), record, processes)?;
        self.tell_unguarded(before);
        Ok(())
    }

    /// The person hears of what was found now.
    fn tell_unguarded(&mut self, before: usize) {
        let run = self.opened.run();
        let lines = views::UnguardedLine::all(run).into_iter().skip(before);
        let told = lines.map(|line| format!("{}; gatewright status {}", line.text(), run.id));
        self.notices.extend(told);
    }

    /// Looks for agents that a shell has left behind.
    pub(super) fn look_at_processes(&mut self) -> Result<(), Failure> {
        let before = self.opened.run().unguarded.len();
        self.opened = witness::look_at_processes(self.workspace, self.opened.clone())?;
        self.tell_unguarded(before);
        Ok(())
    }

    /// The main session's own work is judged whenever it turns to something else. What is still
    /// missing is the answer.
    pub(super) fn settle_session_work(&mut self) -> Result<Option<String>, Failure> {
        if !engine::session_works(&self.opened.pipeline, self.opened.run()) {
            return Ok(None);
        }
        let Ok(agent) = engine::AgentName::parse(engine::SESSION) else {
            return Ok(None);
        };
        let decided = self.submit(Happening::Work(WorkEvent::Ended {
            work: engine::WorkRef::Agent { agent, step: None },
            ending: engine::Ending::Stopping { worked: true },
            usage: engine::Usage::default(),
        }))?;
        Ok(answer::objection(&decided))
    }
}

/// Did this stop the run from waiting for its session?
pub(super) fn was_abandoned(decided: &Decided) -> bool {
    decided.rule == Rule::StopAbandoned
        && decided
            .entries
            .iter()
            .any(|(_, entry)| entry.fact == Fact::Abandoned)
}

/// A run that is over and cannot begin again guards nothing any more.
pub(super) fn is_released(opened: &OpenRun) -> bool {
    let run = opened.run();
    let stage = opened.pipeline.stage(&run.position.stage);
    let restarts = stage.is_some_and(|stage| !stage.after().is_empty());
    let cancelled = matches!(run.standing, engine::Standing::Cancelled { .. });
    engine::is_over(&opened.pipeline, run) && (!restarts || cancelled)
}
