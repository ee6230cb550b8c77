//! One worker's process under watch: its output read line by line, its time limited, its group ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use evidence::check::Tail;
use evidence::group::Group;

use runtime::failure::Failure;
use runtime::watchdog::{self, Watchdog};

/// How long we wait between two looks at the process.
const TICK: Duration = Duration::from_millis(20);

/// How often we ask whether the work is still wanted.
const GLANCE: Duration = Duration::from_secs(1);

/// How long output is still taken from what outlived its group.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// A longer line tells nothing: programs put whole outputs of their tools into one.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Lines that wait to be read. Whoever prints faster waits, too.
const MOST_LINES: usize = 64;

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

/// Runs a worker to its end, or to ours. A program that cannot be started gives its reason.
pub fn run(
    job: Job<'_>,
    limits: &Limits<'_>,
    reader: &mut dyn Reader,
) -> Result<Result<(Ended, Tail), String>, Failure> {
    let (shown, started) = (job.program.display().to_string(), job.start);
    let watching = |cause| Failure::outside(format!("cannot watch {shown} ({cause})"));
    let mut group = match start(job) {
        Ok(group) => group,
        Err(cause) => return Ok(Err(format!("{shown} could not be started: {cause}"))),
    };
    let watchdog = Watchdog::on(started, Some(group.id())).map_err(watching)?;
    reader.started(group.id())?;
    let (stdout, stderr) = group.outputs();
    let (sender, lines) = mpsc::sync_channel(MOST_LINES);
    let complaints = Arc::new(Mutex::new(Tail::new(&[])));
    let last_words = Arc::clone(&complaints);
    let (all_said, end_of_words) = mpsc::channel::<()>();
    thread::spawn(move || stdout.map(|stdout| send_lines(stdout, &sender)));
    thread::spawn(move || {
        // The end of this thread closes the channel, for which we wait below.
        let _all_said = all_said;
        stderr.map(|stderr| keep_end(stderr, &last_words))
    });
    let why = watch(&group, &lines, limits, reader)?;
    let status = group.end().map_err(watching)?;
    // Whoever left the group would change what is looked at next.
    watchdog::end_started(started);
    drop(watchdog);
    let why = match why {
        Why::Over => drain(&lines, reader)?.unwrap_or_else(|| end_of(status)),
        Why::Ours(ended) => ended,
    };
    let _ = end_of_words.recv_timeout(LAST_OUTPUT);
    let mut tail = complaints.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Ok((why, std::mem::replace(&mut *tail, Tail::new(&[])))))
}

fn start(job: Job<'_>) -> std::io::Result<Group> {
    Group::start(
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

/// Why we stopped watching.
enum Why {
    /// It has ended by itself.
    Over,
    Ours(Ended),
}

fn watch(
    group: &Group,
    lines: &Receiver<Vec<u8>>,
    limits: &Limits<'_>,
    reader: &mut dyn Reader,
) -> Result<Why, Failure> {
    let (mut heard, mut asked) = (Instant::now(), Instant::now());
    loop {
        let now = Instant::now();
        if let Some(ended) = overdue(limits, now, heard) {
            return Ok(Why::Ours(ended));
        }
        if now.duration_since(asked) >= GLANCE {
            asked = now;
            if !reader.is_wanted()? {
                return Ok(Why::Ours(Ended::Unwanted));
            }
        }
        match lines.recv_timeout(TICK) {
            Ok(line) => {
                heard = Instant::now();
                if reader.line(&line)? == Go::No {
                    return Ok(Why::Ours(Ended::Cut));
                }
                continue;
            }
            Err(RecvTimeoutError::Timeout) => {}
            // It has closed its output and works on.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(TICK),
        }
        let over = group.has_ended();
        if over.map_err(|cause| Failure::outside(format!("cannot watch a worker ({cause})")))? {
            return Ok(Why::Over);
        }
    }
}

fn overdue(limits: &Limits<'_>, now: Instant, heard: Instant) -> Option<Ended> {
    let silent = limits
        .silence
        .is_some_and(|silence| now.duration_since(heard) > silence);
    match () {
        () if limits.stop.load(Ordering::Relaxed) => Some(Ended::Stopped),
        () if now >= limits.deadline => Some(Ended::TimedOut),
        () if silent => Some(Ended::Silent),
        () => None,
    }
}

/// Takes what is still on its way. A child that left the group may hold the pipe; we do not wait.
fn drain(lines: &Receiver<Vec<u8>>, reader: &mut dyn Reader) -> Result<Option<Ended>, Failure> {
    let until = Instant::now() + LAST_OUTPUT;
    while let Ok(line) = lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
        if reader.line(&line)? == Go::No {
            return Ok(Some(Ended::Cut));
        }
    }
    Ok(None)
}

fn end_of(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exit(code),
        (None, signal) => Ended::Signal(signal.unwrap_or_default()),
    }
}

/// Hands on each line. One that is too long is left out.
fn send_lines(output: impl Read, sender: &SyncSender<Vec<u8>>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    let mut is_whole = true;
    loop {
        let piece = match output.fill_buf() {
            Ok([]) | Err(_) => break,
            Ok(piece) => piece,
        };
        let end = piece.iter().position(|byte| *byte == b'\n');
        let length = end.unwrap_or(piece.len());
        is_whole &= line.len() + length <= LONGEST_LINE;
        if is_whole {
            line.extend_from_slice(&piece[..length]);
        }
        output.consume(length + usize::from(end.is_some()));
        if end.is_some() {
            let line = std::mem::take(&mut line);
            if std::mem::replace(&mut is_whole, true) && sender.send(line).is_err() {
                return;
            }
        }
    }
    if !line.is_empty() && is_whole {
        let _ = sender.send(line);
    }
}

fn keep_end(mut output: impl Read, tail: &Mutex<Tail>) {
    let mut piece = [0; 8 * 1024];
    while let Ok(length @ 1..) = output.read(&mut piece) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.push(&piece[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one_and_one_that_is_too_long_is_left_out() {
        let long = vec![b'x'; LONGEST_LINE + 1];
        let output = [b"a\n\nb\n".as_slice(), &long, b"\nc"].concat();
        let (sender, lines) = mpsc::sync_channel(10);
        send_lines(output.as_slice(), &sender);
        drop(sender);
        let lines: Vec<Vec<u8>> = lines.into_iter().collect();
        assert_eq!(
            lines,
            [b"a".to_vec(), Vec::new(), b"b".to_vec(), b"c".to_vec()]
        );
    }

    #[test]
    fn limits_are_told_apart() {
        let now = Instant::now();
        let later = now + Duration::from_secs(10);
        let (on, off) = (AtomicBool::new(true), AtomicBool::new(false));
        let check = |stop, deadline, silence, expected| {
            let limits = Limits {
                deadline,
                silence,
                stop,
            };
            assert_eq!(overdue(&limits, later, now), expected);
        };
        let (far, short) = (later + Duration::from_secs(1), Some(Duration::from_secs(9)));
        check(&off, far, None, None);
        check(&off, far, Some(Duration::from_secs(10)), None);
        check(&off, far, short, Some(Ended::Silent));
        check(&off, later, short, Some(Ended::TimedOut));
        check(&on, later, short, Some(Ended::Stopped));
    }
}
