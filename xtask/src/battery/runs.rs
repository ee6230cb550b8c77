//! The runs battery: kill -9 in the middle of whole headless runs, then `resume`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::aftermath::{self, Finished, Harm};
use super::chance::Chance;
use super::picture::Picture;
use super::processes::{self, Signal};
use super::rehearsal::{Rehearsal, Sitting};
use super::{Extent, Manner, at_once};
use crate::failure::Failure;
use crate::output::say;

const WHOLE: usize = 300;
const SAMPLE: usize = 7;

/// How often one run is interrupted, at most.
const MOST_KILLS: usize = 3;

/// How many lines the log grows before the next kill, at most. A run that nobody interrupts has 22.
const MOST_LINES: usize = 8;

/// How long after such a line the kill comes at most: about what a work and its judgement take.
const MOST_DELAY: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Victim {
    Orchestrator,
    Worker,
    Watchdog,
}

/// One kill that is to come.
#[derive(Clone, Debug)]
struct Kill {
    /// How many lines are noted since the last one.
    lines: usize,
    /// How long after it.
    delay: Duration,
    /// In the order in which they are killed.
    victims: Vec<Victim>,
    /// Is the journal looked at before somebody goes on? Without a look it goes on sooner.
    looks: bool,
}

impl Kill {
    fn by(chance: &mut Chance) -> Self {
        const CHOICES: [&[Victim]; 9] = [
            &[Victim::Orchestrator],
            &[Victim::Worker],
            &[Victim::Watchdog],
            &[Victim::Orchestrator, Victim::Worker],
            &[Victim::Worker, Victim::Orchestrator],
            &[Victim::Orchestrator, Victim::Watchdog],
            &[Victim::Watchdog, Victim::Orchestrator],
            &[Victim::Worker, Victim::Watchdog],
            &[Victim::Watchdog, Victim::Worker, Victim::Orchestrator],
        ];
        Self {
            lines: chance.below(MOST_LINES + 1),
            delay: chance.moment(MOST_DELAY),
            victims: chance.one_of(&CHOICES).unwrap_or_default().to_vec(),
            looks: chance.coin(),
        }
    }
}

pub(super) fn run(program: &Path, manner: Manner) -> Result<(), Failure> {
    let wanted = match manner.extent {
        Extent::Sample => SAMPLE,
        Extent::Whole => WHOLE,
    };
    say(format_args!("runs: seed {}", manner.seed));
    let undisturbed = undisturbed(program)?;
    let tally = Mutex::new(Tally::default());
    let rounds = AtomicUsize::new(0);
    let take = || tally.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        while take().kills() < wanted {
            let number = rounds.fetch_add(1, Ordering::Relaxed);
            let mut chance = Chance::of(manner.seed, number);
            let kills = 1 + chance.below(MOST_KILLS);
            let kills: Vec<Kill> = (0..kills).map(|_| Kill::by(&mut chance)).collect();
            let round = round(program, number, &kills, &undisturbed)?;
            round
                .harm
                .iter()
                .for_each(|harm| say(format_args!("  round {number}: {harm}")));
            take().add(&round);
        }
        Ok::<_, Failure>(())
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    at_once(cores, |_| work())
        .into_iter()
        .collect::<Result<(), _>>()?;
    let tally = take().clone();
    say(format_args!("runs: {tally}"));
    match tally.broken {
        0 => Ok(()),
        broken => Err(Failure::no(format!(
            "{broken} runs came to harm; --seed {} takes the same again",
            manner.seed
        ))),
    }
}

/// What a run comes to that nobody interrupts.
pub(super) fn undisturbed(program: &Path) -> Result<Picture, Failure> {
    let rehearsal = Rehearsal::new(program, "undisturbed")?;
    let mut sitting = rehearsal.begin()?;
    if let Some(harm) = end_of(&mut sitting)? {
        return Err(Failure::no(format!("a run that nobody interrupts: {harm}")));
    }
    let picture = Picture::of(&rehearsal)?;
    let harm = aftermath::judge(&rehearsal, &picture, &Finished::default())?;
    match harm.first() {
        None => Ok(picture),
        Some(harm) => Err(Failure::no(format!("a run that nobody interrupts: {harm}"))),
    }
}

/// Waits for the end of a sitting, which is that of its run.
pub(super) fn end_of(sitting: &mut Sitting) -> Result<Option<Harm>, Failure> {
    Ok(match sitting.wait()? {
        Some(status) if status.success() => None,
        Some(status) => Some(Harm::Ended(format!("{status}: {}", sitting.said()))),
        None => Some(Harm::Stuck(sitting.said())),
    })
}

/// What came of one run.
struct Round {
    /// Who was killed, a line for each kill.
    killed: Vec<Vec<Victim>>,
    harm: Vec<Harm>,
}

