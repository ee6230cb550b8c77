//! Our hooks: at which events they are registered, how they call us, and how they are known again.

use super::layout::Json;
use super::tree::Node;
use super::{SettingsFormat, wire};
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

/// How the hooks of a host call us.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub(super) format: &'static SettingsFormat,
    by: By,
}

/// How a hook finds our program.
#[derive(Clone, Debug, PartialEq)]
enum By {
    /// By its absolute path, without a shell between.
    Path(String),
    /// By its name, for files that other machines read too: where it is not installed, nothing
    /// happens.
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
    pub fn call_by_path(&'static self, program: &str) -> Call {
        Call {
            format: self,
            by: By::Path(program.to_owned()),
        }
    }

    /// Hooks that call our program by its name, where it is installed.
    pub fn call_by_name(&'static self) -> Call {
        Call {
            format: self,
            by: By::Name,
        }
    }
}

impl Call {
    pub fn hook(&self, event: &str) -> HookCommand {
        let host = self.format.host;
        match &self.by {
            By::Path(program) => HookCommand::Exec {
                program: program.clone(),
                arguments: ["hook", host, event].map(str::to_owned).to_vec(),
            },
            By::Name => HookCommand::Shell(format!("{IF_INSTALLED}hook {host} {event}")),
        }
    }

    /// The command of the status line, which always goes through a shell.
    pub fn status_line(&self) -> String {
        match &self.by {
            By::Path(program) => status_line_by_path(program),
            By::Name => status_line_by_name(),
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
    pub command: HookCommand,
    pub timeout_seconds: Option<f64>,
    pub on_failure: OnFailure,
    /// Why it is not called for everything that happens, or not waited for.
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

    /// Does it call us? Our program may have lain elsewhere when the hook was written, and whoever
    /// has given it another name is known by `program`.
    pub fn is_ours(&self, program: &str) -> bool {
        match &self.command {
            HookCommand::Exec {
                program: called,
                arguments,
            } => is_program(called, program) && arguments.first().is_some_and(|it| it == "hook"),
            HookCommand::Shell(line) => calls(line, program, "hook"),
        }
    }

    /// Does it do what one of ours must do, called in this way? A person may give it more time.
    pub fn holds(&self, call: &Call) -> bool {
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

/// Is this the status line as we write it? One that only makes use of ours is a person's own.
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

    static FORMAT: SettingsFormat = SettingsFormat {
        host: "claude",
        registered: &[],
        in_workers: &[],
        faults: |_| Vec::new(),
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
