//! What a Bash call plainly does that it must not: it starts an agent program, uses a person's
//! command, or writes a protected file.
//!
//! A hint, not a wall. It refuses only what the text says in so many words, so that an ordinary day's
//! work is never refused; a name put together at run time, code in an interpreter, or a script pass.
//! Evidence finds those: the hooks of the agent's own session, the comparison of files, the checks of
//! the tree and of the artifacts, and the chain of the journal.

mod writes;

use engine::BypassAttempt;

use crate::known_agents;
use crate::program::Program;
use crate::shell::{self, Command, Runs, Word};

pub use writes::{Reach, Write};

/// Code in code in code is read this far.
const DEEPEST: usize = 6;

/// Who a program named `gatewright` is: people build programs of their own by that name.
pub type IsOurs<'a> = &'a dyn Fn(&str) -> bool;

/// A text for a shell, read once for all questions about it.
pub struct ShellText {
    commands: Vec<Command>,
    /// What each of them runs.
    runs: Vec<Runs>,
}

impl ShellText {
    pub fn read(text: &str) -> Self {
        let commands = shell::commands(text);
        let runs = commands.iter();
        let runs = runs
            .map(|command| shell::runs(command, &commands))
            .collect();
        Self { commands, runs }
    }

    /// The first bypass that it plainly attempts: an agent program that it runs, or a command of ours that
    /// is for people. `is_ours` tells whether a program at a path is this one.
    pub fn bypass(&self, is_ours: IsOurs<'_>) -> Option<BypassAttempt> {
        bypass(self, is_ours, DEEPEST)
    }

    /// The files that it plainly writes. Reading stays free.
    pub fn writes(&self) -> Vec<Write> {
        writes::find(self)
    }
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

fn bypass(text: &ShellText, is_ours: IsOurs<'_>, depth: usize) -> Option<BypassAttempt> {
    text.runs.iter().find_map(|runs| match runs {
        Runs::Program { name, arguments } => of_program(name, arguments, is_ours, depth),
        Runs::Code(code) => bypass(&ShellText::read(code), is_ours, depth.checked_sub(1)?),
        Runs::Nothing => None,
    })
}

fn of_program(
    program: &str,
    arguments: &[Word],
    is_ours: IsOurs<'_>,
    depth: usize,
) -> Option<BypassAttempt> {
    match shell::base_name(program) {
        "gatewright" => is_ours(program).then(|| persons_command(arguments))?,
        "find" => {
            let run: Vec<_> = run_by_find(arguments)?
                .iter()
                .map(|word| quoted(word))
                .collect();
            let run = ShellText::read(&run.join(" "));
            bypass(&run, is_ours, depth.checked_sub(1)?)
        }
        name => {
            let arguments: Vec<String> = arguments.iter().map(Word::to_string).collect();
            known_agents::conversation(name, &arguments)
                .map(|agent| BypassAttempt::AgentProgram(agent.to_owned()))
        }
    }
}

/// The program that `find` runs for each file, with its arguments.
fn run_by_find(arguments: &[Word]) -> Option<&[Word]> {
    let runs = |word: &Word| matches!(&**word, "-exec" | "-execdir" | "-ok" | "-okdir");
    let place = arguments.iter().position(runs)?;
    arguments.get(place + 1..)
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Commands of ours that refuse every agent. Others, such as `init`, `start` and `trust`, judge by
/// what is there.
pub const PERSONS_COMMANDS: [&str; 20] = [
    "answer",
    "bypass",
    "cancel",
    "checkpoint",
    "finish",
    "fork",
    "gc",
    "import",
    "prove-guards",
    "recover",
    "report",
    "reset",
    "restore",
    "resume",
    "retry",
    "run",
    "skip",
    "trust",
    "uninit",
    "worker",
];

fn persons_command(arguments: &[Word]) -> Option<BypassAttempt> {
    let mut words = arguments
        .iter()
        .map(|word| &**word)
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
    if word == "start" && words.any(|word| word == "--by-hand") {
        return Some(BypassAttempt::PersonsCommand("start --by-hand".to_owned()));
    }
    PERSONS_COMMANDS
        .contains(&word)
        .then(|| BypassAttempt::PersonsCommand(word.to_owned()))
}

#[cfg(test)]
mod tests;
