//! A program in a terminal of its own: keys go in, the screen comes out.
//!
//! The terminal is tmux with a server of its own, driven in its control mode. The program is not a
//! child of the test: its ancestor is tmux, as at a person's desk.

mod tmux;

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::processes::{self, MARK};
use crate::{PATIENCE, wait_for, within};
use tmux::Tmux;

/// How wide and high the screen is.
pub const SIZE: (u16, u16) = (160, 60);

/// A program in a terminal. It is ended, with its children, when this goes.
pub struct Terminal {
    tmux: Tmux,
    process: u32,
    mark: String,
    // After `tmux`, so that its socket goes when it has ended.
    _folder: TempDir,
}

/// How a program in a terminal has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    /// What stood on the screen at last.
    pub screen: String,
}

impl Terminal {
    /// Starts a command with exactly the variables that were set on it, and `TERM`. What the test
    /// itself has in its environment does not reach it.
    pub fn open(command: &Command) -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let mark = processes::new_mark();
        let tmux = Tmux::start(&folder.path().join("tmux"), &plain(command, &mark));
        let process = first_process(&tmux);
        Self {
            tmux,
            process,
            mark,
            _folder: folder,
        }
    }

    /// Types this on the keyboard, in one line, and does not press Enter.
    pub fn type_text(&self, text: &str) {
        let quoted = text.replace('\'', r"'\''");
        self.tmux.ask(&format!("send-keys -l -- '{quoted}'"));
    }

    /// Presses a key by tmux's name for it: `Enter`, `Escape`, `Down`, `Tab`, `BTab`, `C-c`.
    pub fn press(&self, key: &str) {
        self.tmux.ask(&format!("send-keys {key}"));
    }

    /// Makes the screen so wide and high, as a person does who drags the corner of the window.
    pub fn resize(&self, columns: u16, rows: u16) {
        self.tmux
            .ask(&format!("resize-window -x {columns} -y {rows}"));
    }

    /// What stands on the screen now, without colours, each line without its trailing spaces.
    pub fn screen(&self) -> String {
        self.tmux.ask("capture-pane -p")
    }

    /// The same with its colours, as escape sequences.
    pub fn painted(&self) -> String {
        self.tmux.ask("capture-pane -p -e")
    }

    /// The screen with all that has left it at the top.
    pub fn scroll(&self) -> String {
        self.tmux.ask("capture-pane -p -S -")
    }

    /// Waits until the screen shows these words, and hands over the screen.
    ///
    /// # Panics
    /// When it does not in time.
    #[track_caller]
    pub fn wait_for(&self, words: &str) -> String {
        let shown = |screen: &str| screen.contains(words);
        let waited = self.wait(shown);
        waited.unwrap_or_else(|screen| panic!("the screen does not show {words:?}:\n{screen}"))
    }

    /// Waits until the screen no longer shows these words, and hands over the screen.
    ///
    /// # Panics
    /// When it still does after that time.
    #[track_caller]
    pub fn wait_until_gone(&self, words: &str) -> String {
        let gone = |screen: &str| !screen.contains(words);
        let waited = self.wait(gone);
        waited.unwrap_or_else(|screen| panic!("the screen still shows {words:?}:\n{screen}"))
    }

    /// Waits until this holds of the screen, and hands over the screen.
    ///
    /// # Panics
    /// When it does not in time.
    #[track_caller]
    pub fn wait_until(&self, holds: impl Fn(&str) -> bool) -> String {
        let waited = self.wait(holds);
        waited.unwrap_or_else(|screen| panic!("the screen is not as expected:\n{screen}"))
    }

    /// Does this come to hold of the screen before the time is up?
    pub(crate) fn comes_to(&self, holds: impl Fn(&str) -> bool, within: Duration) -> bool {
        self.watch(holds, within).is_ok()
    }

    fn wait(&self, holds: impl Fn(&str) -> bool) -> Result<String, String> {
        self.watch(holds, PATIENCE)
    }

    /// The first screen of which this holds, or the last one within the time. A program that has
    /// ended changes nothing any more, so nobody waits for it.
    fn watch(&self, holds: impl Fn(&str) -> bool, within: Duration) -> Result<String, String> {
        let deadline = Instant::now() + within;
        loop {
            let seen = self.tmux.changes();
            let ended = self.exit().is_some();
            let screen = self.screen();
            if holds(&screen) {
                return Ok(screen);
            }
            if ended || Instant::now() > deadline {
                return Err(screen);
            }
            self.tmux.wait_for_change(seen, deadline);
        }
    }

    /// The exit code, when it has ended; none in it when a signal ended it.
    pub(crate) fn exit(&self) -> Option<Option<i32>> {
        const STATE: &str =
            "display-message -p '#{pane_dead},#{pane_dead_status},#{pane_dead_signal}'";
        let mut state = self.tmux.ask(STATE);
        while state == "1,," {
            // tmux sometimes misses how a child has ended. It looks at all when the next one ends.
            self.tmux.ask("run-shell true");
            state = self.tmux.ask(STATE);
        }
        let code = state.strip_prefix("1,")?.split(',').next()?;
        Some(code.parse().ok())
    }

    /// The id of the program's process, which leads a group and a session.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Sends `SIGTERM` to the program.
    pub fn terminate(&self) {
        processes::signal(self.process, Signal::TERM);
    }

    /// Sends `SIGKILL` to the program, and to nothing else.
    pub fn kill(&self) {
        processes::signal(self.process, Signal::KILL);
    }

    /// Waits until the program has ended.
    ///
    /// # Panics
    /// When it has not in time.
    #[track_caller]
    pub fn wait_for_end(&self) -> Ended {
        let exit = within(PATIENCE, || self.exit());
        let screen = self.screen();
        match exit {
            Some(code) => Ended { code, screen },
            None => panic!("the program goes on:\n{screen}"),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        processes::end(self.process, &self.mark);
    }
}

/// The process in the terminal. On a loaded machine tmux answers before it has made its window.
fn first_process(tmux: &Tmux) -> u32 {
    wait_for("tmux has a window", || {
        let said = tmux.ask("display-message -p '#{pane_pid}'");
        said.trim().parse().ok()
    })
}

/// A command, taken apart for tmux.
struct Plain {
    folder: PathBuf,
    environment: Vec<(String, String)>,
    line: Vec<String>,
}

fn plain(command: &Command, mark: &str) -> Plain {
    let text = |text: &std::ffi::OsStr| text.to_str().expect("a command is plain text").to_owned();
    let folder = command.get_current_dir();
    let set = command
        .get_envs()
        .filter_map(|(name, value)| Some((text(name), text(value?))));
    let program = std::iter::once(command.get_program());
    Plain {
        folder: folder.map_or_else(std::env::temp_dir, PathBuf::from),
        environment: set.chain([(MARK.to_owned(), mark.to_owned())]).collect(),
        line: program.chain(command.get_args()).map(text).collect(),
    }
}
