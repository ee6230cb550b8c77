//! `cargo xtask bench`: times the real program against a process that does nothing, in one run of the machine.

mod commands;
mod cost;
mod crowd;
mod fleet;
mod fleet_hooks;
mod floors;
mod goals;
mod history;
mod hooks;
mod idle_screen;
mod large_project;
mod orchestrator;
mod payload;
mod peers;
mod report;
mod rounds;
mod screens;
mod seat;
mod steps;
mod subject;

use std::fs;
use std::path::PathBuf;

use crate::dist::{self, Program};
use crate::failure::Failure;
use crate::output::{complain, say};
use floors::Floors;
use peers::Peers;
use report::Report;
use subject::Subject;

const HELP: &str = "\
Usage: cargo xtask bench [--json] [--rounds N] [--histories N,N,…] [--program PATH]
       cargo xtask bench --orchestrator [OPTIONS]
       cargo xtask bench --steps [OPTIONS]
       cargo xtask bench --screens [OPTIONS]
       cargo xtask bench --fleet [OPTIONS]

Times one process at a time, all kinds in turn in every round, and prints the median of each as a
ratio to a static process that does nothing:

  no-op           that process
  append          the same, appending one line to a file and syncing it
  decide          gatewright next RUN --json: reads the run and says what may happen now
  advance         gatewright checkpoint RUN NAME: one more entry, durable
  hook elsewhere  a tool call in a session that holds no run, in a project without a pipeline
  hook decides    a shell's call in a session that holds a run: judged, and nothing is written
  hook admits     the call of an agent in such a session: admitted, durable
  hook advances   the end of an agent in such a session: judged, durable
  hook on a Write a Write call in such a session, with 2 KB and with 2 MB of text
  git status      in a project with 100,000 files
  hook looks      a tool was used there by a worker in a stage with `writes`: the tree is compared
  hook rests      the same right behind it: such looks take a small part of a worker's time
  bash+jq, Python hooks of peers with the same behaviour on one JSON file, written for the
                  comparison (xtask/bench/peers), with 10 and 100,000 entries of history

Ours on runs with 10, 10,000 and 1,000,000 entries behind them. Then 64 hooks at once end 64 agents
of one run, ten times, and every end must be there once. Then `watch` shows a run with 10,000 entries on which nothing happens, and its
processor time is counted. In the end stands which goals are met; one
that is missed makes the exit code 1. Instructions are counted where valgrind is installed, system calls and syncs where strace is.

Options:
  --json             Print one JSON object instead of the table
  --rounds N         How often each is timed (200); peers with a long history once in 20
  --histories N,N,…  How many entries the runs have (10,10000,1000000)
  --program PATH     Time this program instead of the one that `cargo xtask dist` builds";

#[derive(Debug, PartialEq, Eq)]
struct Options {
    json: bool,
    rounds: usize,
    histories: Vec<usize>,
    program: Option<PathBuf>,
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if arguments
        .iter()
        .any(|argument| argument == "--orchestrator")
    {
        return orchestrator::run(arguments);
    }
    if arguments.iter().any(|argument| argument == "--steps") {
        return steps::run(arguments);
    }
    if arguments.iter().any(|argument| argument == "--screens") {
        return screens::run(arguments);
    }
    if arguments.iter().any(|argument| argument == "--fleet") {
        return fleet::run(arguments);
    }
    if arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h")
    {
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
    if let Some(crowd) = &report.crowd
        && crowd.lost + crowd.doubled > 0
    {
        return Err(Failure::no("a crowd of hooks lost or doubled events"));
    }
    match report.missed().as_slice() {
        [] => Ok(()),
        missed => Err(Failure::no(format!("goals missed: {}", missed.join("; ")))),
    }
}

fn measure(options: &Options) -> Result<Report, Failure> {
    let program = program(options)?;
    let floors = Floors::build()?;
    let peers = peers::all()?;
    let Peers {
        missing, versions, ..
    } = peers;
    let mut subjects = floors.subjects();
    subjects.extend(ours(&program, &options.histories)?);
    subjects.extend(peers.subjects);
    let (rounds, processes) = (options.rounds, subjects.len());
    complain(format_args!(
        "bench: {rounds} rounds of {processes} processes"
    ));
    // Counted first: every round makes the runs longer.
    let costs = subjects.iter().map(cost::of);
    let costs = costs.collect::<Result<Vec<_>, _>>()?;
    let times = rounds::take(&subjects, rounds)?;
    let rows = report::rows(&subjects, &times, &costs);
    complain("bench: a crowd of hooks");
    let crowd = Some(crowd::gather(&program.path)?);
    complain("bench: a screen on which nothing happens");
    let watch_idle = Some(idle_screen::share(&program.path)?);
    Ok(Report {
        program,
        rounds,
        rows,
        missing,
        versions,
        crowd,
        watch_idle,
    })
}

fn program(options: &Options) -> Result<Program, Failure> {
    let Some(path) = options.program.clone() else {
        return dist::build();
    };
    let metadata = fs::metadata(&path).map_err(Failure::file("look at", &path))?;
    let bytes = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    Ok(Program { path, bytes })
}

fn ours(program: &Program, histories: &[usize]) -> Result<Vec<Subject>, Failure> {
    let mut subjects = vec![hooks::elsewhere(&program.path)?];
    for entries in histories {
        complain(format_args!("bench: a history of {entries} entries"));
        subjects.extend(commands::subjects(&program.path, *entries)?);
        subjects.extend(hooks::enrolled(&program.path, *entries)?);
    }
    subjects.extend(hooks::writes(&program.path)?);
    complain("bench: a project with 100,000 files");
    subjects.extend(large_project::subjects(&program.path)?);
    Ok(subjects)
}

fn parse(arguments: &[String]) -> Result<Options, Failure> {
    let mut options = Options {
        json: false,
        rounds: 200,
        histories: vec![10, 10_000, 1_000_000],
        program: None,
    };
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        match argument {
            "--json" => options.json = true,
            "--rounds" => options.rounds = number(rest.next())?,
            "--histories" => {
                let list = rest.next().unwrap_or_default().split(',');
                options.histories = list
                    .map(|one| number(Some(one)))
                    .collect::<Result<_, _>>()?;
            }
            "--program" => {
                let path = rest.next();
                let path = path.ok_or_else(|| Failure::usage("--program needs a path", HELP))?;
                options.program = Some(PathBuf::from(path));
            }
            unknown => {
                return Err(Failure::usage(
                    format!("bench does not know `{unknown}`"),
                    HELP,
                ));
            }
        }
    }
    Ok(options)
}

fn number(text: Option<&str>) -> Result<usize, Failure> {
    let number = text
        .and_then(|text| text.parse().ok())
        .filter(|number| *number > 0);
    number.ok_or_else(|| Failure::usage("a number above 0 is wanted", HELP))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        let arguments: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        parse(&arguments).map_err(|failure| failure.to_string())
    }

    #[test]
    fn rounds_and_histories_are_understood() {
        let all = Options {
            json: false,
            rounds: 200,
            histories: vec![10, 10_000, 1_000_000],
            program: None,
        };
        assert_eq!(parsed(""), Ok(all));
        let few = Options {
            json: true,
            rounds: 5,
            histories: vec![10, 20],
            program: Some("a".into()),
        };
        let line = "--rounds 5 --json --histories 10,20 --program a";
        assert_eq!(parsed(line), Ok(few));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for line in [
            "--rounds",
            "--rounds 0",
            "--rounds x",
            "--histories",
            "--histories 1,,2",
            "--program",
            "fast",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
