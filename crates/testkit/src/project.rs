//! A temporary project: a folder, a home and a state folder that no other test shares.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::typing::converse;
use crate::{Ran, detour};

/// A project folder for one test. It goes when this goes.
pub struct Project {
    program: PathBuf,
    folder: TempDir,
}

impl Project {
    /// An empty project for this program, which a test of its package names by
    /// `env!("CARGO_BIN_EXE_gatewright")`.
    pub fn new(program: impl AsRef<Path>) -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let project = Self {
            program: program.as_ref().to_owned(),
            folder,
        };
        for made in [project.path(), project.home(), project.state_home()] {
            fs::create_dir(made).expect("a folder of the temporary project can be made");
        }
        project
    }

    /// The same, as a git repository with one empty commit.
    pub fn with_git(program: impl AsRef<Path>) -> Self {
        let project = Self::new(program);
        let init = ["init", "--quiet", "--initial-branch=main", "--template="];
        project.git(init);
        project.git(["commit", "--quiet", "--allow-empty", "--message=begin"]);
        project
    }

    /// The project folder, in which the program runs.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// What `XDG_STATE_HOME` is set to.
    pub fn state_home(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Where the program keeps its store.
    pub fn state(&self) -> PathBuf {
        self.state_home().join("gatewright")
    }

    /// Writes a file of the project, and the folders on the way to it.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        let folder = path
            .parent()
            .expect("a file of the project lies in a folder");
        fs::create_dir_all(folder).expect("the folder of a file can be made");
        fs::write(&path, content).expect("a file of the project can be written");
        path
    }

    pub fn read(&self, name: impl AsRef<Path>) -> String {
        fs::read_to_string(self.path().join(name)).expect("a file of the project can be read")
    }

    /// Runs the program in the project folder to its end, with nothing on its input.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        let output = self
            .command(arguments)
            .output()
            .expect("the program can be started");
        Ran::from(output)
    }

    /// Runs the program with this text on its input.
    pub fn run_with_input<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: &str,
    ) -> Ran {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let mut pipe = child.stdin.take().expect("the input is a pipe");
        // The program may refuse before it has read everything: that is for the test to judge.
        let _ = pipe.write_all(input.as_bytes());
        drop(pipe);
        Ran::from(child.wait_with_output().expect("the program ends"))
    }

    /// A person runs the program at a terminal of their own and types this, with its line ends. What
    /// the terminal shows is handed on as the standard output; the person's typing is part of it.
    pub fn person<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        typed: &str,
    ) -> Ran {
        let words = arguments.into_iter().map(|word| quoted(word.as_ref()));
        let line: Vec<String> = std::iter::once(quoted(self.program.as_ref()))
            .chain(words)
            .collect();
        self.person_at(&line.join(" "), typed)
    }

    /// A person types this line of shell at a terminal of their own, and then these words.
    pub fn person_at(&self, line: &str, typed: &str) -> Ran {
        let mut command = self.at_home("script");
        command.args(["-q", "-e", "-c", line, "/dev/null"]);
        seated(command, typed)
    }

    /// A person looks at what this pipeline may run, and trusts it.
    #[track_caller]
    pub fn trust(&self, pipeline: &str) -> Ran {
        self.person(["trust", pipeline], "yes\n").succeeds()
    }

    /// A script trusts this pipeline by its hash. It gives the project no person's environment, so that
    /// each run has that of its starter.
    #[track_caller]
    pub fn trust_by_hash(&self, pipeline: &str) -> Ran {
        let shown = self.run(["trust", pipeline, "--show", "--json"]).succeeds();
        let shown: serde_json::Value =
            serde_json::from_str(&shown.stdout).expect("what is shown is JSON");
        let hash = shown["hash"].as_str().expect("a pipeline has a hash");
        self.run(["trust", pipeline, "--hash", hash]).succeeds()
    }

    /// The program as a command that a test may change further before it starts it.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.at_home(&self.program);
        command.args(arguments);
        command
    }

    /// The same as a child of the test, which can be sent signals. Where an agent runs the tests, the
    /// program sees it: this is for commands that agents may give.
    pub fn child<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.settled(Command::new(&self.program));
        command.args(arguments);
        command
    }

    /// The same, without the test among its ancestors.
    pub fn orphan<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.settled(detour::by_detour(&self.program));
        command.args(arguments);
        command
    }

    /// A script of the shell in the project, which ends at the first command that fails.
    pub fn shell(&self, script: &str) -> Command {
        let mut command = self.at_home("sh");
        command.args(["-e", "-c", script]);
        command
    }

    /// Runs git in the project and insists that it succeeds.
    pub fn git<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Ran {
        let mut command = self.at_home("git");
        command.args(arguments);
        Ran::from(command.output().expect("git is installed")).succeeds()
    }

    /// A command that sees this project's home and nothing of the environment of the test.
    pub fn at_home(&self, program: impl AsRef<OsStr>) -> Command {
        self.settled(unseen(program))
    }

    fn settled(&self, mut command: Command) -> Command {
        command
            .current_dir(self.path())
            .stdin(Stdio::null())
            .env_clear();
        for name in ["PATH", "TMPDIR"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command
            .env("HOME", self.home())
            .env("XDG_STATE_HOME", self.state_home());
        command.env("XDG_CONFIG_HOME", self.home().join(".config"));
        command.env("USER", "tester").env("LC_ALL", "C.UTF-8");
        for (name, value) in GIT_IDENTITY {
            command.env(name, value);
        }
        command
    }
}

/// A command that goes by the detour where an agent may be above the test.
fn unseen(program: impl AsRef<OsStr>) -> Command {
    static AGENT_ABOVE: OnceLock<bool> = OnceLock::new();
    if *AGENT_ABOVE.get_or_init(detour::has_agent_above) {
        detour::by_detour(program)
    } else {
        Command::new(program)
    }
}

/// Runs a command whose input is a keyboard. The keyboard stays there until the end: taking it away
/// would be a key of its own.
fn seated(mut command: Command, typed: &str) -> Ran {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .expect("script (of util-linux) is installed");
    let keyboard = child.stdin.take().expect("the input is a pipe");
    let stdout = child.stdout.take().expect("the output is a pipe");
    let screen = converse(stdout, &keyboard, typed);
    let output = child.wait_with_output().expect("the program ends");
    drop(keyboard);
    let ran = Ran::from(output);
    Ran {
        stdout: String::from_utf8_lossy(&screen).replace("\r\n", "\n"),
        // The shell's way to say that a signal ended what it ran.
        code: ran.code.filter(|code| *code <= 128),
        ..ran
    }
}

/// A word as the shell takes it.
fn quoted(word: &OsStr) -> String {
    let word = word.to_str().expect("a word of a command is text");
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Git takes its names and times from here, so that a commit has the same hash everywhere.
const GIT_IDENTITY: [(&str, &str); 8] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "Tester"),
    ("GIT_AUTHOR_EMAIL", "tester@example.invalid"),
    ("GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z"),
    ("GIT_COMMITTER_NAME", "Tester"),
    ("GIT_COMMITTER_EMAIL", "tester@example.invalid"),
    ("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z"),
];
