//! Our hooks: their events, their commands, and how to recognise them in a file.

use super::layout::Json;
use super::tree::Node;
use super::{SettingsFormat, wire};
use crate::shell::shell_word;

/// One event at which a host calls us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookRegistration {
    pub event: &'static str,
    pub timeout_seconds: u64,
    pub on_failure: OnFailure,
}

impl HookRegistration {
    /// Is this timeout long enough for an answer, and short enough for a person?
    pub fn suffices(&self, seconds: f64) -> bool {
        seconds >= self.timeout_seconds as f64 && seconds <= MOST_SECONDS
    }
}

/// What the host does when a hook crashes, is missing, or takes too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    Block,
    GoOn,
}

/// A hook that hangs keeps the session waiting no longer than this.
const MOST_SECONDS: f64 = 60.0;

/// How the hooks of a host call us.
#[derive(Clone, Debug, PartialEq)]
pub struct HookInvocation {
    pub(super) format: &'static SettingsFormat,
    by: ProgramReference,
    /// What stands behind the event.
    arguments: Vec<String>,
}

/// How a hook finds our program.
#[derive(Clone, Debug, PartialEq)]
enum ProgramReference {
    /// By its absolute path, without a shell.
    Path(String),
    /// By its name, for files that other machines read, too. If it is not installed, nothing happens.
    Name,
}

/// The command line of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookCommand {
    /// A program with its arguments.
    Exec {
        program: String,
        arguments: Vec<String>,
    },
    Shell(String),
}

impl SettingsFormat {
    /// Hooks that call our program by its absolute path.
    pub fn call_by_path(&'static self, program: &str) -> HookInvocation {
        HookInvocation {
            format: self,
            by: ProgramReference::Path(program.to_owned()),
            arguments: Vec::new(),
        }
    }

    /// Hooks that call our program by its name, if it is installed.
    pub fn call_by_name(&'static self) -> HookInvocation {
        HookInvocation {
            format: self,
            by: ProgramReference::Name,
            arguments: Vec::new(),
        }
    }
}

impl HookInvocation {
    /// The same with more arguments behind the event.
    pub fn with_arguments(self, arguments: Vec<String>) -> Self {
        Self { arguments, ..self }
    }

    pub fn hook(&self, event: &str) -> HookCommand {
        let words = ["hook", self.format.host, event].map(str::to_owned);
        let words = words.into_iter().chain(self.arguments.iter().cloned());
        match &self.by {
            ProgramReference::Path(program) => HookCommand::Exec {
                program: program.clone(),
                arguments: words.collect(),
            },
            ProgramReference::Name => {
                let words: Vec<String> = words.map(|word| shell_word(&word)).collect();
                HookCommand::Shell(format!("{IF_INSTALLED}{}", words.join(" ")))
            }
        }
    }

    /// The command of the status line. Hosts always run it in a shell.
    pub fn status_line(&self) -> String {
        match &self.by {
            ProgramReference::Path(program) => status_line_by_path(program),
            ProgramReference::Name => status_line_by_name(),
        }
    }

    /// The group that we add to the hooks of an event.
    pub(super) fn group(&self, registered: &HookRegistration) -> Json {
        wire::group(self.entry(registered))
    }

    pub(super) fn entry(&self, registered: &HookRegistration) -> Json {
        wire::entry(&self.hook(registered.event), registered)
    }
}

/// A shell exits with 127 if a program is missing, and the host would block everybody.
const IF_INSTALLED: &str = "command -v gatewright >/dev/null 2>&1 || exit 0; exec gatewright ";
const STATUS_LINE: &str = "statusline";
const NAME: &str = "gatewright";

/// A hook in a settings file.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    pub event: String,
    pub command: HookCommand,
    pub timeout_seconds: Option<f64>,
    pub on_failure: OnFailure,
    /// Why the host does not call it for every event, or does not wait for it.
    pub limits: Vec<String>,
}

impl Hook {
    pub(super) fn read(event: &str, group: &Node, hook: &Node) -> Option<Self> {
        Some(Self {
            event: event.to_owned(),
            command: wire::command(hook)?,
            timeout_seconds: wire::timeout(hook),
            on_failure: wire::on_failure(hook),
            limits: wire::limits(group, hook),
        })
    }

