//! The developers' tasks: `cargo xtask test`, `dist`, `battery` and `bench`.

mod battery;
mod bench;
mod deny;
// Tests take the same detour; xtask is built without the crates of the product and of the tests.
#[path = "../../crates/testkit/src/detour.rs"]
mod detour;
mod dist;
mod elf;
mod failure;
mod output;
mod setup;
mod test;
mod workspace;

use std::process::ExitCode;

use crate::failure::Failure;
use crate::output::{complain, say};

const HELP: &str = "\
Usage: cargo xtask TASK [OPTIONS]

Tasks:
  test       Run every check: format, lints, tests, documentation, batteries
  dist       Build the static release program and show where it is
  battery    Hurt the real program and count what is lost: kill, chores, edits, crowd,
             runs, two, night, fleet, power
  bench      Time the real program against a process that does nothing

Each task explains itself with --help.";

/// Set on the way by the detour, so that nobody takes it twice.
const DETOUR: &str = "XTASK_DETOUR";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = if detour::has_agent_above() && std::env::var_os(DETOUR).is_none() {
        by_detour(&arguments)
    } else {
        dispatch(&arguments)
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(format_args!("xtask: {}", failure.with_causes()));
            ExitCode::from(failure.exit_code())
        }
    }
}

/// The program refuses agents what is a person's, and the batteries play the person: no agent that
/// runs them may be above what they start.
fn by_detour(arguments: &[String]) -> Result<(), Failure> {
    let program = std::env::current_exe().map_err(Failure::program("xtask"))?;
    let mut command = detour::by_detour(program);
    workspace::succeed(command.args(arguments).env(DETOUR, "1"))
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    let (task, rest) = match arguments.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("--help", arguments),
    };
    match task {
        "test" => test::run(rest),
        "dist" => dist::run(rest),
        "battery" => battery::run(rest),
        "bench" => bench::run(rest),
        "--help" | "-h" | "help" => {
            say(HELP);
            Ok(())
        }
        unknown => Err(Failure::usage(
            format!("there is no task `{unknown}`"),
            HELP,
        )),
    }
}
