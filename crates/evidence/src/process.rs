//! Processes: is the holder of a run still alive? Ids are reused, so the start time counts, too.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::{Process, ProcessState};
#[cfg(target_os = "linux")]
use rustix::fs::{Mode, OFlags, RawDir};

use crate::small_file;

/// What the system shows of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    Found(Process),
    Gone,
    /// Its entry could not be read: nobody knows whether it is there.
    Unreadable,
}

/// The current process with this id, if there is one.
pub fn find(id: u32) -> Option<Process> {
    match look_up(id) {
        Lookup::Found(process) => Some(process),
        Lookup::Gone | Lookup::Unreadable => None,
    }
}

/// The current process with this id, told from one that is there but cannot be read.
pub fn look_up(id: u32) -> Lookup {
    look_up_named(id).0
}

/// The same with the short name that the system has for it, where it shows one.
pub fn look_up_named(id: u32) -> (Lookup, Option<String>) {
    match look_up_in(Path::new("/proc"), id) {
        (Lookup::Gone, _) => {
            let found = |started| Lookup::Found(Process { id, started });
            (from_ps(id).map_or(Lookup::Gone, found), None)
        }
        found => found,
    }
}

/// Is exactly this process still alive? What cannot be read is not called gone: others would take over
/// its work.
pub fn state(process: &Process) -> ProcessState {
    match look_up(process.id) {
        Lookup::Found(now) if now == *process => ProcessState::Alive,
        Lookup::Unreadable => ProcessState::Alive,
        Lookup::Found(_) | Lookup::Gone => ProcessState::Gone,
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
    search(name, value, |_| true)
        .with
        .iter()
        .map(|listed| listed.id)
        .collect()
}

/// A process in the list of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedProcess {
    pub id: u32,
    /// The number of its entry. A later process with the same id has another entry.
    pub entry: u64,
}

/// What a search among processes found, each part in the order of the list.
#[derive(Debug, Default)]
pub struct Searched {
    /// Those whose environment has the variable.
    pub with: Vec<ListedProcess>,
    /// Those whose environment does not have it, or is not shown.
    pub without: Vec<ListedProcess>,
    /// Those that were not looked at.
    pub left_out: Vec<ListedProcess>,
}

/// The same among some of the processes, and what became of the others.
pub fn search(name: &str, value: &str, among: impl Fn(ListedProcess) -> bool) -> Searched {
    let mark = format!("{name}={value}").into_bytes();
    let ours = std::process::id();
    let mut searched = Searched::default();
    for listed in all().into_iter().filter(|listed| listed.id != ours) {
        let part = if !among(listed) {
            &mut searched.left_out
        } else if has(listed.id, &mark) {
            &mut searched.with
        } else {
            &mut searched.without
        };
        part.push(listed);
    }
    searched
}

/// All processes. They are read with few calls and no text for each: there are many.
#[cfg(target_os = "linux")]
fn all() -> Vec<ListedProcess> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::open("/proc", flags, Mode::empty()) else {
        return Vec::new();
    };
    let mut room = Vec::with_capacity(LISTED_AT_ONCE);
    let mut entries = RawDir::new(folder, room.spare_capacity_mut());
    let mut all = Vec::new();
    while let Some(Ok(found)) = entries.next() {
        let (id, entry) = (number(found.file_name().to_bytes()), found.ino());
        all.extend(id.map(|id| ListedProcess { id, entry }));
    }
    all
}

/// The bytes of some thousand names.
#[cfg(target_os = "linux")]
const LISTED_AT_ONCE: usize = 64 * 1024;

/// Other systems do not show environments either.
#[cfg(not(target_os = "linux"))]
fn all() -> Vec<ListedProcess> {
    Vec::new()
}

/// The number that these digits are.
pub fn number(digits: &[u8]) -> Option<u32> {
    let add = |number: u32, byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    let number = digits.iter().try_fold(0, add);
    number.filter(|_| !digits.is_empty())
}

/// Does the environment of this process have a variable of this name?
pub fn has_variable(id: u32, name: &str) -> bool {
    variable(id, name).is_some()
}

/// The variable of this name in the environment with which this process was started.
pub fn variable(id: u32, name: &str) -> Option<String> {
    let environment = small_file::read(&environment_file(id)).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    variables.find_map(|variable| {
        let value = variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        String::from_utf8(value.to_vec()).ok()
    })
}

