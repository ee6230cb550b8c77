//! `cargo xtask bench --steps`: what a step of a parallel stage costs in a large repository, beside git.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::goals::{Goal, Limit};
use super::report::rounded;
use super::rounds::percentile;
use super::seat::fill;
use crate::battery::Stand;
use crate::battery::pipelines::graph;
use crate::dist;
use crate::failure::Failure;
use crate::output::{complain, say};

const HELP: &str = "\
Usage: cargo xtask bench --steps [--json] [--rounds N] [--files N,N,…] [--in FOLDER] [--program PATH]

Runs a stage of three steps that do nothing, one after another, each in a worktree of its own, in a
repository with so many files, and beside it what git needs for a worktree:

  git worktree add   a worktree of HEAD
  git status         in the project
  step               a third of the run: the worktree, the looks, the merge and the removal

The first step makes a worktree, and the others get its files. `first` is a run of one step, which
has the whole of both, and the start and the end of the run; no goal is about it.

In the end stands how many times as long our steps take as both of git together, over all sizes; a
goal that is missed makes the exit code 1.

Options:
  --json          Print one JSON object instead of the table
  --rounds N      How often each is timed (3); the median counts
  --files N,N,…   How many files the repositories have (20000,100000)
  --in FOLDER     Where they lie (the disk of the target folder)
  --program PATH  Time this program instead of the one that `cargo xtask dist` builds";

const STEPS: u32 = 3;

/// What we add to a step, over what git needs for the same.
const MOST_TIMES: f64 = 1.5;

/// One step after the other.
const GRAPH: &str = r#"    { id = "one", title = "one", agent = "builder", needs = [] },
    { id = "two", title = "two", agent = "builder", needs = ["one"] },
    { id = "three", title = "three", agent = "builder", needs = ["two"] },
"#;

/// Leaves what its stage wants, new each time, and nothing else.
const WORKER: &str = r#"#!/bin/sh
cat > /dev/null
mkdir -p parts
echo "{\"status\": \"done\", \"at\": \"$(date +%s%N)\"}" > "parts/$GATEWRIGHT_STEP.json"
"#;

#[derive(Debug, PartialEq, Eq)]
struct Options {
    json: bool,
    rounds: usize,
    files: Vec<usize>,
    folder: Option<PathBuf>,
    program: Option<PathBuf>,
}

/// The medians of one size.
#[derive(Clone, Copy, Debug)]
struct Row {
    files: usize,
    add: Duration,
    status: Duration,
    step: Duration,
    /// A run of one step.
    first: Duration,
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
    let rows = options.files.iter().map(|files| {
        complain(format_args!("bench: steps in {files} files"));
        let stand = match &options.folder {
            Some(folder) => Stand::below(&program, folder, &[])?,
            None => Stand::new(&program, &[])?,
        };
        Place::new(&stand, *files)?.measure(options.rounds)
    });
    let rows = rows.collect::<Result<Vec<Row>, Failure>>()?;
    let goal = goal(&rows);
    say(if options.json {
        shown(&rows, &goal).to_string()
    } else {
        text(&rows, &goal)
    });
    match goal.is_met() {
        Some(false) => Err(Failure::no(format!("goals missed: {}", goal.name))),
        Some(true) | None => Ok(()),
    }
}

/// A large repository with a trusted pipeline.
struct Place<'a> {
    stand: &'a Stand,
    files: usize,
    worker: PathBuf,
}

impl<'a> Place<'a> {
    fn new(stand: &'a Stand, files: usize) -> Result<Self, Failure> {
        let project = stand.project();
        fill(&project, files)?;
        for (name, text) in [("pipeline.toml", graph(GRAPH)), ("one.toml", one_step())] {
            let path = project.join(name);
            fs::write(&path, text).map_err(Failure::file("write", &path))?;
        }
        let worker = stand.path("worker");
        fs::write(&worker, WORKER).map_err(Failure::file("write", &worker))?;
        fs::set_permissions(&worker, fs::Permissions::from_mode(0o755))
            .map_err(Failure::file("set the mode of", &worker))?;
        for line in [
            "config user.name bench",
            "config user.email bench@localhost",
            "add --all",
            "commit --quiet --message=all",
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            stand.git(&words)?;
        }
        for pipeline in ["pipeline.toml", "one.toml"] {
            let shown = stand.ask(&["trust", pipeline, "--show"])?;
            let hash = shown["hash"].as_str().unwrap_or_default();
            stand.run(&["trust", pipeline, "--hash", hash])?;
        }
        Ok(Self {
            stand,
            files,
            worker,
        })
    }

    /// All in turn in every round, so that a busy minute of the machine falls on all of them alike.
    fn measure(&self, rounds: usize) -> Result<Row, Failure> {
        let (mut adds, mut statuses) = (Vec::new(), Vec::new());
        let (mut steps, mut firsts) = (Vec::new(), Vec::new());
        let folder = self.stand.path("beside").to_string_lossy().into_owned();
        for round in 0..rounds {
            let add = ["worktree", "add", "--quiet", "--detach", &folder, "HEAD"];
            adds.push(timed(&mut self.stand.git_command(&add))?);
            self.stand
                .git(&["worktree", "remove", "--force", &folder])?;
            let status = ["status", "--porcelain"];
            statuses.push(timed(&mut self.stand.git_command(&status))?);
            steps.push(self.run("pipeline.toml", &format!("r-{round}"))? / STEPS);
            firsts.push(self.run("one.toml", &format!("r-one-{round}"))?);
        }
        let median = |mut times: Vec<Duration>| {
            times.sort_unstable();
            percentile(&times, 50)
        };
        Ok(Row {
            files: self.files,
            add: median(adds),
            status: median(statuses),
            step: median(steps),
            first: median(firsts),
        })
    }

