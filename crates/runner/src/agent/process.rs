//! One agent at work as a process: its output read line by line, its silence limited.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use evidence::check::Tail;
use evidence::watched_process::{self, Exit, Heard, Next, Output, Stream, Waited, WatchedProcess};
use runtime::failure::Failure;
use runtime::watchdog::{self, Watchdog};

/// How long we wait between two looks at the process.
const TICK: Duration = Duration::from_millis(20);

/// How often we ask whether the work is still wanted.
const GLANCE: Duration = Duration::from_secs(1);

/// A longer line tells nothing: programs put whole outputs of their tools into one.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

pub struct Job<'a> {
    pub program: &'a Path,
    pub arguments: &'a [String],
    pub variables: &'a BTreeMap<OsString, OsString>,
    pub folder: &'a Path,
    pub input: File,
    /// By which all of its processes are known.
    pub start: &'a str,
}

pub struct Limits<'a> {
    pub deadline: Instant,
    pub silence: Option<Duration>,
    pub stop: &'a AtomicBool,
}

/// Who is told what comes out.
pub trait Reader {
    /// It runs, and leads the group of this number.
    fn started(&mut self, id: u32) -> Result<(), Failure>;
    /// One line, without its end.
    fn line(&mut self, line: &[u8]) -> Result<Go, Failure>;
    /// Does the run still want this work?
    fn is_wanted(&mut self) -> Result<bool, Failure>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    On,
    /// It has told enough to be ended.
    No,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Exit(i32),
    Signal(i32),
    TimedOut,
    Silent,
    /// By a signal to us.
    Stopped,
    /// The run does not want it any more.
    Unwanted,
    /// By its reader.
    Cut,
}

/// Runs an agent to its end, or to ours. A program that cannot be started gives its reason.
pub fn run(
    job: Job<'_>,
    limits: &Limits<'_>,
    reader: &mut dyn Reader,
) -> Result<Result<(Ended, Tail), String>, Failure> {
    let (shown, started) = (job.program.display().to_string(), job.start);
    let watching = |cause| Failure::outside(format!("cannot watch {shown} ({cause})"));
    let mut process = match start(job) {
        Ok(process) => process,
        Err(cause) => return Ok(Err(format!("{shown} could not be started: {cause}"))),
    };
    let watchdog = Watchdog::on(started, Some(process.id())).map_err(watching)?;
    reader.started(process.id())?;
    let mut streams = Streams::new(reader);
    let waited = wait(&mut process, &mut streams, limits).map_err(watching)?;
    let ours = match waited {
        Waited::Ended => None,
        Waited::TimedOut => Some(Ended::TimedOut),
        Waited::Stopped => Some(Ended::Stopped),
        Waited::Broken(reason) => Some(reason?),
    };
    let (exit, output) = process.end().map_err(watching)?;
    // A process that left the group would change the files that are looked at next.
    watchdog::end_started(started);
    drop(watchdog);
    let cut = drain(output, &mut streams, ours.is_none()).map_err(watching)?;
    let cut = cut.transpose()?;
    Ok(Ok((
        ours.or(cut).unwrap_or_else(|| end_of(exit)),
        streams.stderr,
    )))
}

fn start(job: Job<'_>) -> std::io::Result<WatchedProcess> {
    WatchedProcess::start(
        Command::new(job.program)
            .args(job.arguments)
            .current_dir(job.folder)
            .env_clear()
            .envs(job.variables)
            .stdin(job.input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
    )
}

/// Why we do not wait for its end: a reason of ours, or a failure.
type Break = Result<Ended, Failure>;

fn wait(
    process: &mut WatchedProcess,
    streams: &mut Streams<'_>,
    limits: &Limits<'_>,
) -> std::io::Result<Waited<Break>> {
    let watched = watched_process::Limits {
        deadline: limits.deadline,
        stop: Some(limits.stop),
        tick: TICK,
    };
    let (mut heard_at, mut asked) = (Instant::now(), Instant::now());
    process.wait(&watched, |heard| {
        let before = streams.lines;
        streams.take(heard)?;
        let now = Instant::now();
        let has_spoken = streams.lines > before;
        if has_spoken {
            heard_at = now;
        }
        if is_silent(limits, now, heard_at) {
            return ControlFlow::Break(Ok(Ended::Silent));
        }
        if now.duration_since(asked) >= GLANCE {
            asked = now;
            match streams.reader.is_wanted() {
                Ok(true) => {}
                Ok(false) => return ControlFlow::Break(Ok(Ended::Unwanted)),
                Err(failure) => return ControlFlow::Break(Err(failure)),
            }
        }
        // All lines that come at once are read, even when the process has ended meanwhile.
        ControlFlow::Continue(if has_spoken { Next::Read } else { Next::Look })
    })
}

fn is_silent(limits: &Limits<'_>, now: Instant, heard_at: Instant) -> bool {
    let silence = limits.silence;
    silence.is_some_and(|silence| now.duration_since(heard_at) > silence)
}

/// Reads what is left. After an end of ours its lines do not count any more.
fn drain(
    mut output: Output,
    streams: &mut Streams<'_>,
    lines_count: bool,
) -> std::io::Result<Option<Break>> {
    output.drain(|heard| match heard {
        Heard::Bytes(Stream::Stdout, _) | Heard::End(Stream::Stdout) if !lines_count => {
            ControlFlow::Continue(())
        }
        Heard::Bytes(..) | Heard::End(_) | Heard::Nothing => streams.take(heard),
    })
}

fn end_of(exit: Exit) -> Ended {
    match exit {
        Exit::Code(code) => Ended::Exit(code),
        Exit::Signal(signal) => Ended::Signal(signal),
    }
}

/// Both outputs of an agent: lines for the reader, and the end of what went to stderr.
struct Streams<'a> {
    reader: &'a mut dyn Reader,
    splitter: LineSplitter,
    /// How many lines the reader got.
    lines: usize,
    stderr: Tail,
}

