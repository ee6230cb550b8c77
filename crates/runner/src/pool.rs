//! The pool: one thread for each worker. Reports everything to the orchestrator.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::{DispatchId, Run, RunId, Usage};
use runtime::context::SharedContext;
use runtime::failure::Failure;
use store::Fence;

use super::drop_sender::DropSender;
use super::progress::{AtWork, Worker};
use super::slot_bid::SlotBid;
use super::spending::Spending;
use crate::agent::listener::WorkerUpdate;

/// What all threads share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub context: SharedContext,
    pub run: RunId,
    pub fence: Fence,
    pub stop: Arc<AtomicBool>,
    pub spending: Arc<Spending>,
    pub bid: Arc<SlotBid>,
}

/// Who works in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    Dispatch(DispatchId),
    /// The commands of a check stage.
    Check,
}

pub(crate) struct PoolReport {
    pub who: Member,
    pub what: PoolEvent,
}

pub(crate) enum PoolEvent {
    Update(WorkerUpdate),
    Ended(Result<(), Failure>),
}

pub(crate) struct Pool {
    members: Vec<(Member, JoinHandle<()>)>,
    /// The agents at work, for display.
    pub at_work: Vec<AtWork>,
    sender: Sender<PoolReport>,
    reports: Receiver<PoolReport>,
}

impl Pool {
    pub(crate) fn new() -> Self {
        let (sender, reports) = mpsc::channel();
        Self {
            members: Vec::new(),
            at_work: Vec::new(),
            sender,
            reports,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.members.is_empty()
    }

    pub(crate) fn has(&self, who: Member) -> bool {
        self.members.iter().any(|(member, _)| *member == who)
    }

    /// Is there a member whose work is judged and whose end is not reported yet?
    pub(crate) fn has_ended(&self, run: &Run) -> bool {
        self.members.iter().any(|(member, _)| match member {
            Member::Dispatch(id) => !run.dispatches.contains_key(id),
            Member::Check => false,
        })
    }

    /// Runs `work` in a thread. It passes updates to its argument.
    pub(crate) fn begin(
        &mut self,
        who: Member,
        shown: Option<Worker>,
        work: impl FnOnce(&mut dyn FnMut(WorkerUpdate)) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        let sender = self.sender.clone();
        let over = move |over| PoolReport {
            who,
            what: PoolEvent::Ended(over),
        };
        let thread = thread::Builder::new().spawn(move || {
            let on_panic = Failure::bug("a thread panicked");
            let last = DropSender::new(sender.clone(), over(Err(on_panic)));
            // The receiver may be gone; then nobody needs the message.
            let mut tell = |update| {
                drop(sender.send(PoolReport {
                    who,
                    what: PoolEvent::Update(update),
                }))
            };
            let ended = work(&mut tell);
            last.send(over(ended));
        });
        let thread = thread
            .map_err(|cause| Failure::environment(format!("cannot start a thread ({cause})")))?;
        self.members.push((who, thread));
        self.at_work.extend(shown.map(|worker| AtWork {
            worker,
            since: Instant::now(),
            action: None,
            said: None,
            refused: 0,
            usage: Usage::default(),
        }));
        Ok(())
    }

    /// The next report, if one arrives in time.
    pub(crate) fn wait(&mut self, patience: Duration) -> Option<PoolReport> {
        match self.reports.recv_timeout(patience) {
            Ok(report) => {
                self.note(&report);
                Some(report)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    fn note(&mut self, report: &PoolReport) {
        if let PoolEvent::Ended(_) = report.what {
            let ended = self
                .members
                .iter()
                .position(|(member, _)| *member == report.who);
            if let Some((_, thread)) = ended.map(|at| self.members.remove(at)) {
                let _ = thread.join();
            }
        }
        let Member::Dispatch(id) = report.who else {
            return;
        };
        match &report.what {
            PoolEvent::Ended(_) => self.at_work.retain(|it| it.worker.dispatch != id),
            PoolEvent::Update(update) => {
                let mut shown = self.at_work.iter_mut();
                let shown = shown.find(|it| it.worker.dispatch == id);
                match (shown, update) {
                    (Some(shown), WorkerUpdate::Acted(action)) => {
                        shown.action = Some(action.clone())
                    }
                    (Some(shown), WorkerUpdate::Said(text)) => shown.said = Some(text.clone()),
                    (Some(shown), WorkerUpdate::Refused(_)) => shown.refused += 1,
                    (Some(shown), WorkerUpdate::Used(usage)) => shown.usage = *usage,
                    (Some(_), WorkerUpdate::SentBack(_) | WorkerUpdate::Void(_)) | (None, _) => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_heard_is_reported_and_the_end_comes_last() {
        let mut pool = Pool::new();
        let who = Member::Dispatch(DispatchId(1));
        pool.begin(who, None, |tell| {
            tell(WorkerUpdate::Acted("reads".to_owned()));
            Ok(())
        })
        .unwrap();
        assert!(pool.has(who) && !pool.is_idle());
        let long = Duration::from_secs(60);
        let first = pool.wait(long).unwrap();
        assert!(matches!(
            first.what,
            PoolEvent::Update(WorkerUpdate::Acted(_))
        ));
        let last = pool.wait(long).unwrap();
        assert!(matches!(last.what, PoolEvent::Ended(Ok(()))));
        assert!(pool.is_idle());
    }
}
