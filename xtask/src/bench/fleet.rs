//! `cargo xtask bench --fleet`: the store that machines share, beside bare SQL of the same shape on the same server.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::fleet_hooks::{self, FleetHooks};
use super::goals::{Goal, Limit};
use super::report::rounded;
use crate::dist;
use crate::failure::Failure;
use crate::output::{complain, say};
use crate::setup;
use crate::workspace::{build_example, read};

const HELP: &str = "\
Usage: cargo xtask bench --fleet [--json] [--rounds N] [--runs N]

Starts a PostgreSQL on loopback, with its data on a disk that syncs, and prints how many a second there are:

  change   one durable change of a run: version, key and fence compared, entry and state stored. Beside it a bare
           statement that adds a row of the same size and sets the state in one transaction
  claim    a queued run is taken, of all that wait. Beside it a bare UPDATE with FOR UPDATE SKIP LOCKED
  hooks    a tool call and the end of an agent in a guarded session, on a machine that has joined the fleet and on one that
           has not: instructions and system calls. Shipping is never on a hook's path, so both are the same
  queue    all queued runs over three workers: claim, three changes, out of the queue. Every run must be whole,
           and none may be taken twice

Ours and the bare one take turns; the median of the rounds counts. The statements of a change are counted in the server's
log. In the end stand the goals; one that is missed makes the exit code 1. The server does most of the work, so this
process is as `cargo build` builds it.

Options:
  --json      Print one JSON object instead of the table
  --rounds N  How often each is measured (5)
  --runs N    How many runs are queued (1000)
  --program P Whose hooks are counted (the one that `cargo build` builds)";

/// A change may take so many times as long as the bare statement. On a slow disk both take the time of its sync.
const MOST_CHANGE: f64 = 2.5;

/// A claim looks at labels, leases and accounts of all that wait, and counts tries.
const MOST_CLAIM: f64 = 7.0;

#[derive(Debug, PartialEq, Eq)]
struct Options {
    json: bool,
    rounds: usize,
    runs: usize,
    program: Option<PathBuf>,
}

/// What was measured.
struct Measured {
    change: Pair,
    claim: Pair,
    /// Runs a second, over all workers.
    queue: f64,
    lost: u64,
    twice: u64,
    statements: f64,
}

/// The seconds of one thing, ours and bare.
struct Pair {
    ours: f64,
    bare: f64,
}

impl Pair {
    fn ratio(&self) -> f64 {
        self.ours / self.bare
    }
}

pub(super) fn run(arguments: &[String]) -> Result<(), Failure> {
    if arguments.iter().any(|it| it == "--help" || it == "-h") {
        say(HELP);
        return Ok(());
    }
    let options = parse(arguments)?;
    let measured = measure(&options)?;
    let hooks = measure_hooks(&options)?;
    let mut goals = goals(&measured, &options);
    goals.extend(hooks.goals());
    say(if options.json {
        let mut shown = shown(&measured, &goals, &options);
        shown["hooks"] = hooks.json();
        shown.to_string()
    } else {
        let text = text(&measured, &goals, &options);
        format!("{}\n{text}", hooks.text())
    });
    if measured.lost + measured.twice > 0 {
        return Err(Failure::no("queued runs were lost or taken twice"));
    }
    let missed = goals.iter().filter(|goal| goal.is_met() == Some(false));
    let missed: Vec<&str> = missed.map(|goal| goal.name.as_str()).collect();
    match missed.as_slice() {
        [] => Ok(()),
        missed => Err(Failure::no(format!("goals missed: {}", missed.join("; ")))),
    }
}

/// The measurement is an example of its own, so that xtask itself is built without the product.
fn measure(options: &Options) -> Result<Measured, Failure> {
    setup::ensure_server()?;
    let bench = build_example("fleet_bench")?;
    complain(format_args!(
        "bench: {} rounds, {} runs",
        options.rounds, options.runs
    ));
    let mut bench = Command::new(bench);
    bench.args([options.rounds.to_string(), options.runs.to_string()]);
    let printed = read(&mut bench)?;
    understood(&printed).ok_or_else(|| Failure::no(format!("it measured nothing: {printed}")))
}

/// Hooks of the program itself, with a database that a second process starts.
fn measure_hooks(options: &Options) -> Result<FleetHooks, Failure> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => dist::build_for_development()?,
    };
    complain("bench: hooks with and without a fleet");
    let mut server = Command::new(build_example("fleet_bench")?);
    server.arg("serve");
    fleet_hooks::measure(&program, server)
}

