//! What is timed: processes by name, each made anew for every round.

use std::fmt;
use std::io::{self, Write as _};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use crate::failure::Failure;

/// One kind of process under one load.
pub(super) struct Subject {
    pub kind: Kind,
    pub load: Load,
    pub pace: Pace,
    act: Box<dyn Act>,
}

/// What makes the processes of a subject.
pub(super) trait Act {
    /// The process of this round, started by a program that watches it if one is named.
    fn process(&self, starter: &[&str], round: usize) -> Process;

    /// What must have happened before that process. Nobody times this.
    fn prepare(&self, round: usize) -> Result<(), Failure> {
        let _ = round;
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Noop,
    Append,
    Decide,
    Advance,
    HookElsewhere,
    HookDecides,
    HookAdmits,
    HookAdvances,
    HookWrites,
    GitStatus,
    HookLooks,
    HookRests,
    ShellCheck,
    ShellAdvance,
    PythonCheck,
    PythonAdvance,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Noop => "no-op",
            Self::Append => "append",
            Self::Decide => "decide",
            Self::Advance => "advance",
            Self::HookElsewhere => "hook elsewhere",
            Self::HookDecides => "hook decides",
            Self::HookAdmits => "hook admits",
            Self::HookAdvances => "hook advances",
            Self::HookWrites => "hook on a Write",
            Self::GitStatus => "git status",
            Self::HookLooks => "hook looks",
            Self::HookRests => "hook rests",
            Self::ShellCheck => "bash+jq check",
            Self::ShellAdvance => "bash+jq advance",
            Self::PythonCheck => "Python check",
            Self::PythonAdvance => "Python advance",
        }
    }

    /// Are its instructions and calls counted? Peers start further programs, and what takes a second
    /// would take minutes.
    pub(super) fn is_counted(self) -> bool {
        match self {
            Self::GitStatus
            | Self::HookLooks
            | Self::HookRests
            | Self::ShellCheck
            | Self::ShellAdvance
            | Self::PythonCheck
            | Self::PythonAdvance => false,
            Self::Noop
            | Self::Append
            | Self::Decide
            | Self::Advance
            | Self::HookElsewhere
            | Self::HookDecides
            | Self::HookAdmits
            | Self::HookAdvances
            | Self::HookWrites => true,
        }
    }
}

/// How much a process has to deal with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Nothing,
    /// The number of entries of a journal or a history.
    Entries(usize),
    /// A payload of about so many bytes.
    Bytes(usize),
    /// A project with so many files.
    Files(usize),
}

impl Load {
    pub(super) fn entries(self) -> Option<usize> {
        match self {
            Self::Entries(entries) => Some(entries),
            Self::Nothing | Self::Bytes(_) | Self::Files(_) => None,
        }
    }

    pub(super) fn files(self) -> Option<usize> {
        match self {
            Self::Files(files) => Some(files),
            Self::Nothing | Self::Entries(_) | Self::Bytes(_) => None,
        }
    }

    pub(super) fn bytes(self) -> Option<usize> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Nothing | Self::Entries(_) | Self::Files(_) => None,
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Nothing => String::new(),
            Self::Entries(entries) => format!("{entries} entries"),
            Self::Bytes(bytes) => format!("{bytes} bytes"),
            Self::Files(files) => format!("{files} files"),
        };
        f.pad(&text)
    }
}

/// How often a process is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    EveryRound,
    /// For a process that takes a second.
    Seldom,
}

impl Subject {
    pub(super) fn new(kind: Kind, load: Load, act: impl Act + 'static) -> Self {
        let act = Box::new(act);
        Self {
            kind,
            load,
            pace: Pace::EveryRound,
            act,
        }
    }

    pub(super) fn seldom(self) -> Self {
        Self {
            pace: Pace::Seldom,
            ..self
        }
    }

    /// The process of this round, when all that comes before it has been done.
    pub(super) fn ready(&self, starter: &[&str], round: usize) -> Result<Process, Failure> {
        self.act.prepare(round)?;
        Ok(self.act.process(starter, round))
    }
}

/// A process that can be started, with what it reads.
#[derive(Debug)]
pub(super) struct Process {
    pub command: Command,
    pub input: Vec<u8>,
}

impl Process {
    pub(super) fn without_input(command: Command) -> Self {
        Self {
            command,
            input: Vec::new(),
        }
    }

    /// Runs it to its end, and nobody listens.
    pub(super) fn run(&mut self) -> io::Result<ExitStatus> {
        self.command.stdout(Stdio::null()).stderr(Stdio::null());
        self.fed()?.wait()
    }

    /// Runs it to its end, and hears what it says.
    pub(super) fn output(&mut self) -> io::Result<Output> {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.fed()?.wait_with_output()
    }

    /// Hosts hand a payload over in a pipe.
    fn fed(&mut self) -> io::Result<Child> {
        if self.input.is_empty() {
            return self.command.stdin(Stdio::null()).spawn();
        }
        let mut child = self.command.stdin(Stdio::piped()).spawn()?;
        if let Some(mut pipe) = child.stdin.take() {
            // The process may end before it has read all input.
            let _ = pipe.write_all(&self.input);
        }
        Ok(child)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_reads_what_it_is_given() {
        for input in ["", "a payload"] {
            let mut process = Process {
                command: Command::new("cat"),
                input: input.into(),
            };
            assert_eq!(process.output().unwrap().stdout, input.as_bytes());
        }
    }

    #[test]
    fn a_process_that_does_not_listen_is_no_failure() {
        let mut process = Process {
            command: Command::new("true"),
            input: vec![b' '; 1 << 20],
        };
        assert!(process.run().unwrap().success());
    }
}
