//! Rounds: every subject once in turn, so that a busy minute of the machine falls on all of them alike.

use std::time::{Duration, Instant};

use super::subject::{Pace, Subject};
use crate::failure::Failure;

/// Rounds that are run and not counted: the first ones read the programs from the disk.
const WARM_UP: usize = 5;

/// What takes long is timed once in so many rounds.
const SELDOM: usize = 20;

/// The times of each subject, sorted.
pub(super) type Times = Vec<Duration>;

pub(super) fn take(subjects: &[Subject], rounds: usize) -> Result<Vec<Times>, Failure> {
    let mut times = vec![Vec::with_capacity(rounds); subjects.len()];
    for round in 0..WARM_UP + rounds {
        for (subject, times) in subjects.iter().zip(&mut times) {
            if !is_due(subject.pace, round) {
                continue;
            }
            let took = time(subject, round)?;
            if round >= WARM_UP {
                times.push(took);
            }
        }
    }
    times.iter_mut().for_each(|times| times.sort_unstable());
    Ok(times)
}

fn is_due(pace: Pace, round: usize) -> bool {
    match pace {
        Pace::EveryRound => true,
        Pace::Seldom => round % SELDOM == WARM_UP,
    }
}

fn time(subject: &Subject, round: usize) -> Result<Duration, Failure> {
    let mut process = subject.ready(&[], round)?;
    let began = Instant::now();
    let status = process
        .run()
        .map_err(Failure::program(subject.kind.name()))?;
    let took = began.elapsed();
    if status.success() {
        Ok(took)
    } else {
        Err(Failure::no(format!(
            "{} failed: {status}: {:?}",
            subject.kind.name(),
            process.command
        )))
    }
}

/// The time that so many percent of the rounds did not exceed.
pub(super) fn percentile(times: &[Duration], percent: usize) -> Duration {
    let last = times.len().saturating_sub(1);
    times.get(last * percent / 100).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_times() {
        let times: Times = (1..=101).map(Duration::from_millis).collect();
        let at = |percent| percentile(&times, percent).as_millis();
        assert_eq!((at(0), at(50), at(99), at(100)), (1, 51, 100, 101));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }

    #[test]
    fn what_takes_long_is_timed_seldom_and_never_left_out() {
        let due = |pace| {
            (0..WARM_UP + 40)
                .filter(|round| is_due(pace, *round))
                .count()
        };
        assert_eq!(due(Pace::EveryRound), WARM_UP + 40);
        assert_eq!(due(Pace::Seldom), 2);
        let one_round = (WARM_UP..=WARM_UP).filter(|round| is_due(Pace::Seldom, *round));
        assert_eq!(one_round.count(), 1);
    }
}
