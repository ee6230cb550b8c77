//! `cargo xtask battery`: hurts the real program and counts what is lost, doubled or corrupt.

mod aftermath;
mod cases;
mod chance;
mod chores;
mod crowd;
mod edits;
mod fleet;
#[cfg(test)]
mod impostor;
mod journal;
mod kill;
mod night;
mod picture;
// xtask is built without the crates of the tests.
#[expect(dead_code, unreachable_pub, reason = "tests of other crates use it")]
#[path = "../../../crates/testkit/src/pipelines.rs"]
pub(crate) mod pipelines;
mod played_hook;
mod power;
#[cfg(test)]
mod pretender;
mod processes;
mod rehearsal;
mod runs;
mod stand;
mod trace;
mod two;
#[path = "../../../crates/testkit/src/typing.rs"]
mod typing;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{iter, thread};

use chance::Chance;

use crate::dist;
use crate::failure::Failure;
use crate::output::say;
use crate::setup;

pub(crate) use cases::{RUN, started};
pub(crate) use stand::Stand;
pub(crate) use trace::points;

const HELP: &str = "\
Usage: cargo xtask battery [NAME] [--whole] [--program PATH] [--seed NUMBER]

Batteries (all of them, if none is named):
  kill       kill -9 before every system call of every command that writes, then the same command
             again with the same key: nothing lost, nothing doubled, nothing corrupt
  chores     the same for `trust`, `init`, `uninit`, `gc`, `verify --repair` and a hook of every event,
             which have no key; and an error at every call of a hook that can fail
  edits      every file of the state folder is edited, cut, swapped or removed, and every column of its
             store: the program refuses, says so, or answers as before
  crowd      64 processes write 50 events each to one run: 3,200 events, chain intact
  runs       kill -9 at random moments of whole headless runs (the orchestrator, a worker, its watchdog,
             or several of them), then `resume`: the same end, each work once, nobody left behind
  two        an orchestrator is frozen longer than its lease holds, another one takes over, and the
             first wakes up: it does nothing more
  night      ten queued tasks in one repository, some with a question, a usage limit, a budget or a conflict; the
             machine crashes at random moments and the person goes on working: every task is a branch or has a
             reason, the summary tells it, and nothing of the person's is touched
  fleet      machines drive queued runs of one PostgreSQL; drivers and server are killed, machines sleep past their lease,
             networks stall, cut and lose answers, clocks are wrong, replicas take over: nothing that was acknowledged
             is lost or doubled, nobody writes under an old fence, and what an asynchronous replica loses is reported.
             Then real workers on three machines drive runs; machines, workers and the server are killed, and machines
             sleep: every run is completed, each work is counted and done once, the remote has exactly its files, and
             nobody is left behind
  power      the power of an ext4 and of an xfs is cut while many processes write, and comes back:
             everything that was acknowledged is there. It mounts file systems, so it needs root

Options:
  --whole          Take every point, of the program that `cargo xtask dist` builds; without it, a
                   sample of the one that `cargo build` builds, which is there after the tests
  --program PATH   Hurt this program instead
  --seed NUMBER    Take the same random choices as another time; all but `crowd` print theirs";

/// How much of a battery is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Sample,
    Whole,
}

/// How a battery is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    extent: Extent,
    /// What is chosen at random is chosen by this.
    seed: u64,
}

#[cfg(test)]
impl Manner {
    /// Every point.
    const WHOLE: Self = Self {
        extent: Extent::Whole,
        seed: 0,
    };
}

/// A battery: it hurts this program, prints what it counted, and fails when something was lost.
type Battery = fn(&Path, Manner) -> Result<(), Failure>;

const BATTERIES: [(&str, Battery); 9] = [
    ("kill", kill::run),
    ("chores", chores::run),
    ("edits", edits::run),
    ("crowd", crowd::run),
    ("runs", runs::run),
    ("two", two::run),
    ("night", night::run),
    ("fleet", fleet::run),
    ("power", power::run),
];

