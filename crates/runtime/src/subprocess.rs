//! A short errand: a program runs for a moment, with this input, and what it says is kept.

use std::fmt;
use std::io::{Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use evidence::group::Group;

/// How long we wait between two looks at the process.
const TICK: Duration = Duration::from_millis(3);

/// What is kept of an output. The rest is read and forgotten, so that nobody waits to be heard.
const MOST_BYTES: usize = 1024 * 1024;

/// How long the end of an output is waited for: whoever left the group may hold it open.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    status: ExitStatus,
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

/// Runs a command to its end. Whoever takes longer is ended, with all that it started.
pub fn run(command: &mut Command, input: &[u8], patience: Duration) -> Result<Ended, Trouble> {
    let cannot = |cause: std::io::Error| Trouble::NotStarted(cause.to_string());
    let pipes = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut group = Group::start(pipes).map_err(cannot)?;
    let deadline = Instant::now() + patience;
    if let Some(mut pipe) = group.input() {
        let input = input.to_vec();
        // Whoever does not read its input is judged by its answer.
        thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let (stdout, stderr) = group.outputs();
    let (stdout, stderr) = (drain(stdout), drain(stderr));
    while !group.has_ended().map_err(cannot)? {
        if Instant::now() >= deadline {
            return Err(Trouble::TooLong(patience));
        }
        thread::sleep(TICK);
    }
    let status = group.end().map_err(cannot)?;
    Ok(Ended {
        status,
        stdout: kept(&stdout),
        stderr: kept(&stderr),
    })
}

impl Ended {
    /// What it said, when it ended well; else how it ended, with its last words.
    pub fn well(self) -> Result<String, String> {
        let why = match (self.status.code(), self.status.signal()) {
            (Some(0), _) => return Ok(String::from_utf8_lossy(&self.stdout).into_owned()),
            (Some(code), _) => format!("it ended with {code}"),
            (None, signal) => format!("signal {} ended it", signal.unwrap_or_default()),
        };
        let stderr = String::from_utf8_lossy(&self.stderr);
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
        Err(match last {
            Some(last) => format!("{why}: {}", views::progress::short(last, 200)),
            None => why,
        })
    }
}

/// Reads an output to its end, and hands on its beginning piece by piece.
fn drain(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let Some(mut pipe) = pipe else { return };
        let (mut piece, mut kept) = ([0; 8 * 1024], 0);
        while let Ok(length @ 1..) = pipe.read(&mut piece) {
            let wanted = length.min(MOST_BYTES - kept);
            kept += wanted;
            if wanted > 0 && sender.send(piece[..wanted].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

fn kept(pieces: &Receiver<Vec<u8>>) -> Vec<u8> {
    let until = Instant::now() + LAST_OUTPUT;
    let mut bytes = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
        bytes.extend(piece);
    }
    bytes
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
