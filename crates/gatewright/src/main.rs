//! The `gatewright` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    gatewright::run(std::env::args_os())
}
