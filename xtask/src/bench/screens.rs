//! `cargo xtask bench --screens`: the page and `status` in a store with many runs, beside one with ten.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::goals::{Goal, Limit};
use super::report::rounded;
use super::rounds::percentile;
use crate::battery::{self, Stand};
use crate::dist::{self, static_cargo, triple};
use crate::failure::Failure;
use crate::output::{complain, say};
use crate::workspace::succeed;

const HELP: &str = "\
Usage: cargo xtask bench --screens [--json] [--rounds N] [--runs N] [--program PATH]

Asks for the same in a store with ten runs and in one with many, in turn, and prints the median of
each. Every run has 100 entries, and all but one are over:

  first page   the first page of `gatewright serve`: inbox, active runs, the latest that are over
  run page     the page of a run
  status       gatewright status RUN, a process

In the end stands how many times as long it takes with many runs; a goal that is missed makes the exit
code 1.

Options:
  --json          Print one JSON object instead of the table
  --rounds N      How often each is timed (100); the median counts
  --runs N        How many runs the large store has (10000)
  --program PATH  Time this program instead of the one that `cargo xtask dist` builds";

const FEW: usize = 10;

const ENTRIES: usize = 100;

/// Rounds that are run and not counted.
const WARM_UP: usize = 5;

/// A page with many runs may take so many times as long as with few.
const MOST_TIMES: f64 = 2.0;

#[derive(Debug, PartialEq, Eq)]
struct Options {
    json: bool,
    rounds: usize,
    runs: usize,
    program: Option<PathBuf>,
}

/// What somebody looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Screen {
    First,
    Run,
    Status,
}

impl Screen {
    const ALL: [Self; 3] = [Self::First, Self::Run, Self::Status];

    fn name(self) -> &'static str {
        match self {
            Self::First => "first page",
            Self::Run => "run page",
            Self::Status => "status",
        }
    }
}

/// The medians of one screen.
#[derive(Clone, Copy, Debug)]
struct Row {
    screen: Screen,
    few: Duration,
    many: Duration,
}

pub(super) fn run(arguments: &[String]) -> Result<(), Failure> {
    if arguments.iter().any(|it| it == "--help" || it == "-h") {
        say(HELP);
        return Ok(());
    }
    let options = parse(arguments)?;
    let program = match &options.program {
        Some(path) => path.clone(),
        None => dist::build()?.path,
    };
    let rows = measure(&program, &options)?;
    let goals: Vec<Goal> = rows
        .iter()
        .filter_map(|row| goal(row, options.runs))
        .collect();
    say(if options.json {
        shown(&rows, &goals, &options).to_string()
    } else {
        text(&rows, &goals, &options)
    });
    let missed = goals.iter().filter(|goal| goal.is_met() == Some(false));
    let missed: Vec<&str> = missed.map(|goal| goal.name.as_str()).collect();
    match missed.as_slice() {
        [] => Ok(()),
        missed => Err(Failure::no(format!("goals missed: {}", missed.join("; ")))),
    }
}

fn measure(program: &Path, options: &Options) -> Result<Vec<Row>, Failure> {
    let few = Place::new(program, FEW)?;
    complain(format_args!("bench: a store with {} runs", options.runs));
    let many = Place::new(program, options.runs)?;
    let rows = Screen::ALL.into_iter().map(|screen| {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..WARM_UP + options.rounds {
            for (place, times) in [&few, &many].into_iter().zip(&mut times) {
                let took = place.time(screen)?;
                times.extend((round >= WARM_UP).then_some(took));
            }
        }
        times.iter_mut().for_each(|times| times.sort_unstable());
        let [few, many] = times.map(|times| percentile(&times, 50));
        Ok(Row { screen, few, many })
    });
    rows.collect()
}

/// A store with so many runs, and a server on it. The server ends when this goes.
struct Place {
    stand: Stand,
    server: Child,
    address: String,
    port: u16,
}

impl Place {
    fn new(program: &Path, runs: usize) -> Result<Self, Failure> {
        let stand = battery::started(program)?;
        let state = stand.state_home().join("gatewright");
        let mut command = static_cargo("run", &triple()?);
        command.args(["--package", "xtask", "--example", "runs", "--"]);
        command.arg(state).arg(battery::RUN);
        command.args([(runs - 1).to_string(), ENTRIES.to_string()]);
        succeed(&mut command)?;
        let mut server = stand.command(&["serve"]);
        server.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = server.spawn().map_err(Failure::program("serve"))?;
        let mut line = String::new();
        let stdout = server.stdout.take();
        let read = stdout.map(|stdout| BufReader::new(stdout).read_line(&mut line));
        let place = line.trim().strip_prefix("http://127.0.0.1:");
        let place = place.and_then(|place| place.split_once('/'));
        let (Some(Ok(_)), Some((port, address))) = (read, place) else {
            let _ = server.kill();
            let _ = server.wait();
            return Err(Failure::no(format!("`serve` has no address: {line}")));
        };
        Ok(Self {
            stand,
            server,
            address: format!("/{address}"),
            port: port
                .parse()
                .map_err(|_| Failure::no("`serve` has no port"))?,
        })
    }

