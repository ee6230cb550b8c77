//! Watches one process: writes its input, reads its output, limits its time, kills its group.
//!
//! Checks, agents, short subprocesses and the hooks of `prove-guards` all use this loop. The
//! caller's closure handles the output and may stop the wait.

use std::fs::File;
use std::io::{self, PipeReader, Read as _, Write as _};
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::group::Group;

/// How long output is still read after the kill. A process that left the group may keep the pipe
/// open, and we do not wait for it.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// How much is read at once.
const PIECE_BYTES: usize = 16 * 1024;

/// A process in a group of its own. The group is killed when this value is dropped.
pub struct WatchedProcess {
    group: Group,
    output: Output,
}

/// Limits of a wait.
#[derive(Clone, Copy)]
pub struct WatchLimits<'a> {
    pub deadline: Instant,
    pub stop: Option<&'a AtomicBool>,
    /// The longest time between two polls of the process.
    pub tick: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Also both streams, if the process writes them into one pipe.
    Stdout,
    Stderr,
}

/// The result of one round of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputEvent<'a> {
    Bytes(Stream, &'a [u8]),
    /// The stream was closed. The process may continue without it.
    End(Stream),
    /// A tick passed.
    Nothing,
}

/// What the next round starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Poll whether the process has ended.
    Look,
    /// Read more output, even if the process has ended. The limits still apply.
    Read,
    /// Read while a stream is open, then poll.
    ReadToEnd,
}

/// Why the wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitResult<B> {
    Ended,
    TimedOut,
    /// The stop flag was set.
    Stopped,
    /// The caller stopped the wait, for this reason.
    Broken(B),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

impl WatchedProcess {
    /// Starts the command, and reads the pipes that it asks for.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut group = Group::start(command)?;
        let (stdout, stderr) = group.outputs();
        let stdout = stdout.map(|pipe| (Stream::Stdout, File::from(OwnedFd::from(pipe))));
        let stderr = stderr.map(|pipe| (Stream::Stderr, File::from(OwnedFd::from(pipe))));
        let output = Output::of(stdout.into_iter().chain(stderr).collect());
        Ok(Self { group, output })
    }

    /// Starts a command that writes into the other end of this pipe. The command is dropped with
    /// its copies of that end: while one is open, the output does not end.
    pub fn start_with_pipe(mut command: Command, pipe: PipeReader) -> io::Result<Self> {
        let group = Group::start(&mut command)?;
        let output = Output::of(vec![(Stream::Stdout, File::from(OwnedFd::from(pipe)))]);
        Ok(Self { group, output })
    }

    /// The id of the process and of its group.
    pub fn id(&self) -> u32 {
        self.group.id()
    }

    /// Writes its input in the background. A process need not read its input.
    pub fn write_input(&mut self, input: &[u8]) {
        if let Some(mut pipe) = self.group.input() {
            let input = input.to_vec();
            thread::spawn(move || drop(pipe.write_all(&input)));
        }
    }

    pub fn has_ended(&self) -> io::Result<bool> {
        self.group.has_ended()
    }

    /// Waits for its end, for a limit, or until the caller stops the wait. The closure gets the
    /// output as it arrives, and is called at least once in each tick.
    pub fn wait<B>(
        &mut self,
        limits: &WatchLimits<'_>,
        mut each: impl FnMut(OutputEvent<'_>) -> ControlFlow<B, Next>,
    ) -> io::Result<WaitResult<B>> {
        let mut next = Next::Read;
        loop {
            if limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Ok(WaitResult::Stopped);
            }
            if self.is_due(next) && self.group.has_ended()? {
                return Ok(WaitResult::Ended);
            }
            if Instant::now() >= limits.deadline {
                return Ok(WaitResult::TimedOut);
            }
            next = match each(self.output.read(limits.tick)?) {
                ControlFlow::Continue(next) => next,
                ControlFlow::Break(reason) => return Ok(WaitResult::Broken(reason)),
            };
        }
    }

    /// Is it time to poll the process?
    fn is_due(&self, next: Next) -> bool {
        match next {
            Next::Look => true,
            Next::Read => false,
            Next::ReadToEnd => self.output.streams.is_empty(),
        }
    }

    /// Kills the whole group. The output that is still in the pipes can be drained afterwards.
    pub fn end(self) -> io::Result<(Exit, Output)> {
        let status = self.group.end()?;
        Ok((Exit::of(status), self.output))
    }
}

impl Exit {
    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

/// The pipes that are still open.
pub struct Output {
    streams: Vec<(Stream, File)>,
    buffer: Vec<u8>,
}

impl Output {
    fn of(streams: Vec<(Stream, File)>) -> Self {
        let buffer = vec![0; PIECE_BYTES];
        Self { streams, buffer }
    }

