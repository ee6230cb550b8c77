//! Single keys of the person at the terminal, while a live view is drawn.
//!
//! The terminal hands keys over one by one only while this value lives. It is put back when the value goes, also
//! in a panic; if this process is killed, a second one (`gatewright terminal-keeper`) puts it back.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;

use runtime::current_exe;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

const PATH: &str = "/dev/tty";

/// What the starter of the keeper has put there: the terminal, and a pipe to itself.
const ON_STDERR: &str = "/proc/self/fd/2";
const ON_STDOUT: &str = "/proc/self/fd/1";

/// More is not an answer.
const MOST_AHEAD: usize = 64 * 1024;

/// What the keeper writes when it knows the terminal, and what it reads when it is not needed.
const READY: u8 = b'r';
const DONE: u8 = b'd';

/// What a person typed before anybody asked them: whole lines, not keys. The next question takes them.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypedAhead(Rc<RefCell<Vec<u8>>>);

impl TypedAhead {
    fn add(&self, bytes: &[u8]) {
        let mut typed = self.0.borrow_mut();
        if typed.len() + bytes.len() <= MOST_AHEAD {
            typed.extend_from_slice(bytes);
        }
    }

    /// The first whole line, without its line break.
    pub(crate) fn line(&self) -> Option<String> {
        let mut typed = self.0.borrow_mut();
        let end = typed.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = typed.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line[..end]).trim().to_owned())
    }
}

pub(crate) struct Keyboard {
    ahead: TypedAhead,
    terminal: File,
    before: Termios,
    keeper: Child,
    to_keeper: Option<ChildStdin>,
}

impl Keyboard {
    /// Takes single keys, where a person sits at the terminal and this process is in its foreground.
    pub(crate) fn open(ahead: &TypedAhead) -> Option<Self> {
        if !io::stdin().is_terminal() {
            return None;
        }
        let terminal = OpenOptions::new().read(true).write(true).open(PATH).ok()?;
        if !is_in_foreground(&terminal) {
            return None;
        }
        let before = tcgetattr(&terminal).ok()?;
        let (keeper, to_keeper) = start_keeper(&terminal)?;
        let mut single = before.clone();
        single
            .local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO);
        let keyboard = Self {
            ahead: ahead.clone(),
            terminal,
            before,
            keeper,
            to_keeper: Some(to_keeper),
        };
        tcsetattr(&keyboard.terminal, OptionalActions::Now, &single).ok()?;
        Some(keyboard)
    }

    /// The key that was pressed since the last look.
    pub(crate) fn key(&mut self) -> Option<char> {
        if !is_in_foreground(&self.terminal) {
            return None;
        }
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let mut ready = [PollFd::new(&self.terminal, PollFlags::IN)];
        if poll(&mut ready, Some(&now)).ok()? == 0 {
            return None;
        }
        let mut bytes = [0; 4096];
        let read = self.terminal.read(&mut bytes).ok()?;
        match &bytes[..read] {
            [key] if key.is_ascii_graphic() => Some(char::from(*key)),
            // The arrows and their like begin with an escape; they mean nothing here.
            [] | [0x1b, ..] => None,
            // Several at once are no keys, but an answer to a question that is still to come.
            typed => {
                self.ahead.add(typed);
                None
            }
        }
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // In the background the terminal is the shell's, which has set it for itself.
        if is_in_foreground(&self.terminal) {
            let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
        }
        if let Some(mut to_keeper) = self.to_keeper.take() {
            let _ = to_keeper.write_all(&[DONE]);
        }
        let _ = self.keeper.wait();
    }
}

/// In the background the system stops who reads from the terminal or sets it.
fn is_in_foreground(terminal: &File) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// Starts the keeper, and waits until it knows how the terminal is now.
fn start_keeper(terminal: &File) -> Option<(Child, ChildStdin)> {
    let mut command = Command::new(current_exe::program().ok()?);
    command
        .arg("terminal-keeper")
        .stderr(terminal.try_clone().ok()?);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut keeper = command.spawn().ok()?;
    let to_keeper = keeper.stdin.take()?;
    let mut word = [0];
    let heard = keeper.stdout.take()?.read_exact(&mut word);
    match heard {
        Ok(()) if word == [READY] => Some((keeper, to_keeper)),
        Ok(()) | Err(_) => {
            drop(to_keeper);
            let _ = keeper.wait();
            None
        }
    }
}

/// The keeper: remembers how the terminal on its stderr is, and puts it back if its starter is gone without a word.
pub(crate) fn keep() -> io::Result<()> {
    let mut options = OpenOptions::new();
    let terminal = options.read(true).write(true).open(ON_STDERR)?;
    let before = tcgetattr(&terminal)?;
    // Out of the session of the terminal: a signal from its keys does not reach us, and no process group may
    // keep us from setting it.
    let _ = rustix::process::setsid();
    let mut to_starter = OpenOptions::new().write(true).open(ON_STDOUT)?;
    to_starter.write_all(&[READY])?;
    let mut word = Vec::new();
    let _ = io::stdin().take(1).read_to_end(&mut word);
    if word != [DONE] {
        tcsetattr(&terminal, OptionalActions::Now, &before)?;
    }
    Ok(())
}
