//! The `gatewright` command: arguments, settings and wiring. It decides nothing itself.

mod arguments;
mod command_groups;
mod command_line;
mod commands;
mod confirm;
mod demo;
mod drive_and_show;
mod drive_arguments;
mod exit;
mod fleet_link;
mod help_topics;
mod issue;
mod keyboard;
mod output;
mod progress_view;
mod reference;
mod report;
mod run_command;
mod task;
mod terminal;
mod verification;

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::panic::{self, UnwindSafe};
use std::process::ExitCode;

use clap::FromArgMatches as _;
use clap::error::ErrorKind;
use hook::Callbacks;
use runtime::context::Context;
use runtime::environment::Environment;
use runtime::failure::Failure;
use runtime::template_process;

use crate::command_line::{Arguments, Command};
use crate::exit::Exit;
use crate::output::{Color, Format, Output};

/// What a hook gets from the program.
const HOOK: Callbacks = Callbacks {
    print: output::reply,
    in_fleet: fleet_link::in_fleet,
};

/// Runs the command with these arguments. The first one is the name of the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // Hosts call `hook` at every tool call, so we check for it before we build the parser.
    if arguments.get(1).is_some_and(|word| word == "hook") {
        return hook::run(&arguments[2..], HOOK);
    }
    // It ends as its program does, so its exit codes are not ours.
    if let [_, word, report, program, rest @ ..] = arguments.as_slice()
        && word == "hold"
    {
        return evidence::hold::hold(report.as_ref(), program, rest).into();
    }
    if arguments
        .get(1)
        .is_some_and(|word| word == template_process::WORD)
    {
        return guarded(check_templates).into();
    }
    let exit = guarded(|| parse_and_run(&arguments));
    exit.into()
}

/// The child of a command that checks a definition.
fn check_templates() -> Exit {
    let mut output = plain_output();
    let mut input = Vec::new();
    let answered = io::stdin()
        .read_to_end(&mut input)
        .map_err(|cause| Failure::environment(format!("cannot read the input ({cause})")))
        .and_then(|_| template_process::answer(&input))
        .and_then(|answer| output.text(&answer));
    match answered {
        Ok(()) => Exit::Success,
        Err(failure) => {
            output.failure(&failure);
            Exit::from(&failure)
        }
    }
}

/// A panic is a bug: it prints one line and has its own exit code.
fn guarded(work: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    panic::set_hook(Box::new(|fault| {
        let failure = Failure::bug(format!("internal error ({fault})"));
        plain_output().failure(&failure);
    }));
    exit_of(work)
}

fn exit_of(work: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    panic::catch_unwind(work).unwrap_or(Exit::Bug)
}

fn plain_output() -> Output {
    Output::standard(Format::Text, Color::Never, &Environment::default())
}

fn parse_and_run(arguments: &[OsString]) -> Exit {
    let matches = command_groups::command().try_get_matches_from(arguments);
    let parsed = matches.and_then(|matches| {
        let run = fleet_link::named_run(&matches);
        Arguments::from_arg_matches(&matches).map(|arguments| (arguments, run))
    });
    match parsed {
        Ok((arguments, run)) => run_parsed(&arguments, run.as_deref()),
        Err(error) => explain(&error),
    }
}

/// Help and versions are results; anything else is a usage error.
fn explain(error: &clap::Error) -> Exit {
    let mut output = plain_output();
    let text = views::safe(&error.render().to_string());
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match output.text(&text) {
            Ok(()) => Exit::Success,
            Err(failure) => Exit::from(&failure),
        },
        _ => {
            output.mutter(&text);
            Exit::Usage
        }
    }
}

