//! Processes: is the holder of a run still alive? Ids are reused, so the start time counts, too.

use std::fs;
use std::process::Command;

use engine::{Process, ProcessState};

/// The current process with this id, if there is one.
pub fn find(id: u32) -> Option<Process> {
    let started = from_proc(id).or_else(|| from_ps(id))?;
    Some(Process { id, started })
}

/// Is exactly this process still alive?
pub fn state(process: &Process) -> ProcessState {
    match find(process.id) {
        Some(now) if now == *process => ProcessState::Alive,
        Some(_) | None => ProcessState::Gone,
    }
}

/// Is it stopped, as with Ctrl-Z? Then it does nothing until it is continued. `false`, if the
/// system does not show it.
pub fn is_stopped(process: &Process) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.id)).unwrap_or_default();
    let state = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    started(&stat) == Some(process.started) && state.starts_with(['T', 't'])
}

/// The processes whose environment has this variable with this value: everything that a worker
/// started, even without its parents. None, if the system does not show environments.
pub fn with_variable(name: &str, value: &str) -> Vec<u32> {
    let mark = format!("{name}={value}").into_bytes();
    let listed = fs::read_dir("/proc").into_iter().flatten();
    let names = listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let ids = names.filter_map(|name| name.parse::<u32>().ok());
    let ours = std::process::id();
    ids.filter(|id| *id != ours && has(*id, &mark)).collect()
}

fn has(id: u32, mark: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    variables.any(|variable| variable == mark)
}

fn from_proc(id: u32) -> Option<u64> {
    started(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)
}

/// Its start time, in ticks since the boot. The program's name comes first and may contain
/// anything, so the fields are counted from its closing bracket.
fn started(stat: &str) -> Option<u64> {
    const AFTER_NAME: usize = 19;
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    // A zombie does nothing any more.
    fields.next().filter(|state| !matches!(*state, "Z" | "X"))?;
    fields.nth(AFTER_NAME - 1)?.parse().ok()
}

/// Systems without `/proc` show the same through `ps`.
fn from_ps(id: u32) -> Option<u64> {
    if fs::exists("/proc/self/stat").unwrap_or(false) {
        return None;
    }
    let output = Command::new("ps")
        .args(["-o", "lstart=", "-p", &id.to_string()])
        .env("LC_ALL", "C")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    // The text is only compared with itself.
    let sum = |sum: u64, byte: u8| sum.wrapping_mul(31).wrapping_add(u64::from(byte));
    (!text.is_empty()).then(|| text.bytes().fold(7, sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_read_behind_any_name() {
        let fields = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        for name in ["cat", "a) b", "(x) S 1"] {
            assert_eq!(started(&format!("12 ({name}) {fields}")), Some(4711));
        }
        assert_eq!(
            started(&format!("12 (cat) {}", fields.replacen('S', "Z", 1))),
            None
        );
        assert_eq!(started("12 (cat) S 1"), None);
        assert_eq!(started(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_was_stopped_is_told_from_one_that_works() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = find(child.id()).unwrap();
        assert!(!is_stopped(&process));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        while !is_stopped(&process) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let other = Process {
            started: process.started + 1,
            ..process
        };
        assert!(!is_stopped(&other));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_lives_until_it_ends_and_its_number_alone_is_not_it() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = find(child.id()).unwrap();
        assert_eq!(state(&process), ProcessState::Alive);
        let other = Process {
            started: process.started + 1,
            ..process
        };
        assert_eq!(state(&other), ProcessState::Gone);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(state(&process), ProcessState::Gone);
    }
}
