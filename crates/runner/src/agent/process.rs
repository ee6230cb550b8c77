//! Runs one agent process: reads its output line by line and limits its silence.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use evidence::check::Tail;
use evidence::hold::Hold;
use evidence::watched_process::{
    self, Exit, Next, Output, OutputEvent, Stream, WaitResult, WatchedProcess,
};
use runtime::failure::Failure;
use runtime::watchdog::{self, Watchdog};

/// The time between two polls of the process.
const TICK: Duration = Duration::from_millis(20);

/// How often we ask whether the run still needs this work.
const NEEDED_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Longer lines are skipped: programs put whole outputs of their tools into one line.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

pub struct ProcessSpec<'a> {
    pub program: &'a Path,
    pub arguments: &'a [String],
    pub variables: &'a BTreeMap<OsString, OsString>,
    pub folder: &'a Path,
    pub input: File,
    /// The value that marks all of its processes.
    pub start: &'a str,
    /// Our own process that holds it.
    pub hold: Hold,
}

pub struct ProcessLimits<'a> {
    pub deadline: Instant,
    pub silence: Option<Duration>,
    pub stop: &'a AtomicBool,
}

/// Receives the output.
pub trait OutputReader {
    /// The process runs, and leads the process group of this id.
    fn started(&mut self, id: u32) -> Result<(), Failure>;
    /// A piece of its stderr.
    fn error(&mut self, bytes: &[u8]);
    /// One line of its stdout, without its line break.
    fn line(&mut self, line: &[u8]) -> Result<Continue, Failure>;
    /// The beginning of a line of its stdout that has not ended yet.
    fn unfinished(&mut self, line: &[u8]);
    /// Does the run still need this work?
    fn is_still_needed(&mut self) -> Result<bool, Failure>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continue {
    Yes,
    /// The reader has seen enough: end the process.
    No,
}

/// How the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    Exit(i32),
    Signal(i32),
    TimedOut,
    Silent,
    /// A signal to this process ended it.
    Stopped,
    /// The run does not need it any more.
    NoLongerNeeded,
    /// The reader ended it.
    EndedByReader,
}

/// Runs an agent until it ends or until we end it. The inner error says why the program could not
/// start.
pub fn run(
    spec: ProcessSpec<'_>,
    limits: &ProcessLimits<'_>,
    reader: &mut dyn OutputReader,
) -> Result<Result<(ProcessEnd, Tail), String>, Failure> {
    let (shown, started) = (spec.program.display().to_string(), spec.start);
    let hold = spec.hold.clone();
    let unstarted = |cause: &str| format!("{shown} could not be started: {cause}");
    let watching = |cause| Failure::environment(format!("cannot watch {shown} ({cause})"));
    let mut process = match start(spec) {
        Ok(process) => process,
        Err(cause) => return Ok(Err(unstarted(&cause.to_string()))),
    };
    let watchdog = Watchdog::start(started, Some(process.id())).map_err(watching)?;
    reader.started(process.id())?;
    let mut streams = Streams::new(reader);
    let waited = wait(&mut process, &mut streams, limits).map_err(watching)?;
    let ours = match waited {
        WaitResult::Ended => None,
        WaitResult::TimedOut => Some(ProcessEnd::TimedOut),
        WaitResult::Stopped => Some(ProcessEnd::Stopped),
        WaitResult::Broken(reason) => Some(reason?),
    };
    let (exit, output) = process.end().map_err(watching)?;
    // A process that left the group would change files while the evidence is read.
    watchdog::kill_started(started);
    drop(watchdog);
    let cut = drain(output, &mut streams, ours.is_none()).map_err(watching)?;
    let cut = cut.transpose()?;
    if let Exit::Code(code) = exit
        && let Some(cause) = hold.failure(code)
    {
        return Ok(Err(unstarted(&cause)));
    }
    Ok(Ok((
        ours.or(cut).unwrap_or_else(|| process_end(exit)),
        streams.stderr,
    )))
}

