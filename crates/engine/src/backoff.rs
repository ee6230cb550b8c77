//! How long to wait before a retry.

use crate::names::Seconds;
use crate::outcome::Fault;
use crate::stage::{Retry, Stage};

/// The longest wait.
const LONGEST: Seconds = Seconds(15 * 60);

/// The wait before the next retry after this fault, which was retried `tries` times before. It doubles
/// with every retry, from the stage's value or from a default for the kind of fault.
pub fn backoff(stage: &Stage, fault: Fault, tries: u32) -> Seconds {
    let first = match &stage.retry {
        Some(Retry {
            backoff: Some(backoff),
            ..
        }) => *backoff,
        Some(Retry { backoff: None, .. }) | None => usual(fault),
    };
    let factor = 1u64 << tries.min(16);
    Seconds(first.0.saturating_mul(factor)).min(LONGEST.max(first))
}

/// The wait for a service that asked to wait `times` times before. A time that it names counts, and this
/// is only the least.
pub fn limit_backoff(is_named: bool, times: u32) -> Seconds {
    let first = if is_named { 1 } else { usual(Fault::Limited).0 };
    let factor = 1u64 << times.min(16);
    Seconds(first * factor).min(LONGEST)
}

/// A fault of the worker itself is retried at once: the worker gets the reason.
fn usual(fault: Fault) -> Seconds {
    match fault {
        Fault::Missing | Fault::Hollow | Fault::Strayed | Fault::Conflict => Seconds(0),
        Fault::Crashed | Fault::Timeout => Seconds(2),
        Fault::Limited => Seconds(30),
    }
}
