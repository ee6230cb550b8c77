//! A crowd: 64 hooks at once on one run, and every event must be there once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::hooks::ENDING;
use super::payload::{Payload, Worker};
use super::rounds::percentile;
use super::seat::Seat;
use crate::failure::Failure;

/// How many hooks come at once.
const MEMBERS: usize = 64;

/// How often they come.
const TIMES: usize = 10;

/// What the work of one agent leaves in the journal: it is admitted, begins, is seen to work, and ends.
const ENTRIES: usize = 4;

pub(super) struct Crowd {
    pub members: usize,
    pub events: usize,
    pub median: Duration,
    pub p99: Duration,
    pub lost: usize,
    pub doubled: usize,
    /// What the first hook that was not content said.
    pub complaint: Option<String>,
}

pub(super) fn gather(program: &Path) -> Result<Crowd, Failure> {
    let seat = Seat::executing(program, 10)?;
    let mut ends = Vec::new();
    for time in 0..TIMES {
        let workers: Vec<Worker> = (0..MEMBERS).map(|member| worker(time, member)).collect();
        workers
            .iter()
            .try_for_each(|worker| seat.set_to_work(worker))?;
        ends.extend(end_all(&seat, &workers));
    }
    let mut times: Vec<Duration> = ends.iter().map(|end| end.took).collect();
    times.sort_unstable();
    let found = seat.ended(ends.len() * ENTRIES)?;
    let different: BTreeSet<&String> = found.iter().collect();
    Ok(Crowd {
        members: MEMBERS,
        events: ends.len(),
        median: percentile(&times, 50),
        p99: percentile(&times, 99),
        lost: ends.len().saturating_sub(different.len()),
        doubled: found.len() - different.len(),
        complaint: ends.into_iter().find_map(|end| end.complaint),
    })
}

fn worker(time: usize, member: usize) -> Worker {
    Worker {
        agent: ENDING,
        number: 1_000 + time * MEMBERS + member,
    }
}

/// One hook, and how it went.
struct End {
    took: Duration,
    complaint: Option<String>,
}

fn end_all(seat: &Seat, workers: &[Worker]) -> Vec<End> {
    let together = Barrier::new(workers.len());
    let end = |worker: &Worker| {
        let payload = Payload::agent_stopping(worker);
        together.wait();
        let began = Instant::now();
        let complaint = seat.send(&payload).err().map(|failure| failure.to_string());
        End {
            took: began.elapsed(),
            complaint,
        }
    };
    let end = &end;
    thread::scope(|scope| {
        let members: Vec<_> = workers
            .iter()
            .map(|worker| scope.spawn(move || end(worker)))
            .collect();
        let ends = members.into_iter().map(thread::ScopedJoinHandle::join);
        ends.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
