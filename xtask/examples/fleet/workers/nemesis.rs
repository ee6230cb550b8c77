//! The nemeses of the real workers: what is done to machines, workers and the server, in an order by chance.

use std::fmt;
use std::thread;
use std::time::Duration;

use super::yard::Yard;
use crate::Result;
use crate::chance::Chance;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// kill -9 of everything on a machine: worker, watchdogs, agents and git.
    Machine,
    /// kill -9 of a worker alone: its agents end with it.
    Worker,
    /// SIGSTOP of a machine past its lease, then SIGCONT.
    Sleep,
    /// `pg_ctl -m immediate`.
    Crash,
    /// One more worker starts on a machine.
    Further,
}

const ALL: [Fault; 5] = [
    Fault::Machine,
    Fault::Worker,
    Fault::Sleep,
    Fault::Crash,
    Fault::Further,
];

/// A machine has at most so many workers.
const MOST_WORKERS: usize = 2;

/// The longest time before a fault: about what a piece of work and its end take.
const LONGEST: Duration = Duration::from_millis(1500);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Machine => "machine killed",
            Self::Worker => "worker killed",
            Self::Sleep => "machine asleep",
            Self::Crash => "server crashed",
            Self::Further => "further worker",
        })
    }
}

/// Each fault so often, in an order by chance.
pub(crate) fn plan(each: usize, chance: &mut Chance) -> Vec<Fault> {
    let mut rest = ALL.repeat(each);
    let mut plan = Vec::new();
    while !rest.is_empty() {
        plan.push(rest.swap_remove(chance.below(rest.len())));
    }
    plan
}

/// Does it, and undoes what can be undone. Returns what a killed worker left behind.
pub(crate) fn strike(yard: &mut Yard, fault: Fault, chance: &mut Chance) -> Result<Option<String>> {
    let at = chance.below(yard.machines.len());
    let is_slow = chance.coin();
    let moment = chance.moment(LONGEST);
    let (at, held) = match fault {
        Fault::Machine | Fault::Worker | Fault::Sleep => {
            let (at, held) = at_work(yard, at)?;
            (at, Some(held))
        }
        Fault::Crash | Fault::Further => (at, None),
    };
    thread::sleep(moment);
    match fault {
        Fault::Machine => yard.blow(Some(at), |yard| {
            yard.machines[at].kill()?;
            // It comes back at once, or when others have its runs.
            if let Some(held) = held.filter(|_| is_slow) {
                taken_over(yard, &held)?;
            }
            yard.machines[at].begin_worker()?;
            Ok(None)
        }),
        Fault::Worker => yard.blow(Some(at), |yard| kill_worker(yard, at)),
        Fault::Sleep => yard.blow(Some(at), |yard| {
            yard.machines[at].freeze()?;
            // What it held a moment ago may be done.
            let held = now_held(yard, at)?;
            held.map_or(Ok(()), |held| taken_over(yard, &held))?;
            yard.machines[at].wake()?;
            Ok(None)
        }),
        Fault::Crash => yard.blow(None, |yard| {
            yard.server.crash();
            yard.server.start_again();
            Ok(None)
        }),
        Fault::Further => {
            let machine = &mut yard.machines[at];
            if machine.workers() < MOST_WORKERS {
                machine.begin_worker()?;
            }
            Ok(None)
        }
    }
}

/// Kills a worker, and looks at what it leaves behind before the next one starts.
fn kill_worker(yard: &mut Yard, at: usize) -> Result<Option<String>> {
    let machine = &mut yard.machines[at];
    let is_alone = machine.workers() == 1;
    machine.kill_worker()?;
    let left = if is_alone { machine.left() } else { Vec::new() };
    machine.begin_worker()?;
    let told = || format!("after a worker of {} was killed: {left:?}", machine.name);
    Ok((!left.is_empty()).then(told))
}

/// A run that a machine drives, with its fence.
struct Held {
    run: String,
    fence: u64,
}

/// Waits until a machine drives a run: this one, or the next one that does.
fn at_work(yard: &mut Yard, at: usize) -> Result<(usize, Held)> {
    yard.fill()?;
    let mut found = None;
    yard.wait("a run at work", |yard| {
        let count = yard.machines.len();
        for machine in (at..at + count).map(|number| number % count) {
            if let Some(held) = now_held(yard, machine)? {
                found = Some((machine, held));
                return Ok(true);
            }
        }
        Ok(false)
    })?;
    found.ok_or_else(|| "it was found".into())
}

fn now_held(yard: &Yard, at: usize) -> Result<Option<Held>> {
    let name = &yard.machines[at].name;
    let held = yard.sql(&format!(
        "SELECT id, last_fence FROM gatewright.runs WHERE lease_holder LIKE 'fleet:{name} %' AND status = 'running' \
         AND lease_until > gatewright.now_ms()"
    ));
    let Some((run, fence)) = held.lines().next().and_then(|line| line.split_once('|')) else {
        return Ok(None);
    };
    Ok(Some(Held {
        run: run.to_owned(),
        fence: fence.parse()?,
    }))
}

/// Waits until another worker has taken the run, unless it is over.
fn taken_over(yard: &Yard, held: &Held) -> Result<()> {
    let Held { run, fence } = held;
    let taken = format!(
        "SELECT count(*) FROM gatewright.runs WHERE id = '{run}' AND (last_fence > {fence} OR status <> 'running')"
    );
    yard.wait("another driver", |yard| Ok(yard.sql(&taken) == "1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_every_fault_and_another_order_by_another_seed() {
        let plan = plan(2, &mut Chance::of(7, 0));
        let times = |fault| plan.iter().filter(|it| **it == fault).count();
        assert!(ALL.iter().all(|fault| times(*fault) == 2));
        assert_ne!(plan, super::plan(2, &mut Chance::of(8, 0)));
    }
}
