//! The keeper: a second process that puts a terminal back whose program was killed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};

use runtime::current_exe;
use rustix::termios::{OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};

use crate::ansi;

/// What the starter of the keeper has put there: the terminal, and a pipe to itself.
const ON_STDERR: &str = "/proc/self/fd/2";
const ON_STDOUT: &str = "/proc/self/fd/1";

/// What the keeper writes when it knows the terminal.
const READY: u8 = b'r';
/// What it reads when the whole screen is taken, and when it is not needed any more.
const SCREEN: u8 = b's';
const DONE: u8 = b'd';

/// A running keeper. When this goes, it ends.
pub struct Keeper {
    process: Child,
    pipe: Option<ChildStdin>,
}

impl Keeper {
    /// Starts it (`gatewright terminal-keeper`), and waits until it knows how the terminal is now.
    pub fn start(terminal: &File) -> Option<Self> {
        let mut command = Command::new(current_exe::program().ok()?);
        command
            .arg("terminal-keeper")
            .stderr(terminal.try_clone().ok()?);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().ok()?;
        let pipe = process.stdin.take()?;
        let mut word = [0];
        let heard = process.stdout.take()?.read_exact(&mut word);
        match heard {
            Ok(()) if word == [READY] => Some(Self {
                process,
                pipe: Some(pipe),
            }),
            Ok(()) | Err(_) => {
                drop(pipe);
                let _ = process.wait();
                None
            }
        }
    }

    /// From now on the keeper also gives the whole screen back.
    pub(crate) fn screen_taken(&mut self) {
        if let Some(pipe) = &mut self.pipe {
            let _ = pipe.write_all(&[SCREEN]);
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            let _ = pipe.write_all(&[DONE]);
        }
        let _ = self.process.wait();
    }
}

/// In the background the system stops who reads from the terminal or sets it.
pub fn is_in_foreground(terminal: &File) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// The work of the keeper: remembers how the terminal on its stderr is, and puts it back if its starter is gone
/// without a word.
pub fn keep() -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut terminal = options.read(true).write(true).open(ON_STDERR)?;
    let before = tcgetattr(&terminal)?;
    // Out of the session of the terminal: a signal from its keys does not reach us, and no process group may
    // keep us from setting it.
    let _ = rustix::process::setsid();
    let mut to_starter = OpenOptions::new().write(true).open(ON_STDOUT)?;
    to_starter.write_all(&[READY])?;
    let mut words = Vec::new();
    let _ = io::stdin().take(2).read_to_end(&mut words);
    if words.contains(&DONE) {
        return Ok(());
    }
    if words.contains(&SCREEN) {
        terminal.write_all(ansi::LEAVE.as_bytes())?;
    }
    tcsetattr(&terminal, OptionalActions::Now, &before).map_err(io::Error::from)
}
