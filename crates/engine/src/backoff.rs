//! How long to wait before work is tried again.

use crate::names::Seconds;
use crate::outcome::Fault;
use crate::stage::{Retry, Stage};

/// No wait is longer.
const LONGEST: Seconds = Seconds(15 * 60);

/// The wait before the next try after this fault, of which there were `tries` before. It doubles with
/// every try, from what the stage says or from what suits the kind of fault.
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

/// What is the worker's own doing can be tried at once: it is told what was wrong.
fn usual(fault: Fault) -> Seconds {
    match fault {
        Fault::Missing | Fault::Hollow | Fault::Strayed | Fault::Conflict => Seconds(0),
        Fault::Crashed | Fault::Timeout => Seconds(2),
        Fault::Limited => Seconds(30),
    }
}
