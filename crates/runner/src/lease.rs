//! The lease of a driven run: at most one orchestrator writes at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use engine::{Process, ProcessState, RunId, Time};
use runtime::clock;
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use store::{Backend as _, Claim, Fence, Handle, Lease as Held};

/// How long a lease lasts without renewal. A frozen orchestrator blocks others for that long.
const TERM: Duration = Duration::from_secs(10);

/// The interval of renewal.
const RENEWAL: Duration = Duration::from_secs(3);

/// Our lease, until it is dropped or another process takes it over.
pub struct Lease {
    pub fence: Fence,
    /// This process, as the lease names it.
    pub holder: String,
    /// Ends the renewal.
    end: Option<Sender<()>>,
    renewal: Option<JoinHandle<()>>,
    lost: Arc<AtomicBool>,
}

impl Lease {
    /// Takes the lease of a run, immediately if its holder is dead.
    pub fn take(workspace: &mut Workspace<'_>, run: &RunId) -> Result<Self, Failure> {
        let holder = holder();
        let held = workspace.store.lease(run)?;
        let now = match held.as_ref() {
            Some(held) if is_dead(held) => held.until.max(clock::now()),
            Some(_) | None => clock::now(),
        };
        let claim = Claim::Acquire {
            holder: &holder,
            now,
            until: after(clock::now(), TERM),
        };
        let lease = workspace
            .store
            .claim(run, &claim)
            .map_err(|error| match error {
                store::Error::Held { holder, .. } => Failure::refused(format!(
                    "{run} is driven by another gatewright ({})",
                    process_name(&holder)
                ))
                .hint(format!("`gatewright status {run}` shows its progress")),
                other => other.into(),
            })?;
        let store = workspace.store.for_thread()?;
        Ok(Self::renewed(lease.fence, holder, run, store))
    }

    /// Invariant: the thread that renews the lease also releases it, so it is never renewed
    /// afterwards.
    fn renewed(fence: Fence, holder: String, run: &RunId, mut store: Handle) -> Self {
        let (end, ended) = mpsc::channel::<()>();
        let lost = Arc::new(AtomicBool::new(false));
        let (seen, id) = (Arc::clone(&lost), run.clone());
        let renewal = thread::Builder::new()
            .name("lease".to_owned())
            .spawn(move || {
                while ended.recv_timeout(RENEWAL) == Err(RecvTimeoutError::Timeout) {
                    let until = after(clock::now(), TERM);
                    let claim = Claim::Renew { fence, until };
                    // A busy store is asked again: an expired lease is still ours until another
                    // process takes it.
                    if let Err(store::Error::Fenced { .. }) = store.claim(&id, &claim) {
                        seen.store(true, Ordering::Relaxed);
                        return;
                    }
                }
                let _ = store.claim(&id, &Claim::Release { fence });
            });
        Self {
            fence,
            holder,
            end: Some(end),
            renewal: renewal.ok(),
            lost,
        }
    }

    /// Has another process taken it?
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.end.take();
        if let Some(renewal) = self.renewal.take() {
            let _ = renewal.join();
        }
    }
}

/// The process that drives a run now, if any.
pub fn driver(held: Option<&Held>) -> Option<String> {
    let held = held.filter(|held| held.until > clock::now() && !is_dead(held))?;
    Some(process_name(&held.holder))
}

fn after(now: Time, term: Duration) -> Time {
    let term = u64::try_from(term.as_millis()).unwrap_or(u64::MAX);
    Time(now.0.saturating_add(term))
}

/// This process: machine, id and start time.
fn holder() -> String {
    let id = std::process::id();
    let started = evidence::process::find(id).map_or(0, |process| process.started);
    format!("{} {id} {started}", machine())
}

fn machine() -> String {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    name.split_whitespace().collect::<Vec<_>>().join("-")
}

/// Is the holder a dead process of this machine? Processes of other machines are unknown.
fn is_dead(held: &Held) -> bool {
    let Some((machine_name, process)) = parse(&held.holder) else {
        return false;
    };
    machine_name == machine() && evidence::process::state(&process) == ProcessState::Gone
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

fn process_name(holder: &str) -> String {
    match parse(holder) {
        Some((_, process)) => format!("process {}", process.id),
        None => views::line(holder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(holder: &str) -> Held {
        Held {
            holder: holder.to_owned(),
            fence: Fence(1),
            until: Time(u64::MAX),
        }
    }

    #[test]
    fn only_a_dead_process_of_this_machine_is_known_to_be_dead() {
        let ours = holder();
        assert!(!is_dead(&held(&ours)));
        assert!(is_dead(&held(&format!("{} 4194999 7", machine()))));
        assert!(!is_dead(&held("elsewhere 4194999 7")));
        assert!(!is_dead(&held("somebody")));
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
