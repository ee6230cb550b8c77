//! `cargo xtask bench --orchestrator`: durable transitions a second beside other engines, in one run of the machine.

mod cold;
mod engines;
mod loops;
mod result;

use std::path::PathBuf;
use std::time::Duration;

use super::rounds::percentile;
use crate::dist;
use crate::failure::Failure;
use crate::output::{complain, say};
use cold::Cold;
use loops::{Lap, Loop, Who};
use result::{Report, Row};

const HELP: &str = "\
Usage: cargo xtask bench --orchestrator [--json] [--rounds N] [--program PATH]

Leads runs from one stage to the other and back, each step one durable transaction, and prints how
many a second there are, and what each costs:

  floor          one process that appends 12 KB to a file and syncs it, for each step
  gatewright     engine and store in one process: one run, and 64 runs at once
  LangGraph      the same two nodes in turn, SqliteSaver with synchronous=FULL, durability \"sync\"
  DBOS           the same two steps in turn, with its SQLite

Then the cold start: a new run in a store that is there, up to its first durable decision, as
processes: gatewright start and checkpoint, against a script of each of the others.

The others are installed by pip in a folder of the build (xtask/bench/engines/requirements.txt). Where
that cannot be done, their rows say so. Syncs are counted where strace is installed.

Options:
  --json          Print one JSON object instead of the table
  --rounds N      How often each is measured (5); the median counts
  --program PATH  Take this program for the cold start instead of the one that `cargo xtask dist` builds";

#[derive(Debug, PartialEq, Eq)]
struct Options {
    json: bool,
    rounds: usize,
    program: Option<PathBuf>,
}

pub(super) fn run(arguments: &[String]) -> Result<(), Failure> {
    if arguments.iter().any(|it| it == "--help" || it == "-h") {
        say(HELP);
        return Ok(());
    }
    let options = parse(arguments)?;
    let report = measure(&options)?;
    say(if options.json {
        report.json().to_string()
    } else {
        report.text()
    });
    Ok(())
}

fn measure(options: &Options) -> Result<Report, Failure> {
    let program = match &options.program {
        Some(path) => path.clone(),
        None => dist::build()?.path,
    };
    let mut loops = loops::ours()?;
    let installed = engines::install()?;
    loops.extend(installed.loops);
    let colds = cold::all(&program, &loops)?;
    let rounds = options.rounds;
    complain(format_args!(
        "bench: {rounds} rounds of {} loops",
        loops.len()
    ));
    let mut laps = vec![Vec::new(); loops.len()];
    let mut starts = vec![Vec::new(); colds.len()];
    for _ in 0..rounds {
        for (each, laps) in loops.iter().zip(&mut laps) {
            laps.push(each.lap()?);
        }
        for (cold, starts) in colds.iter().zip(&mut starts) {
            starts.push(cold.time()?);
        }
    }
    let rows = loops.iter().zip(&laps).map(|(each, laps)| {
        let syncs = each.syncs()?;
        // A cold start is that of one run.
        let cold = (each.runs == 1).then(|| cold_of(each.who, &colds, &starts));
        Ok(row(each, laps, syncs, cold.flatten()))
    });
    Ok(Report {
        rounds,
        rows: rows.collect::<Result<_, Failure>>()?,
        missing: installed.missing,
        versions: installed.versions,
    })
}

fn cold_of(who: Who, colds: &[Cold], starts: &[Vec<Duration>]) -> Option<Duration> {
    let mut both = colds.iter().zip(starts);
    let (_, times) = both.find(|(cold, _)| cold.who == who)?;
    let mut times = times.clone();
    times.sort_unstable();
    Some(percentile(&times, 50))
}

fn row(each: &Loop, laps: &[Lap], syncs: Option<f64>, cold: Option<Duration>) -> Row {
    let median = |of: fn(&Lap) -> f64| {
        let mut values: Vec<f64> = laps.iter().map(of).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get((values.len().saturating_sub(1)) / 2).copied()
    };
    Row {
        who: each.who,
        runs: each.runs,
        rate: median(Lap::rate).unwrap_or_default(),
        cpu: median(Lap::cpu).unwrap_or_default(),
        resident: median(|lap| lap.resident_bytes).unwrap_or_default(),
        syncs,
        cold: cold.map(|cold| cold.as_secs_f64()),
    }
}

fn parse(arguments: &[String]) -> Result<Options, Failure> {
    let mut options = Options {
        json: false,
        rounds: 5,
        program: None,
    };
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        match argument {
            "--orchestrator" => {}
            "--json" => options.json = true,
            "--rounds" => options.rounds = super::number(rest.next())?,
            "--program" => {
                let path = rest.next();
                let path = path.ok_or_else(|| Failure::usage("--program needs a path", HELP))?;
                options.program = Some(PathBuf::from(path));
            }
            unknown => {
                let problem = format!("bench --orchestrator does not know `{unknown}`");
                return Err(Failure::usage(problem, HELP));
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
    fn options_are_understood_in_any_order() {
        let few = Options {
            json: true,
            rounds: 2,
            program: Some("a".into()),
        };
        let line = "--rounds 2 --orchestrator --program a --json";
        assert_eq!(parsed(line), Ok(few));
        for line in ["--rounds 0", "--histories 10", "--program"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_row_is_the_median_of_its_laps() {
        let lap = |seconds| Lap {
            transitions: 100.0,
            seconds,
            cpu_seconds: 0.5,
            resident_bytes: 7.0,
        };
        let each = Loop::floor();
        let row = row(&each, &[lap(4.0), lap(1.0), lap(2.0)], None, None);
        assert_eq!((row.rate, row.cpu, row.resident), (50.0, 0.005, 7.0));
    }
}