fn understood(printed: &str) -> Option<Measured> {
    let all: Value = serde_json::from_str(printed).ok()?;
    let queue = &all["queue"];
    Some(Measured {
        change: pair(&all["changes"])?,
        claim: pair(&all["claims"])?,
        queue: queue["runs"].as_f64()? / queue["seconds"].as_f64()?,
        lost: queue["lost"].as_u64()?,
        twice: queue["twice"].as_u64()?,
        statements: all["statements"].as_f64()?,
    })
}

/// The medians.
fn pair(laps: &Value) -> Option<Pair> {
    let each = laps["each"].as_f64()?;
    let median = |name: &str| {
        let laps = laps[name].as_array()?.iter();
        let mut laps = laps.map(Value::as_f64).collect::<Option<Vec<f64>>>()?;
        laps.sort_unstable_by(f64::total_cmp);
        laps.get(laps.len().saturating_sub(1) / 2).copied()
    };
    Some(Pair {
        ours: median("ours")? / each,
        bare: median("bare")? / each,
    })
}

fn goals(measured: &Measured, options: &Options) -> Vec<Goal> {
    let runs = options.runs;
    vec![
        Goal::new(
            "a durable change / the bare statement",
            Some(measured.change.ratio()),
            Limit::AtMost(MOST_CHANGE),
        ),
        Goal::new(
            format!("a claim of {runs} queued runs / the bare statement"),
            Some(measured.claim.ratio()),
            Limit::AtMost(MOST_CLAIM),
        ),
        Goal::statements(measured.statements),
    ]
}

fn text(measured: &Measured, goals: &[Goal], options: &Options) -> String {
    let mut text = format!(
        "{:<8} {:>12} {:>12} {:>8}\n",
        "", "ours/s", "bare/s", "×bare"
    );
    for (name, pair) in [("change", &measured.change), ("claim", &measured.claim)] {
        let (ours, bare) = (1.0 / pair.ours, 1.0 / pair.bare);
        let _ = writeln!(
            text,
            "{name:<8} {ours:>12.0} {bare:>12.0} {:>8.2}",
            pair.ratio()
        );
    }
    let Measured { lost, twice, .. } = measured;
    let _ = writeln!(
        text,
        "queue    {:>12.0} runs a second: {} runs over three workers, {lost} lost, {twice} taken twice\n",
        measured.queue, options.runs
    );
    goals.iter().for_each(|goal| text.push_str(&goal.line()));
    text.trim_end().to_owned()
}

fn shown(measured: &Measured, goals: &[Goal], options: &Options) -> Value {
    let pair = |pair: &Pair| {
        json!({
            "ours_per_second": rounded(1.0 / pair.ours),
            "bare_per_second": rounded(1.0 / pair.bare),
            "times_bare": rounded(pair.ratio()),
        })
    };
    json!({
        "rounds": options.rounds,
        "runs": options.runs,
        "change": pair(&measured.change),
        "claim": pair(&measured.claim),
        "queue": {
            "runs_per_second": rounded(measured.queue),
            "lost": measured.lost,
            "twice": measured.twice,
        },
        "statements": measured.statements,
        "goals": goals.iter().map(Goal::json).collect::<Vec<_>>(),
    })
}

fn parse(arguments: &[String]) -> Result<Options, Failure> {
    let mut options = Options {
        json: false,
        rounds: 5,
        runs: 1_000,
        program: None,
    };
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        match argument {
            "--fleet" => {}
            "--json" => options.json = true,
            "--rounds" => options.rounds = super::number(rest.next())?,
            "--runs" => options.runs = super::number(rest.next())?,
            "--program" => match rest.next() {
                Some(path) => options.program = Some(PathBuf::from(path)),
                None => return Err(Failure::usage("--program needs a path", HELP)),
            },
            unknown => {
                let problem = format!("bench --fleet does not know `{unknown}`");
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
            runs: 10,
            program: Some(PathBuf::from("a")),
        };
        assert_eq!(
            parsed("--runs 10 --fleet --program a --json --rounds 2"),
            Ok(few)
        );
        for line in ["--fleet --rounds 0", "--program", "--runs"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn goals_are_judged_by_medians_and_by_the_count() {
        let printed = r#"{"changes":{"each":10,"ours":[9.0,2.0,4.0],"bare":[1.0,2.0,9.0]},
            "claims":{"each":10,"ours":[9.0],"bare":[1.0]},
            "queue":{"runs":100,"seconds":4.0,"lost":0,"twice":0},"statements":2.0}"#;
        let measured = understood(printed).unwrap();
        assert_eq!((measured.change.ours, measured.queue), (0.4, 25.0));
        let goals = goals(&measured, &parsed("").unwrap());
        let met: Vec<_> = goals.iter().map(Goal::is_met).collect();
        assert_eq!(met, [Some(true), Some(false), Some(false)]);
        assert!(understood("{}").is_none());
    }
}