#[derive(Debug, PartialEq, Eq)]
struct Options {
    name: Option<String>,
    extent: Extent,
    program: Option<PathBuf>,
    seed: Option<u64>,
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h")
    {
        say(HELP);
        return Ok(());
    }
    let options = parse(arguments)?;
    setup::ensure_tools()?;
    let manner = Manner {
        extent: options.extent,
        seed: options.seed.unwrap_or_else(Chance::seed),
    };
    let wanted = |name: &str| options.name.as_deref().is_none_or(|wanted| wanted == name);
    let chosen = BATTERIES.iter().filter(|(name, _)| wanted(name));
    // Every battery runs, also after one has failed.
    let results: Vec<_> = chosen
        .map(|(_, battery)| battery(&program(&options)?, manner))
        .collect();
    results.into_iter().collect()
}

/// What is hurt. Cargo builds it once.
fn program(options: &Options) -> Result<PathBuf, Failure> {
    match (&options.program, options.extent) {
        (Some(path), _) => Ok(path.clone()),
        (None, Extent::Whole) => Ok(dist::build()?.path),
        (None, Extent::Sample) => dist::build_for_development(),
    }
}

/// Runs a sample of one battery.
pub(crate) fn sample(name: &str) -> Result<(), Failure> {
    run(&[name.to_owned()])
}

/// Why `power` cannot be run on this machine, if there is a reason.
pub(crate) fn power_obstacle() -> Option<String> {
    power::obstacle()
}

/// Does the work in so many threads at once, each with its number, and hands back every result.
fn at_once<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| scope.spawn(move || work(number)))
            .collect();
        let results = workers.into_iter().map(thread::ScopedJoinHandle::join);
        results
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Takes every item, as many at once as there are cores, and hands the results back in order.
fn spread<I: Sync, T: Send>(
    items: &'static [I],
    take: impl Fn(&'static I) -> Result<T, Failure> + Sync,
) -> Result<Vec<T>, Failure> {
    let queue = Mutex::new(items.iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        iter::from_fn(next)
            .map(|(at, item)| (at, take(item)))
            .collect::<Vec<_>>()
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut done = at_once(cores, |_| work())
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn parse(arguments: &[String]) -> Result<Options, Failure> {
    let mut options = Options {
        name: None,
        extent: Extent::Sample,
        program: None,
        seed: None,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--whole" => options.extent = Extent::Whole,
            "--program" => {
                let path = rest
                    .next()
                    .ok_or_else(|| Failure::usage("--program needs a path", HELP))?;
                options.program = Some(PathBuf::from(path));
            }
            "--seed" => {
                let seed = rest.next().and_then(|seed| seed.parse().ok());
                let seed = seed.ok_or_else(|| Failure::usage("--seed needs a number", HELP))?;
                options.seed = Some(seed);
            }
            name if BATTERIES.iter().any(|(known, _)| *known == name) && options.name.is_none() => {
                options.name = Some(name.to_owned());
            }
            unknown => {
                return Err(Failure::usage(
                    format!("battery does not know `{unknown}`"),
                    HELP,
                ));
            }
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        let arguments: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        parse(&arguments).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_name_an_extent_and_a_program_are_understood() {
        let options = |name: Option<&str>, extent, program: Option<&str>| Options {
            name: name.map(str::to_owned),
            extent,
            program: program.map(PathBuf::from),
            seed: None,
        };
        assert_eq!(parsed(""), Ok(options(None, Extent::Sample, None)));
        assert_eq!(
            parsed("kill --whole"),
            Ok(options(Some("kill"), Extent::Whole, None))
        );
        assert_eq!(
            parsed("--program a crowd"),
            Ok(options(Some("crowd"), Extent::Sample, Some("a")))
        );
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for line in [
            "burn",
            "kill crowd",
            "--half",
            "--program",
            "--seed",
            "--seed x",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
