//! Starts commands without the ancestors of the test.
//!
//! An agent may run the tests, and the program refuses commands for people to agents. The test plays
//! the person, so the program must not find the agent among its ancestors.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

/// Starts the command from a process whose own parent has ended, so that the first process of the
/// system is above it. Streams, environment and exit code stay as they are. The program itself ends with 130 after
/// Ctrl-C; every other code of this size is a signal that ended it.
const SCRIPT: &str = r#"
exec 3<&0 4>&1 5>&2
code=$( (
    read -r parent _ </proc/self/stat
    {
        while read -r _ _ _ now _ </proc/self/stat && [ "$now" = "$parent" ]; do :; done
        "$@" <&3 >&4 2>&5 3<&- 4>&- 5>&-
        echo $?
    } &
) 2>/dev/null)
if [ "$code" -gt 128 ] && [ "$code" != 130 ]; then kill "-$((code - 128))" $$; fi
exit "$code"
"#;

/// Words that the command line of an agent program holds. Others may hold them, too: a detour that
/// was not needed costs some milliseconds.
const AGENTS: [&str; 10] = [
    "claude", "codex", "gemini", "qwen", "goose", "copilot", "cursor", "opencode", "aider", "amp",
];

/// A command for this program, by the detour.
pub(crate) fn by_detour(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "sh"]).arg(program);
    command
}

/// May an agent be among the processes above this one?
pub(crate) fn has_agent_above() -> bool {
    let mut process = std::process::id().to_string();
    loop {
        let folder = format!("/proc/{process}");
        let stat = fs::read_to_string(format!("{folder}/stat")).unwrap_or_default();
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1));
        let Some(parent) = parent.filter(|parent| *parent != "0") else {
            return false;
        };
        let line = fs::read(format!("/proc/{parent}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        let name = fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
        if names_an_agent(&line) || names_an_agent(&name) {
            return true;
        }
        process = parent.to_owned();
    }
}

/// A short name counts as a word of its own: `examples` names none.
fn names_an_agent(line: &str) -> bool {
    let is_word = |agent: &str| {
        let mut words = line.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| word == agent)
    };
    let mut agents = AGENTS.iter();
    agents.any(|agent| is_word(agent) || agent.len() > 4 && line.contains(agent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_of_an_agent_is_a_word_of_its_own() {
        for (line, expected) in [
            ("/usr/bin/claude\0-p", true),
            ("node\0/opt/claude-code/cli.js", true),
            ("amp\0--execute", true),
            ("/opt/amp-1.2/bin/x", true),
            ("cargo\0test\0examples", false),
            ("bash\0-c\0sample", false),
        ] {
            assert_eq!(names_an_agent(line), expected, "{line}");
        }
    }

    #[test]
    fn the_detour_keeps_exit_codes_and_signals() {
        for (script, expected) in [
            ("exit 0", Some(0)),
            ("exit 7", Some(7)),
            ("exit 130", Some(130)),
            ("kill -9 $$", None),
        ] {
            let ended = by_detour("sh").args(["-c", script]).status().unwrap();
            assert_eq!(ended.code(), expected, "{script}");
        }
    }
}
