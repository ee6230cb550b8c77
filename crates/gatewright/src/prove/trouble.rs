//! Why a case does not stand: the guard did not hold, it could not be shown, or we failed.

use runtime::failure::Failure;

pub enum Trouble {
    /// The guard did not hold.
    Broken(String),
    /// Nobody can tell: the case could not be set up.
    NotShown(String),
    /// The world is in the way, and the whole proof ends.
    Failed(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

pub type Tried<T> = Result<T, Trouble>;

pub fn broken<T>(why: impl Into<String>) -> Tried<T> {
    Err(Trouble::Broken(why.into()))
}

pub fn not_shown<T>(why: impl Into<String>) -> Tried<T> {
    Err(Trouble::NotShown(why.into()))
}

/// Insists on something about the run.
pub fn insist(holds: bool, why: impl FnOnce() -> String) -> Tried<()> {
    if holds {
        Ok(())
    } else {
        Err(Trouble::Broken(why()))
    }
}
