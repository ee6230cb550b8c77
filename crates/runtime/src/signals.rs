//! Ctrl-C: the first one stops cleanly, the second one immediately. After Ctrl-Z, `fg` continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// The exit code for a command that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// A flag that the first signal sets. The second signal ends the process immediately: the watchdog
/// kills its children, and everything written is durable.
pub fn watch() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the first signal finds the flag unset, and then sets it.
        flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|cause| {
                Failure::environment(format!("cannot wait for signals ({cause})")).hint("retry")
            })?;
    }
    Ok(stop)
}

/// Notices, from now on, that this process was stopped and goes on.
pub struct Continued(Arc<AtomicBool>);

impl Continued {
    /// Without it, as where signals cannot be watched, nobody notices.
    pub fn watch() -> Self {
        let continued = Arc::new(AtomicBool::new(false));
        let _ = flag::register(SIGCONT, Arc::clone(&continued));
        Self(continued)
    }

    /// Since the last `note`.
    pub fn has_happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub fn note(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
