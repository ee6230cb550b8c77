//! Waiting for a thing that a test can watch.

use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits before it says that it waited in vain. A loaded machine is slow, and a test
/// that passes never waits this long.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// The interval between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Waits until this holds.
///
/// # Panics
/// When it does not in time.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    wait_for(what, || holds().then_some(()));
}

/// Waits for what this look finds, and hands it over.
///
/// # Panics
/// When it finds nothing in time.
#[track_caller]
pub fn wait_for<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    let found = within(PATIENCE, look);
    found.unwrap_or_else(|| panic!("waited in vain until {what}"))
}

/// What this look finds within the time, for a test that has more to say when it finds nothing.
pub fn within<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + patience;
    loop {
        let found = look();
        if found.is_some() || Instant::now() >= end {
            return found;
        }
        thread::sleep(POLL_INTERVAL);
    }
}