fn environment_file(id: u32) -> PathBuf {
    Path::new("/proc").join(id.to_string()).join("environ")
}

/// Variables end with a zero byte, which is found fastest as the end of a C string.
fn has(id: u32, mark: &[u8]) -> bool {
    let environment = small_file::read(&environment_file(id)).unwrap_or_default();
    let mut rest = environment.as_slice();
    while let Ok(variable) = CStr::from_bytes_until_nul(rest) {
        let variable = variable.to_bytes();
        if variable == mark {
            return true;
        }
        rest = rest.get(variable.len() + 1..).unwrap_or_default();
    }
    rest == mark
}

fn look_up_in(processes: &Path, id: u32) -> (Lookup, Option<String>) {
    let found = |started| Lookup::Found(Process { id, started });
    // The name of a program need not be UTF-8.
    match small_file::read(&processes.join(id.to_string()).join("stat")) {
        Ok(stat) => {
            let stat = String::from_utf8_lossy(&stat);
            (started(&stat).map_or(Lookup::Gone, found), name(&stat))
        }
        Err(error) if is_gone(&error) => (Lookup::Gone, None),
        Err(_) => (Lookup::Unreadable, None),
    }
}

/// The name in `12 (the name) S 34 …`. It may contain brackets and blanks.
fn name(stat: &str) -> Option<String> {
    let (_, rest) = stat.split_once('(')?;
    Some(rest.rsplit_once(')')?.0.to_owned())
}

/// A process may end between the look-up of its entry and the read.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
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
            let stat = format!("12 ({name}) {fields}");
            assert_eq!(started(&stat), Some(4711));
            assert_eq!(super::name(&stat).as_deref(), Some(name));
        }
        assert_eq!(
            started(&format!("12 (cat) {}", fields.replacen('S', "Z", 1))),
            None
        );
        assert_eq!(started("12 (cat) S 1"), None);
        assert_eq!(started(""), None);
    }

    #[test]
    fn only_digits_are_a_number() {
        for (digits, expected) in [
            ("0", Some(0)),
            ("4711", Some(4711)),
            ("4294967295", Some(u32::MAX)),
            ("4294967296", None),
            ("", None),
            ("7a", None),
            ("-1", None),
        ] {
            assert_eq!(number(digits.as_bytes()), expected, "{digits}");
        }
        #[cfg(target_os = "linux")]
        assert!(all().iter().any(|listed| listed.id == std::process::id()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_search_leaves_out_what_it_need_not_look_at() {
        let mut child = Command::new("sleep")
            .arg("60")
            .env("SEARCHED", "for")
            .spawn()
            .unwrap();
        let is_child = |listed: &ListedProcess| listed.id == child.id();
        // A child has its environment from the moment at which it is another program.
        let found = testkit::wait_for("the child is found", || {
            let searched = search("SEARCHED", "for", |_| true);
            searched.with.into_iter().find(is_child)
        });
        let known = search("SEARCHED", "for", |listed| listed != found);
        assert_eq!(known.left_out, [found]);
        assert!(!known.with.iter().chain(&known.without).any(is_child));
        let other = search("SEARCHED", "another", |_| true);
        assert!(other.without.contains(&found) && other.left_out.is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_that_cannot_be_read_is_not_gone() {
        let processes = tempfile::tempdir().unwrap();
        let at = |id: u32| look_up_in(processes.path(), id).0;
        assert_eq!(at(1), Lookup::Gone);
        // A folder cannot be read as a file.
        fs::create_dir_all(processes.path().join("2/stat")).unwrap();
        assert_eq!(at(2), Lookup::Unreadable);
        fs::create_dir(processes.path().join("3")).unwrap();
        assert_eq!(at(3), Lookup::Gone);
        let fields = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20";
        fs::write(processes.path().join("3/stat"), format!("3 (x) {fields}")).unwrap();
        let (id, started) = (3, 4711);
        assert_eq!(at(3), Lookup::Found(Process { id, started }));
        let zombie = fields.replacen('S', "Z", 1);
        fs::write(processes.path().join("3/stat"), format!("3 (x) {zombie}")).unwrap();
        assert_eq!(at(3), Lookup::Gone);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_was_stopped_is_told_from_one_that_works() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = find(child.id()).unwrap();
        assert!(!is_stopped(&process));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
        testkit::until("it is stopped", || is_stopped(&process));
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
