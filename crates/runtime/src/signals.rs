//! Ctrl-C: the first one stops cleanly, the second one immediately.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
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
