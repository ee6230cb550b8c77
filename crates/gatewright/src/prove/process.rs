//! A hook as a process: started as the host starts it, fed, listened to, and ended when it hangs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use evidence::watched_process::{Exit, Heard, Limits, Next, Stream, Waited, WatchedProcess};
use hosts::settings::HookCommand;

/// How long a host waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long we wait between two looks at a process that has closed its output.
const TICK: Duration = Duration::from_micros(200);

/// What came of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    pub ended: Ended,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Code(i32),
    Signal(i32),
    TimedOut,
    NotStarted(String),
}

/// Does somebody listen to what the process says?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    Here,
    Gone,
}

/// The command of a line in the host's settings. A shell's line goes through the shell.
pub fn command(line: &HookCommand) -> Command {
    match line {
        HookCommand::Exec { program, arguments } => {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        }
        HookCommand::Shell(line) => {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", line]);
            command
        }
    }
}

/// The same as somebody's own command in a shell, which stays between us and the hook.
pub fn by_shell(line: &HookCommand) -> Command {
    let mut command = Command::new("/bin/sh");
    match line {
        HookCommand::Exec { program, arguments } => {
            command.args(["-c", "\"$0\" \"$@\"; exit $?", program]);
            command.args(arguments);
        }
        HookCommand::Shell(line) => {
            command.args(["-c", "/bin/sh -c \"$0\"; exit $?", line]);
        }
    }
    command
}

/// Runs it to its end, or to ours.
pub fn run(
    mut command: Command,
    folder: &Path,
    variables: &BTreeMap<OsString, OsString>,
    input: &[u8],
    listener: Listener,
) -> Got {
    command
        .current_dir(folder)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    match listener {
        Listener::Here => command.stdout(Stdio::piped()),
        Listener::Gone => match io::pipe() {
            Ok((_, writer)) => command.stdout(writer),
            Err(cause) => return not_started(&cause),
        },
    };
    match WatchedProcess::start(&mut command) {
        Ok(process) => watch(process, input),
        Err(cause) => not_started(&cause),
    }
}

fn not_started(cause: &io::Error) -> Got {
    Got {
        ended: Ended::NotStarted(format!("it did not start ({cause})")),
        stdout: Vec::new(),
        stderr: Vec::new(),
    }
}

/// Waits as a host does: for the end of the outputs, and then for the end of the process.
fn watch(mut process: WatchedProcess, input: &[u8]) -> Got {
    let limits = Limits {
        deadline: Instant::now() + PATIENCE,
        stop: None,
        tick: TICK,
    };
    // A hook may answer before it has read everything, and need not read at all.
    process.write_input(input);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let waited = process.wait(&limits, |heard| {
        match heard {
            Heard::Bytes(Stream::Stdout, bytes) => stdout.extend_from_slice(bytes),
            Heard::Bytes(Stream::Stderr, bytes) => stderr.extend_from_slice(bytes),
            Heard::End(_) | Heard::Nothing => {}
        }
        ControlFlow::<(), _>::Continue(Next::ReadToEnd)
    });
    let ended = match waited {
        Ok(Waited::Ended) => code_of(process),
        // A child of the hook holds an output open, so that a host hears nothing from it.
        Ok(_) if process.has_ended().unwrap_or(false) => {
            stdout.clear();
            stderr.clear();
            code_of(process)
        }
        Ok(_) | Err(_) => Ended::TimedOut,
    };
    Got {
        ended,
        stdout,
        stderr,
    }
}

fn code_of(process: WatchedProcess) -> Ended {
    match process.end() {
        Ok((Exit::Code(code), _)) => Ended::Code(code),
        Ok((Exit::Signal(signal), _)) => Ended::Signal(signal),
        Err(_) => Ended::TimedOut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, input: &[u8], listener: Listener) -> Got {
        let command = command(&HookCommand::Shell(line.to_owned()));
        run(command, Path::new("/"), &BTreeMap::new(), input, listener)
    }

    #[test]
    fn a_process_is_fed_and_listened_to() {
        let got = shell("/bin/cat; echo oops >&2; exit 2", b"hello", Listener::Here);
        assert_eq!(got.ended, Ended::Code(2));
        assert_eq!(
            (got.stdout, got.stderr),
            (b"hello".to_vec(), b"oops\n".to_vec())
        );
        let got = shell("kill -9 $$", b"", Listener::Here);
        assert_eq!(got.ended, Ended::Signal(9));
    }

    #[test]
    fn a_shell_hands_on_what_it_is_given() {
        for line in [
            HookCommand::Shell("/bin/cat; exit 3".to_owned()),
            HookCommand::Exec {
                program: "/bin/sh".to_owned(),
                arguments: ["-c", "/bin/cat; exit 3"].map(str::to_owned).to_vec(),
            },
        ] {
            let nothing = BTreeMap::new();
            let got = run(
                by_shell(&line),
                Path::new("/"),
                &nothing,
                b"x",
                Listener::Here,
            );
            assert_eq!((got.ended, got.stdout), (Ended::Code(3), b"x".to_vec()));
        }
    }

    #[test]
    fn much_input_that_nobody_reads_keeps_nobody_waiting() {
        let got = shell("exit 0", &vec![b'x'; 20_000_000], Listener::Here);
        assert_eq!(got.ended, Ended::Code(0));
    }

    #[test]
    fn with_nobody_listening_writing_fails() {
        let got = shell("echo hello || exit 7", b"", Listener::Gone);
        assert_ne!(got.ended, Ended::Code(0));
    }

    #[test]
    fn a_program_that_is_not_there_is_told() {
        let command = Command::new("/no/such/program");
        let got = run(
            command,
            Path::new("/"),
            &BTreeMap::new(),
            b"",
            Listener::Here,
        );
        assert!(matches!(got.ended, Ended::NotStarted(_)));
    }
}
