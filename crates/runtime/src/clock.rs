//! The clock: the one place that asks what time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use engine::Time;

/// Milliseconds since 1970 in UTC. A clock before 1970 counts as 1970.
pub fn now() -> Time {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
