//! A hook as a process: started as the host starts it, fed, listened to, and ended when it hangs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use hosts::settings::HookCommand;
use rustix::process::{Pid, Signal, kill_process_group};

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
        .stderr(Stdio::piped())
        .process_group(0);
    match listener {
        Listener::Here => command.stdout(Stdio::piped()),
        Listener::Gone => match io::pipe() {
            Ok((_, writer)) => command.stdout(writer),
            Err(cause) => return not_started(&cause),
        },
    };
    match command.spawn() {
        Ok(child) => {
            // The command holds a writing end, too.
            drop(command);
            watch(child, input)
        }
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

fn watch(mut child: Child, input: &[u8]) -> Got {
    let deadline = Instant::now() + PATIENCE;
    let stdout = child.stdout.take().map(listen);
    let stderr = child.stderr.take().map(listen);
    thread::scope(|scope| {
        let stdin = child.stdin.take();
        // A hook may answer before it has read everything, and need not read at all.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let stdout = stdout.map(|stdout| until(&stdout, deadline));
        let stderr = stderr.map(|stderr| until(&stderr, deadline));
        let ended = end(&mut child, deadline);
        Got {
            ended,
            stdout: stdout.unwrap_or_default(),
            stderr: stderr.unwrap_or_default(),
        }
    })
}

fn listen(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was said before the stream broke still counts.
        let _ = stream.read_to_end(&mut bytes);
        sender.send(bytes)
    });
    receiver
}

fn until(stream: &Receiver<Vec<u8>>, deadline: Instant) -> Vec<u8> {
    let left = deadline.saturating_duration_since(Instant::now());
    stream.recv_timeout(left).unwrap_or_default()
}

fn end(child: &mut Child, deadline: Instant) -> Ended {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return ended(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(TICK),
            Ok(None) | Err(_) => break,
        }
    }
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It fails only where nobody is left.
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.wait();
    Ended::TimedOut
}

fn ended(status: ExitStatus) -> Ended {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(code),
        (None, signal) => Ended::Signal(signal.unwrap_or_default()),
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
