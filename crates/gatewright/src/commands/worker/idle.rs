//! What a worker waits for while it drives no run, in one line that it says once.

use engine::{RunId, Time};
use runner::queue::{QueuedRun, Waits};

/// What the last look at the queue found.
#[derive(Debug, Default)]
pub(super) struct Idle {
    found: IdleReason,
    told: Option<IdleReason>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum IdleReason {
    #[default]
    Nothing,
    /// The first run that is due by itself, and when.
    At(Time, RunId),
    /// The number of runs that wait for a person: questions and undelivered work.
    Persons(usize),
    /// It waits for a service, another process or a later try, and has said so.
    Other,
}

impl Idle {
    /// Notes what the queue waits for. Only where no run is due by itself, it asks how many wait for a person.
    pub(super) fn look(&mut self, queue: &[QueuedRun], waiting: impl FnOnce() -> usize) {
        let due = queue.iter().filter_map(|it| match &it.waits {
            Waits::Until(time) | Waits::Held { until: time, .. } => {
                Some((*time, it.summary.id.clone()))
            }
            Waits::Worker
            | Waits::Driven { .. }
            | Waits::Turn(_)
            | Waits::Tree(_)
            | Waits::SameFiles { .. }
            | Waits::Rest(_)
            | Waits::Person(_) => None,
        });
        self.found = match due.min() {
            Some((time, run)) => IdleReason::At(time, run),
            None => match waiting() {
                0 if queue.is_empty() => IdleReason::Nothing,
                0 => IdleReason::Other,
                many => IdleReason::Persons(many),
            },
        };
    }

    /// What is to be said now, by a worker that goes on or ends.
    pub(super) fn news(&mut self, now: Time, is_over: bool) -> Option<String> {
        if self.told.as_ref() == Some(&self.found) {
            return None;
        }
        self.told = Some(self.found.clone());
        match &self.found {
            IdleReason::Nothing if is_over => Some("no run is queued".to_owned()),
            IdleReason::Nothing => {
                Some("no run is queued; waits for one, Ctrl-C ends it".to_owned())
            }
            IdleReason::At(time, run) => {
                let time = views::time::moment(*time, now);
                Some(format!(
                    "nothing to do before {time}, when {run} is due; Ctrl-C ends it"
                ))
            }
            IdleReason::Persons(1) => Some("1 run waits for you: `gatewright inbox`".to_owned()),
            IdleReason::Persons(many) => {
                Some(format!("{many} runs wait for you: `gatewright inbox`"))
            }
            IdleReason::Other => None,
        }
    }

    /// Work begins, so that the next pause is news again.
    pub(super) fn forget(&mut self) {
        self.told = None;
    }
}
