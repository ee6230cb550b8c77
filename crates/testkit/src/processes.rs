//! Ends what a test has started, with all its children, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The variable by which a process is known as ours. Children inherit it, also those that leave
/// their parent's group, as the host's shells do.
pub(crate) const MARK: &str = "TESTKIT_STARTED";

/// A value of [`MARK`] that nothing else has.
pub(crate) fn new_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{count}", std::process::id())
}

/// Ends the group of this process and every process that carries the mark.
pub(crate) fn end(leader: u32, mark: &str) {
    if let Some(leader) = pid(leader) {
        // It may have ended by itself: then there is nothing to do.
        let _ = kill_process_group(leader, Signal::KILL);
    }
    let mut ended = BTreeSet::new();
    // A process may start another one while we look, so we look until there is nothing new.
    loop {
        let found: Vec<_> = marked(mark)
            .into_iter()
            .filter(|pid| ended.insert(*pid))
            .collect();
        if found.is_empty() {
            return;
        }
        for process in found.into_iter().filter_map(pid) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

/// Sends a signal to one process.
pub(crate) fn signal(process: u32, signal: Signal) {
    let process = pid(process).expect("a process has an id");
    kill_process(process, signal).expect("the process is there and ours");
}

/// The processes that carry the mark. Where the system does not show their environment there are none.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("{MARK}={mark}");
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let processes = names.filter_map(|name| name.parse().ok());
    processes
        .filter(|process| carries(*process, &wanted))
        .collect()
}

fn carries(process: u32, wanted: &str) -> bool {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == wanted.as_bytes())
}

fn pid(process: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(process).ok()?)
}