impl<'a> Streams<'a> {
    fn new(reader: &'a mut dyn Reader) -> Self {
        Self {
            reader,
            splitter: LineSplitter::default(),
            lines: 0,
            stderr: Tail::new(&[]),
        }
    }

    fn take(&mut self, heard: Heard<'_>) -> ControlFlow<Break> {
        let lines = match heard {
            Heard::Bytes(Stream::Stdout, bytes) => self.splitter.push(bytes),
            Heard::End(Stream::Stdout) => self.splitter.finish().into_iter().collect(),
            Heard::Bytes(Stream::Stderr, bytes) => {
                self.stderr.push(bytes);
                Vec::new()
            }
            Heard::End(Stream::Stderr) | Heard::Nothing => Vec::new(),
        };
        for line in lines {
            self.lines += 1;
            match self.reader.line(&line) {
                Ok(Go::On) => {}
                Ok(Go::No) => return ControlFlow::Break(Ok(Ended::Cut)),
                Err(failure) => return ControlFlow::Break(Err(failure)),
            }
        }
        ControlFlow::Continue(())
    }
}

/// Puts pieces of output together to lines. A line that is too long is left out.
#[derive(Default)]
struct LineSplitter {
    line: Vec<u8>,
    is_too_long: bool,
}

impl LineSplitter {
    /// The lines that this piece ends.
    fn push(&mut self, piece: &[u8]) -> Vec<Vec<u8>> {
        let mut parts = piece.split(|byte| *byte == b'\n');
        let last = parts.next_back().unwrap_or_default();
        let mut lines = Vec::new();
        for part in parts {
            self.add(part);
            lines.extend(self.take());
        }
        self.add(last);
        lines
    }

    /// The last line, where the output ended without the end of a line.
    fn finish(&mut self) -> Option<Vec<u8>> {
        self.take().filter(|line| !line.is_empty())
    }

    fn add(&mut self, part: &[u8]) {
        self.is_too_long |= self.line.len() + part.len() > LONGEST_LINE;
        if !self.is_too_long {
            self.line.extend_from_slice(part);
        }
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        (!std::mem::take(&mut self.is_too_long)).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one_and_one_that_is_too_long_is_left_out() {
        let long = vec![b'x'; LONGEST_LINE + 1];
        let output = [b"a\n\nb\n".as_slice(), &long, b"\nc"].concat();
        let mut splitter = LineSplitter::default();
        let pieces = output.chunks(7_000);
        let mut lines: Vec<Vec<u8>> = pieces.flat_map(|piece| splitter.push(piece)).collect();
        lines.extend(splitter.finish());
        assert_eq!(
            lines,
            [b"a".to_vec(), Vec::new(), b"b".to_vec(), b"c".to_vec()]
        );
    }

    #[test]
    fn an_agent_is_silent_only_after_its_whole_time() {
        let now = Instant::now();
        let later = now + Duration::from_secs(10);
        let stop = AtomicBool::new(false);
        let check = |silence, expected| {
            let limits = Limits {
                deadline: later,
                silence,
                stop: &stop,
            };
            assert_eq!(is_silent(&limits, later, now), expected);
        };
        check(None, false);
        check(Some(Duration::from_secs(10)), false);
        check(Some(Duration::from_secs(9)), true);
    }
}
