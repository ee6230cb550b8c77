//! The pool: workers at work, a thread each. Whatever happens to one is reported to the orchestrator.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::{DispatchId, Run, RunId, Usage};
use runtime::context::Whereabouts;
use runtime::failure::Failure;
use store::Fence;

use super::drop_sender::DropSender;
use super::progress::{AtWork, Worker};
use crate::agent::listener::Told;

/// What a thread works with, besides what is its own.
#[derive(Clone)]
pub struct Shared {
    pub whereabouts: Whereabouts,
    pub run: RunId,
    pub fence: Fence,
    pub stop: Arc<AtomicBool>,
}

/// Who is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    Dispatch(DispatchId),
    /// The commands of a check stage.
    Check,
}

pub struct Report {
    pub who: Member,
    pub what: What,
}

pub enum What {
    Told(Told),
    Over(Result<(), Failure>),
}

pub struct Pool {
    members: Vec<(Member, JoinHandle<()>)>,
    /// What is shown of those who are agents.
    pub at_work: Vec<AtWork>,
    sender: Sender<Report>,
    reports: Receiver<Report>,
}

impl Pool {
    pub fn new() -> Self {
        let (sender, reports) = mpsc::channel();
        Self {
            members: Vec::new(),
            at_work: Vec::new(),
            sender,
            reports,
        }
    }

    pub fn is_idle(&self) -> bool {
        self.members.is_empty()
    }

    pub fn has(&self, who: Member) -> bool {
        self.members.iter().any(|(member, _)| *member == who)
    }

    /// Is there one whose work is judged, and who has not said so yet?
    pub fn has_ended(&self, run: &Run) -> bool {
        self.members.iter().any(|(member, _)| match member {
            Member::Dispatch(id) => !run.dispatches.contains_key(id),
            Member::Check => false,
        })
    }

    /// Has somebody do this in a thread. `work` hands what it hears to its argument.
    pub fn begin(
        &mut self,
        who: Member,
        shown: Option<Worker>,
        work: impl FnOnce(&mut dyn FnMut(Told)) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        let sender = self.sender.clone();
        let over = move |over| Report {
            who,
            what: What::Over(over),
        };
        let thread = thread::Builder::new().spawn(move || {
            let fallen = Failure::bug("a thread fell in the middle of its work");
            let last = DropSender::new(sender.clone(), over(Err(fallen)));
            // Whoever listened may have gone; then nobody wants to know.
            let mut tell = |told| {
                drop(sender.send(Report {
                    who,
                    what: What::Told(told),
                }))
            };
            let ended = work(&mut tell);
            last.say(over(ended));
        });
        let thread = thread.map_err(|cause| {
            Failure::outside(format!("the system gives us no thread ({cause})"))
        })?;
        self.members.push((who, thread));
        self.at_work.extend(shown.map(|worker| AtWork {
            worker,
            since: Instant::now(),
            action: None,
            usage: Usage::default(),
        }));
        Ok(())
    }

    /// The next thing that is heard, if one comes in time.
    pub fn wait(&mut self, patience: Duration) -> Option<Report> {
        match self.reports.recv_timeout(patience) {
            Ok(report) => {
                self.note(&report);
                Some(report)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    fn note(&mut self, report: &Report) {
        if let What::Over(_) = report.what {
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
            What::Over(_) => self.at_work.retain(|it| it.worker.dispatch != id),
            What::Told(told) => {
                let mut shown = self.at_work.iter_mut();
                let shown = shown.find(|it| it.worker.dispatch == id);
                match (shown, told) {
                    (Some(shown), Told::Acted(action)) => shown.action = Some(action.clone()),
                    (Some(shown), Told::Used(usage)) => shown.usage = *usage,
                    (Some(_), Told::SentBack(_) | Told::Void(_)) | (None, _) => {}
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
            tell(Told::Acted("reads".to_owned()));
            Ok(())
        })
        .unwrap();
        assert!(pool.has(who) && !pool.is_idle());
        let long = Duration::from_secs(60);
        let first = pool.wait(long).unwrap();
        assert!(matches!(first.what, What::Told(Told::Acted(_))));
        let last = pool.wait(long).unwrap();
        assert!(matches!(last.what, What::Over(Ok(()))));
        assert!(pool.is_idle());
    }
}
