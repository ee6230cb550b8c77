//! Runs a short subprocess with input, and captures its output.

use std::fmt;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use evidence::watched_process::{
    Exit, Next, OutputEvent, Stream, WaitResult, WatchLimits, WatchedProcess,
};

/// The time between two polls of the process.
const TICK: Duration = Duration::from_millis(3);

/// How much output is kept. The rest is read and dropped, so that the process does not block.
const MOST_BYTES: usize = 1024 * 1024;

/// The longest text of a program that failed, in characters.
const LONGEST_COMPLAINT: usize = 300;

/// How many lines of a remote are shown.
const REMOTE_LINES: usize = 3;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedProcess {
    exit: Exit,
    pub stdout: Vec<u8>,
    stderr: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubprocessError {
    /// There is no program of this name.
    Missing,
    /// It could not be started or watched.
    NotStarted(String),
    TooLong(Duration),
    /// The flag of the caller was set.
    Stopped,
}

impl fmt::Display for SubprocessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it is not installed"),
            Self::NotStarted(cause) => write!(f, "it cannot start ({cause})"),
            Self::TooLong(timeout) => {
                write!(f, "it did not end within {} seconds", timeout.as_secs())
            }
            Self::Stopped => f.write_str("it was stopped"),
        }
    }
}

/// Runs a command to its end. After the timeout, kills it with all of its children.
pub fn run(
    command: &mut Command,
    input: &[u8],
    timeout: Duration,
) -> Result<FinishedProcess, SubprocessError> {
    run_within(
        command,
        input,
        Limits {
            timeout,
            stop: None,
        },
    )
}

/// The same for a command that a person may stop meanwhile, by setting this flag.
pub fn run_stoppable(
    command: &mut Command,
    timeout: Duration,
    stop: &AtomicBool,
) -> Result<FinishedProcess, SubprocessError> {
    let stop = Some(stop);
    run_within(command, b"", Limits { timeout, stop })
}

/// When a command is killed with all of its children.
#[derive(Clone, Copy)]
struct Limits<'a> {
    timeout: Duration,
    stop: Option<&'a AtomicBool>,
}

fn run_within(
    command: &mut Command,
    input: &[u8],
    limits: Limits<'_>,
) -> Result<FinishedProcess, SubprocessError> {
    let Limits { timeout, stop } = limits;
    let cannot = |cause: std::io::Error| SubprocessError::NotStarted(cause.to_string());
    let pipes = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut process = WatchedProcess::start(pipes).map_err(|cause| {
        if cause.kind() == ErrorKind::NotFound && is_looked_up(command) {
            SubprocessError::Missing
        } else {
            cannot(cause)
        }
    })?;
    let limits = WatchLimits {
        deadline: Instant::now() + timeout,
        stop,
        tick: TICK,
    };
    process.write_input(input);
    let mut kept = CapturedOutput::default();
    let waited = process.wait(&limits, |event| {
        kept.add(event);
        ControlFlow::<(), _>::Continue(Next::Look)
    });
    match waited.map_err(cannot)? {
        WaitResult::Ended => {}
        WaitResult::Stopped => return Err(SubprocessError::Stopped),
        WaitResult::TimedOut | WaitResult::Broken(()) => {
            return Err(SubprocessError::TooLong(timeout));
        }
    }
    let (exit, mut output) = process.end().map_err(cannot)?;
    let rest = |event: OutputEvent<'_>| {
        kept.add(event);
        ControlFlow::<()>::Continue(())
    };
    output.drain(rest).map_err(cannot)?;
    let CapturedOutput { stdout, stderr } = kept;
    Ok(FinishedProcess {
        exit,
        stdout,
        stderr,
    })
}

/// Was the program searched by its name alone? A path says itself what is missing, and a folder that is not there is the
/// same error.
fn is_looked_up(command: &Command) -> bool {
    let is_name = Path::new(command.get_program()).components().count() == 1;
    is_name && command.get_current_dir().is_none_or(Path::is_dir)
}

impl FinishedProcess {
    /// Did a signal end it?
    pub fn was_killed(&self) -> bool {
        matches!(self.exit, Exit::Signal(_))
    }

    /// Its stdout if it succeeded; otherwise how it ended, with the lines of its stderr that say most.
    pub fn success(self) -> Result<String, String> {
        let why = match self.exit {
            Exit::Code(0) => return Ok(String::from_utf8_lossy(&self.stdout).into_owned()),
            Exit::Code(code) => format!("it ended with {code}"),
            Exit::Signal(signal) => format!("signal {signal} ended it"),
        };
        let stderr = String::from_utf8_lossy(&self.stderr);
        Err(match complaint(&stderr) {
            Some(said) => format!(
                "{why}: {}",
                views::progress::short(&said, LONGEST_COMPLAINT)
            ),
            None => why,
        })
    }
}

