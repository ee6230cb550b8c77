//! The reference: every command and option, as man pages and as one Markdown page.

use std::fmt::Write as _;

use clap::{Arg, Command};
use clap_mangen::Man;
use runtime::failure::Failure;

use crate::exit::Exit;

/// The command with everything that `clap` adds.
pub(crate) fn complete(mut command: Command) -> Command {
    command.build();
    command
}

/// The man page of the program or of one command.
pub(crate) fn page(command: &Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    let failed = |cause| Failure::bug(format!("the man page cannot be made ({cause})"));
    let command = command.clone().after_help(None::<&str>);
    Man::new(command).render(&mut page).map_err(failed)?;
    Ok(format!(
        "{}{}",
        String::from_utf8_lossy(&page),
        exit_section()
    ))
}

/// The exit codes in the language of man pages.
fn exit_section() -> String {
    let mut section = String::from(".SH \"EXIT CODES\"\n");
    for exit in Exit::ALL {
        let _ = writeln!(section, ".TP\n\\fB{}\\fR\n{}", exit.code(), exit.meaning());
    }
    section
}

/// A page for the program and one for each command, with their file names.
pub(crate) fn pages(command: &Command) -> Result<Vec<(String, String)>, Failure> {
    let mut pages = vec![("gatewright.1".to_owned(), page(command)?)];
    for command in shown(command) {
        let name = format!("gatewright-{}", command.get_name());
        let command = command.clone().display_name(name.clone());
        pages.push((format!("{name}.1"), page(&command)?));
    }
    Ok(pages)
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

/// Everything on one Markdown page.
pub(crate) fn markdown(command: &Command) -> String {
    let mut page = String::from("# The command line\n\n");
    page.push_str("This page is made from the program: `gatewright man --markdown`.\n\n");
    if let Some(about) = command.get_long_about() {
        let _ = writeln!(page, "{about}\n");
    }
    page.push_str("Every command takes these:\n\n");
    let everywhere: Vec<&Arg> = command
        .get_arguments()
        .filter(|it| it.is_global_set())
        .collect();
    page.push_str(&arguments(&everywhere));
    page.push_str("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n");
    for exit in Exit::ALL {
        let _ = writeln!(page, "| {} | {} |", exit.code(), exit.meaning());
    }
    for command in shown(command) {
        page.push_str(&section(command));
    }
    page
}

fn section(command: &Command) -> String {
    let mut section = format!("\n## gatewright {}\n\n", command.get_name());
    let about = command.get_long_about().or(command.get_about());
    if let Some(about) = about {
        let _ = writeln!(section, "{about}\n");
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let _ = writeln!(section, "```text\n{usage}\n```");
    let own = command.get_arguments().filter(|argument| {
        !argument.is_global_set() && !matches!(argument.get_id().as_str(), "help" | "version")
    });
    let own: Vec<&Arg> = own.collect();
    if !own.is_empty() {
        let _ = write!(section, "\n{}", arguments(&own));
    }
    section
}

fn arguments(list: &[&Arg]) -> String {
    list.iter()
        .map(|argument| argument_line(argument))
        .collect()
}

fn argument_line(argument: &Arg) -> String {
    let mut line = format!("- `{}`", typed(argument));
    if let Some(help) = argument.get_help() {
        let _ = write!(line, ": {help}");
    }
    let values = argument.get_possible_values();
    let values: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
    if argument.get_action().takes_values() && !values.is_empty() {
        let _ = write!(line, " ({})", values.join(", "));
    }
    let defaults = argument
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy());
    let defaults: Vec<_> = defaults.collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(line, " [default: {}]", defaults.join(", "));
    }
    line.push('\n');
    line
}

/// How to type an argument: `--key <KEY>`, `-o, --output <FILE>`, `<RUN>`.
fn typed(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let values: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    let values = if argument.get_action().takes_values() {
        values.join(" ")
    } else {
        String::new()
    };
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let flags: Vec<String> = short.into_iter().chain(long).collect();
    let typed = [flags.join(", "), values];
    typed
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
