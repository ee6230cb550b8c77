//! One process under watch: its output drained, its time limited, its whole group ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::CheckEnd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::command::Prepared;
use super::tail::Tail;
use crate::group::Group;
use crate::{Error, text};

/// How long we wait between two looks at the process.
const TICK: Duration = Duration::from_millis(10);

/// How long we wait between two counts of its processes.
const COUNT: Duration = Duration::from_millis(250);

/// More processes than this at once are no test, and would take the machine down.
pub const MOST_PROCESSES: usize = 1_000;

/// How long output is still taken from what outlived its group.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

#[derive(Clone, Copy)]
pub struct Limits<'a> {
    pub deadline: Instant,
    /// How many processes may be at work at once.
    pub processes: usize,
    pub fails_on: &'a [String],
    pub stop: Option<&'a AtomicBool>,
}

pub struct Finished {
    pub ended: CheckEnd,
    pub duration: Duration,
    pub tail: Tail,
}

/// Runs a command to its end, or to ours.
pub fn run(
    command: &Prepared,
    root: &Path,
    variables: &BTreeMap<OsString, OsString>,
    limits: &Limits<'_>,
) -> Result<Finished, Error> {
    let watching = |cause| Error::Watching {
        command: text::line(&command.argv.join(" "), 200),
        cause,
    };
    let started = Instant::now();
    let mut tail = Tail::new(limits.fails_on);
    let (mut output, group) = match spawn(command, root, variables).map_err(watching)? {
        Ok(spawned) => spawned,
        Err(reason) => {
            let ended = CheckEnd::CouldNotStart(reason);
            return Ok(Finished {
                ended,
                duration: Duration::ZERO,
                tail,
            });
        }
    };
    let why = watch(&group, &mut output, &mut tail, limits).map_err(watching)?;
    let status = group.end().map_err(watching)?;
    drain(&mut output, &mut tail).map_err(watching)?;
    let ended = match why {
        StopReason::Ended => end_of(status),
        StopReason::TimedOut => CheckEnd::TimedOut,
        StopReason::Stopped => return Err(Error::Interrupted),
        StopReason::TooMany => {
            let said = format!(
                "\nended: more than {} processes at once\n",
                limits.processes
            );
            tail.push(said.as_bytes());
            end_of(status)
        }
    };
    Ok(Finished {
        ended,
        duration: started.elapsed(),
        tail,
    })
}

/// Why we stopped watching.
enum StopReason {
    Ended,
    TimedOut,
    Stopped,
    TooMany,
}

fn spawn(
    command: &Prepared,
    root: &Path,
    variables: &BTreeMap<OsString, OsString>,
) -> io::Result<Result<(PipeReader, Group), String>> {
    // One pipe for both streams, so that their lines keep their order. `Command` holds the writing
    // ends, and goes before we read: as long as one is open, the output has no end.
    let (output, writer) = io::pipe()?;
    let spawned = Group::start(
        Command::new(&command.program)
            .args(command.argv.iter().skip(1))
            .current_dir(root)
            .env_clear()
            .envs(variables)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer),
    );
    match spawned {
        Ok(group) => Ok(Ok((output, group))),
        Err(error) => Ok(Err(format!(
            "`{}` could not be started: {error}",
            command.argv.join(" ")
        ))),
    }
}

fn watch(
    group: &Group,
    output: &mut PipeReader,
    tail: &mut Tail,
    limits: &Limits<'_>,
) -> io::Result<StopReason> {
    let mut is_open = true;
    let mut next_count = Instant::now() + COUNT;
    loop {
        if limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Ok(StopReason::Stopped);
        }
        if group.has_ended()? {
            return Ok(StopReason::Ended);
        }
        if Instant::now() >= limits.deadline {
            return Ok(StopReason::TimedOut);
        }
        if Instant::now() >= next_count {
            if group.size() > limits.processes {
                return Ok(StopReason::TooMany);
            }
            next_count = Instant::now() + COUNT;
        }
        if is_open {
            is_open = take(output, tail)? != ReadOutcome::End
        } else {
            std::thread::sleep(TICK)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadOutcome {
    Some,
    Nothing,
    End,
}

/// Takes what there is, or waits for a tick.
fn take(output: &mut PipeReader, tail: &mut Tail) -> io::Result<ReadOutcome> {
    let tick = Timespec {
        tv_sec: 0,
        tv_nsec: TICK.subsec_nanos().into(),
    };
    let mut wanted = [PollFd::new(output, PollFlags::IN)];
    match poll(&mut wanted, Some(&tick)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(ReadOutcome::Nothing),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let mut piece = [0; 64 * 1024];
    match output.read(&mut piece)? {
        0 => Ok(ReadOutcome::End),
        length => {
            tail.push(&piece[..length]);
            Ok(ReadOutcome::Some)
        }
    }
}

/// Takes what is still in the pipe. A child that left the group may hold it open; we do not wait.
fn drain(output: &mut PipeReader, tail: &mut Tail) -> io::Result<()> {
    let until = Instant::now() + LAST_OUTPUT;
    while Instant::now() < until && take(output, tail)? == ReadOutcome::Some {}
    Ok(())
}

fn end_of(status: ExitStatus) -> CheckEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => CheckEnd::Exit(code),
        (None, signal) => CheckEnd::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_shell(script: &str, processes: usize) -> Finished {
        let command = Prepared {
            argv: ["sh", "-c", script].map(String::from).to_vec(),
            program: "/bin/sh".into(),
        };
        let limits = Limits {
            deadline: Instant::now() + Duration::from_secs(60),
            processes,
            fails_on: &[],
            stop: None,
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
        let few = "for i in 1 2 3; do sleep 0.6 & done; wait";
        assert_eq!(run_shell(few, 5).ended, CheckEnd::Exit(0));
    }
}
