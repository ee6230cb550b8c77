//! Group commit: many threads submit jobs, and one thread at a time does all waiting jobs.
//!
//! There is no extra thread. A thread that finds no leader becomes the leader and does the waiting
//! jobs; others wait in the queue, and the first one leads next. The leader never waits for more
//! jobs.

use std::collections::VecDeque;
use std::mem;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The queue of jobs of type `J`, each with a receiver for its answer of type `A`.
pub(crate) struct GroupCommit<J, A> {
    queue: Mutex<Queue<J, A>>,
    /// The most jobs in one group.
    most: usize,
}

/// Invariant: the leader is first, until its jobs are taken out of the queue.
struct Queue<J, A> {
    waiting: VecDeque<Waiter<J, A>>,
    is_led: bool,
}

struct Waiter<J, A> {
    work: Work<J>,
    sender: Sender<Signal<A>>,
}

enum Work<J> {
    Shared(J),
    /// Its owner does it, alone.
    Alone,
}

enum Signal<A> {
    Lead,
    Answer(A),
}

impl<J, A> GroupCommit<J, A> {
    pub(crate) fn new(most: usize) -> Self {
        let queue = Mutex::new(Queue {
            waiting: VecDeque::new(),
            is_led: false,
        });
        Self { queue, most }
    }

    /// Does the job in a group, in this thread or the leader's, and returns its answer. `go`
    /// returns one answer for each job, in order. `None` if another thread panicked with it.
    pub(crate) fn join(&self, job: J, go: impl FnOnce(Vec<J>) -> Vec<A>) -> Option<A> {
        let (sender, receiver) = channel();
        let mut go = Some(go);
        let mut leads = self.enqueue(Work::Shared(job), sender);
        loop {
            if mem::take(&mut leads)
                && let Some(go) = go.take()
            {
                self.lead(go);
            }
            match receiver.recv() {
                Ok(Signal::Lead) => leads = true,
                Ok(Signal::Answer(answer)) => return Some(answer),
                Err(_) => return None,
            }
        }
    }

    /// Runs `work` when its turn comes, alone.
    pub(crate) fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        let (sender, receiver) = channel();
        if !self.enqueue(Work::Alone, sender) {
            // The sender stays in the queue until we lead, so nothing else can arrive.
            let _ = receiver.recv();
        }
        let _end = PassLead(self);
        self.queue().waiting.pop_front();
        work()
    }

    /// Becomes the leader if there is none.
    fn enqueue(&self, work: Work<J>, sender: Sender<Signal<A>>) -> bool {
        let mut queue = self.queue();
        queue.waiting.push_back(Waiter { work, sender });
        !mem::replace(&mut queue.is_led, true)
    }

    fn lead(&self, go: impl FnOnce(Vec<J>) -> Vec<A>) {
        let _end = PassLead(self);
        let (jobs, senders): (Vec<J>, Vec<_>) = self.take().into_iter().unzip();
        for (answer, sender) in go(jobs).into_iter().zip(senders) {
            let _ = sender.send(Signal::Answer(answer));
        }
    }

    /// The jobs at the front of the queue, up to one that runs alone.
    fn take(&self) -> Vec<(J, Sender<Signal<A>>)> {
        let mut queue = self.queue();
        let mut taken = Vec::new();
        while taken.len() < self.most
            && let Some(first) = queue.waiting.pop_front()
        {
            match first.work {
                Work::Shared(job) => taken.push((job, first.sender)),
                Work::Alone => {
                    queue.waiting.push_front(first);
                    break;
                }
            }
        }
        taken
    }

    /// A panic in a job leaves the queue intact: the lock is not held during work.
    fn queue(&self) -> MutexGuard<'_, Queue<J, A>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes the lead to the first in the queue, also after a panic.
struct PassLead<'a, J, A>(&'a GroupCommit<J, A>);

