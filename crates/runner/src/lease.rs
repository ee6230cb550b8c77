//! The lease of a driven run: at most one orchestrator writes at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::RunId;
use runtime::failure::Failure;
use runtime::lease_holder::{self, TERM};
use runtime::workspace::Workspace;
use store::{Backend as _, Claim, Fence, Handle};

/// The interval of renewal.
const RENEWAL: Duration = Duration::from_secs(3);

/// How long to wait before a store that is away is tried again.
const PAUSE: Duration = Duration::from_millis(500);

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
        Self::acquire(workspace, run)?.map_err(|holder| {
            Failure::refused(format!(
                "{run} is driven by another gatewright ({})",
                lease_holder::process_name(&holder)
            ))
            .hint(format!("`gatewright status {run}` shows its progress"))
        })
    }

    /// The same; `None` if another process drives the run.
    pub fn take_if_free(
        workspace: &mut Workspace<'_>,
        run: &RunId,
    ) -> Result<Option<Self>, Failure> {
        Ok(Self::acquire(workspace, run)?.ok())
    }

    /// The lease, or who holds it.
    fn acquire(
        workspace: &mut Workspace<'_>,
        run: &RunId,
    ) -> Result<Result<Self, String>, Failure> {
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
        let lease = match workspace.store.claim(run, &claim) {
            Err(store::Error::Held { holder, .. }) => return Ok(Err(holder)),
            claimed => claimed?,
        };
        let store = workspace.store.for_thread()?;
        let connect = move || Ok(store);
        let lease = Self::renewed(lease.fence, holder, run, RENEWAL, connect);
        Ok(Ok(lease))
    }

    /// A lease that somebody took with the run: it is renewed from now on, over a connection of its own.
    pub fn held(
        lease: &store::Lease,
        run: &RunId,
        connect: impl Fn() -> Result<Handle, store::Error> + Send + 'static,
    ) -> Self {
        let holder = lease.holder.clone();
        let patiently = move || {
            let deadline = Instant::now() + TERM;
            loop {
                match connect() {
                    Err(_) if Instant::now() < deadline => thread::sleep(PAUSE),
                    connected => return connected,
                }
            }
        };
        Self::renewed(lease.fence, holder, run, Duration::ZERO, patiently)
    }

    /// Invariant: the thread that renews the lease also releases it, so it is never renewed
    /// afterwards.
    fn renewed(
        fence: Fence,
        holder: String,
        run: &RunId,
        first: Duration,
        connect: impl FnOnce() -> Result<Handle, store::Error> + Send + 'static,
    ) -> Self {
        let (end, ended) = mpsc::channel::<()>();
        let lost = Arc::new(AtomicBool::new(false));
        let (seen, id) = (Arc::clone(&lost), run.clone());
        let renewal = thread::Builder::new()
            .name("lease".to_owned())
            .spawn(move || {
                // Without a connection it expires, and the next write under it fails.
                let Ok(mut store) = connect() else { return };
                let mut pause = first;
                while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    pause = RENEWAL;
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
