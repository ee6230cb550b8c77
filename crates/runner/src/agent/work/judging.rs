//! The end of a piece of work: what is around it is compared, its result delivered, and the engine told.

use engine::{Ending, Event, Fact, Fault, Happening, Usage, Who, WorkEvent, WorkRef, WorkResult};
use runtime::clock;
use runtime::failure::Failure;
use runtime::transact::{self, Decided, Options, Request, Target};
use runtime::work_record;
use runtime::workspace::{OpenRun, Workspace};
use store::Key;

use super::{Delivered, Work};
use crate::kept_trees;
use crate::surroundings::{Surroundings, git_trace};

impl Work<'_, '_> {
    /// Reports the end to the engine; `None` if we were stopped before the delivery. Work from a
    /// worktree of its own is checked there, and delivered before it counts.
    pub(super) fn judge(
        &mut self,
        opened: OpenRun,
        ended: work_record::Ended,
    ) -> Result<Option<Decided>, Failure> {
        let work_record::Ended {
            mut ending,
            usage,
            reply,
        } = ended;
        let opened = self.workspace.read(&opened.run().id)?;
        let delivery = self.setup.delivery.as_ref();
        let is_lost = delivery.is_some_and(|delivery| delivery.is_lost());
        if is_lost {
            ending = lost();
            // What is asked about the end is asked of the run's own files.
            self.workspace.step_folder = None;
        }
        let counts = !is_lost && self.would_count(&opened, &ending, usage, reply.as_deref())?;
        let opened = self.compare_surroundings(opened, counts)?;
        if counts && let Some(delivery) = &mut self.setup.delivery {
            self.workspace.check_lease(&self.record.run)?;
            match delivery.deliver(self.workspace, &opened, self.dispatch.id)? {
                Delivered::Done => {}
                Delivered::Conflict(paths) => ending = conflict(&paths),
                Delivered::Stopped => return Ok(None),
            }
        }
        let spending = self.setup.spending.as_ref();
        let in_flight = spending.map_or(usage, |it| it.note(self.dispatch.id, usage));
        kept_trees::keep(self.workspace, &opened, in_flight)?;
        self.tell_end(opened, ending, usage, reply).map(Some)
    }

    /// The worker is over: what it moved or changed around it is found, and put back where that is due. A
    /// delivery looks at the files itself.
    fn compare_surroundings(
        &mut self,
        opened: OpenRun,
        is_delivered: bool,
    ) -> Result<OpenRun, Failure> {
        let opened = self.tell_stash(opened)?;
        match Surroundings::of(self.workspace, &opened)? {
            Some(surroundings) if is_delivered => surroundings.compare_refs(self.workspace, opened),
            Some(surroundings) => surroundings.compare(self.workspace, opened),
            None => Ok(opened),
        }
    }

    /// Git has one stash for all worktrees, so a worker may have taken the work of another.
    fn tell_stash(&mut self, opened: OpenRun) -> Result<OpenRun, Failure> {
        let is_alone = self.setup.delivery.is_none() && opened.run().place.is_none();
        let trace = Surroundings::trace(self.workspace, self.claim.call());
        let commands = || git_trace::read(&trace).into_iter();
        if is_alone || !commands().any(|command| command.takes_from_stash()) {
            return Ok(opened);
        }
        let (id, agent) = (self.dispatch.id, &self.dispatch.agent);
        let message = format!(
            "'{agent}' ({id}) took work out of git's stash, which all worktrees of the repository share: \
             check that what it changed is its own"
        );
        let key = Key::parse(&format!("stash-{}", self.claim.call()))
            .map_err(|problem| Failure::bug(problem.to_string()))?;
        Ok(transact::remark(self.workspace, opened, Some(&key), &message)?.opened)
    }

    /// Would the engine accept this end as it is?
    fn would_count(
        &self,
        opened: &OpenRun,
        ending: &Ending,
        usage: Usage,
        reply: Option<&str>,
    ) -> Result<bool, Failure> {
        if self.setup.delivery.is_none() {
            return Ok(false);
        }
        let event = Event {
            at: clock::now(),
            by: Who::Engine,
            what: self.end(ending.clone(), usage),
        };
        let needs = engine::needs(&opened.pipeline, opened.run(), &event);
        let looked = self
            .workspace
            .look(opened, &needs, &Default::default(), reply)?;
        let decision = engine::decide(&opened.pipeline, opened.run(), &event, &looked.evidence);
        Ok(decision.entries.iter().any(|entry| {
            matches!(
                &entry.fact,
                Fact::Ended {
                    result: WorkResult::Outcome(_),
                    ..
                }
            )
        }))
    }

    pub(super) fn end(&self, ending: Ending, usage: Usage) -> Happening {
        Happening::Work(WorkEvent::Ended {
            work: WorkRef::Dispatch(self.dispatch.id),
            ending,
            usage,
        })
    }

    pub(super) fn tell_end(
        &mut self,
        opened: OpenRun,
        ending: Ending,
        usage: Usage,
        reply: Option<String>,
    ) -> Result<Decided, Failure> {
        let what = self.end(ending, usage);
        let mut make = |_: &Workspace<'_>, _: &OpenRun, _| {
            Ok(Request {
                reply: reply.clone(),
                ..Request::from(what.clone())
            })
        };
        transact::transact(
            self.workspace,
            Target::Seen(Box::new(opened)),
            Options {
                by: &Who::Engine,
                key: None,
            },
            &mut make,
        )
    }
}

fn lost() -> Ending {
    Ending::Fault {
        fault: Fault::Crashed,
        reason: "its worktree is gone, or a link has taken its place".to_owned(),
    }
}

fn conflict(paths: &[String]) -> Ending {
    let paths: Vec<String> = paths.iter().map(|path| views::line(path)).collect();
    Ending::Fault {
        fault: Fault::Conflict,
        reason: format!("others changed the same lines of {}", paths.join(", ")),
    }
}