/// A command about a run of the fleet uses the fleet's store, and is otherwise the same.
fn run_parsed(arguments: &Arguments, run: Option<&str>) -> Exit {
    let format = if arguments.everywhere.json {
        Format::Json
    } else {
        Format::Text
    };
    let environment = Environment::of_process();
    let mut output = Output::standard(format, arguments.everywhere.color, &environment);
    let result = Context::of_process(environment).and_then(|context| match run {
        Some(run) if fleet_link::is_fleets(run) => dispatch(
            &arguments.command,
            &fleet_link::in_fleet(&context)?,
            &mut output,
        ),
        // To adopt a run is to name one of another machine.
        Some(run) if !matches!(arguments.command, Command::Adopt(_)) => {
            dispatch(&arguments.command, &context, &mut output)
                .map_err(|failure| fleet_link::with_its_machine(&context, run, failure))
        }
        Some(_) | None => dispatch(&arguments.command, &context, &mut output),
    });
    result.unwrap_or_else(|failure| {
        output.failure(&failure);
        Exit::from(&failure)
    })
}

fn dispatch(command: &Command, context: &Context, output: &mut Output) -> Result<Exit, Failure> {
    match command {
        Command::Demo(command) => command.run(context, output),
        Command::Pipelines(command) => command.run(context, output),
        Command::Lint(command) => command.run(context, output),
        Command::Graph(command) => command.run(context, output),
        Command::Schema(command) => command.run(output),
        Command::Test(command) => command.run(context, output),
        Command::New(command) => command.run(context, output),
        Command::Trust(command) => command.run(context, output),
        Command::Init(command) => command.run(context, output),
        Command::Uninit(command) => command.run(context, output),
        Command::Doctor(command) => command.run(context, output),
        Command::ProveGuards(command) => command.run(context, output),
        Command::Start(command) => command.run(context, output),
        Command::Run(command) => command.run(context, output),
        Command::Resume(command) => command.run(context, output),
        Command::Recover(command) => command.run(context, output),
        Command::Worker(command) => command.run(context, output),
        Command::Deliver(command) => command.run(context, output),
        Command::Merge(command) => command.run(context, output),
        Command::Queue(command) => command.run(context, output),
        Command::Caps(command) => command.run(context, output),
        Command::Fleet(command) => command.run(context, output),
        Command::DryRun(command) => command.run(context, output),
        Command::List(command) => command.run(context, output),
        Command::Status(command) => command.run(context, output),
        Command::Inbox(command) => command.run(context, output),
        Command::Watch(command) => command.run(context, output),
        Command::Serve(command) => command.run(context, output),
        Command::Next(command) => command.run(context, output),
        Command::Report(command) => command.run(context, output),
        Command::Check(command) => command.run(context, output),
        Command::Step(command) => command.run(context, output),
        Command::Answer(command) => command.run(context, output),
        Command::Finish(command) => command.run(context, output),
        Command::Retry(command) => command.run(context, output),
        Command::Skip(command) => command.run(context, output),
        Command::Bypass(command) => command.run(context, output),
        Command::Cancel(command) => command.run(context, output),
        Command::Reset(command) => command.run(context, output),
        Command::Show(command) => command.run(context, output),
        Command::Diff(command) => command.run(context, output),
        Command::Logs(command) => command.run(context, output),
        Command::History(command) => command.run(context, output),
        Command::Why(command) => command.run(context, output),
        Command::Metrics(command) => command.run(context, output),
        Command::Verify(command) => command.run(context, output),
        Command::Checkpoint(command) => command.run(context, output),
        Command::Restore(command) => command.run(context, output),
        Command::Fork(command) => command.run(context, output),
        Command::Export(command) => command.run(context, output),
        Command::Import(command) => command.run(context, output),
        Command::Adopt(command) => command.run(context, output),
        Command::Gc(command) => command.run(context, output),
        Command::Statusline(command) => command.run(context, output),
        Command::Completions(command) => command.run(command_groups::command(), output),
        Command::Man(command) => command.run(command_groups::command(), output),
        Command::Help(command) => command.run(command_groups::command(), output),
        Command::ExitCodes(command) => command.run(output),
        Command::DemoOrchestrator(command) => command.run(),
        Command::DemoWorker(command) => command.run(context, output),
        Command::Watchdog(command) => Ok(command.run()),
        Command::TerminalKeeper(command) => command.run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_has_an_exit_code_of_its_own() {
        assert_eq!(exit_of(|| panic!("a planted fault")), Exit::Bug);
        assert_eq!(exit_of(|| Exit::No), Exit::No);
    }
}
