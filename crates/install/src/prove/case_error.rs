//! Why a case failed: the guard did not hold, the case could not run, or the environment failed.

use runtime::failure::Failure;

pub(super) enum CaseError {
    /// The guard did not hold.
    Broken(String),
    /// The case could not be set up, so nothing is known about the guard.
    NotTested(String),
    /// An environment error, which ends the whole proof.
    Failed(Failure),
}

impl From<Failure> for CaseError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

pub(super) type CaseOutcome<T> = Result<T, CaseError>;

pub(super) fn broken<T>(why: impl Into<String>) -> CaseOutcome<T> {
    Err(CaseError::Broken(why.into()))
}

pub(super) fn not_tested<T>(why: impl Into<String>) -> CaseOutcome<T> {
    Err(CaseError::NotTested(why.into()))
}

/// Requires something about the run.
pub(super) fn ensure(holds: bool, why: impl FnOnce() -> String) -> CaseOutcome<()> {
    if holds {
        Ok(())
    } else {
        Err(CaseError::Broken(why()))
    }
}
