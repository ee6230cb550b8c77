//! A convoy: many threads hand in work, and one of them at a time does all that has come together.
//!
//! There is no thread of its own. Whoever comes while nobody leads is the leader, and does what waits;
//! who comes meanwhile waits in line, and the first of the line leads next. Nobody waits for more
//! company than has come by itself.

use std::collections::VecDeque;
use std::mem;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The line of those who wait, each with a job of this kind and for an answer of that kind.
pub(crate) struct Convoy<J, A> {
    line: Mutex<Line<J, A>>,
    /// How many jobs are done together at most.
    most: usize,
}

/// Invariant: who leads stands first, until its work is taken out of the line.
struct Line<J, A> {
    waiting: VecDeque<Waiter<J, A>>,
    is_led: bool,
}

struct Waiter<J, A> {
    work: Work<J>,
    sender: Sender<Told<A>>,
}

enum Work<J> {
    Shared(J),
    /// Its owner does it, and nobody else at the same time.
    Alone,
}

enum Told<A> {
    Lead,
    Answer(A),
}

impl<J, A> Convoy<J, A> {
    pub fn new(most: usize) -> Self {
        let line = Mutex::new(Line {
            waiting: VecDeque::new(),
            is_led: false,
        });
        Self { line, most }
    }

    /// Has the job done together with those that wait, by us or by whoever leads, and returns its
    /// answer. `go` gives one answer for each job, in their order. Nothing is returned if it panicked
    /// in another thread.
    pub fn join(&self, job: J, go: impl FnOnce(Vec<J>) -> Vec<A>) -> Option<A> {
        let (sender, receiver) = channel();
        let mut go = Some(go);
        let mut leads = self.line_up(Work::Shared(job), sender);
        loop {
            if mem::take(&mut leads)
                && let Some(go) = go.take()
            {
                self.lead(go);
            }
            match receiver.recv() {
                Ok(Told::Lead) => leads = true,
                Ok(Told::Answer(answer)) => return Some(answer),
                Err(_) => return None,
            }
        }
    }

    /// Does something when our turn has come, while nobody else does anything.
    pub fn alone<T>(&self, work: impl FnOnce() -> T) -> T {
        let (sender, receiver) = channel();
        if !self.line_up(Work::Alone, sender) {
            // The sender stays in the line until we lead, so there is nothing else to hear.
            let _ = receiver.recv();
        }
        let _end = EndOfTurn(self);
        self.line().waiting.pop_front();
        work()
    }

    /// Is there nobody who leads, so that we do?
    fn line_up(&self, work: Work<J>, sender: Sender<Told<A>>) -> bool {
        let mut line = self.line();
        line.waiting.push_back(Waiter { work, sender });
        !mem::replace(&mut line.is_led, true)
    }

    fn lead(&self, go: impl FnOnce(Vec<J>) -> Vec<A>) {
        let _end = EndOfTurn(self);
        let (jobs, senders): (Vec<J>, Vec<_>) = self.take().into_iter().unzip();
        for (answer, sender) in go(jobs).into_iter().zip(senders) {
            let _ = sender.send(Told::Answer(answer));
        }
    }

    /// The jobs at the head of the line, up to one that is done alone.
    fn take(&self) -> Vec<(J, Sender<Told<A>>)> {
        let mut line = self.line();
        let mut taken = Vec::new();
        while taken.len() < self.most
            && let Some(first) = line.waiting.pop_front()
        {
            match first.work {
                Work::Shared(job) => taken.push((job, first.sender)),
                Work::Alone => {
                    line.waiting.push_front(first);
                    break;
                }
            }
        }
        taken
    }

    /// A panic in a job leaves the line as it was: it is not held while work is done.
    fn line(&self) -> MutexGuard<'_, Line<J, A>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands the lead to the first in line, also when the work panicked.
struct EndOfTurn<'a, J, A>(&'a Convoy<J, A>);

impl<J, A> Drop for EndOfTurn<'_, J, A> {
    fn drop(&mut self) {
        let mut line = self.0.line();
        line.is_led = !line.waiting.is_empty();
        if let Some(first) = line.waiting.front() {
            let _ = first.sender.send(Told::Lead);
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

    impl<J, A> Convoy<J, A> {
        /// Waits until so many stand in the line.
        pub(crate) fn wait_for(&self, waiting: usize) {
            while self.line().waiting.len() < waiting {
                thread::yield_now();
            }
        }
    }

    fn doubled(jobs: Vec<usize>) -> Vec<usize> {
        jobs.into_iter().map(|job| 2 * job).collect()
    }

    /// Has these jobs wait while a first one is done, and returns which were done together, sorted.
    fn done_together(most: usize, jobs: usize, alone: Option<usize>) -> Vec<Vec<usize>> {
        let convoy = Convoy::new(most);
        let batches = Mutex::new(Vec::new());
        let go = |jobs: Vec<usize>| {
            batches.lock().unwrap().push(jobs.clone());
            doubled(jobs)
        };
        let (began, may_end) = (Barrier::new(2), Barrier::new(2));
        thread::scope(|scope| {
            scope.spawn(|| {
                convoy.join(0, |jobs| {
                    began.wait();
                    may_end.wait();
                    doubled(jobs)
                })
            });
            began.wait();
            for job in 1..=jobs {
                let (convoy, go, batches) = (&convoy, &go, &batches);
                scope.spawn(move || match alone == Some(job) {
                    true => convoy.alone(|| batches.lock().unwrap().push(vec![job])),
                    false => assert_eq!(convoy.join(job, go), Some(2 * job)),
                });
                convoy.wait_for(job);
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
        let convoy = Convoy::new(16);
        let (done, alone) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for thread in 0..32 {
                let (convoy, done, alone) = (&convoy, &done, &alone);
                scope.spawn(move || {
                    for round in 0..200 {
                        let job = 1_000 * thread + round;
                        if job % 7 == 0 {
                            convoy.alone(|| alone.fetch_add(1, Ordering::Relaxed));
                        }
                        let answer = convoy.join(job, |jobs| {
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
        let convoy = Convoy::new(64);
        let (began, may_end) = (Barrier::new(2), Barrier::new(2));
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                convoy.join(0, |jobs| {
                    began.wait();
                    may_end.wait();
                    doubled(jobs)
                })
            });
            began.wait();
            let second = scope.spawn(|| {
                let lead = || convoy.join(1, |_| panic!("the leader fell"));
                catch_unwind(AssertUnwindSafe(lead)).is_err()
            });
            convoy.wait_for(1);
            let third = scope.spawn(|| convoy.join(2, doubled));
            convoy.wait_for(2);
            may_end.wait();
            assert_eq!(first.join().unwrap(), Some(0));
            assert!(second.join().unwrap());
            assert_eq!(third.join().unwrap(), None, "its work fell with the leader");
        });
        assert_eq!(convoy.join(3, doubled), Some(6));
    }
}
