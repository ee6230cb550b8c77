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

/// Who has not come to drive the run by then is held up by the one that is frozen.
const BLOCKED: Duration = Duration::from_secs(15);

/// How long one that holds others up goes on.
const TICK: Duration = Duration::from_millis(20);

/// How many lines the log has at most when the first one is frozen; the whole run has 22.
const MOST_LINES: usize = 20;

/// How long after such a line it is frozen at most.
const MOST_DELAY: Duration = Duration::from_millis(500);

/// The works in the middle of which the first one is frozen.
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
    moment: Moment,
    frozen: Frozen,
    wakes: Wakes,
}

/// When the first one is frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// In the middle of this work, which takes as long as we like.
    Amidst(&'static str),
    /// Whatever it does so long after so many lines in the log.
    Any { lines: usize, delay: Duration },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frozen {
    Orchestrator,
    /// With its worker and the watchdog, as when the lid of a laptop is closed.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wakes {
    /// While the other one is at work.
    Meanwhile,
    /// When the other one has come to the end.
    Afterwards,
}

impl Plan {
    fn by(chance: &mut Chance) -> Self {
        Self {
            moment: if chance.coin() {
                Moment::Amidst(chance.one_of(&WORKS).unwrap_or(WORKS[0]))
            } else {
                Moment::Any {
                    lines: chance.below(MOST_LINES + 1),
                    delay: chance.moment(MOST_DELAY),
                }
            },
            frozen: if chance.coin() {
                Frozen::Orchestrator
            } else {
                Frozen::All
            },
            wakes: match chance.below(3) {
                0 => Wakes::Afterwards,
                _ => Wakes::Meanwhile,
            },
        }
    }
}

pub(super) fn run(program: &Path, manner: Manner) -> Result<(), Failure> {
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
    let mut first = rehearsal.begin()?;
    wait_for(&rehearsal, &mut first, plan.moment)?;
    let frozen = freeze(&rehearsal, &first, plan.frozen)?;
    while plan.wakes == Wakes::Afterwards && is_merging(&rehearsal, &first) {
        nudge(&frozen)?;
    }
    let mut second = match take_over(&rehearsal, plan.moment, &frozen)? {
        Ok(second) => second,
        Err(harm) => return Ok(vec![harm]),
    };
    let mut harm = Vec::new();
    if plan.wakes == Wakes::Meanwhile {
        let alone = match plan.moment {
            // Another step may be at work beside it.
            Moment::Amidst(work) if work.starts_with("building") => Alone::No,
            Moment::Amidst(_) => Alone::Yes,
            Moment::Any { .. } => Alone::No,
        };
        harm.extend(wake(&rehearsal, &mut first, (&frozen, alone))?);
    }
    rehearsal.let_go()?;
    harm.extend(runs::end_of(&mut second)?);
    if plan.wakes == Wakes::Afterwards {
        harm.extend(wake(&rehearsal, &mut first, (&frozen, Alone::Yes))?);
    }
    harm.extend(aftermath::judge(
        &rehearsal,
        undisturbed,
        &Finished::default(),
    )?);
    Ok(harm)
}

fn wait_for(rehearsal: &Rehearsal, first: &mut Sitting, moment: Moment) -> Result<(), Failure> {
    match moment {
        Moment::Amidst(work) => {
            rehearsal.hold(work)?;
            first.wait_until(|_| begun(rehearsal, work) > 0)
        }
        Moment::Any { lines, delay } => {
            first.wait_until(|_| rehearsal.log().len() >= lines)?;
            thread::sleep(delay);
            Ok(())
        }
    }
}

fn begun(rehearsal: &Rehearsal, work: &str) -> usize {
    let log = rehearsal.log();
    let is_begun = |line: &&Line| line.what == Noted::Began && line.work == work;
    log.iter().filter(is_begun).count()
}

fn freeze(rehearsal: &Rehearsal, first: &Sitting, frozen: Frozen) -> Result<Vec<u32>, Failure> {
    let mut ids = vec![first.id()];
    if frozen == Frozen::All {
        let others = [rehearsal.workers(), rehearsal.watchdogs()].concat();
        ids.extend(others.iter().map(|process| process.id));
    }
    processes::send(Signal::Stop, &ids)?;
    Ok(ids)
}

/// Is it frozen in the middle of a merge? Then nobody could come to the end before it wakes up.
fn is_merging(rehearsal: &Rehearsal, first: &Sitting) -> bool {
    let folder = rehearsal.stand.state_home().join("gatewright/worktrees");
    let mut files = aftermath::inside(&folder).into_iter();
    files.any(|file| processes::lockers(&file).contains(&first.id()))
}

/// Lets those who are frozen go on for a moment.
fn nudge(frozen: &[u32]) -> Result<(), Failure> {
    processes::send(Signal::Continue, frozen)?;
    thread::sleep(TICK);
    processes::send(Signal::Stop, frozen)
}

/// A second one tries until the lease of the first has run out, and then drives the run.
fn take_over(
    rehearsal: &Rehearsal,
    moment: Moment,
    frozen: &[u32],
) -> Result<Result<Sitting, Harm>, Failure> {
    let before = match moment {
        Moment::Amidst(work) => begun(rehearsal, work),
        Moment::Any { .. } => 0,
    };
    let drives = |second: &Sitting| match moment {
        Moment::Amidst(work) => begun(rehearsal, work) > before,
        Moment::Any { .. } => second.said().contains(" of whole "),
    };
    let since = Instant::now();
    let mut second = rehearsal.resume()?;
    while since.elapsed() < LONGEST {
        let tried = Instant::now();
        second.wait_until(|second| drives(second) || tried.elapsed() > BLOCKED)?;
        let ended = second.ended()?;
        if drives(&second) || ended.is_some_and(|status| status.success()) {
            return Ok(Ok(second));
        }
        if !second.said().contains("another gatewright") {
            // It was frozen in the middle of a write or a merge, or before the run had begun: only
            // itself can end that.
            nudge(frozen)?;
        }
        if ended.is_some() {
            thread::sleep(PATIENCE);
            second = rehearsal.resume()?;
        }
    }
    let said = second.said();
    Ok(Err(Harm::Stuck(format!("nobody could take over: {said}"))))
}

/// All that the first one could change, a line each, while the second one changes nothing.
fn all_of(rehearsal: &Rehearsal) -> Result<Vec<String>, Failure> {
    let entries = journal::entries(&rehearsal.stand, &rehearsal.run)?;
    let entries = entries
        .iter()
        .map(|entry| format!("entry {}", entry["fact"]));
    let tree = picture::tree(&rehearsal.stand)?.into_iter();
    let files = tree.map(|(name, text)| format!("file {name}: {text:?}"));
    let log = rehearsal.log().into_iter();
    let log = log.map(|line| format!("log {line:?}"));
    Ok(entries.chain(files).chain(log).collect())
}

/// Is the one that wakes up the only one who could change anything now?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alone {
    Yes,
    No,
}

