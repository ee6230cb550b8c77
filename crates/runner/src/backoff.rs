//! Backoff: delays the next try of runs that could not be driven.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::{RunId, Time};

/// The first delay. It doubles with each failure of the same run.
const FIRST: Duration = Duration::from_secs(4);

const LONGEST: Duration = Duration::from_secs(15 * 60);

#[derive(Debug, Default)]
pub struct Backoff {
    failed: BTreeMap<RunId, Delay>,
    /// Runs that wait until a service works again.
    resting: BTreeMap<RunId, Time>,
}

#[derive(Debug)]
struct Delay {
    times: u32,
    until: Instant,
}

impl Backoff {
    /// This run could not be driven: it waits.
    pub fn failed(&mut self, run: RunId, now: Instant) {
        self.resting.remove(&run);
        let delay = self.failed.entry(run).or_insert(Delay {
            times: 0,
            until: now,
        });
        let factor = 1u32 << delay.times.min(16);
        delay.times += 1;
        delay.until = now + FIRST.saturating_mul(factor).min(LONGEST);
    }

    /// This run was driven to an end. What blocked the others may be gone, too.
    pub fn succeeded(&mut self, run: &RunId, now: Instant) {
        self.resting.remove(run);
        self.failed.remove(run);
        for delay in self.failed.values_mut() {
            delay.until = now;
        }
    }

    /// Does this run still wait?
    pub fn is_waiting(&self, run: &RunId, now: Instant) -> bool {
        self.failed.get(run).is_some_and(|delay| now < delay.until)
    }

    pub fn is_empty(&self) -> bool {
        self.failed.is_empty()
    }

    /// This run waits for its services until then, whatever becomes of others.
    pub fn rest(&mut self, run: RunId, until: Time) {
        self.failed.remove(&run);
        self.resting.insert(run, until);
    }

    /// Until when this run waits for its services, if that is still to come.
    pub fn rests_until(&self, run: &RunId, now: Time) -> Option<Time> {
        self.resting.get(run).copied().filter(|until| now < *until)
    }

    /// The runs that wait for their services, or have done so until a moment ago.
    pub fn resting(&self) -> impl Iterator<Item = &RunId> {
        self.resting.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_rests_longer_each_time_and_no_longer_when_another_one_ended() {
        let (run, other) = (run("r-a"), run("r-b"));
        let (mut backoff, mut now) = (Backoff::default(), Instant::now());
        let second = Duration::from_secs(1);
        for rest in [4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
            assert!(!backoff.is_waiting(&run, now));
            backoff.failed(run.clone(), now);
            assert!(
                backoff.is_waiting(&run, now + second * (rest - 1)),
                "{rest}"
            );
            now += second * rest;
        }
        backoff.failed(run.clone(), now);
        assert!(backoff.is_waiting(&run, now) && !backoff.is_waiting(&other, now));
        backoff.succeeded(&other, now);
        assert!(!backoff.is_waiting(&run, now) && !backoff.is_empty());
        backoff.succeeded(&run, now);
        assert!(backoff.is_empty());
    }

    #[test]
    fn a_run_rests_until_its_time_although_others_end() {
        let (run, other) = (run("r-a"), run("r-b"));
        let mut backoff = Backoff::default();
        backoff.rest(run.clone(), Time(9));
        backoff.succeeded(&other, Instant::now());
        assert_eq!(backoff.rests_until(&run, Time(8)), Some(Time(9)));
        assert_eq!(backoff.rests_until(&run, Time(9)), None);
        assert_eq!(backoff.rests_until(&other, Time(0)), None);
        assert!(backoff.resting().eq([&run]) && backoff.is_empty());
        backoff.succeeded(&run, Instant::now());
        assert!(backoff.resting().next().is_none());
    }

    fn run(id: &str) -> RunId {
        RunId::parse(id).unwrap()
    }
}
