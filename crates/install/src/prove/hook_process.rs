//! Runs a hook as the host does: starts the process, writes its input, reads its output, kills it when it hangs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use evidence::watched_process::{
    Exit, Next, OutputEvent, Stream, WaitResult, WatchLimits, WatchedProcess,
};
use hosts::settings::HookCommand;

/// How long a host waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The polling interval for a process that has closed its output.
const TICK: Duration = Duration::from_micros(200);

/// What a hook process printed, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookOutput {
    pub ended: ProcessEnd,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    Code(i32),
    Signal(i32),
    TimedOut,
    NotStarted(String),
}

/// Whether anybody reads the stdout of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputReader {
    Open,
    Closed,
}

/// The process for a command in the host's settings.
pub(super) fn command(line: &HookCommand) -> Command {
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

/// The same command in a shell, so that the shell is the parent process of the hook.
pub(super) fn by_shell(line: &HookCommand) -> Command {
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

/// Runs the command to its end, or to the time limit.
pub(super) fn run(
    mut command: Command,
    folder: &Path,
    variables: &BTreeMap<OsString, OsString>,
    input: &[u8],
    reader: OutputReader,
) -> HookOutput {
    command
        .current_dir(folder)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    match reader {
        OutputReader::Open => command.stdout(Stdio::piped()),
        OutputReader::Closed => match io::pipe() {
            Ok((_, writer)) => command.stdout(writer),
            Err(cause) => return not_started(&cause),
        },
    };
    match WatchedProcess::start(&mut command) {
        Ok(process) => watch(process, input),
        Err(cause) => not_started(&cause),
    }
}

fn not_started(cause: &io::Error) -> HookOutput {
    HookOutput {
        ended: ProcessEnd::NotStarted(format!("it did not start ({cause})")),
        stdout: Vec::new(),
        stderr: Vec::new(),
    }
}

/// Waits as a host does: for the end of the output, and then for the end of the process.
fn watch(mut process: WatchedProcess, input: &[u8]) -> HookOutput {
    let limits = WatchLimits {
        deadline: Instant::now() + PATIENCE,
        stop: None,
        tick: TICK,
    };
    // A hook may answer without reading its whole input.
    process.write_input(input);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let waited = process.wait(&limits, |heard| {
        match heard {
            OutputEvent::Bytes(Stream::Stdout, bytes) => stdout.extend_from_slice(bytes),
            OutputEvent::Bytes(Stream::Stderr, bytes) => stderr.extend_from_slice(bytes),
            OutputEvent::End(_) | OutputEvent::Nothing => {}
        }
        ControlFlow::<(), _>::Continue(Next::ReadToEnd)
    });
    let ended = match waited {
        Ok(WaitResult::Ended) => code_of(process),
        // A child of the hook keeps an output open, so a host gets no output.
        Ok(_) if process.has_ended().unwrap_or(false) => {
            stdout.clear();
            stderr.clear();
            code_of(process)
        }
        Ok(_) | Err(_) => ProcessEnd::TimedOut,
    };
    HookOutput {
        ended,
        stdout,
        stderr,
    }
}

fn code_of(process: WatchedProcess) -> ProcessEnd {
    match process.end() {
        Ok((Exit::Code(code), _)) => ProcessEnd::Code(code),
        Ok((Exit::Signal(signal), _)) => ProcessEnd::Signal(signal),
        Err(_) => ProcessEnd::TimedOut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, input: &[u8], reader: OutputReader) -> HookOutput {
        let command = command(&HookCommand::Shell(line.to_owned()));
        run(command, Path::new("/"), &BTreeMap::new(), input, reader)
    }

    #[test]
    fn a_process_is_fed_and_listened_to() {
        let output = shell(
            "/bin/cat; echo oops >&2; exit 2",
            b"hello",
            OutputReader::Open,
        );
        assert_eq!(output.ended, ProcessEnd::Code(2));
        assert_eq!(
            (output.stdout, output.stderr),
            (b"hello".to_vec(), b"oops\n".to_vec())
        );
        let output = shell("kill -9 $$", b"", OutputReader::Open);
        assert_eq!(output.ended, ProcessEnd::Signal(9));
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
            let output = run(
                by_shell(&line),
                Path::new("/"),
                &nothing,
                b"x",
                OutputReader::Open,
            );
            assert_eq!(
                (output.ended, output.stdout),
                (ProcessEnd::Code(3), b"x".to_vec())
            );
        }
    }

    #[test]
    fn much_input_that_nobody_reads_keeps_nobody_waiting() {
        let output = shell("exit 0", &vec![b'x'; 20_000_000], OutputReader::Open);
        assert_eq!(output.ended, ProcessEnd::Code(0));
    }

    #[test]
    fn with_nobody_listening_writing_fails() {
        let output = shell("echo hello || exit 7", b"", OutputReader::Closed);
        assert_ne!(output.ended, ProcessEnd::Code(0));
    }

    #[test]
    fn a_program_that_is_not_there_is_told() {
        let command = Command::new("/no/such/program");
        let output = run(
            command,
            Path::new("/"),
            &BTreeMap::new(),
            b"",
            OutputReader::Open,
        );
        assert!(matches!(output.ended, ProcessEnd::NotStarted(_)));
    }
}
