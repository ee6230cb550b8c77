//! The kill battery: kill -9 before every system call of a command, then the same command again.
//!
//! Only the process itself is killed, not the commands that it starts: its death is what the store
//! must survive.

use std::cmp::Ordering;
use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Output;

use super::cases::CASES;
use super::journal::{Outline, verify};
use super::stand::{Stand, text};
use super::trace::{Point, points, sample};
use super::{Extent, Manner, cases, spread};
use crate::failure::Failure;
use crate::output::say;

/// How many points of each command a sample takes, besides those around a sync.
const SAMPLE: usize = 12;

const KILLED: i32 = 9;

pub(super) fn run(program: &Path, manner: Manner) -> Result<(), Failure> {
    say(format_args!("kill: seed {}", manner.seed));
    let tallies = spread(CASES, |case| kill_everywhere(program, case, manner))?;
    let (mut taken, mut broken) = (0, 0);
    for tally in &tallies {
        say(tally);
        taken += tally.taken;
        broken += tally.broken.len();
    }
    say(format_args!(
        "kill: {} commands, {taken} points, {broken} broken",
        tallies.len()
    ));
    if broken == 0 {
        Ok(())
    } else {
        Err(Failure::no(format!("{broken} kills did harm")))
    }
}

/// What came out for one command.
struct Tally {
    command: &'static str,
    /// The points that one run of the command has.
    points: usize,
    /// Those at which it was killed.
    taken: usize,
    /// Those that this time it did not come to.
    missed: usize,
    broken: Vec<(Point, Harm)>,
}

/// What a kill may not do.
enum Harm {
    /// It was acknowledged, and then not there.
    Unsaid,
    /// The same command with the same key did not go through.
    Refused(String),
    Lost(usize),
    Doubled(usize),
    /// As many entries as wanted, and not the same.
    Altered(Outline),
    Corrupt(String),
    /// All is there, and what comes next does not work.
    Stuck(String),
}

impl Harm {
    fn word(&self) -> &'static str {
        match self {
            Self::Unsaid => "unsaid",
            Self::Refused(_) => "refused",
            Self::Lost(_) => "lost",
            Self::Doubled(_) => "doubled",
            Self::Altered(_) => "altered",
            Self::Corrupt(_) => "corrupt",
            Self::Stuck(_) => "stuck",
        }
    }
}

/// A command on a stand that is ready for it, and what it comes to when nobody kills it.
struct Trial<'a> {
    case: &'a cases::Case,
    stand: Stand,
    arguments: Vec<&'a str>,
    wanted: Outline,
}

fn kill_everywhere(program: &Path, case: &cases::Case, manner: Manner) -> Result<Tally, Failure> {
    let trial = Trial::new(program, case)?;
    trial.repeat()?;
    let points = trial.points()?;
    let chosen = match manner.extent {
        Extent::Whole => points.clone(),
        Extent::Sample => sample(&points, SAMPLE, manner.seed),
    };
    let mut tally = Tally {
        command: case.name,
        points: points.len(),
        taken: 0,
        missed: 0,
        broken: Vec::new(),
    };
    for point in chosen {
        let output = trial.kill(&point)?;
        match output.status.signal() {
            Some(KILLED) => tally.taken += 1,
            _ => tally.missed += 1,
        }
        tally
            .broken
            .extend(trial.judge(&output)?.map(|harm| (point, harm)));
    }
    Ok(tally)
}

impl<'a> Trial<'a> {
    fn new(program: &Path, case: &'a cases::Case) -> Result<Self, Failure> {
        let stand = case.stand(program)?;
        stand.keep()?;
        let arguments = case.keyed();
        stand.take(&arguments, case.command.exits)?;
        let wanted = Outline::of(&stand)?;
        Ok(Self {
            case,
            stand,
            arguments,
            wanted,
        })
    }

    /// The same key twice without any kill: the second time adds nothing.
    fn repeat(&self) -> Result<(), Failure> {
        self.again()?;
        match self.compare()? {
            None => Ok(()),
            Some(harm) => Err(Failure::no(format!(
                "{}: a repeated key: {harm}",
                self.line()
            ))),
        }
    }

    fn again(&self) -> Result<(), Failure> {
        self.stand
            .take(&self.arguments, self.case.command.exits)
            .map(drop)
    }

    fn points(&self) -> Result<Vec<Point>, Failure> {
        self.stand.put_back()?;
        let file = self.stand.path("trace");
        let path = file.to_string_lossy();
        let output = self.strace(&["-o", &path])?;
        if output.status.code() != Some(self.case.command.exits) {
            let said = text(&output.stderr);
            return Err(Failure::no(format!(
                "{} under strace: {}",
                self.line(),
                said.trim_end()
            )));
        }
        let trace = std::fs::read_to_string(&file).map_err(Failure::file("read", &file))?;
        Ok(points(&trace))
    }

    fn kill(&self, point: &Point) -> Result<Output, Failure> {
        self.stand.put_back()?;
        let trace = format!("trace={}", point.call);
        self.strace(&["-o", "/dev/null", "-e", &trace, "-e", &point.injection()])
    }

