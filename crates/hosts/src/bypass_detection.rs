//! What a Bash call plainly gets around: the admission of agents, of people, and protected files.
//!
//! A speed bump, not a boundary. It reads what is written down, word by word; a name put together at
//! run time, a script written first and run later, or a copy of a program under another name pass.
//! Those are noticed elsewhere: by the hooks of the agent's own session, by the checks of the tree and
//! of the artifacts, and by the chain of the journal.

mod paths;
mod writes;

use engine::BypassAttempt;

use crate::known_agents;
use crate::program::Program;
use crate::shell::{self, LONGEST_COMMAND, Runs};

/// Code in code in code is read this far.
const DEEPEST: usize = 6;

/// The first bypass that a text for a shell plainly attempts: an agent program that it runs, or a
/// command of ours that is for people.
pub fn in_command(command: &str) -> Option<BypassAttempt> {
    if command.len() >= LONGEST_COMMAND - 3 {
        return Some(BypassAttempt::TooLong);
    }
    bypass(command, DEEPEST)
}

/// Does a text for a shell that runs in this folder plainly change one of these paths, something
/// beneath it, or the folder that holds it? Reading stays free.
///
/// A path may be absolute, or relative to the project; a text may name it either way, with `~` or a
/// variable in front, after a `cd`, or by a glob. Where the folder is unknown, and so empty, a relative
/// name counts as one of the same ending elsewhere.
pub fn changes_any(folder: &str, command: &str, protected: &[&str]) -> bool {
    writes::changes_any(folder, command, protected)
}

/// Does a prompt that a call plants for later act as a person, or as the host? `commands` are those of
/// the pipeline, without slash; a plugin's name may stand before them, and other words around them.
pub fn in_prompt(prompt: &str, commands: &[&str]) -> Option<BypassAttempt> {
    let mut programs = Program::ALL.into_iter();
    if programs.any(|program| program.imitates_host(prompt)) {
        let message = String::from("a message of the host");
        return Some(BypassAttempt::PersonsCommand(message));
    }
    let mut words = prompt
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('/'));
    let named = words.find(|word| {
        let name = word.rsplit(':').next().unwrap_or(word);
        commands.contains(&name)
    });
    named.map(|word| BypassAttempt::PersonsCommand(format!("/{word}")))
}

fn bypass(text: &str, depth: usize) -> Option<BypassAttempt> {
    let all = shell::commands(text);
    all.iter()
        .find_map(|command| match shell::runs(command, &all) {
            Runs::Program {
                name, arguments, ..
            } => of_program(&name, &arguments, depth),
            Runs::Code(code) => deeper(&code, depth),
            Runs::Nothing => None,
        })
}

fn deeper(code: &str, depth: usize) -> Option<BypassAttempt> {
    bypass(code, depth.checked_sub(1)?)
}

fn of_program(name: &str, arguments: &[String], depth: usize) -> Option<BypassAttempt> {
    if name == "gatewright" {
        return persons_command(arguments);
    }
    if name == "find" {
        let place = arguments
            .iter()
            .position(|word| matches!(word.as_str(), "-exec" | "-execdir" | "-ok"))?;
        let run: Vec<_> = arguments
            .get(place + 1..)?
            .iter()
            .map(|word| quoted(word))
            .collect();
        return deeper(&run.join(" "), depth);
    }
    known_agents::conversation(name, arguments)
        .map(|agent| BypassAttempt::AgentProgram(agent.to_owned()))
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Commands of ours that agents may use. Every other one is a person's; whether `init` and `start` are
/// allowed depends on what is there, which they judge themselves.
const FOR_AGENTS: [&str; 21] = [
    "status",
    "list",
    "next",
    "why",
    "history",
    "lint",
    "graph",
    "check",
    "step",
    "report",
    "statusline",
    "demo",
    "start",
    "init",
    "schema",
    "pipelines",
    "test",
    "help",
    "completions",
    "man",
    "exit-codes",
];

fn persons_command(arguments: &[String]) -> Option<BypassAttempt> {
    let mut words = arguments
        .iter()
        .map(String::as_str)
        .take_while(|word| *word != "--");
    if words.clone().any(|word| matches!(word, "--help" | "-h")) {
        return None;
    }
    let word = loop {
        match words.next()? {
            "--color" => drop(words.next()),
            option if option.starts_with('-') => {}
            word => break word,
        }
    };
    if word == "hook" {
        return Some(BypassAttempt::HookCall);
    }
    (!FOR_AGENTS.contains(&word)).then(|| BypassAttempt::PersonsCommand(word.to_owned()))
}

#[cfg(test)]
mod tests;
