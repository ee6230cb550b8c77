//! Is anybody there who takes a headless run on by itself?

use engine::{Driver, Run};

/// Who takes the run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A process or a session, or nobody can tell.
    There,
    /// Nobody, until somebody takes it up again.
    Lost,
}

impl Owner {
    /// What a person types to have a run go on that nobody drives.
    pub(crate) fn resume(self, run: &Run) -> Option<String> {
        match (self, run.driver) {
            (Self::Lost, Driver::Headless) => Some(format!("gatewright resume {}", run.id)),
            (Self::Lost, Driver::Guarded | Driver::ByHand) | (Self::There, _) => None,
        }
    }
}