fn round(
    program: &Path,
    number: usize,
    kills: &[Kill],
    undisturbed: &Picture,
) -> Result<Round, Failure> {
    let rehearsal = Rehearsal::new(program, &format!("kill-{number}"))?;
    let mut sitting = rehearsal.begin()?;
    let (mut killed, mut finished) = (Vec::new(), Finished::default());
    for kill in kills {
        let lines = rehearsal.log().len() + kill.lines;
        sitting.wait_until(|_| rehearsal.log().len() >= lines)?;
        thread::sleep(kill.delay);
        if sitting.ended()?.is_some() {
            break;
        }
        let victims = strike(&rehearsal, &sitting, &kill.victims)?;
        let is_gone = victims.contains(&Victim::Orchestrator);
        killed.push(victims);
        if is_gone {
            // Its number is another's once its end was taken notice of, so this comes first.
            sitting.wait()?;
            finished.note_records(&rehearsal);
            if kill.looks {
                finished.note_journal(&rehearsal);
            }
            sitting = rehearsal.go_on()?;
        }
    }
    let ended = end_of(&mut sitting)?;
    let mut harm: Vec<Harm> = ended.into_iter().collect();
    harm.extend(aftermath::judge(&rehearsal, undisturbed, &finished)?);
    Ok(Round { killed, harm })
}

/// Kills those that are there. Where none of them is, it is the orchestrator's turn.
fn strike(
    rehearsal: &Rehearsal,
    sitting: &Sitting,
    wanted: &[Victim],
) -> Result<Vec<Victim>, Failure> {
    let find = |victim: &Victim| match victim {
        Victim::Orchestrator => Some(sitting.id()),
        Victim::Worker => rehearsal.workers().first().map(|process| process.id),
        Victim::Watchdog => rehearsal.watchdogs().first().map(|process| process.id),
    };
    let found = wanted
        .iter()
        .filter_map(|victim| Some((*victim, find(victim)?)));
    let mut found: Vec<(Victim, u32)> = found.collect();
    if found.is_empty() {
        found.push((Victim::Orchestrator, sitting.id()));
    }
    let ids: Vec<u32> = found.iter().map(|(_, id)| *id).collect();
    processes::send(Signal::Kill, &ids)?;
    let mut victims: Vec<Victim> = found.into_iter().map(|(victim, _)| victim).collect();
    victims.sort_unstable();
    Ok(victims)
}

/// What came of all of them.
#[derive(Clone, Default)]
struct Tally {
    runs: usize,
    broken: usize,
    /// How often these were killed at once.
    killed: BTreeMap<Vec<Victim>, usize>,
}

impl Tally {
    fn kills(&self) -> usize {
        self.killed.values().sum()
    }

    fn add(&mut self, round: &Round) {
        self.runs += 1;
        self.broken += usize::from(!round.harm.is_empty());
        for victims in &round.killed {
            *self.killed.entry(victims.clone()).or_default() += 1;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (runs, kills, broken) = (self.runs, self.kills(), self.broken);
        write!(f, "{runs} runs, {kills} kills, {broken} broken")?;
        for (victims, times) in &self.killed {
            let names: Vec<String> = victims.iter().map(|it| format!("{it:?}")).collect();
            write!(f, "\n  {times:>4} {}", names.join(" + ").to_lowercase())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battery::pretender::{Pretender, pretender};

    /// What killing this program's orchestrator does, once the log has so many lines.
    fn harm(kind: Pretender, lines: usize) -> Vec<&'static str> {
        let program = pretender(kind);
        let undisturbed = undisturbed(&program).unwrap();
        let kill = Kill {
            lines,
            delay: Duration::ZERO,
            victims: vec![Victim::Orchestrator],
            looks: true,
        };
        let round = round(&program, lines, &[kill], &undisturbed).unwrap();
        assert_eq!(round.killed, [[Victim::Orchestrator]]);
        round.harm.iter().map(Harm::word).collect()
    }

    #[test]
    fn a_program_that_goes_on_where_it_was_passes() {
        for lines in [1, 3] {
            assert_eq!(harm(Pretender::Sound, lines), [""; 0]);
        }
    }

    #[test]
    fn a_recovery_that_does_not_end_the_old_worker_is_found_out() {
        assert_eq!(harm(Pretender::Orphaning, 1), ["orphans"]);
    }

    #[test]
    fn a_program_that_has_finished_work_done_again_is_found_out() {
        assert_eq!(harm(Pretender::Repeating, 3), ["again"]);
    }

    #[test]
    fn a_program_that_tells_of_finished_work_twice_is_found_out() {
        assert_eq!(harm(Pretender::Doubling, 3), ["differs", "again"]);
    }

    #[test]
    fn a_program_that_does_not_go_on_is_found_out() {
        assert_eq!(harm(Pretender::Refusing, 1), ["ended", "differs"]);
    }

    #[test]
    fn a_program_that_leaves_records_behind_is_found_out() {
        assert_eq!(harm(Pretender::Littering, 1), ["litter"]);
    }
}
