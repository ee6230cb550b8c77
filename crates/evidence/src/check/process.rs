//! Runs one check process: keeps the tail of its output and counts its processes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::CheckEnd;

use super::command::Prepared;
use super::tail::Tail;
use crate::hold::Hold;
use crate::watched_process::{self, Exit, Next, OutputEvent, WaitResult, WatchedProcess};
use crate::{Error, group, text};

/// The time between two polls of the process.
const TICK: Duration = Duration::from_millis(10);

/// The time between two counts of its processes.
const COUNT: Duration = Duration::from_millis(250);

/// A check with more processes at once would overload the machine.
pub(super) const MOST_PROCESSES: usize = 1_000;

#[derive(Clone, Copy)]
pub(super) struct CheckLimits<'a> {
    pub deadline: Instant,
    /// How many processes may run at once.
    pub processes: usize,
    pub fails_on: &'a [String],
    pub expects: &'a [String],
    pub stop: Option<&'a AtomicBool>,
    pub hold: Option<&'a Hold>,
}

pub(super) struct Finished {
    pub ended: CheckEnd,
    pub duration: Duration,
    pub tail: Tail,
}

/// Runs a command until it ends or until we end it.
pub(super) fn run(
    command: &Prepared,
    root: &Path,
    variables: &BTreeMap<OsString, OsString>,
    limits: &CheckLimits<'_>,
) -> Result<Finished, Error> {
    let watching = |cause| Error::Watching {
        command: text::line(&engine::shell_words(&command.argv), 200),
        cause,
    };
    let started = Instant::now();
    let mut tail = Tail::searching(limits.fails_on, limits.expects);
    let mut process = match spawn(command, root, variables, limits.hold).map_err(watching)? {
        Ok(process) => process,
        Err(reason) => {
            let ended = CheckEnd::CouldNotStart(reason);
            return Ok(Finished {
                ended,
                duration: Duration::ZERO,
                tail,
            });
        }
    };
    let waited = wait(&mut process, &mut tail, limits).map_err(watching)?;
    let (exit, mut output) = process.end().map_err(watching)?;
    let rest = |heard: OutputEvent<'_>| {
        keep(&mut tail, heard);
        ControlFlow::<()>::Continue(())
    };
    output.drain(rest).map_err(watching)?;
    let ended = match waited {
        WaitResult::Ended => match unstarted(limits.hold, exit) {
            Some(cause) => CheckEnd::CouldNotStart(could_not_start(command, &cause)),
            None => end_of(exit),
        },
        WaitResult::TimedOut => CheckEnd::TimedOut,
        WaitResult::Stopped => return Err(Error::Interrupted),
        WaitResult::Broken(TooManyProcesses) => {
            let said = format!(
                "\nended: more than {} processes at once\n",
                limits.processes
            );
            tail.push(said.as_bytes());
            end_of(exit)
        }
    };
    Ok(Finished {
        ended,
        duration: started.elapsed(),
        tail,
    })
}

struct TooManyProcesses;

/// The inner error says why the program could not start.
fn spawn(
    prepared: &Prepared,
    root: &Path,
    variables: &BTreeMap<OsString, OsString>,
    hold: Option<&Hold>,
) -> io::Result<Result<WatchedProcess, String>> {
    // One pipe for both streams, so that their lines keep their order.
    let (output, writer) = io::pipe()?;
    let mut command = match hold {
        Some(hold) => hold.command(&prepared.program),
        None => Command::new(&prepared.program),
    };
    command
        .args(prepared.argv.iter().skip(1))
        .current_dir(root)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    let spawned = WatchedProcess::start_with_pipe(command, output);
    Ok(spawned.map_err(|error| could_not_start(prepared, &error.to_string())))
}

fn could_not_start(prepared: &Prepared, cause: &str) -> String {
    let argv = engine::shell_words(&prepared.argv);
    format!("`{argv}` could not be started: {cause}")
}

fn wait(
    process: &mut WatchedProcess,
    tail: &mut Tail,
    limits: &CheckLimits<'_>,
) -> io::Result<WaitResult<TooManyProcesses>> {
    let leader = process.id();
    let mut next_count = Instant::now() + COUNT;
    let watched = watched_process::WatchLimits {
        deadline: limits.deadline,
        stop: limits.stop,
        tick: TICK,
    };
    process.wait(&watched, |heard| {
        keep(tail, heard);
        if Instant::now() >= next_count {
            if group::size(leader) > limits.processes {
                return ControlFlow::Break(TooManyProcesses);
            }
            next_count = Instant::now() + COUNT;
        }
        ControlFlow::Continue(Next::Look)
    })
}

fn keep(tail: &mut Tail, heard: OutputEvent<'_>) {
    match heard {
        OutputEvent::Bytes(_, bytes) => tail.push(bytes),
        OutputEvent::End(_) | OutputEvent::Nothing => {}
    }
}

/// Why the holder could not start the program.
fn unstarted(hold: Option<&Hold>, exit: Exit) -> Option<String> {
    match exit {
        Exit::Code(code) => hold?.failure(code),
        Exit::Signal(_) => None,
    }
}

fn end_of(exit: Exit) -> CheckEnd {
    match exit {
        Exit::Code(code) => CheckEnd::Exit(code),
        Exit::Signal(signal) => CheckEnd::Signal(signal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_shell(script: &str, processes: usize) -> Finished {
        let command = Prepared {
            argv: ["sh", "-c", script].map(String::from).to_vec(),
            program: "/bin/sh".into(),
            programs: Vec::new(),
            compared: Vec::new(),
        };
        let limits = CheckLimits {
            deadline: Instant::now() + Duration::from_secs(60),
            processes,
            fails_on: &[],
            expects: &[],
            stop: None,
            hold: None,
        };
        let root = std::env::temp_dir();
        run(&command, &root, &BTreeMap::new(), &limits).unwrap()
    }

    #[test]
    fn whoever_starts_too_many_processes_is_ended_and_told_why() {
        let many = "for i in 1 2 3 4 5 6; do sleep 50 & done; wait";
        let finished = run_shell(many, 5);
        assert_eq!(finished.ended, CheckEnd::Signal(9));
        let told = finished.tail.text(&[]);
        assert!(told.contains("more than 5 processes at once"), "{told}");
    }

    #[test]
    fn as_many_processes_as_may_be_are_let_alone() {
        // Time is the subject: they must live for longer than the pause between two counts.
        let few = "for i in 1 2 3; do sleep 0.6 & done; wait";
        assert_eq!(run_shell(few, 5).ended, CheckEnd::Exit(0));
    }
}
