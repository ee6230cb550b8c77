//! Who called: judged by the environment, the parent processes and the terminal alone.

pub mod ancestors;
pub mod host;

mod who;

pub use who::{home, user, who};

use ancestors::Ancestor;
use hosts::known_agents;

/// Everything known about the caller of a command.
pub struct Signs<'a> {
    /// The agents whose variables are in the environment.
    pub environment: &'a [&'static str],
    /// The parent processes, the nearest first.
    pub ancestors: &'a [Ancestor],
    pub terminal: Terminal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminal {
    Here,
    Absent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// With the sign of the agent.
    Agent(String),
    Person,
    /// A script or CI: nobody can be asked.
    Unattended,
}

/// One sign of an agent is enough. A terminal alone does not prove a person: agents have terminals,
/// too.
pub fn judge(signs: &Signs<'_>) -> Caller {
    if let Some(agent) = signs.environment.first() {
        return Caller::Agent(format!("the environment belongs to {agent}"));
    }
    if let Some(agent) = signs.ancestors.iter().find_map(agent) {
        return Caller::Agent(format!("{agent} is a parent process"));
    }
    match signs.terminal {
        Terminal::Here => Caller::Person,
        Terminal::Absent => Caller::Unattended,
    }
}

/// Programs that run a script given by its path, with the options that take code instead.
const INTERPRETERS: [(&str, &[&str]); 15] = [
    ("node", &["-e", "-p", "--eval", "--print"]),
    ("bun", &["-e", "-p", "--eval", "--print"]),
    ("deno", &["eval"]),
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("sh", &["-c"]),
    ("bash", &["-c"]),
    ("dash", &["-c"]),
    ("zsh", &["-c"]),
    ("ksh", &["-c"]),
    ("fish", &["-c"]),
    ("ruby", &["-e"]),
    ("perl", &["-e", "-E"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
];

/// Options of interpreters whose value is the next word.
const VALUED: [&str; 7] = [
    "-r",
    "--require",
    "--import",
    "--loader",
    "-W",
    "-X",
    "--experimental-loader",
];

/// The agent program of this process, if it is one.
pub fn agent(ancestor: &Ancestor) -> Option<&'static str> {
    let Ancestor {
        name,
        program,
        words,
        id: _,
    } = ancestor;
    let first = words.first().map_or("", String::as_str);
    let names = [name.as_str(), file_name(program), file_name(first)];
    let by_name = names.into_iter().find_map(known_agents::by_name);
    let by_script = || names.into_iter().find_map(|name| script(name, words));
    by_name
        .or_else(|| known_agents::by_installed_path(program))
        .or_else(by_script)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The agent program that an interpreter of this name runs.
fn script(name: &str, words: &[String]) -> Option<&'static str> {
    let script = script_of(name, words)?;
    let stem = file_name(script).split('.').next().unwrap_or_default();
    // A person may have a shell script in a folder of that name.
    let mut folders = script.split('/').filter(|_| !name.ends_with("sh"));
    known_agents::by_name(stem).or_else(|| folders.find_map(known_agents::by_package_folder))
}

/// The file that an interpreter of this name runs, from its command line: the first word that is
/// neither an option nor its value. `python3.13` is Python, too.
pub fn script_of<'a>(name: &str, words: &'a [String]) -> Option<&'a str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let mut interpreters = INTERPRETERS.into_iter();
    let (_, code) = interpreters.find(|(interpreter, _)| *interpreter == stem)?;
    let mut words = words.iter().skip(1).map(String::as_str);
    loop {
        let word = words.next()?;
        match word {
            _ if code.contains(&word) => return None,
            _ if VALUED.contains(&word) => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ => return Some(word),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ancestor(name: &str, program: &str, line: &str) -> Ancestor {
        Ancestor {
            id: 1,
            name: name.to_owned(),
            program: program.to_owned(),
            words: line.split_whitespace().map(str::to_owned).collect(),
        }
    }

    #[test]
    fn an_agent_program_is_known_by_its_name_its_place_or_its_script() {
        let check = |name: &str, program: &str, line: &str, expected: Option<&str>| {
            let found = agent(&ancestor(name, program, line));
            assert_eq!(found, expected, "{name} {program} {line}");
        };
        check("claude", "", "", Some("claude"));
        check("node", "/usr/bin/node", "claude", Some("claude"));
        check(
            "2.1.325",
            "/h/.local/share/claude/versions/2.1.325",
            "x",
            Some("claude"),
        );
        check(
            "node",
            "/usr/bin/node",
            "node --no-warnings /u/lib/node_modules/@anthropic-ai/claude-code/cli.js -p",
            Some("claude"),
        );
        check(
            "MainThread",
            "/usr/bin/node22",
            "node /usr/bin/gemini -p hi",
            Some("gemini"),
        );
        check(
            "node",
            "/usr/bin/node",
            "node /m/@google/gemini-cli/dist/index.js",
            Some("gemini"),
        );
        check(
            "node",
            "/usr/bin/node",
            "node /m/@openai/codex/bin/codex.js exec",
            Some("codex"),
        );
        check(
            "node",
            "/usr/bin/node",
            "node -r /x/pre.js /m/qwen-code/cli.js",
            Some("qwen"),
        );
        check("bun", "/usr/bin/bun", "bun /m/copilot.mjs", Some("copilot"));
        check(
            "python3",
            "/usr/bin/python3.13",
            "python3 -m aider",
            Some("aider"),
        );
        check(
            "python3",
            "/usr/bin/python3.13",
            "python3 /h/bin/aider x",
            Some("aider"),
        );
        check("codex", "/opt/codex", "/opt/codex exec", Some("codex"));
        check("cursor-agent", "", "", Some("cursor-agent"));
        check("amp", "", "", Some("amp"));

        check(
            "bash",
            "/usr/bin/bash",
            "bash /h/bin/claude -p",
            Some("claude"),
        );

        check("bash", "/usr/bin/bash", "bash", None);
        check(
            "bash",
            "/usr/bin/bash",
            "bash /h/claude-code/begin.sh",
            None,
        );
        check("sshd", "", "sshd: claude@pts/1", None);
        check("zsh", "/home/claude/bin/zsh", "-zsh", None);
        check("vim", "/usr/bin/vim", "vim claude-code/notes.md", None);
        check("node", "/usr/bin/node", "node build.js claude", None);
        check("node", "/usr/bin/node", "node", None);
        check(
            "python3",
            "/usr/bin/python3.13",
            "python3 -c claude.x() claude",
            None,
        );
        check("cargo", "/usr/bin/cargo", "cargo test claude", None);
    }

    #[test]
    fn one_sign_of_an_agent_is_enough_and_a_terminal_alone_is_none_of_a_person() {
        let shell = ancestor("bash", "/usr/bin/bash", "bash");
        let claude = ancestor("claude", "", "");
        let check = |environment: &[&'static str], ancestors: &[Ancestor], terminal, expected| {
            let signs = Signs {
                environment,
                ancestors,
                terminal,
            };
            assert_eq!(judge(&signs), expected);
        };
        let by_environment = || Caller::Agent("the environment belongs to claude".to_owned());
        let by_parents = || Caller::Agent("claude is a parent process".to_owned());
        let (shell, both) = ([shell.clone()], [shell, claude]);
        for terminal in [Terminal::Here, Terminal::Absent] {
            check(&["claude"], &shell, terminal, by_environment());
            check(&["claude"], &both, terminal, by_environment());
            check(&[], &both, terminal, by_parents());
        }
        check(&[], &shell, Terminal::Here, Caller::Person);
        check(&[], &shell, Terminal::Absent, Caller::Unattended);
        check(&[], &[], Terminal::Absent, Caller::Unattended);
    }

    #[test]
    fn what_people_set_an_agent_up_with_is_no_sign() {
        for (name, expected) in [
            ("CLAUDECODE", Some("claude")),
            ("CODEX_THREAD_ID", Some("codex")),
            ("GEMINI_CLI", Some("gemini")),
            ("CURSOR_AGENT", Some("cursor-agent")),
            ("CODEX_HOME", None),
            ("CURSOR_TRACE_ID", None),
            ("CLAUDE_CONFIG_DIR", None),
            ("GEMINI_API_KEY", None),
            ("CLAUDECODE_", None),
        ] {
            assert_eq!(known_agents::by_variable(name), expected, "{name}");
        }
    }
}
