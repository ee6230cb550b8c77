//! The terminal of the person: taken as a whole while this lives, and given back when it goes.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use runtime::failure::Failure;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use views::Paint;
use views::progress::TerminalSize;

use crate::ansi;
use crate::event::Size;
use crate::keeper::{Keeper, is_in_foreground};

const PATH: &str = "/dev/tty";

/// The size of a terminal that does not tell its own.
pub(crate) const USUAL_SIZE: Size = Size {
    columns: 80,
    rows: 24,
};

pub(crate) struct Terminal {
    file: File,
    before: Termios,
    paint: Paint,
    /// What it shows now.
    shown: Buffer,
    title: String,
    resized: Arc<AtomicBool>,
    _keeper: Option<Keeper>,
}

/// What came from the person.
pub(crate) enum Typed {
    Bytes(Vec<u8>),
    Nothing,
    /// The terminal is gone.
    Closed,
}

impl Terminal {
    pub(crate) fn open(paint: Paint) -> Result<Self, Failure> {
        Self::take(paint, |file| {
            let mut keeper = Keeper::start(file).ok_or_else(no_terminal)?;
            keeper.screen_taken();
            Ok(Some(keeper))
        })
    }

    /// Takes the terminal. The keeper, if there is one, gives it back where this process cannot.
    pub(crate) fn take(
        paint: Paint,
        keeper: impl FnOnce(&File) -> Result<Option<Keeper>, Failure>,
    ) -> Result<Self, Failure> {
        let path = Path::new(PATH);
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let mut file = opened.map_err(|_| no_terminal())?;
        if !is_in_foreground(&file) {
            return Err(no_terminal());
        }
        let failed = |cause: rustix::io::Errno| Failure::file("set", path)(cause.into());
        let before = tcgetattr(&file).map_err(failed)?;
        let keeper = keeper(&file)?;
        restore_in_panic();
        let resized = Arc::new(AtomicBool::new(false));
        let window = signal_hook::consts::SIGWINCH;
        signal_hook::flag::register(window, Arc::clone(&resized))
            .map_err(|cause| Failure::environment(format!("cannot wait for signals ({cause})")))?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&file, OptionalActions::Now, &raw).map_err(failed)?;
        let entered = file.write_all(ansi::ENTER.as_bytes());
        let terminal = Self {
            file,
            before,
            paint,
            shown: Buffer::empty(Rect::ZERO),
            title: String::new(),
            resized,
            _keeper: keeper,
        };
        entered.map_err(Failure::file("write to", path))?;
        Ok(terminal)
    }

    pub(crate) fn size(&self) -> Size {
        let size = tcgetwinsize(&self.file).ok();
        let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or(USUAL_SIZE, |size| {
            Size::of(TerminalSize {
                columns: usize::from(size.ws_col),
                rows: usize::from(size.ws_row),
            })
        })
    }

    /// Has the size changed since the last call?
    pub(crate) fn was_resized(&self) -> bool {
        self.resized.swap(false, Ordering::Relaxed)
    }

    /// Shows this picture and this title. Writes only what differs from what it shows.
    pub(crate) fn show(&mut self, picture: Buffer, title: &str) -> Result<(), Failure> {
        let mut text = String::new();
        if self.shown.area != picture.area {
            self.shown = Buffer::empty(picture.area);
            text.push_str(ansi::ERASE);
        }
        text.push_str(&ansi::changes(&self.shown, &picture, self.paint));
        if self.title != title {
            text.push_str(&ansi::title(title));
            title.clone_into(&mut self.title);
        }
        self.shown = picture;
        if text.is_empty() {
            return Ok(());
        }
        let written = self.file.write_all(text.as_bytes());
        written.map_err(Failure::file("write to", Path::new(PATH)))
    }

    /// Waits for keys, at most so long. A signal ends the wait.
    pub(crate) fn wait(&mut self, patience: Duration) -> Typed {
        let patience = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: patience.subsec_nanos().into(),
        };
        let mut ready = [PollFd::new(&self.file, PollFlags::IN)];
        if poll(&mut ready, Some(&patience)).unwrap_or_default() == 0 {
            return Typed::Nothing;
        }
        let mut bytes = vec![0; 4_096];
        match self.file.read(&mut bytes) {
            Ok(0) => Typed::Closed,
            Ok(read) => {
                bytes.truncate(read);
                Typed::Bytes(bytes)
            }
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => Typed::Nothing,
            Err(_) => Typed::Closed,
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.file.write_all(ansi::LEAVE.as_bytes());
        // In the background the terminal is the shell's, which has set it for itself.
        if is_in_foreground(&self.file) {
            let _ = tcsetattr(&self.file, OptionalActions::Now, &self.before);
        }
    }
}

/// A panic speaks on the screen that stays, not on the one that goes.
fn restore_in_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if let Ok(mut terminal) = OpenOptions::new().write(true).open(PATH) {
            let _ = terminal.write_all(ansi::LEAVE.as_bytes());
        }
        before(panic);
    }));
}

/// The one line for those who have no terminal.
pub(crate) fn no_terminal() -> Failure {
    Failure::usage("`gatewright watch` needs a terminal in the foreground")
        .hint("type `gatewright watch --once` to print one picture")
}