    /// Does it call us? Our program may have had another path when the hook was written. `program` is its
    /// current path, in case it has another name.
    pub fn is_ours(&self, program: &str) -> bool {
        match &self.command {
            HookCommand::Exec {
                program: called,
                arguments,
            } => is_program(called, program) && arguments.first().is_some_and(|it| it == "hook"),
            HookCommand::Shell(line) => calls(line, program, "hook"),
        }
    }

    /// The program that it calls, or the whole line for a shell.
    pub(super) fn called(&self) -> &str {
        match &self.command {
            HookCommand::Exec { program, .. } => program,
            HookCommand::Shell(line) => line,
        }
    }

    /// Is it equivalent to the hook that we would write? A person may set a longer timeout.
    pub fn is_current(&self, call: &HookInvocation) -> bool {
        let registered = call
            .format
            .registered
            .iter()
            .find(|it| it.event == self.event);
        registered.is_some_and(|registered| {
            self.command == call.hook(registered.event)
                && self
                    .timeout_seconds
                    .is_some_and(|it| registered.suffices(it))
                && (self.on_failure == OnFailure::Block || registered.on_failure == OnFailure::GoOn)
                && self.limits.is_empty()
        })
    }
}

/// Is this the status line that we write? A person's own command may also call ours; that one is not.
pub(super) fn is_our_status_line(command: &str, program: &str) -> bool {
    let path = command.strip_suffix(STATUS_LINE).map(str::trim_end);
    let path = path.map(|path| path.trim_matches('\'').replace(r"'\''", "'"));
    let by_path = path
        .is_some_and(|path| is_program(&path, program) && status_line_by_path(&path) == command);
    by_path || command == status_line_by_name()
}

fn status_line_by_path(program: &str) -> String {
    format!("{} {STATUS_LINE}", shell_word(program))
}

fn status_line_by_name() -> String {
    format!("{IF_INSTALLED}{STATUS_LINE}")
}

fn is_program(called: &str, program: &str) -> bool {
    let name = called.rsplit('/').next().unwrap_or(called);
    called == program || name == NAME
}

/// Does this shell line call our program with this command?
fn calls(line: &str, program: &str, command: &str) -> bool {
    let mut words = line.split([' ', ';', '&', '|']).peekable();
    let quoted = format!("{} {command}", shell_word(program));
    let named = std::iter::from_fn(|| {
        let word = words.next()?;
        Some((word.trim_matches(['\'', '"']), words.peek().copied()))
    });
    let is_named = |(word, next): (&str, Option<&str>)| {
        word.rsplit('/').next() == Some(NAME) && next == Some(command)
    };
    line.contains(&quoted) || named.into_iter().any(is_named)
}

#[cfg(test)]
mod tests {
    use super::*;

    static FORMAT: SettingsFormat = SettingsFormat {
        host: "claude",
        registered: &[],
        invalid_settings: |_| Vec::new(),
    };

    #[test]
    fn a_hook_is_ours_when_it_calls_our_program() {
        let exec = |program: &str, arguments: &[&str]| HookCommand::Exec {
            program: program.to_owned(),
            arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
        };
        let shell = |line: &str| HookCommand::Shell(line.to_owned());
        for (line, expected) in [
            (
                exec("/usr/bin/gatewright", &["hook", "claude", "Stop"]),
                true,
            ),
            (exec("/old place/gatewright", &["hook"]), true),
            (exec("/opt/it's/gw", &["hook", "claude", "Stop"]), true),
            (exec("/opt/gw", &["hook", "claude", "Stop"]), false),
            (exec("/usr/bin/gatewright", &["status"]), false),
            (exec("/usr/bin/gatewright-lint", &["hook"]), false),
            (FORMAT.call_by_name().hook("Stop"), true),
            (shell("gatewright hook claude Stop"), true),
            (shell("'/a b/gatewright' hook claude Stop"), true),
            (shell(r"'/opt/it'\''s/gw' hook claude Stop"), true),
            (shell("echo gatewright; hook"), false),
            (shell("my-gatewright hook"), false),
            (shell("npm run hook"), false),
        ] {
            let hook = Hook {
                event: "Stop".to_owned(),
                command: line,
                timeout_seconds: None,
                on_failure: OnFailure::GoOn,
                limits: Vec::new(),
            };
            assert_eq!(hook.is_ours("/opt/it's/gw"), expected, "{:?}", hook.command);
        }
    }
}
