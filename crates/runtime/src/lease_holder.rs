//! The holder of a lease: which process it names, and whether that process is there.

use std::time::Duration;

use engine::{Process, ProcessState, Time};
use store::Lease;

/// How long a lease lasts without renewal. A frozen orchestrator blocks others for that long.
pub const TERM: Duration = Duration::from_secs(10);

/// Before the name of a machine in a fleet.
const FLEET: &str = "fleet:";

/// The process that drives a run now, if any.
pub fn driver(held: Option<&Lease>) -> Option<String> {
    let held = held.filter(|held| !held.is_expired && !is_dead(held))?;
    Some(process_name(&held.holder))
}

/// This process: machine, id and start time.
pub fn this_process() -> String {
    let id = std::process::id();
    let started = evidence::process::find(id).map_or(0, |process| process.started);
    format!("{} {id} {started}", machine())
}

/// This process as the worker of a machine in a fleet. Names of machines are unique there, and not elsewhere: a
/// holder of a fleet is never taken for a process of this machine.
pub fn in_fleet(name: &str) -> String {
    let id = std::process::id();
    let started = evidence::process::find(id).map_or(0, |process| process.started);
    format!(
        "{FLEET}{} {id} {started}",
        name.replace(char::is_whitespace, "-")
    )
}

/// Is the holder a dead process of this machine? Processes of other machines are unknown.
pub fn is_dead(held: &Lease) -> bool {
    let here = process_here(held);
    here.is_some_and(|process| evidence::process::state(&process) == ProcessState::Gone)
}

/// Will the holder never give it back? A process of this machine that exists may be frozen and go on; of
/// another machine only the time of the lease tells.
pub fn is_abandoned(held: &Lease) -> bool {
    match process_here(held) {
        Some(_) => is_dead(held),
        None => held.is_expired,
    }
}

/// The holder, where it is a process of this machine.
pub fn process_here(held: &Lease) -> Option<Process> {
    let (machine_name, process) = parse(&held.holder)?;
    (machine_name == machine()).then_some(process)
}

/// Is the holder a process of this machine that is there?
pub fn is_alive(holder: &str) -> bool {
    let process = parse(holder).filter(|(name, _)| *name == machine());
    process.is_some_and(|(_, process)| evidence::process::state(&process) == ProcessState::Alive)
}

/// When the holder last took or renewed it.
pub fn renewed_at(held: &Lease) -> Time {
    let term = u64::try_from(TERM.as_millis()).unwrap_or(u64::MAX);
    Time(held.until.0.saturating_sub(term))
}

/// The holder for people.
pub fn process_name(holder: &str) -> String {
    match parse(holder) {
        Some((machine, process)) => match machine.strip_prefix(FLEET) {
            Some(machine) => format!("process {} on {}", process.id, views::line(machine)),
            None => format!("process {}", process.id),
        },
        None => views::line(holder),
    }
}

/// The name of this machine, as leases have it.
pub fn machine() -> String {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    name.split_whitespace().collect::<Vec<_>>().join("-")
}

fn parse(holder: &str) -> Option<(&str, Process)> {
    let mut words = holder.split(' ');
    let (machine, id, started) = (words.next()?, words.next()?, words.next()?);
    let process = Process {
        id: id.parse().ok()?,
        started: started.parse().ok()?,
    };
    Some((machine, process))
}

#[cfg(test)]
mod tests {
    use store::Fence;

    use super::*;

    fn held(holder: &str) -> Lease {
        Lease {
            holder: holder.to_owned(),
            fence: Fence::numbered(1),
            until: Time(u64::MAX),
            is_expired: false,
        }
    }

    #[test]
    fn only_a_dead_process_of_this_machine_is_known_to_be_dead() {
        let ours = this_process();
        assert!(!is_dead(&held(&ours)));
        assert!(is_dead(&held(&format!("{} 4194999 7", machine()))));
        assert!(!is_dead(&held("elsewhere 4194999 7")));
        assert!(!is_dead(&held("somebody")));
        assert!(!is_dead(&held(&in_fleet(&machine()))));
        assert!(!is_dead(&held(&format!("fleet:{} 4194999 7", machine()))));
        assert!(is_abandoned(&held(&format!("{} 4194999 7", machine()))));
        let expired = |holder: &str| Lease {
            is_expired: true,
            ..held(holder)
        };
        assert!(!is_abandoned(&expired(&ours)), "it may only be frozen");
        assert!(is_abandoned(&expired("elsewhere 7 1")));
        assert!(!is_abandoned(&held("elsewhere 7 1")));
        let name = process_name("fleet:box 7 1");
        assert_eq!(name, "process 7 on box");
        assert_eq!(
            driver(Some(&held(&ours))),
            Some(format!("process {}", std::process::id()))
        );
        assert_eq!(
            driver(Some(&held(&format!("{} 4194999 7", machine())))),
            None
        );
    }
}
