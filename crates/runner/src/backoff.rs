//! Backoff: delays the next try of runs that could not be driven.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::RunId;

/// The first delay. It doubles with each failure of the same run.
const FIRST: Duration = Duration::from_secs(4);

const LONGEST: Duration = Duration::from_secs(15 * 60);

#[derive(Debug, Default)]
pub struct Backoff(BTreeMap<RunId, Delay>);

#[derive(Debug)]
struct Delay {
    times: u32,
    until: Instant,
}

impl Backoff {
    /// This run could not be driven: it waits.
    pub fn failed(&mut self, run: RunId, now: Instant) {
        let delay = self.0.entry(run).or_insert(Delay {
            times: 0,
            until: now,
        });
        let factor = 1u32 << delay.times.min(16);
        delay.times += 1;
        delay.until = now + FIRST.saturating_mul(factor).min(LONGEST);
    }

    /// This run was driven to an end. What blocked the others may be gone, too.
    pub fn succeeded(&mut self, run: &RunId, now: Instant) {
        self.0.remove(run);
        for delay in self.0.values_mut() {
            delay.until = now;
        }
    }

    /// Does this run still wait?
    pub fn is_waiting(&self, run: &RunId, now: Instant) -> bool {
        self.0.get(run).is_some_and(|delay| now < delay.until)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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

    fn run(id: &str) -> RunId {
        RunId::parse(id).unwrap()
    }
}
