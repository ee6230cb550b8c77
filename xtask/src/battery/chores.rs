//! The chores battery: kill -9, or a failing call, at every system call of a hook and of each command
//! that has no key; then the same again.

mod list;
mod trial;

use std::fmt;
use std::path::Path;

use list::{CHORES, Chore};
use trial::{Blow, Harm, Trial};

use super::trace::{Point, sample};
use super::{Extent, Manner, spread};
use crate::failure::Failure;
use crate::output::say;

/// How many points of each chore a sample takes, besides those around a sync.
const SAMPLE: usize = 7;

/// Errors that a disk, a full disk and a full table give.
const ERRORS: [&str; 3] = ["EIO", "ENOSPC", "EMFILE"];

pub(super) fn run(program: &Path, manner: Manner) -> Result<(), Failure> {
    say(format_args!("chores: seed {}", manner.seed));
    let tallies = spread(CHORES, |chore| {
        let tally = strike_everywhere(program, chore, manner)?;
        say(&tally);
        Ok(tally)
    })?;
    let taken: usize = tallies.iter().map(|tally| tally.taken).sum();
    let broken: usize = tallies.iter().map(|tally| tally.broken.len()).sum();
    say(format_args!(
        "chores: {} chores, {taken} blows, {broken} broken",
        CHORES.len()
    ));
    if broken == 0 {
        Ok(())
    } else {
        Err(Failure::no(format!("{broken} blows did harm")))
    }
}

struct Tally {
    name: &'static str,
    taken: usize,
    broken: Vec<(Point, Blow, Harm)>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            taken,
            broken,
        } = self;
        write!(f, "  {name:<28} {taken:>5} blows, {} broken", broken.len())?;
        for (point, blow, harm) in broken {
            write!(
                f,
                "\n    {blow:?} at {} {}: {harm}",
                point.call, point.number
            )?;
        }
        Ok(())
    }
}

fn strike_everywhere(program: &Path, chore: &Chore, manner: Manner) -> Result<Tally, Failure> {
    let trial = Trial::new(program, chore)?;
    let points = trial.points()?;
    let chosen = match manner.extent {
        Extent::Whole => points,
        Extent::Sample => sample(&points, SAMPLE, manner.seed),
    };
    let mut tally = Tally {
        name: chore.name,
        taken: 0,
        broken: Vec::new(),
    };
    for (at, point) in chosen.into_iter().enumerate() {
        for blow in blows(chore, &point, manner.extent, at) {
            tally.taken += 1;
            let harm = trial.strike(&point, blow)?;
            tally
                .broken
                .extend(harm.map(|harm| (point.clone(), blow, harm)));
        }
    }
    Ok(tally)
}

/// Every point is killed at; what a hook asks of the system also fails: with each error, or in a
/// sample with one after the other.
fn blows(chore: &Chore, point: &Point, extent: Extent, at: usize) -> Vec<Blow> {
    let fails = chore.is_hook() && point.can_fail();
    let is_chosen = |number: usize| match extent {
        Extent::Whole => true,
        Extent::Sample => number == at % ERRORS.len(),
    };
    let errors = ERRORS.into_iter().enumerate();
    let errors = errors.filter(|(number, _)| fails && is_chosen(*number));
    let errors = errors.map(|(_, error)| Blow::Error(error));
    std::iter::once(Blow::Kill).chain(errors).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::list::{Act, command};
    use super::*;

    /// A program that keeps its answer to `init` in two files. The careless one believes the first
    /// file, so a kill between the two leaves half of it for ever.
    const INIT: &str = "init) if CHECK; then exit 0; fi; echo a >one; echo b >two ;;";

    /// A program that keeps a journal. At the start of a session it records that, and that nobody
    /// knows its host: in one line, or in two, of which the second may be missing for ever.
    const MARKS: &str = r#"hook)
    : >>"$journal"; read -r first <"$journal"; [ "$first" ] || { WRITE; }; exit 0 ;;
history)
    separator=; printf '{"entries":['
    while read -r line; do for fact in $line; do
        printf '%s{"fact":{"kind":"%s"}}' "$separator" "$fact"; separator=,
    done; done 2>/dev/null <"$journal"
    echo ']}' ;;"#;

    /// A program that is asked for an agent. The careless one allows it when it cannot write.
    const ADMITS: &str = r#"hook)
    if echo admitted 2>/dev/null >>"$journal"; then exit 0; fi
    OTHERWISE; exit 0 ;;
