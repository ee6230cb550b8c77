//! Did the host call this hook, or another program that imitates it?
//!
//! A host starts its hooks itself and talks to them through its own socket. A hook that a shell of
//! the session starts has that shell as its parent; a shell that replaces itself with `exec` has no
//! such socket.

use std::fs;

use engine::{HostName, Process, ProcessState};
use evidence::process::{self, Lookup};
use hosts::{HookConnection, Program, known_agents};

use super::ancestors;
use crate::environment::Environment;
use crate::failure::Failure;

/// Who called the hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookCaller {
    /// The process that holds the session.
    Host,
    /// Another process; the holder is gone.
    Successor(Process),
    /// Another process, while the holder lives.
    Stranger,
    /// The system does not show the parent just now, so nobody knows.
    Unknown,
}

/// The caller of this hook, in a session with this holder.
pub fn caller(holder: &Process) -> HookCaller {
    let (parent, name) = parent();
    let is_heard = |_: &Process| is_heard(parent, name.as_deref());
    judge(holder, parent, process::state, is_heard)
}

fn judge(
    holder: &Process,
    parent: Lookup,
    state: impl Fn(&Process) -> ProcessState,
    is_heard_by: impl Fn(&Process) -> bool,
) -> HookCaller {
    match parent {
        Lookup::Found(parent) if !is_heard_by(&parent) => HookCaller::Stranger,
        Lookup::Found(parent) if parent == *holder => HookCaller::Host,
        Lookup::Found(parent) if state(holder) == ProcessState::Gone => {
            HookCaller::Successor(parent)
        }
        Lookup::Found(_) | Lookup::Gone => HookCaller::Stranger,
        Lookup::Unreadable => HookCaller::Unknown,
    }
}

/// The process with this id, if it called the hook. It fails where the system does not show it just
/// now: then nobody knows.
pub fn caller_with_id(id: u32) -> Result<Option<Process>, Failure> {
    let (parent, name) = parent();
    match (parent, process::look_up(id)) {
        (Lookup::Found(found), Lookup::Found(named)) => {
            Ok(Some(named).filter(|named| found == *named && is_heard(parent, name.as_deref())))
        }
        (Lookup::Unreadable, _) | (_, Lookup::Unreadable) => Err(unreadable()),
        (Lookup::Gone, _) | (_, Lookup::Gone) => Ok(None),
    }
}

/// The process that the host names as its own. It fails where the system does not show it just now:
/// a run without the process of its holder would take anybody for the host.
pub fn named_process(environment: &Environment) -> Result<Option<Process>, Failure> {
    match environment.host_process.map(process::look_up) {
        Some(Lookup::Found(process)) => Ok(Some(process)),
        Some(Lookup::Unreadable) => Err(unreadable()),
        Some(Lookup::Gone) | None => Ok(None),
    }
}

/// Nobody knows who called the hook.
pub fn unreadable() -> Failure {
    Failure::environment("the session's host cannot be read in /proc").hint("retry")
}

/// Why it is not certain that a host saw what this session does, if there is a reason. A program
/// that imitates a host drives only its own run, and the run says so.
pub fn unverified_reason(host: &HostName, holder: Option<&Process>) -> Option<String> {
    let Some(holder) = holder else {
        return Some("the session's host does not name its process".to_owned());
    };
    let Some(process) = ancestors::process(holder.id) else {
        return Some(format!(
            "the process of the session's host ({}) cannot be read",
            holder.id
        ));
    };
    match super::agent(&process) {
        Some(agent) if agent == host.as_str() && is_run_from(&process, agent) => None,
        Some(_) | None => {
            let path = Some(process.program).filter(|program| !program.is_empty());
            let path = path.or_else(|| process.words.into_iter().find(|word| !word.is_empty()));
            let name = path.unwrap_or_default();
            let name = views::line(name.rsplit('/').next().unwrap_or_default());
            Some(format!(
                "the session's host is '{name}' (process {}), and not {}",
                holder.id,
                title(host)
            ))
        }
    }
}

/// Programs that run agents written in JavaScript.
const SCRIPT_RUNNERS: [&str; 3] = ["node", "bun", "deno"];

/// Is the file that runs this agent's, or one that runs its scripts? A process chooses the words of its
/// command line itself, but not its file. An update may have removed that since.
fn is_run_from(process: &ancestors::Ancestor, agent: &str) -> bool {
    let file = process.program.trim_end_matches(" (deleted)");
    let name = file.rsplit('/').next().unwrap_or_default();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    file.is_empty()
        || SCRIPT_RUNNERS.contains(&stem)
        || known_agents::by_name(name) == Some(agent)
        || known_agents::by_installed_path(file) == Some(agent)
}

fn title(host: &HostName) -> &str {
    match Program::parse(host.as_str()) {
        Some(program) => program.title(),
        None => host.as_str(),
    }
}

/// The process that started this one, and its name.
fn parent() -> (Lookup, Option<String>) {
    match rustix::process::getppid() {
        Some(parent) => process::look_up_named(parent.as_raw_pid().unsigned_abs()),
        None => (Lookup::Gone, None),
    }
}

/// Does the parent of this name talk to the hook? Some hosts use a socket; other programs at least read
/// our output and do not redirect it to a file.
fn is_heard(parent: Lookup, name: Option<&str>) -> bool {
    let Lookup::Found(parent) = parent else {
        return false;
    };
    match name
        .and_then(Program::parse)
        .and_then(Program::session_host)
    {
        Some(host) if host.connection == HookConnection::Socket => peer() == Some(parent.id),
        Some(_) | None => !prints_to_a_file(),
    }
}

/// The process at the other end of stdin.
#[cfg(target_os = "linux")]
fn peer() -> Option<u32> {
    let peer = rustix::net::sockopt::socket_peercred(std::io::stdin()).ok()?;
    Some(peer.pid.as_raw_pid().unsigned_abs())
}

#[cfg(not(target_os = "linux"))]
fn peer() -> Option<u32> {
    None
}

/// Is stdout a file?
fn prints_to_a_file() -> bool {
    fs::metadata("/dev/fd/1").is_ok_and(|printed| printed.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_that_cannot_be_read_is_not_a_stranger() {
        let process = |id| Process { id, started: 7 };
        let (host, other) = (process(1), process(2));
        let (alive, gone) = (ProcessState::Alive, ProcessState::Gone);
        for (parent, state, heard, expected) in [
            (Lookup::Found(host), alive, true, HookCaller::Host),
            (Lookup::Found(host), alive, false, HookCaller::Stranger),
            (Lookup::Found(other), alive, true, HookCaller::Stranger),
            (
                Lookup::Found(other),
                gone,
                true,
                HookCaller::Successor(other),
            ),
            (Lookup::Found(other), gone, false, HookCaller::Stranger),
            (Lookup::Gone, gone, true, HookCaller::Stranger),
            (Lookup::Unreadable, alive, true, HookCaller::Unknown),
            (Lookup::Unreadable, gone, true, HookCaller::Unknown),
        ] {
            let found = judge(&host, parent, |_| state, |_| heard);
            assert_eq!(found, expected, "{parent:?} {state:?} {heard}");
        }
    }
}
