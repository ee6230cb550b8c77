//! A program that we start, with all of its children: none of them outlives us.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

/// A process and the group that it leads. It does not outlive this value.
///
/// Processes that left the group are killed with it as long as they are still descendants, where
/// the system shows that. Stronger isolation needs a sandbox.
pub struct Group {
    child: Child,
}

impl Group {
    /// Starts the command as the leader of a new group.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        Ok(Self { child })
    }

    /// The id of the group, which is that of its leader.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The pipe for its input, if the command has one.
    pub fn input(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// The pipes for its output, if the command has any.
    pub fn outputs(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdout.take(), self.child.stderr.take())
    }

    /// Does not reap the process, so that its id is not reused while we need it.
    pub fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let pid = pid(self.id()).ok_or_else(|| io::Error::other("a process has no id"))?;
        Ok(waitid(WaitId::Pid(pid), options)?.is_some())
    }

    /// Kills the whole group and returns the exit status of its leader.
    pub fn end(mut self) -> io::Result<ExitStatus> {
        kill(self.id());
        self.child.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // After the reap, the id may be reused.
        if let Ok(None) = self.child.try_wait() {
            kill(self.id());
            let _ = self.child.wait();
        }
    }
}

/// How many processes a leader has, with all descendants. One, if the system does not show them.
pub fn size(leader: u32) -> usize {
    descendants(leader).len() + 1
}

/// Kills the group of this leader and its descendants. It fails only if none is left.
pub fn kill(leader: u32) {
    let stopped = stop_descendants(leader);
    if let Some(leader) = pid(leader) {
        let _ = kill_process_group(leader, Signal::KILL);
    }
    kill_each(stopped);
}

/// Kills the descendants of this process, and not the process itself.
pub fn kill_descendants(process: u32) {
    kill_each(stop_descendants(process));
}

fn kill_each(processes: BTreeSet<u32>) {
    for process in processes.into_iter().filter_map(pid) {
        let _ = kill_process(process, Signal::KILL);
    }
}

fn stop_descendants(leader: u32) -> BTreeSet<u32> {
    // Processes may start others meanwhile, so it repeats until there is no new one.
    let mut ended = BTreeSet::new();
    loop {
        let found = descendants(leader);
        let new: Vec<u32> = found.into_iter().filter(|id| ended.insert(*id)).collect();
        for process in new.iter().copied().filter_map(pid) {
            // A stopped process starts no others while we search.
            let _ = kill_process(process, Signal::STOP);
        }
        if new.is_empty() {
            return ended;
        }
    }
}

/// Kills a process that may lead no group, with its descendants.
pub fn end(process: u32) {
    kill(process);
    if let Some(process) = pid(process) {
        let _ = kill_process(process, Signal::KILL);
    }
}

fn pid(id: u32) -> Option<Pid> {
    i32::try_from(id).ok().and_then(Pid::from_raw)
}

/// The descendants of this process. None, if the system does not show them.
fn descendants(leader: u32) -> Vec<u32> {
    let parents = parents();
    let mut found = vec![leader];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        let children = parents.iter().filter(|(_, above)| *above == parent);
        found.extend(children.map(|(id, _)| *id));
        at += 1;
    }
    found.split_off(1)
}

/// Every process with its parent.
fn parents() -> Vec<(u32, u32)> {
    let listed = fs::read_dir("/proc").into_iter().flatten();
    let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let ids = names.filter_map(|name| name.parse::<u32>().ok());
    ids.filter_map(|id| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        Some((id, parent(&stat)?))
    })
    .collect()
}

/// The program's name may contain anything, so the fields are counted from its closing bracket.
fn parent(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    use engine::ProcessState;

    use super::*;
    use crate::process;

    #[test]
    fn a_parent_is_read_behind_any_name() {
        for name in ["cat", "a) S 7", "(x) S 1"] {
            assert_eq!(parent(&format!("12 ({name}) S 42 2 3")), Some(42));
        }
        assert_eq!(parent("12 (cat) S"), None);
    }

    /// A shell whose child has left its group, and the child's id.
    fn with_a_stray() -> (Group, u32) {
        let script = "setsid sh -c 'echo $$; exec sleep 60' & wait";
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        let mut group = Group::start(&mut command).unwrap();
        let (stdout, _) = group.outputs();
        let mut line = String::new();
        BufReader::new(stdout.unwrap())
            .read_line(&mut line)
            .unwrap();
        (group, line.trim().parse().unwrap())
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_left_the_group_ends_with_it() {
        for dropped in [false, true] {
            let (group, stray) = with_a_stray();
            let stray = process::find(stray).unwrap();
            assert!(!group.has_ended().unwrap());
            if dropped {
                drop(group);
            } else {
                group.end().unwrap();
            }
            testkit::until("the stray has ended", || is_ended(&stray));
        }
    }

    /// A killed process exists until it is reaped.
    fn is_ended(process: &engine::Process) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.id)).unwrap_or_default();
        let state = stat.rsplit_once(')').map(|(_, fields)| fields.trim_start());
        process::state(process) == ProcessState::Gone
            || state.is_some_and(|state| state.starts_with('Z'))
    }
}
