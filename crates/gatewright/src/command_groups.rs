//! The command line as clap knows it, with its commands grouped under headings in `--help`.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use crate::command_line::Arguments;

/// Each heading of `gatewright --help` with its commands, in the order of the list.
pub(crate) const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Everyday",
        &[
            "demo", "init", "run", "start", "list", "status", "inbox", "watch", "serve", "next",
            "answer",
        ],
    ),
    (
        "Pipelines",
        &[
            "pipelines",
            "new",
            "lint",
            "test",
            "graph",
            "schema",
            "trust",
        ],
    ),
    (
        "Runs",
        &[
            "resume",
            "recover",
            "worker",
            "deliver",
            "merge",
            "queue",
            "caps",
            "dry-run",
            "report",
            "check",
            "step",
            "checkpoint",
            "restore",
            "fork",
            "gc",
        ],
    ),
    (
        "People",
        &["finish", "retry", "skip", "bypass", "cancel", "reset"],
    ),
    (
        "Inspect",
        &[
            "show", "history", "diff", "logs", "why", "metrics", "verify", "export", "import",
            "adopt",
        ],
    ),
    (
        "Set up",
        &[
            "uninit",
            "doctor",
            "fleet",
            "prove-guards",
            "statusline",
            "completions",
            "man",
            "help",
        ],
    ),
];

/// The whole command line, for everything that parses or prints it.
pub(crate) fn command() -> Command {
    let command = Arguments::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        grouped(&command)
    );
    command.help_template(template)
}

/// The commands under their headings, each with its first line of help.
fn grouped(command: &Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{heading}:");
        for name in names {
            let about = command
                .find_subcommand(name)
                .and_then(Command::get_about)
                .map(ToString::to_string)
                .unwrap_or_default();
            let _ = writeln!(text, "  {name:<12}  {about}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = command();
        let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
        let mut shown: Vec<&str> = shown.map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn a_command_fits_on_one_line_of_the_help() {
        for line in command().render_help().to_string().lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
