//! The crowd battery: 64 processes at a time write to one run, and every event is there once.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::stand::{Stand, text};
use super::{Extent, Manner, at_once, cases, journal};
use crate::failure::Failure;
use crate::output::say;

/// How many write at once, and how many events each writes, one process an event.
#[derive(Clone, Copy)]
struct Crowd {
    writers: usize,
    each: usize,
}

const CROWD: Crowd = Crowd {
    writers: 64,
    each: 50,
};

/// The whole battery is quick enough to be its own sample.
pub(super) fn run(program: &Path, manner: Manner) -> Result<(), Failure> {
    match manner.extent {
        Extent::Sample | Extent::Whole => crowd(program, CROWD),
    }
}

fn crowd(program: &Path, crowd: Crowd) -> Result<(), Failure> {
    let stand = cases::started(program)?;
    let writes = at_once(crowd.writers, |writer| {
        write_all(&stand, writer, crowd.each)
    });
    let writes = writes.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    report_times(&writes);
    let refused: Vec<_> = writes
        .iter()
        .filter_map(|write| write.refused.as_ref())
        .collect();
    refused
        .iter()
        .take(5)
        .for_each(|reason| say(format_args!("  refused: {reason}")));
    let Found { lost, doubled } = find(&stand, &writes)?;
    let harm = format!("{} refused, {lost} lost, {doubled} doubled", refused.len());
    say(format_args!(
        "crowd: {} writers, {} events, {harm}",
        crowd.writers,
        writes.len()
    ));
    journal::verify(&stand)?;
    match (refused.len(), lost, doubled) {
        (0, 0, 0) => Ok(()),
        _ => Err(Failure::no(format!("a crowd of {}: {harm}", crowd.writers))),
    }
}

/// One process and how it went.
#[derive(Clone)]
struct Write {
    name: String,
    took: Duration,
    refused: Option<String>,
}

fn write_all(stand: &Stand, writer: usize, each: usize) -> Result<Vec<Write>, Failure> {
    (0..each)
        .map(|event| write(stand, &name(writer, event)))
        .collect()
}

fn name(writer: usize, event: usize) -> String {
    format!("w{writer}-e{event}")
}

/// A checkpoint is one entry, and leaves the run where it is: all of them are legal at any time.
fn write(stand: &Stand, name: &str) -> Result<Write, Failure> {
    let began = Instant::now();
    let mut command = stand.command(&["checkpoint", cases::RUN, name, "--key", name]);
    let output = stand.output(&mut command)?;
    let took = began.elapsed();
    let reason = || {
        format!(
            "{name}: {}: {}",
            output.status,
            text(&output.stderr).trim_end()
        )
    };
    Ok(Write {
        name: name.to_owned(),
        took,
        refused: (!output.status.success()).then(reason),
    })
}

struct Found {
    /// Acknowledged, and not there.
    lost: usize,
    doubled: usize,
}

/// Looks for everything that was acknowledged among the checkpoints.
fn find(stand: &Stand, writes: &[Write]) -> Result<Found, Failure> {
    let entries = journal::entries(stand, cases::RUN)?;
    let there = journal::checkpoints(&entries)?;
    let different: BTreeSet<_> = there.iter().collect();
    let acknowledged = writes.iter().filter(|write| write.refused.is_none());
    let lost = acknowledged
        .filter(|write| !different.contains(&write.name))
        .count();
    Ok(Found {
        lost,
        doubled: there.len() - different.len(),
    })
}

/// For the reader only: a time is never a reason to fail.
fn report_times(writes: &[Write]) {
    let mut times: Vec<_> = writes.iter().map(|write| write.took).collect();
    times.sort_unstable();
    let at = |percent: usize| {
        times
            .get(times.len().saturating_sub(1) * percent / 100)
            .copied()
            .unwrap_or_default()
    };
    say(format_args!(
        "  one event: p50 {:.0?}, p99 {:.0?}, worst {:.0?}",
        at(50),
        at(99),
        at(100)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battery::impostor::{Impostor, impostor};

    fn harm(kind: Impostor) -> Option<String> {
        let program = impostor(kind);
        let result = crowd(
            &program,
            Crowd {
                writers: 8,
                each: 4,
            },
        );
        result.err().map(|failure| failure.to_string())
    }

    #[test]
    fn a_program_that_appends_passes() {
        assert_eq!(harm(Impostor::Sound), None);
    }

    #[test]
    fn a_program_that_writes_twice_is_found_out() {
        let harm = harm(Impostor::Forgetful).unwrap();
        assert!(harm.ends_with("0 refused, 0 lost, 32 doubled"), "{harm}");
    }

    #[test]
    fn a_program_that_says_it_wrote_and_did_not_is_found_out() {
        let harm = harm(Impostor::Idle).unwrap();
        assert!(harm.ends_with("0 refused, 32 lost, 0 doubled"), "{harm}");
    }
}