    fn strace(&self, options: &[&str]) -> Result<Output, Failure> {
        let starter = [&["strace", "-qq"], options].concat();
        self.stand
            .output(&mut self.stand.under(&starter, &self.arguments))
    }

    /// What is there after the kill, and after the same command again?
    fn judge(&self, killed: &Output) -> Result<Option<Harm>, Failure> {
        // Invariant: what was said was durable before it was said.
        if !killed.stdout.is_empty() && Outline::of(&self.stand)? != self.wanted {
            return Ok(Some(Harm::Unsaid));
        }
        if let Err(refused) = self.again() {
            return Ok(Some(Harm::Refused(refused.with_causes())));
        }
        if let Err(damage) = verify(&self.stand) {
            return Ok(Some(Harm::Corrupt(damage.with_causes())));
        }
        if let Some(harm) = self.compare()? {
            return Ok(Some(harm));
        }
        let mut after = self.case.after.iter();
        let stuck = after.find_map(|step| self.stand.take(step.words, step.exits).err());
        Ok(stuck.map(|stuck| Harm::Stuck(stuck.with_causes())))
    }

    fn compare(&self) -> Result<Option<Harm>, Failure> {
        let found = Outline::of(&self.stand)?;
        let (here, wanted) = (found.entries(), self.wanted.entries());
        Ok(match here.cmp(&wanted) {
            _ if found == self.wanted => None,
            Ordering::Less => Some(Harm::Lost(wanted - here)),
            Ordering::Greater => Some(Harm::Doubled(here - wanted)),
            Ordering::Equal => Some(Harm::Altered(found)),
        })
    }

    fn line(&self) -> String {
        self.arguments.join(" ")
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            command,
            points,
            taken,
            missed,
            broken,
        } = self;
        write!(
            f,
            "  {command:<12} {taken:>4} of {points:>4} points, {} broken",
            broken.len()
        )?;
        if *missed > 0 {
            write!(f, ", {missed} not reached")?;
        }
        for (point, harm) in broken {
            write!(f, "\n    before {} {}: {harm}", point.call, point.number)?;
        }
        Ok(())
    }
}

impl fmt::Display for Harm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.word();
        match self {
            Self::Unsaid => write!(f, "{word}: acknowledged before it was durable"),
            Self::Refused(reason) => write!(f, "{word}: the retry did not go through: {reason}"),
            Self::Lost(entries) | Self::Doubled(entries) => write!(f, "{word}: {entries} entries"),
            Self::Altered(found) => write!(f, "{word}: {found:?}"),
            Self::Corrupt(reason) | Self::Stuck(reason) => write!(f, "{word}: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::battery::impostor::{Impostor, impostor};

    /// What killing a checkpoint does to this program: a word for each kind of harm.
    fn harm(kind: Impostor) -> Result<Vec<&'static str>, String> {
        harm_to(kind, &CHECKPOINT)
    }

    const CHECKPOINT: cases::Case = cases::case("checkpoint", &[], cases::CHECKPOINT);

    fn harm_to(kind: Impostor, case: &cases::Case) -> Result<Vec<&'static str>, String> {
        let program = impostor(kind);
        let tally = kill_everywhere(&program, case, Manner::WHOLE);
        let tally = tally.map_err(|failure| failure.to_string())?;
        assert!(tally.taken > 10, "only {} points were taken", tally.taken);
        let mut words: Vec<_> = tally.broken.iter().map(|(_, harm)| harm.word()).collect();
        words.dedup();
        Ok(words)
    }

    #[test]
    fn a_program_that_keeps_its_word_passes() {
        assert_eq!(harm(Impostor::Sound), Ok(Vec::new()));
    }

    #[test]
    fn a_program_that_forgets_its_keys_is_found_out_before_any_kill() {
        let refused = harm(Impostor::Forgetful).unwrap_err();
        assert!(refused.contains("a repeated key: doubled"), "{refused}");
    }

    #[test]
    fn a_program_that_notes_its_key_first_loses_the_event() {
        assert_eq!(harm(Impostor::KeyFirst), Ok(vec!["lost"]));
    }

    #[test]
    fn a_program_that_notes_its_key_last_doubles_the_event() {
        assert_eq!(harm(Impostor::KeyLast), Ok(vec!["doubled"]));
    }

    #[test]
    fn a_program_that_speaks_before_it_writes_is_found_out() {
        assert_eq!(harm(Impostor::Hasty), Ok(vec!["unsaid"]));
    }

    #[test]
    fn a_program_that_leaves_half_an_entry_is_found_out() {
        assert_eq!(harm(Impostor::Halting), Ok(vec!["corrupt"]));
    }

    #[test]
    fn a_program_that_a_dead_one_locks_out_is_found_out() {
        assert_eq!(harm(Impostor::Locking), Ok(vec!["refused"]));
    }

    #[test]
    fn a_program_with_which_the_next_step_fails_is_found_out() {
        const REFUSED: cases::Step = cases::Step {
            exits: 1,
            ..cases::CHECKPOINT
        };
        let case = cases::Case {
            after: &[REFUSED],
            ..CHECKPOINT
        };
        assert_eq!(harm_to(Impostor::Sound, &case), Ok(vec!["stuck"]));
    }
}
