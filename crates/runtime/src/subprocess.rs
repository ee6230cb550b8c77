//! A subprocess that runs for a moment: it gets its input, and its output is kept.

use std::fmt;
use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use evidence::watched_process::{Exit, Heard, Limits, Next, Stream, Waited, WatchedProcess};

/// How long we wait between two looks at the process.
const TICK: Duration = Duration::from_millis(3);

/// How much is kept of an output. The rest is read and dropped, so that the process can go on writing.
const MOST_BYTES: usize = 1024 * 1024;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    exit: Exit,
    pub stdout: Vec<u8>,
    stderr: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It could not be started, or not be watched.
    NotStarted(String),
    TooLong(Duration),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(cause) => write!(f, "it cannot be started ({cause})"),
            Self::TooLong(patience) => {
                write!(f, "it did not end within {} seconds", patience.as_secs())
            }
        }
    }
}

/// Runs a command to its end. One that takes longer is killed, with all that it started.
pub fn run(command: &mut Command, input: &[u8], patience: Duration) -> Result<Ended, Trouble> {
    let cannot = |cause: std::io::Error| Trouble::NotStarted(cause.to_string());
    let pipes = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut process = WatchedProcess::start(pipes).map_err(cannot)?;
    let limits = Limits {
        deadline: Instant::now() + patience,
        stop: None,
        tick: TICK,
    };
    process.write_input(input);
    let mut kept = Kept::default();
    let waited = process.wait(&limits, |heard| {
        kept.add(heard);
        ControlFlow::<(), _>::Continue(Next::Look)
    });
    match waited.map_err(cannot)? {
        Waited::Ended => {}
        Waited::TimedOut | Waited::Stopped | Waited::Broken(()) => {
            return Err(Trouble::TooLong(patience));
        }
    }
    let (exit, mut output) = process.end().map_err(cannot)?;
    let rest = |heard: Heard<'_>| {
        kept.add(heard);
        ControlFlow::<()>::Continue(())
    };
    output.drain(rest).map_err(cannot)?;
    let Kept { stdout, stderr } = kept;
    Ok(Ended {
        exit,
        stdout,
        stderr,
    })
}

impl Ended {
    /// What it said, when it ended well; else how it ended, with its last words.
    pub fn well(self) -> Result<String, String> {
        let why = match self.exit {
            Exit::Code(0) => return Ok(String::from_utf8_lossy(&self.stdout).into_owned()),
            Exit::Code(code) => format!("it ended with {code}"),
            Exit::Signal(signal) => format!("signal {signal} ended it"),
        };
        let stderr = String::from_utf8_lossy(&self.stderr);
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
        Err(match last {
            Some(last) => format!("{why}: {}", views::progress::short(last, 200)),
            None => why,
        })
    }
}

/// The beginnings of both outputs.
#[derive(Default)]
struct Kept {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Kept {
    fn add(&mut self, heard: Heard<'_>) {
        let (kept, bytes) = match heard {
            Heard::Bytes(Stream::Stdout, bytes) => (&mut self.stdout, bytes),
            Heard::Bytes(Stream::Stderr, bytes) => (&mut self.stderr, bytes),
            Heard::End(_) | Heard::Nothing => return,
        };
        let wanted = bytes.len().min(MOST_BYTES - kept.len());
        kept.extend_from_slice(&bytes[..wanted]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str, patience: Duration) -> Result<Ended, Trouble> {
        run(Command::new("sh").args(["-c", script]), b"in", patience)
    }

    fn well(script: &str) -> Result<String, String> {
        shell(script, LONG).unwrap().well()
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
        ] {
            assert_eq!(well(script), Err(why.to_owned()));
        }
    }

    #[test]
    fn whoever_takes_too_long_is_ended_with_its_children() {
        let short = Duration::from_millis(50);
        let trouble = shell("sleep 600 & sleep 600", short).unwrap_err();
        assert_eq!(trouble, Trouble::TooLong(short));
        let missing = run(&mut Command::new("/no/such/program"), b"", short).unwrap_err();
        assert!(missing.to_string().starts_with("it cannot be started ("));
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
