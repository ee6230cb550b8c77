//! The two battery: an orchestrator is frozen longer than its lease holds, another one takes over, and the
//! first wakes up.

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;
use std::time::{Duration, Instant};

use super::aftermath::{self, Finished, Harm};
use super::chance::Chance;
use super::picture::{self, Picture};
use super::processes::{self, Signal};
use super::rehearsal::{LONGEST, Line, Noted, Rehearsal, Sitting};
use super::{Extent, Manner, at_once, journal, runs};
use crate::failure::Failure;
use crate::output::say;

/// How many rounds there are, and how many of them at once: most of their time is waiting.
const WHOLE: (usize, usize) = (50, 10);
const SAMPLE: (usize, usize) = (2, 2);

/// How long after the last refusal the second one tries again.
const PATIENCE: Duration = Duration::from_millis(300);

/// The work in the middle of which the first one is frozen.
const WORKS: [&str; 6] = [
    "planning - planner",
    "reviewing - second-reviewer",
    "reviewing - planner",
    "building one builder",
    "building four builder",
    "mending - mender",
];

/// How one round goes.
#[derive(Clone, Copy, Debug)]
struct Plan {
    work: &'static str,
    frozen: Frozen,
    wakes: Wakes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frozen {
    Orchestrator,
    /// With its worker and the leash, as when the lid of a laptop is closed.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wakes {
    /// While the other one is in the middle of the same work.
    Amidst,
    /// When the other one has come to the end.
    Afterwards,
}

impl Plan {
    fn by(chance: &mut Chance) -> Self {
        Self {
            work: chance.one_of(&WORKS).unwrap_or(WORKS[0]),
            frozen: match chance.coin() {
                true => Frozen::Orchestrator,
                false => Frozen::All,
            },
            wakes: match chance.below(3) {
                0 => Wakes::Afterwards,
                _ => Wakes::Amidst,
            },
        }
    }
}

pub fn run(program: &Path, manner: Manner) -> Result<(), Failure> {
    let (rounds, threads) = match manner.extent {
        Extent::Sample => SAMPLE,
        Extent::Whole => WHOLE,
    };
    say(format_args!("two: seed {}", manner.seed));
    let undisturbed = runs::undisturbed(program)?;
    let queue = Mutex::new(0..rounds);
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let results = at_once(threads, |_| {
        let mut broken = 0;
        while let Some(number) = next() {
            let plan = Plan::by(&mut Chance::of(manner.seed, number));
            let harm = round(program, number, plan, &undisturbed)?;
            harm.iter()
                .for_each(|harm| say(format_args!("  round {number}, {plan:?}: {harm}")));
            broken += usize::from(!harm.is_empty());
        }
        Ok(broken)
    });
    let broken: usize = results.into_iter().sum::<Result<usize, Failure>>()?;
    say(format_args!("two: {rounds} rounds, {broken} broken"));
    match broken {
        0 => Ok(()),
        broken => Err(Failure::no(format!(
            "{broken} rounds came to harm; --seed {} takes the same again",
            manner.seed
        ))),
    }
}

fn round(
    program: &Path,
    number: usize,
    plan: Plan,
    undisturbed: &Picture,
) -> Result<Vec<Harm>, Failure> {
    let rehearsal = Rehearsal::new(program, &format!("two-{number}"))?;
    rehearsal.hold(plan.work)?;
    let mut first = rehearsal.begin()?;
    first.wait_until(|| begun(&rehearsal, plan.work) > 0)?;
    let frozen = freeze(&rehearsal, &first, plan.frozen)?;
    let mut second = match take_over(&rehearsal, plan.work)? {
        Ok(second) => second,
        Err(harm) => return Ok(vec![harm]),
    };
    let mut harm = Vec::new();
    if plan.wakes == Wakes::Amidst {
        harm.extend(wake(&rehearsal, &mut first, &frozen)?);
    }
    rehearsal.let_go()?;
    harm.extend(runs::end_of(&mut second)?);
    if plan.wakes == Wakes::Afterwards {
        harm.extend(wake(&rehearsal, &mut first, &frozen)?);
    }
    harm.extend(aftermath::judge(
        &rehearsal,
        undisturbed,
        &Finished::default(),
    )?);
    Ok(harm)
}

fn begun(rehearsal: &Rehearsal, work: &str) -> usize {
    let log = rehearsal.log();
    let is_begun = |line: &&Line| line.what == Noted::Began && line.work == work;
    log.iter().filter(is_begun).count()
}

fn freeze(rehearsal: &Rehearsal, first: &Sitting, frozen: Frozen) -> Result<Vec<u32>, Failure> {
    let mut ids = vec![first.id()];
    if frozen == Frozen::All {
        let others = [rehearsal.workers(), rehearsal.leashes()].concat();
        ids.extend(others.iter().map(|process| process.id));
    }
    processes::send(Signal::Stop, &ids)?;
    Ok(ids)
}

/// A second one tries until the lease of the first has run out, and then begins the same work.
fn take_over(rehearsal: &Rehearsal, work: &str) -> Result<Result<Sitting, Harm>, Failure> {
    let (since, before) = (Instant::now(), begun(rehearsal, work));
    while since.elapsed() < LONGEST {
        let mut second = rehearsal.resume()?;
        second.wait_until(|| begun(rehearsal, work) > before)?;
        if second.ended()?.is_none() {
            return Ok(Ok(second));
        }
        if !second.said().contains("another gatewright") {
            return Ok(Err(Harm::Ended(second.said())));
        }
        thread::sleep(PATIENCE);
    }
    Ok(Err(Harm::Stuck("nobody could take over".to_owned())))
}

/// All that the first one could change, while the second one changes nothing.
fn all_of(rehearsal: &Rehearsal) -> Result<String, Failure> {
    let entries = journal::entries(&rehearsal.stand, &rehearsal.run)?;
    let tree = picture::tree(&rehearsal.stand)?;
    Ok(format!("{entries:?} {tree:?} {:?}", rehearsal.log()))
}

/// Wakes the first one: it must do nothing but say who drives the run now, and end.
fn wake(rehearsal: &Rehearsal, first: &mut Sitting, frozen: &[u32]) -> Result<Vec<Harm>, Failure> {
    let before = all_of(rehearsal)?;
    processes::send(Signal::Continue, frozen)?;
    let status = first.wait()?;
    let said = first.said();
    let mut harm = Vec::new();
    match status {
        None => harm.push(Harm::Stuck(said)),
        Some(status) if status.success() || !names_the_other(&said) => {
            harm.push(Harm::Ended(format!("{status}: {said}")));
        }
        Some(_) => {}
    }
    if all_of(rehearsal)? != before {
        harm.push(Harm::Meddled(
            "the one that woke up changed something".to_owned(),
        ));
    }
    Ok(harm)
}

fn names_the_other(said: &str) -> bool {
    said.contains("another gatewright") || said.contains("another driver")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battery::pretender::{Pretender, pretender};

    fn harm(kind: Pretender, wakes: Wakes) -> Vec<&'static str> {
        let program = pretender(kind);
        let undisturbed = runs::undisturbed(&program).unwrap();
        let plan = Plan {
            work: WORKS[0],
            frozen: Frozen::Orchestrator,
            wakes,
        };
        let harm = round(&program, 0, plan, &undisturbed).unwrap();
        harm.iter().map(Harm::word).collect()
    }

    #[test]
    fn a_program_that_gives_way_passes() {
        for wakes in [Wakes::Amidst, Wakes::Afterwards] {
            assert_eq!(harm(Pretender::Sound, wakes), [""; 0]);
        }
    }

    #[test]
    fn an_orchestrator_that_writes_after_it_lost_its_lease_is_found_out() {
        let amidst = harm(Pretender::Usurping, Wakes::Amidst);
        assert!(amidst.contains(&"meddled"), "{amidst:?}");
        let afterwards = harm(Pretender::Usurping, Wakes::Afterwards);
        assert!(afterwards.contains(&"meddled"), "{afterwards:?}");
    }

    #[test]
    fn an_orchestrator_that_ends_as_if_nothing_had_been_is_found_out() {
        assert_eq!(harm(Pretender::Silent, Wakes::Amidst), ["ended"]);
    }
}
