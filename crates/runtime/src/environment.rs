//! The environment: every variable that we read, taken once at the start.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use engine::{CallId, SessionId};
use hosts::{DEFAULT_SESSION_HOST, Program, SessionHost};

/// What the environment says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    state_home: Option<PathBuf>,
    /// The state folder that a hook names, whatever the variables say.
    state_folder: Option<PathBuf>,
    home: Option<PathBuf>,
    pub user: Option<String>,
    pub search_path: Option<OsString>,
    no_color: bool,
    dumb_terminal: bool,
    /// The host's session that started us, and its process.
    pub session: Option<SessionId>,
    pub host_process: Option<u32>,
    /// The call of our worker that this process belongs to.
    pub call: Option<CallId>,
    /// The project folder that the host names.
    pub project: Option<PathBuf>,
    /// The file from which the session's shell reads more variables.
    pub env_file: Option<PathBuf>,
    /// A plugin's hook started us.
    pub in_plugin: bool,
    settings_folder: Option<PathBuf>,
    others: Others,
}

/// What only a look at every variable tells. Most hooks do not need it, so those of the process are
/// looked at when somebody asks.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Others {
    Known(Found),
    OfProcess(OnceLock<Found>),
}

impl Default for Others {
    fn default() -> Self {
        Self::Known(Found::default())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Found {
    agents: Vec<&'static str>,
    secrets: Vec<String>,
}

impl Found {
    fn of(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut found = Self::default();
        for (name, value) in variables.into_iter().filter(|(_, value)| !value.is_empty()) {
            let Some(name) = name.to_str() else { continue };
            found.agents.extend(hosts::known_agents::by_variable(name));
            if is_secret(name) && !NAMES.contains(&name) && !is_of_host(name) {
                found.secrets.extend(secret(&value));
            }
        }
        found
    }
}

/// The variables that we read, besides those of the session's host.
const NAMES: [&str; 7] = [
    "XDG_STATE_HOME",
    "HOME",
    "USER",
    "PATH",
    "GATEWRIGHT_CALL",
    "NO_COLOR",
    "TERM",
];

/// The variables of the session's host.
fn names_of_host() -> [&'static str; 6] {
    let SessionHost {
        variables, places, ..
    } = DEFAULT_SESSION_HOST;
    [
        variables.session,
        variables.process,
        variables.project,
        variables.env_file,
        variables.plugin,
        places.folder_variable,
    ]
}

fn is_of_host(name: &str) -> bool {
    names_of_host().contains(&name)
}

/// A shorter value is more likely a common word than a secret.
const SHORTEST_SECRET: usize = 8;

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        let others = Others::OfProcess(OnceLock::new());
        Self::with(others, |name| std::env::var_os(name))
    }

    /// The environment with these variables alone.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let variables: Vec<(OsString, OsString)> = variables.into_iter().collect();
        let value = |wanted: &str| {
            let mut found = variables.iter().filter(|(name, _)| name == wanted);
            found.next().map(|(_, value)| value.clone())
        };
        Self::with(Others::Known(Found::of(variables.clone())), value)
    }

    fn with(others: Others, value: impl Fn(&str) -> Option<OsString>) -> Self {
        let mut environment = Self {
            others,
            ..Self::default()
        };
        for name in NAMES.into_iter().chain(names_of_host()) {
            if let Some(value) = value(name).filter(|value| !value.is_empty()) {
                environment.take(name, &value);
            }
        }
        environment
    }

    /// The agent programs whose variables are set: they pass them to their children.
    pub fn agents(&self) -> &[&'static str] {
        &self.others().agents
    }

    /// Values that must not be stored, recognised by the names of their variables.
    pub fn secrets(&self) -> &[String] {
        &self.others().secrets
    }

    fn others(&self) -> &Found {
        match &self.others {
            Others::Known(found) => found,
            Others::OfProcess(found) => found.get_or_init(|| Found::of(std::env::vars_os())),
        }
    }

    fn take(&mut self, name: &str, value: &OsStr) {
        match name {
            "XDG_STATE_HOME" => self.state_home = absolute(value),
            "HOME" => self.home = absolute(value),
            "USER" => self.user = value.to_str().map(str::to_owned),
            "PATH" => self.search_path = Some(value.to_owned()),
            "GATEWRIGHT_CALL" => {
                self.call = value.to_str().and_then(|call| CallId::parse(call).ok());
            }
            "NO_COLOR" => self.no_color = true,
            "TERM" => self.dumb_terminal = value == "dumb",
            name => self.take_of_host(name, value),
        }
    }

    /// Reads a variable of the session's host.
    fn take_of_host(&mut self, name: &str, value: &OsStr) {
        let SessionHost {
            variables, places, ..
        } = DEFAULT_SESSION_HOST;
        if name == variables.session {
            self.session = value.to_str().and_then(|id| SessionId::parse(id).ok());
        } else if name == variables.process {
            self.host_process = value.to_str().and_then(|id| id.parse().ok());
        } else if name == variables.project {
            self.project = absolute(value);
        } else if name == variables.env_file {
            self.env_file = absolute(value);
        } else if name == variables.plugin {
            self.in_plugin = true;
        } else if name == places.folder_variable {
            self.settings_folder = absolute(value);
        }
    }

    /// The folder for program state: `$XDG_STATE_HOME`, else `~/.local/state`.
    pub fn state_home(&self) -> Option<PathBuf> {
        let default = || self.home.as_ref().map(|home| home.join(".local/state"));
        self.state_home.clone().or_else(default)
    }

    /// The same environment with this state folder, which an installed hook names.
    pub fn with_state_folder(self, folder: PathBuf) -> Self {
        let state_folder = Some(folder);
        Self {
            state_folder,
            ..self
        }
    }

    pub fn state_folder(&self) -> Option<&Path> {
        self.state_folder.as_deref()
    }

    /// The program whose session [`Self::session`] is: we read the variables of no other.
    pub fn session_program(&self) -> Option<Program> {
        self.session.as_ref().map(|_| Program::DEFAULT)
    }

    pub fn home(&self) -> Option<PathBuf> {
        self.home.clone()
    }

    /// The folder that a variable names, where it is one of those that we read.
    pub fn path_in(&self, variable: &str) -> Option<PathBuf> {
        let SessionHost {
            variables, places, ..
        } = DEFAULT_SESSION_HOST;
        match variable {
            "HOME" => self.home.clone(),
            "XDG_STATE_HOME" => self.state_home.clone(),
            name if name == variables.project => self.project.clone(),
            name if name == places.folder_variable => self.settings_folder.clone(),
            _ => None,
        }
    }

    /// The folder of the person's own settings for the host.
    pub fn settings_folder(&self) -> Option<PathBuf> {
        let below = DEFAULT_SESSION_HOST.places.folder;
        let default = || self.home.as_ref().map(|home| home.join(below));
        self.settings_folder.clone().or_else(default)
    }

    /// Can the terminal only print lines?
    pub fn has_dumb_terminal(&self) -> bool {
        self.dumb_terminal
    }

    /// Does the environment ask for texts without colour?
    pub fn wants_no_color(&self) -> bool {
        self.no_color || self.dumb_terminal
    }
}

