//! `cargo xtask bench`: times the real program against a process that does nothing, in one run of the machine.

mod cost;
mod history;
mod report;
mod rounds;
mod subject;

use crate::dist;
use crate::failure::Failure;
use crate::output::{complain, say};

const HELP: &str = "\
Usage: cargo xtask bench [--json] [--rounds N] [--histories N,N,…]

Times one process at a time, all kinds in turn in every round, and prints the median of each as a
ratio to a static process that does nothing:

  no-op      that process
  append     the same, appending one line to a file and syncing it
  decide     gatewright next RUN --json: reads the run and says what may happen now
  advance    gatewright checkpoint RUN NAME: one more entry, durable

The last two on runs with 10, 10,000 and 1,000,000 entries behind them. Instructions are counted
where valgrind is installed, system calls and syncs where strace is.

Options:
  --json             Print one JSON object instead of the table
  --rounds N         How often each is timed (200)
  --histories N,N,…  How many entries the runs have (10,10000,1000000)";

#[derive(Debug, PartialEq, Eq)]
struct Options {
    json: bool,
    rounds: usize,
    histories: Vec<usize>,
}

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    if arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h")
    {
        say(HELP);
        return Ok(());
    }
    let options = parse(arguments)?;
    let program = dist::build()?;
    let floors = subject::Floors::build()?;
    let mut subjects = floors.subjects();
    // Peers (the same work by a shell script or an interpreter) join this list.
    for entries in &options.histories {
        complain(format_args!("bench: a history of {entries} entries"));
        subjects.extend(subject::ours(&program.path, *entries)?);
    }
    complain(format_args!(
        "bench: {} rounds of {} processes",
        options.rounds,
        subjects.len()
    ));
    let times = rounds::take(&subjects, options.rounds)?;
    let costs = subjects
        .iter()
        .map(cost::of)
        .collect::<Result<Vec<_>, _>>()?;
    let rows = report::rows(&subjects, &times, &costs);
    let table = report::Report {
        program,
        rounds: options.rounds,
        rows,
    };
    say(if options.json {
        table.json().to_string()
    } else {
        table.text()
    });
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Options, Failure> {
    let mut options = Options {
        json: false,
        rounds: 200,
        histories: vec![10, 10_000, 1_000_000],
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--json" => options.json = true,
            "--rounds" => options.rounds = number(rest.next().map(String::as_str))?,
            "--histories" => {
                let list = rest.next().map_or("", String::as_str).split(',');
                options.histories = list
                    .map(|one| number(Some(one)))
                    .collect::<Result<_, _>>()?;
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
        };
        assert_eq!(parsed(""), Ok(all));
        let few = Options {
            json: true,
            rounds: 5,
            histories: vec![10, 20],
        };
        assert_eq!(parsed("--rounds 5 --json --histories 10,20"), Ok(few));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for line in [
            "--rounds",
            "--rounds 0",
            "--rounds x",
            "--histories",
            "--histories 1,,2",
            "fast",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
