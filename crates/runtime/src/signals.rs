//! Ctrl-C: once stops cleanly, twice stops at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// With this code a shell tells that Ctrl-C ended a command.
const INTERRUPTED: i32 = 130;

/// Is set when somebody wants us to stop. The second time ends the process at once: what it started is
/// ended by the watchdog, and what was written is durable.
pub fn watch() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order counts: the first signal finds the flag unset, and then sets it.
        flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|cause| {
                Failure::outside(format!("cannot wait for signals ({cause})")).hint("do it again")
            })?;
    }
    Ok(stop)
}
