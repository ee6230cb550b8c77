//! The nemeses: what is done to drivers, server, network and clocks, in an order by chance, and undone again.

use std::fmt;
use std::thread;
use std::time::Duration;

use crate::Result;
use crate::chance::Chance;
use crate::failover;
use crate::site::{Site, wait};

/// One thing that breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// kill -9 of a driver.
    Driver,
    /// `pg_ctl -m immediate`.
    Crash,
    /// kill -9 of the server's first process.
    Server,
    /// kill -9 of both.
    Both,
    /// SIGSTOP of a driver past its lease, then SIGCONT.
    Sleep,
    /// Nothing arrives on the way to a machine, past its lease.
    Stall,
    /// The connections of a machine break, and new ones are refused for a while.
    Cut,
    /// Everything is late on the way to a machine.
    Delay,
    /// The server commits, and the answer is lost.
    LostAnswer,
    ClockAhead,
    ClockBehind,
    /// The primary is killed, and the replica that every write waited for takes over.
    Synchronous,
    /// The same with a replica that is behind.
    Asynchronous,
}

/// Those that come in any order.
const ANY: [Fault; 11] = [
    Fault::Driver,
    Fault::Crash,
    Fault::Server,
    Fault::Both,
    Fault::Sleep,
    Fault::Stall,
    Fault::Cut,
    Fault::Delay,
    Fault::LostAnswer,
    Fault::ClockAhead,
    Fault::ClockBehind,
];

const HOUR_MS: i64 = 3_600_000;

const LATE: Duration = Duration::from_millis(80);

/// The longest time before a fault, and of one that is not ended by something to watch.
const LONGEST: Duration = Duration::from_millis(400);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Driver => "driver killed",
            Self::Crash => "server crashed",
            Self::Server => "server killed",
            Self::Both => "both killed",
            Self::Sleep => "driver asleep",
            Self::Stall => "stalled",
            Self::Cut => "cut",
            Self::Delay => "delayed",
            Self::LostAnswer => "answer lost",
            Self::ClockAhead => "clock +1 h",
            Self::ClockBehind => "clock -1 h",
            Self::Synchronous => "synchronous fail-over",
            Self::Asynchronous => "asynchronous fail-over",
        })
    }
}

/// The faults of a round: each so often, in an order by chance, with a synchronous fail-over among them. The asynchronous
/// one is the last.
pub(crate) fn plan(each: usize, chance: &mut Chance) -> Vec<Fault> {
    let mut rest = ANY.repeat(each);
    rest.push(Fault::Synchronous);
    let mut plan = Vec::new();
    while !rest.is_empty() {
        plan.push(rest.swap_remove(chance.below(rest.len())));
    }
    plan.push(Fault::Asynchronous);
    plan
}

/// Does it to the site, and undoes what can be undone.
pub(crate) fn strike(site: &mut Site, fault: Fault, chance: &mut Chance) -> Result<()> {
    thread::sleep(chance.moment(LONGEST));
    let at = chance.below(site.machines.len());
    match fault {
        Fault::Driver => {
            site.machines[at].kill()?;
            site.machines[at].start_again()?;
        }
        Fault::Crash => {
            site.primary.crash();
            site.primary.start_again();
        }
        Fault::Server => {
            site.primary.kill();
            site.primary.start_again();
        }
        Fault::Both => {
            site.primary.kill();
            site.machines[at].kill()?;
            site.primary.start_again();
            site.machines[at].start_again()?;
        }
        Fault::Sleep => {
            let held = held(site, at)?;
            site.machines[at].freeze()?;
            taken_over(site, &held)?;
            site.machines[at].wake()?;
        }
        Fault::Stall => {
            let held = held(site, at)?;
            site.machines[at].proxy.stall();
            taken_over(site, &held)?;
            site.machines[at].proxy.open();
        }
        Fault::Cut => {
            site.machines[at].proxy.cut();
            thread::sleep(chance.moment(LONGEST));
            site.machines[at].proxy.open();
        }
        Fault::Delay => {
            site.machines[at].proxy.delay(LATE);
            thread::sleep(LONGEST * 2);
            site.machines[at].proxy.open();
        }
        Fault::LostAnswer => {
            let proxy = &site.machines[at].proxy;
            proxy.lose_the_next_answer();
            wait("the lost answer", || Ok(proxy.has_lost_it()))?;
        }
        Fault::ClockAhead => site.machines[at].set_clock(HOUR_MS)?,
        Fault::ClockBehind => site.machines[at].set_clock(-HOUR_MS)?,
        Fault::Synchronous => failover::to_synchronous(site)?,
        // It reports what it lost, so the round itself does it.
        Fault::Asynchronous => {}
    }
    Ok(())
}

/// A run that this machine drives, with its fence.
struct Held {
    run: String,
    fence: u64,
}

fn held(site: &Site, at: usize) -> Result<Held> {
    let holder = site.machines[at].holder();
    let held = format!(
        "SELECT id, last_fence FROM gatewright.runs WHERE lease_holder = '{holder}' AND status = 'running'"
    );
    let mut found = String::new();
    wait("a run of the machine", || {
        found = site.sql(&held);
        Ok(!found.is_empty())
    })?;
    let (run, fence) = found.split_once('|').ok_or("two columns")?;
    let fence = fence.lines().next().unwrap_or_default().parse()?;
    Ok(Held {
        run: run.to_owned(),
        fence,
    })
}

/// Waits until another machine has taken the run, unless its driver was just done with it.
fn taken_over(site: &Site, held: &Held) -> Result<()> {
    let Held { run, fence } = held;
    let taken = format!(
        "SELECT count(*) FROM gatewright.runs r LEFT JOIN gatewright.queue q ON q.run = r.id WHERE r.id = '{run}' \
         AND (r.last_fence > {fence} OR r.status <> 'running' OR q.set_aside IS NOT NULL)"
    );
    wait("another driver", || Ok(site.sql(&taken) == "1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_every_fault_and_ends_with_the_loss() {
        let plan = plan(2, &mut Chance::of(7, 0));
        assert_eq!(plan.len(), 2 * ANY.len() + 2);
        assert_eq!(plan.last(), Some(&Fault::Asynchronous));
        let times = |fault| plan.iter().filter(|it| **it == fault).count();
        assert!(ANY.iter().all(|fault| times(*fault) == 2));
        assert_eq!(times(Fault::Synchronous), 1);
        assert_ne!(plan, super::plan(2, &mut Chance::of(8, 0)));
    }
}