fn start(spec: ProcessSpec<'_>) -> std::io::Result<WatchedProcess> {
    WatchedProcess::start(
        spec.hold
            .command(spec.program)
            .args(spec.arguments)
            .current_dir(spec.folder)
            .env_clear()
            .envs(spec.variables)
            .stdin(spec.input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
    )
}

/// Why we stop waiting: we end the process, or something failed.
type Break = Result<ProcessEnd, Failure>;

fn wait(
    process: &mut WatchedProcess,
    streams: &mut Streams<'_>,
    limits: &ProcessLimits<'_>,
) -> std::io::Result<WaitResult<Break>> {
    let watched = watched_process::WatchLimits {
        deadline: limits.deadline,
        stop: Some(limits.stop),
        tick: TICK,
    };
    let (mut heard_at, mut asked) = (Instant::now(), Instant::now());
    process.wait(&watched, |event| {
        let before = streams.lines;
        streams.take(event)?;
        let now = Instant::now();
        let has_spoken = streams.lines > before;
        if has_spoken {
            heard_at = now;
        }
        if is_silent(limits, now, heard_at) {
            return ControlFlow::Break(Ok(ProcessEnd::Silent));
        }
        if now.duration_since(asked) >= NEEDED_POLL_INTERVAL {
            asked = now;
            match streams.reader.is_still_needed() {
                Ok(true) => {}
                Ok(false) => return ControlFlow::Break(Ok(ProcessEnd::NoLongerNeeded)),
                Err(failure) => return ControlFlow::Break(Err(failure)),
            }
        }
        // Reads all lines of one burst, even if the process has ended meanwhile.
        ControlFlow::Continue(if has_spoken { Next::Read } else { Next::Look })
    })
}

fn is_silent(limits: &ProcessLimits<'_>, now: Instant, heard_at: Instant) -> bool {
    let silence = limits.silence;
    silence.is_some_and(|silence| now.duration_since(heard_at) > silence)
}

/// Reads the rest of the output. Lines after an end by us do not count.
fn drain(
    mut output: Output,
    streams: &mut Streams<'_>,
    lines_count: bool,
) -> std::io::Result<Option<Break>> {
    output.drain(|event| match event {
        OutputEvent::Bytes(Stream::Stdout, _) | OutputEvent::End(Stream::Stdout)
            if !lines_count =>
        {
            ControlFlow::Continue(())
        }
        OutputEvent::Bytes(..) | OutputEvent::End(_) | OutputEvent::Nothing => streams.take(event),
    })
}

fn process_end(exit: Exit) -> ProcessEnd {
    match exit {
        Exit::Code(code) => ProcessEnd::Exit(code),
        Exit::Signal(signal) => ProcessEnd::Signal(signal),
    }
}

/// Both outputs of an agent: lines for the reader, and the tail of stderr.
struct Streams<'a> {
    reader: &'a mut dyn OutputReader,
    splitter: LineSplitter,
    /// How many lines the reader got.
    lines: usize,
    stderr: Tail,
}

impl<'a> Streams<'a> {
    fn new(reader: &'a mut dyn OutputReader) -> Self {
        Self {
            reader,
            splitter: LineSplitter::default(),
            lines: 0,
            stderr: Tail::new(&[]),
        }
    }

    fn take(&mut self, event: OutputEvent<'_>) -> ControlFlow<Break> {
        let lines = match event {
            OutputEvent::Bytes(Stream::Stdout, bytes) => self.splitter.push(bytes),
            OutputEvent::End(Stream::Stdout) => self.splitter.finish().into_iter().collect(),
            OutputEvent::Bytes(Stream::Stderr, bytes) => {
                self.stderr.push(bytes);
                self.reader.error(bytes);
                Vec::new()
            }
            OutputEvent::End(Stream::Stderr) | OutputEvent::Nothing => Vec::new(),
        };
        for line in lines {
            self.lines += 1;
            match self.reader.line(&line) {
                Ok(Continue::Yes) => {}
                Ok(Continue::No) => return ControlFlow::Break(Ok(ProcessEnd::EndedByReader)),
                Err(failure) => return ControlFlow::Break(Err(failure)),
            }
        }
        if let OutputEvent::Bytes(Stream::Stdout, _) = event {
            self.reader.unfinished(&self.splitter.line);
        }
        ControlFlow::Continue(())
    }
}

/// Splits output into lines. Lines that are too long are skipped.
#[derive(Default)]
struct LineSplitter {
    line: Vec<u8>,
    is_too_long: bool,
}

impl LineSplitter {
    /// The lines that this piece completes.
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

    /// The last line, if the output ends without a line break.
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
            let limits = ProcessLimits {
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
