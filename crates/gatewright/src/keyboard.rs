//! Single keys of the person at the terminal, while a live view is drawn.
//!
//! The terminal hands keys over one by one only while this value lives. It is put back when the value goes, also
//! in a panic; if this process is killed, a second one (`gatewright terminal-keeper`) puts it back.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Read as _};
use std::rc::Rc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tui::keeper::{Keeper, is_in_foreground};

const PATH: &str = "/dev/tty";

/// More is not an answer.
const MOST_AHEAD: usize = 64 * 1024;

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
    _keeper: Keeper,
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
        let keeper = Keeper::start(&terminal)?;
        let mut single = before.clone();
        single
            .local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO);
        let keyboard = Self {
            ahead: ahead.clone(),
            terminal,
            before,
            _keeper: keeper,
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
            // Several at once are not keys but an answer to a question that is still to come.
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
    }
}
