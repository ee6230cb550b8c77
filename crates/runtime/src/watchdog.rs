//! A watchdog: a process that kills a worker if this process is killed.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use crate::current_exe;

/// The byte for a worker that has ended and was reaped: its process id may be reused.
const RELEASED: &[u8] = b".";

/// The variable that marks every process of a worker.
pub const CALL_VARIABLE: &str = "GATEWRIGHT_CALL";

/// The variable that marks the processes of one start. Work that another process takes over keeps
/// its call, and the process that lost it must not kill the new processes.
pub const START_VARIABLE: &str = "GATEWRIGHT_START";

/// A child process that waits for our end, and then kills what we started.
pub struct Watchdog {
    process: Child,
}

impl Watchdog {
    /// Watches everything with this start mark, and this process group.
    pub fn start(start: &str, group: Option<u32>) -> io::Result<Self> {
        let process = Command::new(current_exe::program()?)
            .arg("watchdog")
            .arg(start)
            .args(group.map(|group| group.to_string()))
            .current_dir("/")
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Signals to our process group must not reach it.
            .process_group(0)
            .spawn()?;
        Ok(Self { process })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let received = match self.process.stdin.take() {
            Some(mut line) => line.write_all(RELEASED),
            None => Ok(()),
        };
        if received.is_err() {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

/// The watchdog's side: waits until the pipe closes, and kills the worker unless it was released.
pub fn watch(start: &str, group: Option<u32>, line: &mut dyn io::Read) {
    let mut received = Vec::new();
    let _ = line.take(RELEASED.len() as u64).read_to_end(&mut received);
    if received != RELEASED {
        group.into_iter().for_each(evidence::group::kill);
        kill_started(start);
    }
}

/// Kills every process of one start.
pub fn kill_started(start: &str) {
    kill_all(START_VARIABLE, start);
}

/// Kills every process of a worker, also one that left its group and lost its parents.
pub fn kill_call(call: &str) {
    kill_all(CALL_VARIABLE, call);
}

fn kill_all(name: &str, value: &str) {
    // Processes may start others meanwhile, so it repeats until none is left, with a limit.
    for _ in 0..10 {
        let alive = evidence::process::with_variable(name, value);
        if alive.is_empty() {
            return;
        }
        alive.into_iter().for_each(evidence::group::end);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use evidence::group::Group;

    use super::*;

    #[test]
    fn a_cut_line_ends_the_group_and_a_word_saves_it() {
        for (line, ended) in [(&b"."[..], false), (b"", true)] {
            let group = Group::start(Command::new("sleep").arg("60")).unwrap();
            watch("step-none", Some(group.id()), &mut &*line);
            // A killed process ends now or soon; the other one does not.
            let status = if ended {
                while !group.has_ended().unwrap() {
                    std::thread::yield_now();
                }
                true
            } else {
                group.has_ended().unwrap()
            };
            assert_eq!(status, ended);
        }
    }

    #[test]
    fn whoever_left_the_group_is_known_by_the_mark() {
        let mut daemon = Command::new("sleep");
        daemon
            .arg("60")
            .env(CALL_VARIABLE, "step-left")
            .process_group(0);
        let mut daemon = daemon.spawn().unwrap();
        let mut other = Command::new("sleep");
        let mut other = other
            .arg("60")
            .env(CALL_VARIABLE, "step-other")
            .spawn()
            .unwrap();
        // The variables are visible as soon as the new program runs.
        let until = Instant::now() + Duration::from_secs(60);
        while evidence::process::with_variable(CALL_VARIABLE, "step-left").is_empty()
            && Instant::now() < until
        {
            std::thread::yield_now();
        }
        kill_call("step-left");
        assert!(!daemon.wait().unwrap().success());
        assert_eq!(other.try_wait().unwrap(), None, "it is another's");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