history)
    separator=; printf '{"entries":['
    while read -r line; do
        printf '%s{"fact":{"kind":"%s"}}' "$separator" "$line"; separator=,
    done 2>/dev/null <"$journal"
    echo ']}' ;;"#;

    fn harm(cases: &str, chore: &Chore) -> Vec<&'static str> {
        harm_at(|_| true, cases, chore)
    }

    /// The harm of blows at these calls.
    fn harm_at(is_meant: fn(&Point) -> bool, cases: &str, chore: &Chore) -> Vec<&'static str> {
        let script = format!(
            "#!/bin/sh\njournal=\"$XDG_STATE_HOME/journal\"\ncase \"$1\" in\n{cases}\n\
             list) echo '{{\"runs\":[{{\"run\":\"r-1\"}}]}}' ;;\n\
             history) echo '{{\"entries\":[]}}' ;;\ntrust) echo '{{\"trusted\":[]}}' ;;\nesac\n"
        );
        let program = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        fs::write(&program, script).unwrap();
        testkit::make_executable(&program);
        let tally = strike_everywhere(&program, chore, Manner::WHOLE).unwrap();
        assert!(tally.taken > 10, "only {} blows", tally.taken);
        let broken = tally.broken.iter().filter(|(point, _, _)| is_meant(point));
        let mut words: Vec<_> = broken.map(|(_, _, harm)| harm.word()).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    fn nothing(_: &super::super::Stand) -> Result<(), Failure> {
        Ok(())
    }

    const INSTALL: Chore = command("init", nothing, |_| Ok(vec!["init".to_owned()]));

    fn hook(event: &'static str, act: &'static str) -> Chore {
        let found = CHORES.iter().find(|chore| chore.name == act).unwrap();
        let Act::Hook(hook) = &found.act else {
            panic!("{event} is a hook");
        };
        Chore {
            prepare: nothing,
            act: Act::Hook(hook.clone()),
            ..INSTALL
        }
    }

    #[test]
    fn a_chore_that_is_done_again_as_a_whole_passes() {
        let sound = INIT.replace("CHECK", "[ -s one ] && [ -s two ]");
        assert_eq!(harm(&sound, &INSTALL), [""; 0]);
    }

    #[test]
    fn a_chore_that_believes_half_of_itself_is_found_out() {
        let careless = INIT.replace("CHECK", "[ -e one ]");
        assert_eq!(harm(&careless, &INSTALL), ["differs"]);
    }

    #[test]
    fn a_run_that_is_marked_in_a_second_step_is_found_out() {
        let chore = hook("SessionStart", "SessionStart");
        let one = MARKS.replace("WRITE", r#"echo started unevaluated >>"$journal""#);
        assert_eq!(harm(&one, &chore), [""; 0]);
        let two = r#"echo started >>"$journal"; echo unevaluated >>"$journal""#;
        let found = harm(&MARKS.replace("WRITE", two), &chore);
        assert!(found.contains(&"differs"), "{found:?}");
    }

    #[test]
    fn a_hook_that_allows_what_it_could_not_write_is_found_out() {
        let chore = hook("PreToolUse", "PreToolUse Agent");
        // A shell that cannot read its script has done nothing and says that all went well.
        let writes = |point: &Point| point.call == "write";
        let sound = ADMITS.replace("OTHERWISE", "echo no >&2; exit 2");
        assert_eq!(harm_at(writes, &sound, &chore), [""; 0]);
        let careless = ADMITS.replace("OTHERWISE", ":");
        assert_eq!(harm_at(writes, &careless, &chore), ["unrecorded"]);
    }
}