/// A relative path would depend on the current folder, so it counts as not set.
fn absolute(value: &OsStr) -> Option<PathBuf> {
    let path = Path::new(value);
    path.is_absolute().then(|| path.to_owned())
}

/// A variable with one of these words in its name holds a secret.
fn secret_words(first: u8) -> &'static [&'static str] {
    match first.to_ascii_uppercase() {
        b'C' => &["CREDENTIAL"],
        b'K' => &["KEY"],
        b'P' => &["PASSWORD", "PASSWD"],
        b'S' => &["SECRET"],
        b'T' => &["TOKEN"],
        _ => &[],
    }
}

/// Compares without case. Every process checks all variables, so this must not allocate, and most letters
/// begin none of the words.
fn is_secret(name: &str) -> bool {
    let name = name.as_bytes();
    let begins = |at: usize, word: &&str| {
        let part = name.get(at..at + word.len());
        part.is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()))
    };
    let mut letters = name.iter().enumerate();
    letters.any(|(at, first)| secret_words(*first).iter().any(|word| begins(at, word)))
}

fn secret(value: &OsStr) -> Option<String> {
    value
        .to_str()
        .filter(|value| value.len() >= SHORTEST_SECRET)
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment::new(
            variables
                .iter()
                .map(|(name, value)| (name.into(), value.into())),
        )
    }

    #[test]
    fn the_state_home_is_told_by_the_environment() {
        for (variables, expected) in [
            (
                &[("XDG_STATE_HOME", "/state"), ("HOME", "/me")][..],
                Some("/state"),
            ),
            (&[("HOME", "/me")], Some("/me/.local/state")),
            (
                &[("XDG_STATE_HOME", ""), ("HOME", "/me")],
                Some("/me/.local/state"),
            ),
            (
                &[("XDG_STATE_HOME", "relative"), ("HOME", "/me")],
                Some("/me/.local/state"),
            ),
            (&[("HOME", "relative")], None),
            (&[], None),
        ] {
            assert_eq!(
                environment(variables).state_home(),
                expected.map(PathBuf::from)
            );
        }
    }

    #[test]
    fn secrets_are_told_by_their_names_and_are_long_enough() {
        let found = environment(&[
            ("SERVICE_API_KEY", "0123456789"),
            ("my_token", "abcdefgh"),
            ("DB_PASSWORD", "short"),
            ("PAGER", "less is more"),
            ("CLIENT_SECRET", "the secret"),
            ("passwd", "the passwd"),
            ("OLD_PASSWORDS", "the password"),
            ("aws_credentials", "the credential"),
            ("MONKE", "no key at all"),
        ]);
        let expected = [
            "0123456789",
            "abcdefgh",
            "the secret",
            "the passwd",
            "the password",
            "the credential",
        ];
        assert_eq!(found.secrets(), expected);
    }

    #[test]
    fn the_variables_of_agents_are_noticed() {
        let found = environment(&[("CLAUDECODE", "1"), ("CODEX_HOME", "/c"), ("CRUSH", "")]);
        assert_eq!(found.agents(), ["claude"]);
    }

    #[test]
    fn the_session_and_its_process_are_taken_as_far_as_they_are_whole() {
        for (session, process, expected) in [
            ("0c6f-1", "42", (Some("0c6f-1"), Some(42))),
            ("../x", "-1", (None, None)),
            ("", "", (None, None)),
        ] {
            let found =
                environment(&[("CLAUDE_CODE_SESSION_ID", session), ("CLAUDE_PID", process)]);
            let session = found.session.as_ref().map(SessionId::as_str);
            assert_eq!((session, found.host_process), expected);
        }
    }

    #[test]
    fn colour_can_be_forbidden() {
        assert!(environment(&[("NO_COLOR", "1")]).wants_no_color());
        assert!(environment(&[("TERM", "dumb")]).wants_no_color());
        assert!(!environment(&[("NO_COLOR", ""), ("TERM", "xterm")]).wants_no_color());
    }
}
