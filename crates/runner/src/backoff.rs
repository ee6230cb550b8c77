//! Backoff: runs that could not be decided, and when each is tried again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::RunId;

/// The first wait. It doubles with each setback of the same run.
const FIRST: Duration = Duration::from_secs(4);

const LONGEST: Duration = Duration::from_secs(15 * 60);

#[derive(Debug, Default)]
pub struct Backoff(BTreeMap<RunId, Setback>);

#[derive(Debug)]
struct Setback {
    times: u32,
    until: Instant,
}

impl Backoff {
    /// This run could not be decided: it rests for a while.
    pub fn note(&mut self, run: RunId, now: Instant) {
        let setback = self.0.entry(run).or_insert(Setback {
            times: 0,
            until: now,
        });
        let factor = 1u32 << setback.times.min(16);
        setback.times += 1;
        setback.until = now + FIRST.saturating_mul(factor).min(LONGEST);
    }

    /// This run was decided to a rest. What was in the way of the others may have gone with it.
    pub fn passed(&mut self, run: &RunId, now: Instant) {
        self.0.remove(run);
        for setback in self.0.values_mut() {
            setback.until = now;
        }
    }

    /// Does this run still rest?
    pub fn rests(&self, run: &RunId, now: Instant) -> bool {
        self.0.get(run).is_some_and(|setback| now < setback.until)
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
            assert!(!backoff.rests(&run, now));
            backoff.note(run.clone(), now);
            assert!(backoff.rests(&run, now + second * (rest - 1)), "{rest}");
            now += second * rest;
        }
        backoff.note(run.clone(), now);
        assert!(backoff.rests(&run, now) && !backoff.rests(&other, now));
        backoff.passed(&other, now);
        assert!(!backoff.rests(&run, now) && !backoff.is_empty());
        backoff.passed(&run, now);
        assert!(backoff.is_empty());
    }

    fn run(id: &str) -> RunId {
        RunId::parse(id).unwrap()
    }
}
