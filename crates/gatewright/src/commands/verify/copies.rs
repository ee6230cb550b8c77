//! Compares journals with their shipped copies, on a machine of a fleet.

#[cfg(feature = "fleet")]
use pg_store::{Address, ShippedCopies};
use runtime::failure::Failure;
#[cfg(feature = "fleet")]
use runtime::fleet_membership::FleetMembership;
use runtime::shipped_copy;
use runtime::shipping::{self, Halt};
use runtime::workspace::Workspace;
#[cfg(feature = "fleet")]
use store::Access;
use store::JournalCopies;

use crate::verification::{Comparison, Findings};

/// Adds to the findings what the copies say. Without the database the verdict stays on the local facts.
pub(super) fn compare(workspace: &Workspace<'_>, findings: &mut Findings) {
    let comparison = match compared(workspace, findings) {
        Ok(comparison) => comparison,
        Err(why) => Comparison::NotCompared { why },
    };
    if let Comparison::NotCompared { .. } = comparison {
        // What the process that ships was told before.
        findings.note_adoptions(|run| match shipping::halt_of(&workspace.state, run) {
            Some(Halt::Adopted(adoption)) => Some(adoption),
            Some(Halt::Differs { .. } | Halt::RolledBack { .. }) | None => None,
        });
    }
    findings.comparison = comparison;
}

fn compared(workspace: &Workspace<'_>, findings: &mut Findings) -> Result<Comparison, String> {
    let told = |failure: Failure| failure.to_string();
    let Some(copies) = open(workspace).map_err(told)? else {
        return Ok(Comparison::NoFleet);
    };
    let reports = shipped_copy::compare(&workspace.store, copies.as_ref(), &findings.runs());
    findings.add_copies(reports.map_err(|error| told(error.into()))?);
    Ok(Comparison::Compared)
}

#[cfg(not(feature = "fleet"))]
fn open(_workspace: &Workspace<'_>) -> Result<Option<Box<dyn JournalCopies>>, Failure> {
    Ok(None)
}

/// The copies of this machine's journals, if it has joined a fleet.
#[cfg(feature = "fleet")]
fn open(workspace: &Workspace<'_>) -> Result<Option<Box<dyn JournalCopies>>, Failure> {
    let Some(membership) = FleetMembership::load(&workspace.state)? else {
        return Ok(None);
    };
    let address = Address::parse(&membership.source.read()?)?;
    let copies = ShippedCopies::open(&address, Access::Read, &membership.machine)?;
    Ok(Some(Box::new(copies)))
}
