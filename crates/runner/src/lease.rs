//! The lease of a driven run: at most one orchestrator writes at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use engine::RunId;
use runtime::failure::Failure;
use runtime::lease_holder::{self, TERM};
use runtime::workspace::Workspace;
use store::{Backend as _, Claim, Fence, Handle};

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
        let holder = match workspace.context.fleet() {
            Some(seat) => lease_holder::in_fleet(&seat.name),
            None => lease_holder::this_process(),
        };
        let held = workspace.store.lease(run)?;
        let dead = held.filter(lease_holder::is_dead);
        let claim = Claim::Acquire {
            holder: &holder,
            term: TERM,
            dead: dead.map(|dead| dead.fence),
        };
        let lease = workspace
            .store
            .claim(run, &claim)
            .map_err(|error| match error {
                store::Error::Held { holder, .. } => Failure::refused(format!(
                    "{run} is driven by another gatewright ({})",
                    lease_holder::process_name(&holder)
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
                    let claim = Claim::Renew { fence, term: TERM };
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