impl<J, A> Drop for PassLead<'_, J, A> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        queue.is_led = !queue.waiting.is_empty();
        if let Some(first) = queue.waiting.front() {
            let _ = first.sender.send(Signal::Lead);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    impl<J, A> GroupCommit<J, A> {
        /// Waits until this many are in the queue.
        pub(crate) fn wait_for(&self, waiting: usize) {
            while self.queue().waiting.len() < waiting {
                thread::yield_now();
            }
        }
    }

    fn doubled(jobs: Vec<usize>) -> Vec<usize> {
        jobs.into_iter().map(|job| 2 * job).collect()
    }

    /// Queues these jobs while a first one runs, and returns which ran together, sorted.
    fn done_together(most: usize, jobs: usize, alone: Option<usize>) -> Vec<Vec<usize>> {
        let group = GroupCommit::new(most);
        let batches = Mutex::new(Vec::new());
        let go = |jobs: Vec<usize>| {
            batches.lock().unwrap().push(jobs.clone());
            doubled(jobs)
        };
        let (began, may_end) = (Barrier::new(2), Barrier::new(2));
        thread::scope(|scope| {
            scope.spawn(|| {
                group.join(0, |jobs| {
                    began.wait();
                    may_end.wait();
                    doubled(jobs)
                })
            });
            began.wait();
            for job in 1..=jobs {
                let (group, go, batches) = (&group, &go, &batches);
                scope.spawn(move || {
                    if alone == Some(job) {
                        group.alone(|| batches.lock().unwrap().push(vec![job]))
                    } else {
                        assert_eq!(group.join(job, go), Some(2 * job))
                    }
                });
                group.wait_for(job);
            }
            may_end.wait();
        });
        batches.into_inner().unwrap()
    }

    #[test]
    fn what_came_while_one_led_is_done_together_and_in_order() {
        for (most, jobs, alone, expected) in [
            (64, 3, None, vec![vec![1, 2, 3]]),
            (2, 5, None, vec![vec![1, 2], vec![3, 4], vec![5]]),
            (64, 4, Some(3), vec![vec![1, 2], vec![3], vec![4]]),
            (64, 2, Some(1), vec![vec![1], vec![2]]),
        ] {
            assert_eq!(done_together(most, jobs, alone), expected);
        }
    }

    #[test]
    fn everybody_is_answered_once() {
        let group = GroupCommit::new(16);
        let (done, alone) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for thread in 0..32 {
                let (group, done, alone) = (&group, &done, &alone);
                scope.spawn(move || {
                    for round in 0..200 {
                        let job = 1_000 * thread + round;
                        if job % 7 == 0 {
                            group.alone(|| alone.fetch_add(1, Ordering::Relaxed));
                        }
                        let answer = group.join(job, |jobs| {
                            done.fetch_add(jobs.len(), Ordering::Relaxed);
                            doubled(jobs)
                        });
                        assert_eq!(answer, Some(2 * job));
                    }
                });
            }
        });
        let multiples = (0..32_000).filter(|job| job % 1_000 < 200 && job % 7 == 0);
        assert_eq!(
            (done.into_inner(), alone.into_inner()),
            (6_400, multiples.count())
        );
    }

    #[test]
    fn a_leader_that_panics_leaves_the_others_to_go_on() {
        let group = GroupCommit::new(64);
        let (began, may_end) = (Barrier::new(2), Barrier::new(2));
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                group.join(0, |jobs| {
                    began.wait();
                    may_end.wait();
                    doubled(jobs)
                })
            });
            began.wait();
            let second = scope.spawn(|| {
                let lead = || group.join(1, |_| panic!("the leader fell"));
                catch_unwind(AssertUnwindSafe(lead)).is_err()
            });
            group.wait_for(1);
            let third = scope.spawn(|| group.join(2, doubled));
            group.wait_for(2);
            may_end.wait();
            assert_eq!(first.join().unwrap(), Some(0));
            assert!(second.join().unwrap());
            assert_eq!(third.join().unwrap(), None, "its work fell with the leader");
        });
        assert_eq!(group.join(3, doubled), Some(6));
    }
}