    /// Reads the remaining output, with a time limit, or until the closure stops it.
    pub fn drain<B>(
        &mut self,
        mut each: impl FnMut(OutputEvent<'_>) -> ControlFlow<B>,
    ) -> io::Result<Option<B>> {
        let until = Instant::now() + LAST_OUTPUT;
        while !self.streams.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            if let ControlFlow::Break(reason) = each(self.read(left)?) {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Reads one piece from one stream, or waits this long.
    fn read(&mut self, patience: Duration) -> io::Result<OutputEvent<'_>> {
        if self.streams.is_empty() {
            thread::sleep(patience);
            return Ok(OutputEvent::Nothing);
        }
        let Some(at) = self.ready(patience)? else {
            return Ok(OutputEvent::Nothing);
        };
        // The stream that was read goes to the end of the list, so that a busy one does not starve
        // the other.
        let (stream, mut pipe) = self.streams.remove(at);
        match pipe.read(&mut self.buffer) {
            Ok(0) => Ok(OutputEvent::End(stream)),
            Ok(length) => {
                self.streams.push((stream, pipe));
                Ok(OutputEvent::Bytes(stream, &self.buffer[..length]))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.streams.push((stream, pipe));
                Ok(OutputEvent::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// The first readable stream, at the latest after this time.
    fn ready(&self, patience: Duration) -> io::Result<Option<usize>> {
        let timeout = Timespec {
            tv_sec: patience.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: patience.subsec_nanos().into(),
        };
        let files = self.streams.iter().map(|(_, pipe)| pipe);
        let mut polled: Vec<PollFd<'_>> =
            files.map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) => Ok(polled.iter().position(|one| !one.revents().is_empty())),
            Err(Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    const TICK: Duration = Duration::from_millis(5);

    fn shell(script: &str) -> WatchedProcess {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        WatchedProcess::start(&mut command).unwrap()
    }

    fn limits(milliseconds: u64) -> WatchLimits<'static> {
        WatchLimits {
            deadline: Instant::now() + Duration::from_millis(milliseconds),
            stop: None,
            tick: TICK,
        }
    }

    /// Continues until the process has ended.
    fn go_on(_: OutputEvent<'_>) -> ControlFlow<(), Next> {
        ControlFlow::Continue(Next::Look)
    }

    #[test]
    fn input_is_written_and_both_streams_are_read() {
        let mut process = shell("cat; echo err >&2; exit 3");
        process.write_input(b"in");
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut keep = |event: OutputEvent<'_>| match event {
            OutputEvent::Bytes(Stream::Stdout, bytes) => stdout.extend_from_slice(bytes),
            OutputEvent::Bytes(Stream::Stderr, bytes) => stderr.extend_from_slice(bytes),
            OutputEvent::End(_) | OutputEvent::Nothing => {}
        };
        let each = |event: OutputEvent<'_>| {
            keep(event);
            ControlFlow::<(), _>::Continue(Next::Look)
        };
        assert_eq!(
            process.wait(&limits(60_000), each).unwrap(),
            WaitResult::Ended
        );
        let (exit, mut output) = process.end().unwrap();
        let rest = |event: OutputEvent<'_>| {
            keep(event);
            ControlFlow::<()>::Continue(())
        };
        output.drain(rest).unwrap();
        assert_eq!(exit, Exit::Code(3));
        assert_eq!((stdout, stderr), (b"in".to_vec(), b"err\n".to_vec()));
    }

    #[test]
    fn a_wait_ends_at_the_deadline_at_the_stop_flag_and_when_the_caller_breaks_off() {
        let mut process = shell("echo there; sleep 60");
        assert_eq!(
            process.wait(&limits(20), go_on).unwrap(),
            WaitResult::TimedOut
        );
        let stop = AtomicBool::new(true);
        let stopped = WatchLimits {
            stop: Some(&stop),
            ..limits(0)
        };
        assert_eq!(process.wait(&stopped, go_on).unwrap(), WaitResult::Stopped);
        let broken = process.wait(&limits(60_000), |_| ControlFlow::Break("enough"));
        assert_eq!(broken.unwrap(), WaitResult::Broken("enough"));
        assert_eq!(process.end().unwrap().0, Exit::Signal(9));
    }

    #[test]
    fn an_end_is_told_only_when_the_caller_has_read_enough() {
        let mut process = shell("printf a; printf b >&2");
        let mut ends = 0;
        let waited = process.wait(&limits(60_000), |event| {
            ends += usize::from(matches!(event, OutputEvent::End(_)));
            ControlFlow::<(), _>::Continue(Next::ReadToEnd)
        });
        assert_eq!((waited.unwrap(), ends), (WaitResult::Ended, 2));
    }

    #[test]
    fn a_process_that_left_the_group_does_not_keep_the_drain_waiting() {
        let mut process = shell("setsid sh -c 'exec sleep 20' & echo there");
        assert_eq!(
            process.wait(&limits(60_000), go_on).unwrap(),
            WaitResult::Ended
        );
        let (_, mut output) = process.end().unwrap();
        let before = Instant::now();
        output.drain(|_| ControlFlow::<()>::Continue(())).unwrap();
        assert!(before.elapsed() < Duration::from_secs(10));
    }
}
