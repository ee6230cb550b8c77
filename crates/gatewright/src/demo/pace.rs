//! How fast the demo goes: so that a person can read along, or without pauses.

use std::time::Duration;

use crate::output::{Format, Output};

/// How fast it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// So that a person can read along.
    Reading,
    /// Without a pause.
    Fast,
}

impl Pace {
    /// What suits this output: nobody reads along where nobody sits at a terminal.
    pub(crate) fn of(output: &Output) -> Self {
        if output.is_terminal() && output.format() == Format::Text {
            Self::Reading
        } else {
            Self::Fast
        }
    }

    fn milliseconds(self, milliseconds: u64) -> Duration {
        match self {
            Self::Reading => Duration::from_millis(milliseconds),
            Self::Fast => Duration::ZERO,
        }
    }

    /// How long a worker works.
    pub(super) fn working(self) -> Duration {
        self.milliseconds(1_000)
    }

    /// How long the person takes to answer.
    pub(super) fn thinking(self) -> Duration {
        self.milliseconds(2_000)
    }

    /// How long a person reads two lines.
    pub(super) fn reading(self) -> Duration {
        self.milliseconds(2_500)
    }
}
