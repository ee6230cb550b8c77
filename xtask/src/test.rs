//! `cargo xtask test`: every check of the repository, in the order that fails soonest.

mod binaries;
mod quick;
mod suite;

use std::thread;
use std::time::Instant;

use crate::battery;
use crate::deny;
use crate::failure::Failure;
use crate::output::{complain, say};
use crate::setup;
use crate::workspace::{cargo, succeed};

const HELP: &str = "\
Usage: cargo xtask test [--quick | --deny | --set-up]

Runs every check and prints the result of each. It first installs what the tests need: git, strace, tmux, npm
and python3 (on Debian, as root), and into the target folder the pinned Claude Code, Codex and Gemini CLI and the
linters of Ansible.

  format     cargo fmt --all -- --check
  lints      cargo clippy --workspace --all-targets -- -D warnings
  deny       the licences, names, versions and sources of all packages, as deny.toml allows them, and the
             advisories about them in advisories.toml
  tests      every test of the workspace, as cargo test --workspace, two binaries at a time
  docs       cargo doc --workspace --no-deps --document-private-items, warnings denied
  demo       cargo run --release -- demo, the first command of the README
  kill       a sample of: kill -9 before every system call of every command that writes
  chores     a sample of: the same for commands without a key and for a hook of every event; and errors
             at the calls of the hooks
  edits      a sample of: edits of every file of the state folder and of the rows of the store
  crowd      64 processes write to one run at once
  runs       a sample of: kill -9 in the middle of whole headless runs, then `resume`
  two        a sample of: an orchestrator sleeps longer than its lease, and another one takes over
  night      one night: ten queued tasks, crashes of the machine, and damage planted that must be found
  fleet      a sample of: machines on one PostgreSQL, while drivers, server, network and clocks break and replicas take over;
             and real workers on them, while machines, workers and server are killed or sleep
  power      a sample of: the power of ext4 and xfs is cut while many write. It mounts file systems, so it needs
             root; where that is refused, the line says so

At the end each step has a line, with the reason where it failed: the names of failed tests and the beginning of what
they printed. The last line counts the steps. The exit code is 0 when none of them fails.

  --quick    Only format, lints, deny, and the tests that start no agent program and no battery. Leaves out the test
             binary `host`, the walks and properties over many thousand cases, the proofs of guards, and what
             needs the linters of Ansible. What tests write goes to memory where the system has room there
  --deny     Only the step deny, which takes less than a second
  --set-up   Only install, for those who then run cargo test themselves";

/// One thing to check, by name.
struct Step {
    name: &'static str,
    check: fn() -> Result<(), Failure>,
    /// Why it cannot be run on this machine, if there is a reason.
    obstacle: fn() -> Option<String>,
}

const fn step(name: &'static str, check: fn() -> Result<(), Failure>) -> Step {
    Step {
        name,
        check,
        obstacle: || None,
    }
}

/// How a step went.
enum Outcome {
    Passed,
    /// With the reason.
    Failed(String),
    /// With the reason. It is never left out in silence.
    NotRun(String),
}

const FORMAT: Step = step("format", format);

const LINTS: Step = step("lints", lints);

const DENY: Step = step("deny", deny::run);

/// What `--quick` runs.
const QUICK_STEPS: [Step; 4] = [FORMAT, LINTS, DENY, step("tests", quick::tests)];