/// Wakes the first one: it must do nothing but say who drives the run now, and end.
fn wake(
    rehearsal: &Rehearsal,
    first: &mut Sitting,
    (frozen, alone): (&[u32], Alone),
) -> Result<Vec<Harm>, Failure> {
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
    let after = all_of(rehearsal)?;
    if alone == Alone::Yes && after != before {
        let new = after.into_iter().filter(|line| !before.contains(line));
        harm.push(Harm::Meddled(new.collect::<Vec<_>>().join("; ")));
    }
    Ok(harm)
}

fn names_the_other(said: &str) -> bool {
    said.contains("another gatewright")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battery::pretender::{Pretender, pretender};

    fn harm(kind: Pretender, wakes: Wakes) -> Vec<&'static str> {
        let program = pretender(kind);
        let undisturbed = runs::undisturbed(&program).unwrap();
        let plan = Plan {
            moment: Moment::Amidst(WORKS[0]),
            frozen: Frozen::Orchestrator,
            wakes,
        };
        let harm = round(&program, 0, plan, &undisturbed).unwrap();
        harm.iter().map(Harm::word).collect()
    }

    #[test]
    fn a_program_that_gives_way_passes() {
        for wakes in [Wakes::Meanwhile, Wakes::Afterwards] {
            assert_eq!(harm(Pretender::Sound, wakes), [""; 0]);
        }
    }

    #[test]
    fn an_orchestrator_that_writes_after_it_lost_its_lease_is_found_out() {
        let meanwhile = harm(Pretender::Usurping, Wakes::Meanwhile);
        assert!(meanwhile.contains(&"meddled"), "{meanwhile:?}");
        let afterwards = harm(Pretender::Usurping, Wakes::Afterwards);
        assert!(afterwards.contains(&"meddled"), "{afterwards:?}");
    }

    #[test]
    fn an_orchestrator_that_ends_as_if_nothing_had_been_is_found_out() {
        assert_eq!(harm(Pretender::Silent, Wakes::Meanwhile), ["ended"]);
    }
}
