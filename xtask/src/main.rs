//! The developers' tasks: `cargo xtask test`, `dist`, `battery` and `bench`.

mod battery;
mod bench;
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
  battery    Hurt the real program and count what is lost: kill, crowd
  bench      Time the real program against a process that does nothing

Each task explains itself with --help.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(format_args!("xtask: {}", failure.with_causes()));
            ExitCode::from(failure.exit_code())
        }
    }
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