/// Git says what is wrong in a marked line, and advice below it. Other programs say it in their first lines or at the end.
fn complaint(stderr: &str) -> Option<String> {
    let lines: Vec<&str> = stderr.lines().filter(|it| !it.trim().is_empty()).collect();
    let marked = ["fatal:", " ! [", "error:"].into_iter();
    let mut marked = marked.filter_map(|mark| lines.iter().find(|line| line.starts_with(mark)));
    if let Some(line) = marked.next() {
        let why = remote_words(&lines).map(|said| format!("; the remote says: {said}"));
        return Some(format!("{}{}", line.trim(), why.unwrap_or_default()));
    }
    let said: Vec<&str> = match lines.as_slice() {
        [] => return None,
        [first, second, .., last] if lines.len() > 3 => vec![first, second, "…", last],
        few => few.to_vec(),
    };
    let said: Vec<&str> = said.into_iter().map(str::trim).collect();
    Some(said.join(" / "))
}

/// What the other side of a push or a fetch said. Only that names the rule that refused it.
fn remote_words(lines: &[&str]) -> Option<String> {
    let said = lines.iter().filter_map(|line| line.strip_prefix("remote:"));
    let said = said.map(str::trim).filter(|said| !said.is_empty());
    let said: Vec<&str> = said.take(REMOTE_LINES).collect();
    (!said.is_empty()).then(|| said.join(" / "))
}

/// The first bytes of both outputs.
#[derive(Default)]
struct CapturedOutput {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl CapturedOutput {
    fn add(&mut self, event: OutputEvent<'_>) {
        let (kept, bytes) = match event {
            OutputEvent::Bytes(Stream::Stdout, bytes) => (&mut self.stdout, bytes),
            OutputEvent::Bytes(Stream::Stderr, bytes) => (&mut self.stderr, bytes),
            OutputEvent::End(_) | OutputEvent::Nothing => return,
        };
        let wanted = bytes.len().min(MOST_BYTES - kept.len());
        kept.extend_from_slice(&bytes[..wanted]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str, timeout: Duration) -> Result<FinishedProcess, SubprocessError> {
        run(Command::new("sh").args(["-c", script]), b"in", timeout)
    }

    fn well(script: &str) -> Result<String, String> {
        shell(script, LONG).unwrap().success()
    }

    #[test]
    fn it_hears_its_input_and_what_it_says_is_kept() {
        assert_eq!(well("cat; echo err >&2"), Ok("in".to_owned()));
    }

    #[test]
    fn whoever_fails_says_why() {
        for (script, why) in [
            ("exit 3", "it ended with 3"),
            (
                "echo no such host >&2; exit 6",
                "it ended with 6: no such host",
            ),
            ("kill -9 $$", "signal 9 ended it"),
            (
                "printf 'To x\n ! [rejected] a -> a\nerror: failed to push\nhint: fetch first\n' >&2; exit 1",
                "it ended with 1: ! [rejected] a -> a",
            ),
            (
                "printf 'remote: \nremote: error: main is protected\nTo x\n ! [remote rejected] a -> a (hook declined)\n' >&2; exit 1",
                "it ended with 1: ! [remote rejected] a -> a (hook declined); the remote says: error: main is protected",
            ),
            (
                "printf 'fatal: no such remote\n\nand it exists.\n' >&2; exit 128",
                "it ended with 128: fatal: no such remote",
            ),
            (
                "printf 'please run: gh auth login\n\nor set GH_TOKEN\n' >&2; exit 4",
                "it ended with 4: please run: gh auth login / or set GH_TOKEN",
            ),
            ("seq 9 >&2; exit 1", "it ended with 1: 1 / 2 / … / 9"),
        ] {
            assert_eq!(well(script), Err(why.to_owned()));
        }
    }

    #[test]
    fn whoever_takes_too_long_is_ended_with_its_children() {
        let short = Duration::from_millis(50);
        let trouble = shell("sleep 600 & sleep 600", short).unwrap_err();
        assert_eq!(trouble, SubprocessError::TooLong(short));
        let missing = run(&mut Command::new("/no/such/program"), b"", short).unwrap_err();
        assert!(missing.to_string().starts_with("it cannot start ("));
        let missing = run(&mut Command::new("no-such-program"), b"", short).unwrap_err();
        assert_eq!(missing, SubprocessError::Missing);
        let mut nowhere = Command::new("true");
        let trouble = run(nowhere.current_dir("/no/such/folder"), b"", short).unwrap_err();
        assert!(trouble.to_string().starts_with("it cannot start ("));
    }

    #[test]
    fn a_person_stops_what_would_take_long_and_nothing_else() {
        for (is_set, expected) in [(true, Err(SubprocessError::Stopped)), (false, Ok(true))] {
            let stop = AtomicBool::new(is_set);
            let script = if is_set { "sleep 600" } else { "true" };
            let ran = run_stoppable(Command::new("sh").args(["-c", script]), LONG, &stop);
            assert_eq!(ran.map(|it| it.success().is_ok()), expected);
        }
    }

    #[test]
    fn a_child_that_is_left_behind_keeps_nobody_waiting() {
        assert_eq!(well("sleep 600 & echo there"), Ok("there\n".to_owned()));
        let stray = "setsid sh -c 'exec sleep 20' & echo there";
        assert_eq!(well(stray), Ok("there\n".to_owned()));
    }

    #[test]
    fn of_an_endless_output_the_beginning_is_kept_and_nobody_is_cut_off() {
        let said = well("head -c 30000000 /dev/zero; echo end >&2").unwrap();
        assert_eq!(said.len(), MOST_BYTES);
    }
}
