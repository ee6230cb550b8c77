//! The only file that prints. Results go to stdout, messages to stderr.

use std::io::{self, IsTerminal as _, Write};

use runtime::environment::Environment;
use runtime::failure::Failure;
use serde_json::Value;
use views::progress::TerminalSize;
use views::{Paint, Style};

/// The format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

/// The size of a terminal that does not report one.
const USUAL_ROOM: TerminalSize = TerminalSize {
    columns: 80,
    rows: 24,
};

pub(crate) struct Output {
    format: Format,
    data: Stream,
    talk: Stream,
}

struct Stream {
    sink: Box<dyn Write>,
    paint: Paint,
    is_terminal: bool,
    /// The reader has closed the stream, so the rest of the output is dropped.
    closed: bool,
}

/// Writes the answer for a host and returns the exit code. If the host has closed our output, only the
/// code remains.
pub(crate) fn reply(bytes: &hosts::Bytes) -> u8 {
    let mut stdout = io::stdout().lock();
    let heard = stdout
        .write_all(&bytes.stdout)
        .and_then(|()| stdout.flush());
    let _ = io::stderr().lock().write_all(&bytes.stderr);
    match heard {
        Ok(()) => bytes.code,
        Err(_) => bytes.unheard,
    }
}

impl Output {
    pub(crate) fn standard(format: Format, color: Color, environment: &Environment) -> Self {
        let paint = |is_terminal: bool| match color {
            Color::Always => Paint::Ansi,
            Color::Auto if is_terminal && !environment.wants_no_color() => Paint::Ansi,
            Color::Auto | Color::Never => Paint::Plain,
        };
        let stream = |sink: Box<dyn Write>, is_terminal: bool| Stream {
            sink,
            paint: paint(is_terminal),
            is_terminal,
            closed: false,
        };
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let (out_terminal, err_terminal) = (stdout.is_terminal(), stderr.is_terminal());
        Self {
            format,
            data: stream(Box::new(stdout), out_terminal),
            talk: stream(Box::new(stderr), err_terminal),
        }
    }

    /// An output for tests: it captures stdout and stderr.
    #[cfg(test)]
    pub(crate) fn kept(format: Format) -> (Self, CapturedOutput, CapturedOutput) {
        let (data, talk) = (CapturedOutput::default(), CapturedOutput::default());
        let stream = |kept: &CapturedOutput| Stream {
            sink: Box::new(kept.clone()),
            paint: Paint::Plain,
            is_terminal: false,
            closed: false,
        };
        let output = Self {
            format,
            data: stream(&data),
            talk: stream(&talk),
        };
        (output, data, talk)
    }

    /// Is stdout a terminal?
    pub(crate) fn is_terminal(&self) -> bool {
        self.data.is_terminal
    }

    /// Is stderr a terminal?
    pub(crate) fn is_talking_to_a_person(&self) -> bool {
        self.talk.is_terminal
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// The colours for stdout.
    pub(crate) fn paint(&self) -> Paint {
        self.data.paint
    }

    /// The colours for stderr.
    pub(crate) fn talk_paint(&self) -> Paint {
        self.talk.paint
    }

    /// Results as text. The caller has escaped untrusted text; `views` does that.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        self.bytes(text.as_bytes())
    }

    /// Results as JSON.
    pub(crate) fn json(&mut self, value: &Value) -> Result<(), Failure> {
        self.bytes(views::json_text(value).as_bytes())
    }

    /// Results as JSON on one line, for programs that read a stream.
    pub(crate) fn json_line(&mut self, value: &Value) -> Result<(), Failure> {
        self.bytes(format!("{value}\n").as_bytes())
    }

    /// The size of the terminal on stdout, if it is one.
    pub(crate) fn terminal_size(&self) -> Option<TerminalSize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        let is_known = self.data.is_terminal && size.ws_col > 0 && size.ws_row > 0;
        is_known.then(|| TerminalSize {
            columns: usize::from(size.ws_col),
            rows: usize::from(size.ws_row),
        })
    }

    /// The size of the terminal on stderr.
    pub(crate) fn talk_room(&self) -> TerminalSize {
        room_of(rustix::termios::tcgetwinsize(io::stderr()).ok())
    }

    /// The size of the terminal on stdout.
    pub(crate) fn room(&self) -> TerminalSize {
        room_of(rustix::termios::tcgetwinsize(io::stdout()).ok())
    }

    /// Results in the requested format.
    pub(crate) fn facts(
        &mut self,
        text: impl FnOnce(Paint) -> String,
        json: impl FnOnce() -> Value,
    ) -> Result<(), Failure> {
        match self.format {
            Format::Text => self.text(&text(self.data.paint)),
            Format::Json => self.json(&json()),
        }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.data.write(bytes).map_err(|cause| {
            Failure::environment(format!("cannot write to stdout ({cause})"))
                .hint("the command itself was done")
        })
    }

    /// One line of message, with control characters escaped.
    pub(crate) fn say(&mut self, text: &str) {
        self.say_in(Style::Normal, text);
    }

    /// One line of message in a colour.
    pub(crate) fn say_in(&mut self, style: Style, text: &str) {
        let line = self.talk.paint.on(style, &views::line(text));
        self.mutter(&format!("{line}\n"));
    }

    /// A message of several lines. The caller has escaped untrusted text.
    pub(crate) fn mutter(&mut self, text: &str) {
        // If stderr cannot be written, the error cannot be reported either.
        let _ = self.talk.write(text.as_bytes());
    }

    pub(crate) fn failure(&mut self, failure: &Failure) {
        self.say_in(Style::Bad, &format!("gatewright: {failure}"));
    }
}

fn room_of(size: Option<rustix::termios::Winsize>) -> TerminalSize {
    let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
    match size {
        Some(size) => TerminalSize {
            columns: usize::from(size.ws_col),
            rows: usize::from(size.ws_row),
        },
        None => USUAL_ROOM,
    }
}

impl Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.closed {
            return Ok(());
        }
        match self.sink.write_all(bytes).and_then(|()| self.sink.flush()) {
            Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            result => result,
        }
    }
}

/// What was printed.
#[cfg(test)]
#[derive(Clone, Default)]
pub(crate) struct CapturedOutput(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

#[cfg(test)]
impl CapturedOutput {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

#[cfg(test)]
impl Write for CapturedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(io::ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn stream(sink: impl Write + 'static) -> Stream {
        Stream {
            sink: Box::new(sink),
            paint: Paint::Plain,
            is_terminal: false,
            closed: false,
        }
    }

    #[test]
    fn a_reader_who_has_gone_is_no_failure() {
        let data = stream(Broken(io::ErrorKind::BrokenPipe));
        let mut output = Output {
            format: Format::Text,
            data,
            talk: stream(io::sink()),
        };
        assert_eq!(output.text("a"), Ok(()));
        assert_eq!(output.text("b"), Ok(()));
    }

    #[test]
    fn a_full_disk_behind_the_output_is_a_failure() {
        let data = stream(Broken(io::ErrorKind::StorageFull));
        let mut output = Output {
            format: Format::Text,
            data,
            talk: stream(io::sink()),
        };
        assert!(output.text("a").is_err());
    }

    #[test]
    fn talk_that_nobody_hears_is_dropped() {
        let talk = stream(Broken(io::ErrorKind::StorageFull));
        let mut output = Output {
            format: Format::Text,
            data: stream(io::sink()),
            talk,
        };
        output.say("is there anybody?");
    }
}
