//! Our hooks: at which events they are registered, how they call us, and how they are known again.

use super::layout::Json;
use super::tree::Node;
use super::wire;
use crate::shell::shell_word;

/// One event at which we are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registered {
    pub event: &'static str,
    pub timeout_seconds: u64,
    pub on_failure: OnFailure,
}

impl Registered {
    /// Is this enough time for an answer, and no more than a person wants to wait?
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

/// The events, in the order of a session. `Block` stands where a gate is promised and the host can
/// keep it; a person's own prompt is never silenced by a fault of ours.
pub const REGISTERED: [Registered; 13] = [
    open("SessionStart", 10),
    open("UserPromptSubmit", 10),
    closed("UserPromptExpansion", 10),
    closed("PreToolUse", 10),
    open("PostToolUse", 10),
    open("PostToolUseFailure", 10),
    open("SubagentStart", 10),
    open("SubagentStop", 10),
    open("TaskCompleted", 10),
    open("Stop", 10),
    open("StopFailure", 10),
    closed("ConfigChange", 10),
    open("SessionEnd", 5),
];

/// Asked in workers that we start: there is no person whom the host could ask.
pub const IN_WORKERS: Registered = open("PermissionRequest", 10);

const fn open(event: &'static str, timeout_seconds: u64) -> Registered {
    Registered {
        event,
        timeout_seconds,
        on_failure: OnFailure::GoOn,
    }
}

const fn closed(event: &'static str, timeout_seconds: u64) -> Registered {
    Registered {
        event,
        timeout_seconds,
        on_failure: OnFailure::Block,
    }
}

/// How a hook finds our program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// By its absolute path, without a shell between.
    Path(String),
    /// By its name, for files that other machines read too: where it is not installed, nothing
    /// happens.
    Name,
}

/// The command line of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A program with its arguments.
    Exec {
        program: String,
        arguments: Vec<String>,
    },
    Shell(String),
}

impl Call {
    pub fn hook(&self, event: &str) -> Line {
        match self {
            Self::Path(program) => Line::Exec {
                program: program.clone(),
                arguments: ["hook", "claude", event].map(str::to_owned).to_vec(),
            },
            Self::Name => Line::Shell(format!("{IF_INSTALLED}hook claude {event}")),
        }
    }

    /// The command of the status line, which always goes through a shell.
    pub fn status_line(&self) -> String {
        match self {
            Self::Path(program) => format!("{} {STATUS_LINE}", shell_word(program)),
            Self::Name => format!("{IF_INSTALLED}{STATUS_LINE}"),
        }
    }

    /// The group that we add to the hooks of an event.
    pub(super) fn group(&self, registered: &Registered) -> Json {
        wire::group(self.entry(registered))
    }

    pub(super) fn entry(&self, registered: &Registered) -> Json {
        wire::entry(&self.hook(registered.event), registered)
    }
}

/// Of a program that is not there a shell would say 127, and the host would block everybody.
const IF_INSTALLED: &str = "command -v gatewright >/dev/null 2>&1 || exit 0; exec gatewright ";
const STATUS_LINE: &str = "statusline";
const NAME: &str = "gatewright";

/// A hook as it stands in a settings file.
#[derive(Clone, Debug, PartialEq)]
pub struct Hook {
    pub event: String,
    pub line: Line,
    pub timeout_seconds: Option<f64>,
    pub on_failure: OnFailure,
    /// Why it is not called for everything that happens, or not waited for.
    pub limits: Vec<String>,
}

impl Hook {
    pub(super) fn read(event: &str, group: &Node, hook: &Node) -> Option<Self> {
        Some(Self {
            event: event.to_owned(),
            line: wire::line(hook)?,
            timeout_seconds: wire::timeout(hook),
            on_failure: wire::on_failure(hook),
            limits: wire::limits(group, hook),
        })
    }

    /// Does it call us? Our program may have lain elsewhere when the hook was written, and whoever
    /// has given it another name is known by `program`.
    pub fn is_ours(&self, program: &str) -> bool {
        match &self.line {
            Line::Exec {
                program: called,
                arguments,
            } => is_program(called, program) && arguments.first().is_some_and(|it| it == "hook"),
            Line::Shell(line) => calls(line, program, "hook"),
        }
    }

    /// Does it do what one of ours must do, called in this way? A person may give it more time.
    pub fn holds(&self, call: &Call) -> bool {
        let registered = REGISTERED.iter().find(|it| it.event == self.event);
        registered.is_some_and(|registered| {
            self.line == call.hook(registered.event)
                && self
                    .timeout_seconds
                    .is_some_and(|it| registered.suffices(it))
                && (self.on_failure == OnFailure::Block || registered.on_failure == OnFailure::GoOn)
                && self.limits.is_empty()
        })
    }
}

/// Is this the status line as we write it? One that only makes use of ours is a person's own.
pub(super) fn is_our_status_line(command: &str, program: &str) -> bool {
    let path = command.strip_suffix(STATUS_LINE).map(str::trim_end);
    let path = path.map(|path| path.trim_matches('\'').replace(r"'\''", "'"));
    let by_path = path.is_some_and(|path| {
        is_program(&path, program) && Call::Path(path.clone()).status_line() == command
    });
    by_path || command == Call::Name.status_line()
}

fn is_program(called: &str, program: &str) -> bool {
    let name = called.rsplit('/').next().unwrap_or(called);
    called == program || name == NAME
}

/// Does this line of a shell call our program with this command?
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
    use crate::hook::{DEADLINE_SECONDS, Event};

    #[test]
    fn a_hook_is_ours_when_it_calls_our_program() {
        let exec = |program: &str, arguments: &[&str]| Line::Exec {
            program: program.to_owned(),
            arguments: arguments.iter().map(|it| (*it).to_owned()).collect(),
        };
        let shell = |line: &str| Line::Shell(line.to_owned());
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
            (Call::Name.hook("Stop"), true),
            (shell("gatewright hook claude Stop"), true),
            (shell("'/a b/gatewright' hook claude Stop"), true),
            (shell(r"'/opt/it'\''s/gw' hook claude Stop"), true),
            (shell("echo gatewright; hook"), false),
            (shell("my-gatewright hook"), false),
            (shell("npm run hook"), false),
        ] {
            let hook = Hook {
                event: "Stop".to_owned(),
                line,
                timeout_seconds: None,
                on_failure: OnFailure::GoOn,
                limits: Vec::new(),
            };
            assert_eq!(hook.is_ours("/opt/it's/gw"), expected, "{:?}", hook.line);
        }
    }

    #[test]
    fn every_hook_has_time_to_answer_by_itself() {
        for registered in REGISTERED {
            assert_ne!(Event::parse(registered.event), Event::Other);
            let ends_the_session = registered.event == "SessionEnd";
            assert!(
                ends_the_session || registered.timeout_seconds > DEADLINE_SECONDS,
                "{registered:?}"
            );
        }
    }
}
