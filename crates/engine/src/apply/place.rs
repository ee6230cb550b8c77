//! The run's own branch and worktree.

use super::{Damage, damage};
use crate::entry::Placed;
use crate::place::{DeliveryState, Relocation, RunPlace};
use crate::run::{Run, Standing};

pub(super) fn of(run: &mut Run) -> Result<&mut RunPlace, Damage> {
    match &mut run.place {
        Some(place) => Ok(place),
        None => damage("a run without a branch of its own has a place"),
    }
}

pub(super) fn made(run: &mut Run, placed: &Placed) -> Result<(), Damage> {
    let place = of(run)?;
    if place.folder.replace(placed.folder.clone()).is_some() {
        return damage("a run has two worktrees");
    }
    if let Some(on) = &placed.on {
        place.machine = Some(on.machine.clone());
        run.environment = Some(on.environment);
    }
    run.before.clone_from(&placed.before);
    run.base = placed.base;
    Ok(())
}

pub(super) fn relocated(run: &mut Run, to: &Relocation) -> Result<(), Damage> {
    let place = of(run)?;
    if place.folder.replace(to.folder.clone()).is_none() {
        return damage("a run without a worktree has moved");
    }
    place.machine = Some(to.on.machine.clone());
    run.environment = Some(to.on.environment);
    Ok(())
}

/// After a reset the work is delivered again. A run without its worktree is still to be taken up.
pub(super) fn reset(run: &mut Run) {
    let Some(place) = &mut run.place else {
        return;
    };
    place.delivery = DeliveryState::Open;
    if place.folder.is_none() {
        run.standing = Standing::Queued;
    }
}