    fn time(&self, screen: Screen) -> Result<Duration, Failure> {
        let began = Instant::now();
        match screen {
            Screen::First => self.get("")?,
            Screen::Run => self.get(&format!("run/{}", battery::RUN))?,
            Screen::Status => {
                self.stand.run(&["status", battery::RUN])?;
            }
        }
        Ok(began.elapsed())
    }

    fn get(&self, path: &str) -> Result<(), Failure> {
        let failed = Failure::program("serve");
        let Self { port, address, .. } = self;
        let request = format!("GET {address}{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
        let asked = || {
            let mut stream = TcpStream::connect(("127.0.0.1", *port))?;
            stream.write_all(request.as_bytes())?;
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer)?;
            Ok(answer)
        };
        let answer: Vec<u8> = asked().map_err(failed)?;
        if answer.starts_with(b"HTTP/1.1 200") {
            Ok(())
        } else {
            Err(Failure::no(format!("`serve` does not show /{path}")))
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// How `status` grows is shown, and no goal.
fn goal(row: &Row, runs: usize) -> Option<Goal> {
    let times = row.many.as_secs_f64() / row.few.as_secs_f64();
    let name = format!("{}, {runs} runs / {FEW} runs", row.screen.name());
    match row.screen {
        Screen::First | Screen::Run => {
            Some(Goal::new(name, Some(times), Limit::AtMost(MOST_TIMES)))
        }
        Screen::Status => None,
    }
}

fn text(rows: &[Row], goals: &[Goal], options: &Options) -> String {
    let head = [
        "screen",
        &format!("{FEW} runs, µs"),
        &format!("{} runs, µs", options.runs),
    ];
    let mut text = format!("{:<12} {:>14} {:>18}\n", head[0], head[1], head[2]);
    for Row { screen, few, many } in rows {
        let (name, few, many) = (screen.name(), few.as_micros(), many.as_micros());
        text.push_str(&format!("{name:<12} {few:>14} {many:>18}\n"));
    }
    text.push('\n');
    for goal in goals {
        text.push_str(&goal.line());
    }
    text
}

fn shown(rows: &[Row], goals: &[Goal], options: &Options) -> Value {
    let row = |row: &Row| {
        json!({
            "screen": row.screen.name(),
            "few_us": row.few.as_micros() as u64,
            "many_us": row.many.as_micros() as u64,
            "times": rounded(row.many.as_secs_f64() / row.few.as_secs_f64()),
        })
    };
    json!({
        "rounds": options.rounds,
        "few_runs": FEW,
        "many_runs": options.runs,
        "entries_of_each": ENTRIES,
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
        "goals": goals.iter().map(Goal::json).collect::<Vec<_>>(),
    })
}

fn parse(arguments: &[String]) -> Result<Options, Failure> {
    let mut options = Options {
        json: false,
        rounds: 100,
        runs: 10_000,
        program: None,
    };
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        match argument {
            "--screens" => {}
            "--json" => options.json = true,
            "--rounds" => options.rounds = number(rest.next(), 1)?,
            "--runs" => options.runs = number(rest.next(), FEW)?,
            "--program" => {
                let path = rest.next();
                let path = path.ok_or_else(|| Failure::usage("--program needs a path", HELP))?;
                options.program = Some(PathBuf::from(path));
            }
            unknown => {
                let message = format!("bench --screens does not know `{unknown}`");
                return Err(Failure::usage(message, HELP));
            }
        }
    }
    Ok(options)
}

fn number(text: Option<&str>, least: usize) -> Result<usize, Failure> {
    let number = text.and_then(|text| text.parse().ok());
    let number = number.filter(|number| *number >= least);
    number.ok_or_else(|| Failure::usage(format!("a number of at least {least} is wanted"), HELP))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        let arguments: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        parse(&arguments).map_err(|failure| failure.to_string())
    }

    #[test]
    fn what_is_asked_for_is_understood_and_the_rest_refused() {
        let few = Options {
            json: true,
            rounds: 3,
            runs: 20,
            program: Some("a".into()),
        };
        let line = "--screens --json --rounds 3 --runs 20 --program a";
        assert_eq!(parsed(line), Ok(few));
        for line in ["--runs 9", "--rounds 0", "--runs", "--program", "fast"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_page_is_held_to_its_limit_and_status_is_shown() {
        let few = Duration::from_micros(100);
        let row = |screen, many| Row {
            screen,
            few,
            many: Duration::from_micros(many),
        };
        let met = |row| goal(&row, 20).map(|goal| goal.is_met());
        assert_eq!(met(row(Screen::First, 200)), Some(Some(true)));
        assert_eq!(met(row(Screen::Run, 201)), Some(Some(false)));
        assert_eq!(met(row(Screen::Status, 900)), None);
    }
}