    fn run(&self, pipeline: &str, run: &str) -> Result<Duration, Failure> {
        let worker = self.worker.to_string_lossy();
        let words = ["run", pipeline, "--task", "try", "--id", run];
        let words = [words.as_slice(), &["--stand-in", &worker]].concat();
        let took = timed(&mut self.stand.command(&words))?;
        let status = self.stand.ask(&["status", run])?;
        match status["status"].as_str() {
            Some("completed") => Ok(took),
            status => Err(Failure::no(format!("the steps ended as {status:?}"))),
        }
    }
}

/// The pipeline with its first step alone.
fn one_step() -> String {
    let first: String = GRAPH.split_inclusive('\n').take(1).collect();
    graph(&first).replace("\"graph\"", "\"one\"")
}

fn timed(command: &mut Command) -> Result<Duration, Failure> {
    let began = Instant::now();
    let output = command.output().map_err(Failure::program("a process"))?;
    let took = began.elapsed();
    if output.status.success() {
        return Ok(took);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let (status, line) = (output.status, format!("{command:?}"));
    Err(Failure::no(format!("{line}: {status}: {said}")))
}

fn goal(rows: &[Row]) -> Goal {
    let sum = |of: fn(&Row) -> Duration| rows.iter().map(of).sum::<Duration>().as_secs_f64();
    let git = sum(|row| row.add + row.status);
    let measured = (git > 0.0).then(|| sum(|row| row.step) / git);
    let name = "a step, all sizes together / git worktree add + git status";
    Goal::new(name, measured, Limit::AtMost(MOST_TIMES))
}

fn text(rows: &[Row], goal: &Goal) -> String {
    let mut text = format!(
        "{:>8} {:>18} {:>13} {:>10} {:>7} {:>10}\n",
        "files", "worktree add ms", "status ms", "step ms", "×git", "first ms"
    );
    for row in rows {
        text.push_str(&format!(
            "{:>8} {:>18} {:>13} {:>10} {:>7.2} {:>10}\n",
            row.files,
            row.add.as_millis(),
            row.status.as_millis(),
            row.step.as_millis(),
            row.step.as_secs_f64() / (row.add + row.status).as_secs_f64(),
            row.first.as_millis(),
        ));
    }
    text.push('\n');
    text.push_str(&goal.line());
    text
}

fn shown(rows: &[Row], goal: &Goal) -> Value {
    let seconds = |time: Duration| rounded(time.as_secs_f64());
    let rows = rows.iter().map(|row| {
        json!({
            "files": row.files,
            "worktree_add_s": seconds(row.add),
            "status_s": seconds(row.status),
            "step_s": seconds(row.step),
            "first_s": seconds(row.first),
        })
    });
    json!({ "rows": rows.collect::<Vec<_>>(), "goals": [goal.json()] })
}

fn parse(arguments: &[String]) -> Result<Options, Failure> {
    let mut options = Options {
        json: false,
        rounds: 3,
        files: vec![20_000, 100_000],
        folder: None,
        program: None,
    };
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        match argument {
            "--steps" => {}
            "--json" => options.json = true,
            "--rounds" => options.rounds = super::number(rest.next())?,
            "--files" => {
                let list = rest.next().unwrap_or_default().split(',');
                let list = list.map(|one| super::number(Some(one)));
                options.files = list.collect::<Result<_, _>>()?;
            }
            "--in" | "--program" => {
                let path = rest.next().map(PathBuf::from);
                let missing = format!("{argument} needs a path");
                let path = path.ok_or_else(|| Failure::usage(missing, HELP))?;
                match argument {
                    "--in" => options.folder = Some(path),
                    _ => options.program = Some(path),
                }
            }
            unknown => {
                let problem = format!("bench --steps does not know `{unknown}`");
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
            files: vec![10, 20],
            folder: Some("b".into()),
            program: Some("a".into()),
        };
        let line = "--rounds 2 --steps --program a --files 10,20 --in b --json";
        assert_eq!(parsed(line), Ok(few));
        for line in [
            "--rounds 0",
            "--files",
            "--files 1,,2",
            "--program",
            "--in",
            "fast",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn all_sizes_are_held_to_one_limit() {
        let row = |step| Row {
            files: 1,
            add: Duration::from_millis(800),
            status: Duration::from_millis(200),
            step: Duration::from_millis(step),
            first: Duration::from_millis(step),
        };
        let met = |rows: &[Row]| goal(rows).is_met();
        assert_eq!(met(&[row(1_000), row(2_000)]), Some(true));
        assert_eq!(met(&[row(1_000), row(2_001)]), Some(false));
        assert_eq!(met(&[]), None);
        assert!(text(&[row(1_600)], &goal(&[row(1_600)])).contains("MISSED"));
    }
}