const STEPS: [Step; 15] = [
    FORMAT,
    LINTS,
    DENY,
    step("tests", tests),
    step("docs", docs),
    step("demo", demo),
    step("kill", || battery::sample("kill")),
    step("chores", || battery::sample("chores")),
    step("edits", || battery::sample("edits")),
    step("crowd", || battery::sample("crowd")),
    step("runs", || battery::sample("runs")),
    step("two", || battery::sample("two")),
    step("night", || battery::sample("night")),
    step("fleet", || battery::sample("fleet")),
    Step {
        obstacle: battery::power_obstacle,
        ..step("power", || battery::sample("power"))
    },
];

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    match arguments {
        [] => {
            setup::ensure_all()?;
            check(&STEPS)
        }
        [quick] if quick == "--quick" => {
            setup::ensure_quick()?;
            check(&QUICK_STEPS)
        }
        [only] if only == "--deny" => check(&[DENY]),
        [set_up] if set_up == "--set-up" => setup::ensure_all(),
        [help] if help == "--help" || help == "-h" => {
            say(HELP);
            Ok(())
        }
        [unknown, ..] => Err(Failure::usage(
            format!("test does not know `{unknown}`"),
            HELP,
        )),
    }
}

/// Runs every step, also after one has failed, so that one run shows all that is broken.
fn check(steps: &[Step]) -> Result<(), Failure> {
    let lines: Vec<_> = steps.iter().map(|step| (step.name, take(step))).collect();
    say("");
    let (mut passed, mut failed, mut not_run) = (0, 0, 0);
    for (name, outcome) in &lines {
        match outcome {
            Outcome::Passed => {
                passed += 1;
                say(format_args!("passed {name}"));
            }
            Outcome::Failed(why) => {
                failed += 1;
                say(format_args!("FAILED {name}: {why}"));
            }
            Outcome::NotRun(why) => {
                not_run += 1;
                say(format_args!("NOT RUN {name}: {why}"));
            }
        }
    }
    let left_out = match not_run {
        0 => String::new(),
        not_run => format!(", {not_run} not run"),
    };
    say(format_args!("{passed} passed, {failed} failed{left_out}"));
    if failed == 0 {
        Ok(())
    } else {
        Err(Failure::no("the tests have failed"))
    }
}

fn take(step: &Step) -> Outcome {
    say(format_args!("\n== {}", step.name));
    if let Some(why) = (step.obstacle)() {
        say(format_args!("== {} NOT RUN: {why}", step.name));
        return Outcome::NotRun(why);
    }
    let began = Instant::now();
    let result = (step.check)();
    let seconds = began.elapsed().as_secs_f32();
    match result {
        Ok(()) => {
            say(format_args!("== {} passed in {seconds:.1} s", step.name));
            Outcome::Passed
        }
        Err(failure) => {
            let why = failure.with_causes();
            complain(&why);
            say(format_args!("== {} FAILED after {seconds:.1} s", step.name));
            Outcome::Failed(why)
        }
    }
}

fn format() -> Result<(), Failure> {
    succeed(cargo().args(["fmt", "--all", "--", "--check"]))
}

fn lints() -> Result<(), Failure> {
    let arguments = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ];
    succeed(cargo().args(arguments))
}

fn tests() -> Result<(), Failure> {
    let binaries = binaries::build()?;
    let real = binaries.iter().find(|it| it.target == quick::REAL_AGENTS);
    let real = real.map_or(Ok(Vec::new()), binaries::TestBinary::tests)?;
    let parts = binaries.into_iter().map(|binary| suite::Part {
        binary,
        left_out: Vec::new(),
    });
    let setting = suite::Setting {
        // Most tests wait for the processes that they start.
        threads: thread::available_parallelism().map_or(2, usize::from) * 2,
        environment: Vec::new(),
    };
    suite::run(parts.collect(), &setting)?;
    // Only the test kit has examples in its comments.
    succeed(cargo().args(["test", "--package=testkit", "--doc", "--quiet"]))?;
    say(format_args!(
        "{} tests ran with the real agent programs, among them Claude Code {}",
        real.len(),
        setup::CLAUDE_VERSION
    ));
    Ok(())
}

/// The README's first command, word for word: a person types nothing else.
fn demo() -> Result<(), Failure> {
    succeed(cargo().args(["run", "--release", "--", "demo"]))
}

fn docs() -> Result<(), Failure> {
    let arguments = [
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
        "--quiet",
    ];
    succeed(cargo().args(arguments).env("RUSTDOCFLAGS", "-D warnings"))
}
