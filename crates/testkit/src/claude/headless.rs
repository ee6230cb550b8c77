//! A session without a terminal: what it printed, and how it ended.

use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::processes::{self, MARK};
use crate::{PATIENCE, within};

/// A session without a terminal that goes on. It is ended, with its children, when this goes.
pub struct Running {
    child: Child,
    mark: String,
    folder: TempDir,
}

/// A session without a terminal that has ended.
#[derive(Clone, Debug)]
pub struct Headless {
    /// Every message of the stream, in order.
    pub messages: Vec<Value>,
    pub stderr: String,
    /// `None` when a signal ended it.
    pub code: Option<i32>,
}

impl Running {
    /// The streams go to files: a child that outlives the session would hold a pipe open.
    pub(super) fn start(mut command: Command) -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let file = |name| File::create(folder.path().join(name)).expect("a file can be made");
        let mark = processes::new_mark();
        command.stdout(file("stdout")).stderr(file("stderr"));
        command.env(MARK, &mark).process_group(0);
        let child = command.spawn().expect("the program can be started");
        Self {
            child,
            mark,
            folder,
        }
    }

    /// The id of its process, which leads a group.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends `SIGTERM` to it.
    pub fn terminate(&self) {
        processes::signal(self.process(), Signal::TERM);
    }

    /// Sends `SIGKILL` to it, and to nothing else.
    pub fn kill(&self) {
        processes::signal(self.process(), Signal::KILL);
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When there is none in time.
    #[track_caller]
    pub fn wait(mut self) -> Headless {
        let child = &mut self.child;
        let ended = within(PATIENCE, || {
            child.try_wait().expect("a child can be waited for")
        });
        let goes_on = || panic!("Claude Code goes on:\n{}", self.seen(None));
        self.seen(ended.unwrap_or_else(goes_on).code())
    }

    /// What it has printed by now, without an exit code.
    pub fn so_far(&self) -> Headless {
        self.seen(None)
    }

    fn seen(&self, code: Option<i32>) -> Headless {
        let lines = self.read("stdout");
        let messages = lines
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        Headless {
            messages: messages.collect(),
            stderr: self.read("stderr"),
            code,
        }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).expect("what it printed can be read")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        processes::end(self.child.id(), &self.mark);
        let _ = self.child.wait();
    }
}

impl Headless {
    /// Hands itself on when it exited with 0 and no result is an error, and shows everything otherwise.
    #[track_caller]
    pub fn succeeds(self) -> Self {
        let well = self.code == Some(0) && !self.is_error();
        assert!(well, "Claude Code has failed\n{self}");
        self
    }

    /// The messages of this type: `system`, `assistant`, `user`, `result`.
    pub fn of_type(&self, wanted: &str) -> Vec<&Value> {
        self.messages
            .iter()
            .filter(|message| message["type"] == wanted)
            .collect()
    }

    /// The id under which the session can be resumed.
    ///
    /// # Panics
    /// When it printed none.
    #[track_caller]
    pub fn session_id(&self) -> &str {
        let mut ids = self
            .messages
            .iter()
            .filter_map(|message| message["session_id"].as_str());
        ids.next()
            .unwrap_or_else(|| panic!("there is no session id\n{self}"))
    }

    /// The last words. A session with background agents has several results; this is the last one's.
    ///
    /// # Panics
    /// When there is no result.
    #[track_caller]
    pub fn result(&self) -> &str {
        let last = self.of_type("result").into_iter().next_back();
        let text = last.and_then(|result| result["result"].as_str());
        text.unwrap_or_else(|| panic!("there is no result\n{self}"))
    }

    /// Is one of the results an error? The host says `success` of some errors, so this asks `is_error`.
    pub fn is_error(&self) -> bool {
        self.of_type("result")
            .iter()
            .any(|result| result["is_error"] == true)
    }
}

impl fmt::Display for Headless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit: {:?}", self.code)?;
        for message in &self.messages {
            let line = message.to_string();
            let short: String = line.chars().take(600).collect();
            writeln!(f, "{short}")?;
        }
        write!(f, "stderr:\n{}", self.stderr)
    }
}
