//! Commands from an agent that a person has approved.
//!
//! People approve many things in a hurry, so commands that test nothing, or do more than test, are
//! refused nevertheless. This prevents mistakes. It does not stop a malicious program.

use engine::{FieldOf, StageName};
use serde_json::Value;

use crate::content::captured_bytes;
use crate::error::Error;
use crate::look_context::LookContext;
use crate::{document, questions, text};

const MOST_COMMANDS: usize = 50;

/// The commands in these fields, without duplicates, if a person has approved all of them.
pub(super) fn commands(
    stage: &StageName,
    fields: &[FieldOf],
    looking: &LookContext<'_>,
) -> Result<Vec<Vec<String>>, Error> {
    let mut commands: Vec<Vec<String>> = Vec::new();
    for field in fields {
        for command in commands_of(stage, field, looking)? {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
    }
    Ok(commands)
}

fn commands_of(
    stage: &StageName,
    field: &FieldOf,
    looking: &LookContext<'_>,
) -> Result<Vec<Vec<String>>, Error> {
    let (artifact, run) = (&field.artifact, looking.run);
    let declared = looking.pipeline.definition().artifacts.get(artifact);
    let declared = declared.ok_or_else(|| Error::UnknownArtifact {
        artifact: artifact.clone(),
    })?;
    let refused = |reason| Error::NotApproved {
        stage: stage.clone(),
        artifact: artifact.clone(),
        reason,
    };
    let may_add = declared.approved.is_some();
    let captured = match run.artifacts.get(artifact) {
        Some(captured) => captured,
        // Work that a person skipped adds nothing.
        None if may_add => return Ok(Vec::new()),
        None => return Err(refused("does not exist yet")),
    };
    match run.approved.get(artifact) {
        Some(approved) if *approved == captured.content => {}
        Some(_) if !may_add => return Err(refused("has changed since it was approved")),
        None if !may_add => return Err(refused("nobody has approved yet")),
        Some(_) | None => {}
    }
    let content = captured_bytes(looking.contents, &captured.content)?;
    let content = String::from_utf8_lossy(&content);
    let read = questions::fields(&content, &declared.format).and_then(|value| {
        if may_add {
            listed(&value, &field.field)
        } else {
            words_of_each(&questions::list_in(&value, &field.field)?, &field.field)
        }
    });
    let commands = read.map_err(|reason| Error::NoCommands {
        stage: stage.clone(),
        artifact: artifact.clone(),
        reason,
    })?;
    let is_known = |command: &Vec<String>| run.approved_commands.contains(command);
    if may_add && !commands.iter().all(is_known) {
        Err(refused("adds commands that nobody has approved"))
    } else {
        Ok(commands)
    }
}

/// The commands in a field of a new artifact. An empty list is allowed here: a schema can require
/// more.
pub(crate) fn commands_in(value: &Value, field: &str) -> Result<Vec<Vec<String>>, String> {
    let commands = listed(value, field)?;
    commands.iter().try_for_each(|words| acceptable(words))?;
    Ok(commands)
}

fn listed(value: &Value, field: &str) -> Result<Vec<Vec<String>>, String> {
    let is_there = document::field(value, field).is_some_and(|list| !document::is_empty(list));
    if is_there {
        words_of_each(&questions::list_in(value, field)?, field)
    } else {
        Ok(Vec::new())
    }
}

fn words_of_each(items: &[Value], field: &str) -> Result<Vec<Vec<String>>, String> {
    if items.len() > MOST_COMMANDS {
        Err(format!(
            "`{field}` has more than {MOST_COMMANDS} commands; plan fewer"
        ))
    } else {
        items.iter().map(words_of).collect()
    }
}

/// A command is a text to be split, or a list of words.
fn words_of(item: &Value) -> Result<Vec<String>, String> {
    let wrong = || String::from("a command is neither a text nor a list of words; write a text");
    let words = match item {
        Value::String(line) => split(line)?,
        Value::Array(words) => words
            .iter()
            .map(|word| word.as_str().map(String::from).ok_or_else(wrong))
            .collect::<Result<_, _>>()?,
        _ => return Err(wrong()),
    };
    if words.is_empty() || words.iter().any(|word| word.contains('\0')) {
        Err(String::from(
            "a command is empty or contains a NUL; write a program and its words",
        ))
    } else {
        Ok(words)
    }
}

/// Splits a line at its spaces. Quotes and backslashes keep words together; shell syntax is
/// refused, because it would have no effect.
fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    let mut quote: Option<char> = None;
    while let Some(character) = rest.next() {
        match (quote, character) {
            (Some(open), close) if open == close => quote = None,
            (Some('\''), inside) => word.get_or_insert_default().push(inside),
            (_, '\\') => {
                let next = rest.next().ok_or_else(|| open_end(line))?;
                let keeps = quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`');
                word.get_or_insert_default()
                    .extend(keeps.then_some('\\').into_iter().chain([next]));
            }
            (_, '$' | '`') => return Err(shell_only(line, character)),
            (Some(_), inside) => word.get_or_insert_default().push(inside),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(character);
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            (None, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '*' | '?' | '\n' | '\r') => {
                return Err(shell_only(line, character));
            }
            (None, '~' | '#') if word.is_none() => return Err(shell_only(line, character)),
            (None, other) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    quote.map_or(Ok(words), |_| Err(open_end(line)))
}

fn open_end(line: &str) -> String {
    format!("`{}` has an open quote; close it", text::line(line, 200))
}

fn shell_only(line: &str, found: char) -> String {
    let line = text::line(line, 200);
    format!(
        "`{line}` needs a shell for {found:?}, and there is none; write one plain command per item"
    )
}

/// Why a program does not run for an agent.
#[derive(Clone, Copy)]
enum Objection {
    TestsNothing,
    StartsAnother,
    DoesMore,
}

const OBJECTIONS: [(Objection, &[&str]); 3] = [
    (
        Objection::TestsNothing,
        &[
            "true", "false", ":", "exit", "echo", "printf", "test", "[", "pwd", "sleep", "yes",
            "date", "ls", "cat", "touch", "mkdir", "cd", "export", "set", "return",
        ],
    ),
    (
        Objection::StartsAnother,
        &[
            "env", "xargs", "timeout", "nice", "nohup", "setsid", "stdbuf", "time", "command",
            "exec", "eval", "builtin", "source", ".", "script", "watch", "busybox", "parallel",
            "find",
        ],
    ),
    (
        Objection::DoesMore,
        &[
            "rm",
            "rmdir",
            "unlink",
            "shred",
            "dd",
            "mkfs",
            "mv",
            "chmod",
            "chown",
            "ln",
            "sudo",
            "su",
            "doas",
            "pkexec",
            "curl",
            "wget",
            "nc",
            "ncat",
            "socat",
            "ssh",
            "scp",
            "rsync",
            "ftp",
            "telnet",
            "kill",
            "pkill",
            "killall",
            "reboot",
            "shutdown",
            "crontab",
            "at",
            "systemctl",
            "gatewright",
        ],
    ),
];

const SHELLS: [&str; 11] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "pwsh",
];

/// Interpreters by the prefix of their names, with the options that run code from the command line.
const INLINE: [(&str, &[&str]); 9] = [
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("node", &["-e", "--eval", "-p", "--print"]),
    ("bun", &["-e", "--eval", "-p", "--print"]),
    ("deno", &["eval"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
];

/// May this command from an agent run? The error says why not and what to write.
pub(super) fn acceptable(words: &[String]) -> Result<(), String> {
    let shown = text::line(&engine::shell_words(words), 200);
    let Some((program, arguments)) = words.split_first() else {
        return Err(String::from(
            "a command is empty; write a program and its words",
        ));
    };
    if program.starts_with('/') || program.split('/').any(|part| part == "..") {
        return Err(format!(
            "`{shown}` names a program outside the project; write its plain name"
        ));
    }
    if program.contains('=') {
        return Err(format!(
            "`{shown}` sets a variable, which needs a shell; remove it"
        ));
    }
    let name = program
        .rsplit('/')
        .next()
        .unwrap_or(program)
        .to_ascii_lowercase();
    let objection = OBJECTIONS
        .iter()
        .find(|(_, names)| names.contains(&name.as_str()))
        .map(|(objection, _)| *objection);
    let changes = || name.starts_with("mkfs.") || (name == "git" && changes_work(arguments));
    match objection.or_else(|| changes().then_some(Objection::DoesMore)) {
        Some(Objection::TestsNothing) => Err(format!("`{shown}` tests nothing; write a real test")),
        Some(Objection::StartsAnother) => Err(format!(
            "`{shown}` starts another command; write that command itself"
        )),
        Some(Objection::DoesMore) => Err(format!(
            "`{shown}` does more than test; write a command that only tests"
        )),
        None => inline(&name, arguments, &shown),
    }
}

/// Subcommands of git that discard work or publish it.
fn changes_work(arguments: &[String]) -> bool {
    const WORDS: [&str; 10] = [
        "clean", "reset", "checkout", "restore", "switch", "stash", "push", "commit", "rebase",
        "rm",
    ];
    // Git's own options come first, some of them with a value.
    arguments.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Code in the command line cannot be reviewed later; a file of the project can.
fn inline(name: &str, arguments: &[String], shown: &str) -> Result<(), String> {
    let first = arguments.first();
    if SHELLS.contains(&name) && first.is_none_or(|word| word.starts_with(['-', '+'])) {
        return Err(format!(
            "`{shown}` is a shell line; write a script and name it"
        ));
    }
    // After the first plain word, or a module's name, come the script's own arguments.
    let is_own = |word: &&String| word.starts_with('-') && *word != "-m";
    let own: Vec<&String> = arguments.iter().take_while(is_own).chain(first).collect();
    let flags = INLINE
        .iter()
        .find(|(interpreter, _)| name.starts_with(interpreter));
    let has = |flag: &&str| own.iter().any(|word| begins_code(word, flag));
    if flags.is_some_and(|(_, flags)| first.is_none() || flags.iter().any(has)) {
        Err(format!(
            "`{shown}` runs code from its own line; put it into a file and name it"
        ))
    } else {
        Ok(())
    }
}

/// An interpreter reads `-c`, `-c'code'` and `-Bc` alike; `--config` and `-Itest` are different.
fn begins_code(word: &str, flag: &str) -> bool {
    match (flag.strip_prefix("--"), flag.strip_prefix('-')) {
        (Some(_), _) => word == flag || word.starts_with(&format!("{flag}=")),
        (None, Some(letter)) => {
            let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            let is_cluster = |letters: &str| letters.len() <= 4 && letters.contains(letter);
            letters.is_some_and(|letters| letters.starts_with(letter) || is_cluster(letters))
        }
        (None, None) => word == flag,
    }
}
