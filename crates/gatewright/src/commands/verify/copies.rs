//! Compares journals with their shipped copies, on a machine of a fleet.

#[cfg(feature = "fleet")]
use pg_store::{Address, ShippedCopies};
#[cfg(feature = "fleet")]
use runtime::fleet_membership::FleetMembership;
use runtime::shipped_copy;
use runtime::shipping::{self, Halt};
use runtime::workspace::Workspace;
#[cfg(feature = "fleet")]
use store::Access;

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

#[cfg(not(feature = "fleet"))]
fn compared(_workspace: &Workspace<'_>, _findings: &mut Findings) -> Result<Comparison, String> {
    Ok(Comparison::NoFleet)
}

#[cfg(feature = "fleet")]
fn compared(workspace: &Workspace<'_>, findings: &mut Findings) -> Result<Comparison, String> {
    let told = |failure: runtime::failure::Failure| failure.to_string();
    let membership = FleetMembership::load(&workspace.state).map_err(told)?;
    let Some(membership) = membership else {
        return Ok(Comparison::NoFleet);
    };
    let address = membership.source.read().map_err(told)?;
    let refused = |error: store::Error| told(error.into());
    let address = Address::parse(&address).map_err(refused)?;
    let copies =
        ShippedCopies::open(&address, Access::Read, &membership.machine).map_err(refused)?;
    let reports = shipped_copy::compare(&workspace.store, &copies, &findings.runs());
    findings.add_copies(reports.map_err(refused)?);
    Ok(Comparison::Compared)
}
