//! A watchdog: a process of ours that ends a worker when we are killed and cannot do it ourselves.

use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use crate::current_exe;

/// What the holder is told when the worker has ended and was reaped: its number may be another's.
const LET_GO: &[u8] = b".";

/// The variable by which every process of a worker is known.
pub const MARK: &str = "GATEWRIGHT_CALL";

/// The variable by which the processes of one start are known. Work that another one takes over keeps
/// its call, and whoever has lost it must not end what the other one started.
pub const START: &str = "GATEWRIGHT_START";

/// Somebody waits for our end, and ends what we started then.
pub struct Watchdog {
    holder: Child,
}

impl Watchdog {
    /// On all that is marked with this start, and on this group.
    pub fn on(start: &str, group: Option<u32>) -> io::Result<Self> {
        let holder = Command::new(current_exe::program()?)
            .arg("watchdog")
            .arg(start)
            .args(group.map(|group| group.to_string()))
            .current_dir("/")
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What is sent to our group must not reach it.
            .process_group(0)
            .spawn()?;
        Ok(Self { holder })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let told = match self.holder.stdin.take() {
            Some(mut line) => line.write_all(LET_GO),
            None => Ok(()),
        };
        if told.is_err() {
            let _ = self.holder.kill();
        }
        let _ = self.holder.wait();
    }
}

/// The other end: waits until the line is cut, and ends the worker unless it was let go.
pub fn hold(start: &str, group: Option<u32>, line: &mut dyn io::Read) {
    let mut told = Vec::new();
    let _ = line.take(LET_GO.len() as u64).read_to_end(&mut told);
    if told != LET_GO {
        group.into_iter().for_each(evidence::group::kill);
        end_started(start);
    }
}

/// Ends every process of one start.
pub fn end_started(start: &str) {
    end_all(START, start);
}

/// Ends every process of a worker, also one that left its group and lost its parents.
pub fn end_marked(call: &str) {
    end_all(MARK, call);
}

fn end_all(name: &str, value: &str) {
    // One may start another while we look, so we look until nobody is left, and not for ever.
    for _ in 0..10 {
        let alive = evidence::process::marked(name, value);
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
            hold("step-none", Some(group.id()), &mut &*line);
            // Whoever was killed has ended by now or soon; whoever was not has not.
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
        daemon.arg("60").env(MARK, "step-left").process_group(0);
        let mut daemon = daemon.spawn().unwrap();
        let mut other = Command::new("sleep");
        let mut other = other.arg("60").env(MARK, "step-other").spawn().unwrap();
        // Its variables are told as soon as its own program has begun.
        let until = Instant::now() + Duration::from_secs(60);
        while evidence::process::marked(MARK, "step-left").is_empty() && Instant::now() < until {
            std::thread::yield_now();
        }
        end_marked("step-left");
        assert!(!daemon.wait().unwrap().success());
        assert_eq!(other.try_wait().unwrap(), None, "it is another's");
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
