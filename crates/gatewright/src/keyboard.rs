//! Single keys of the person at the terminal, while a live view is drawn.
//!
//! The terminal hands keys over one by one only while this value lives. It is put back when the value goes, also
//! in a panic; if this process is killed, a second one (`gatewright terminal-keeper`) puts it back.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Read as _};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr,
};
use tui::keeper::{Keeper, is_in_foreground};

const PATH: &str = "/dev/tty";

/// Nobody answers a question that they have not seen: what was typed so far is dropped before it is shown.
pub(crate) fn discard_typed(terminal: &File) {
    if is_in_foreground(terminal) {
        let _ = tcflush(terminal, QueueSelector::IFlush);
    }
}

pub(crate) struct Keyboard {
    terminal: File,
    before: Termios,
    single: Termios,
    _keeper: Keeper,
}

impl Keyboard {
    /// Takes single keys, where a person sits at the terminal and this process is in its foreground.
    pub(crate) fn open() -> Option<Self> {
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
            terminal,
            before,
            single,
            _keeper: keeper,
        };
        keyboard.take_keys().then_some(keyboard)
    }

    /// Takes single keys, also again after a shell has set the terminal for itself. In the background it is the
    /// shell's.
    pub(crate) fn take_keys(&self) -> bool {
        is_in_foreground(&self.terminal)
            && tcsetattr(&self.terminal, OptionalActions::Now, &self.single).is_ok()
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
            [key] => Some(char::from(*key)),
            // The arrows and their like begin with an escape. Several at once were pasted, or typed while nobody
            // listened: they are not meant as keys.
            _ => None,
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
