//! Running a program for a short while: with this input, and not longer than it may take.

use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// What is kept of an output.
const MOST_BYTES: u64 = 1024 * 1024;

/// How often we look whether it has ended.
const GLANCE: Duration = Duration::from_millis(3);

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// None when a signal ended it.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It could not be started.
    NotStarted(String),
    TooLong(Duration),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotStarted(cause) => write!(f, "it cannot be started ({cause})"),
            Self::TooLong(patience) => {
                write!(f, "it did not end within {} seconds", patience.as_secs())
            }
        }
    }
}

/// Runs a command to its end. Whoever takes longer is ended, with all that it started.
pub fn of(command: &mut Command, input: &[u8], patience: Duration) -> Result<Outcome, Trouble> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command
        .spawn()
        .map_err(|cause| Trouble::NotStarted(cause.to_string()))?;
    let deadline = Instant::now() + patience;
    let input = child.stdin.take().map(|mut pipe| {
        let input = input.to_vec();
        // Whoever does not read its input is judged by its answer.
        thread::spawn(move || drop(pipe.write_all(&input)))
    });
    let (stdout, stderr) = (drain(child.stdout.take()), drain(child.stderr.take()));
    let code = wait(&mut child, deadline);
    if code.is_none() {
        end(&mut child);
    }
    drop(input);
    let code = code.ok_or(Trouble::TooLong(patience))?;
    Ok(Outcome {
        code,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    })
}

fn drain<R: Read + Send + 'static>(pipe: Option<R>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What could be read before an error is all that there is.
            let _ = pipe.take(MOST_BYTES).read_to_end(&mut bytes);
        }
        bytes
    })
}

/// The exit code, or nothing when the time is over.
fn wait(child: &mut Child, deadline: Instant) -> Option<Option<i32>> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code()),
            Ok(None) if Instant::now() < deadline => thread::sleep(GLANCE),
            Ok(None) | Err(_) => return None,
        }
    }
}

fn end(child: &mut Child) {
    if let Ok(Some(group)) = i32::try_from(child.id()).map(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Result<Outcome, Trouble> {
        of(Command::new("sh").args(["-c", script]), b"in", patience)
    }

    #[test]
    fn a_program_gets_its_input_and_its_answer_is_kept() {
        let minute = Duration::from_secs(60);
        let outcome = shell("cat; echo err >&2; exit 3", minute).unwrap();
        assert_eq!(outcome.code, Some(3));
        assert_eq!(
            (outcome.stdout, outcome.stderr),
            (b"in".to_vec(), b"err\n".to_vec())
        );
        assert_eq!(shell("exit 0", minute).unwrap().code, Some(0));
        assert_eq!(shell("kill -9 $$", minute).unwrap().code, None);
    }

    #[test]
    fn who_takes_too_long_is_ended_with_its_children() {
        let short = Duration::from_millis(50);
        let trouble = shell("sleep 60 & sleep 60", short).unwrap_err();
        assert_eq!(trouble, Trouble::TooLong(short));
        let missing = of(&mut Command::new("/no/such/program"), b"", short).unwrap_err();
        assert!(missing.to_string().starts_with("it cannot be started ("));
    }
}
