//! Folding gates and the turns of review panels.

use alloc::collections::BTreeMap;
use alloc::format;

use super::{Damage, damage};
use crate::names::{Hash, StageName};
use crate::run::{Panel, Run, Turn};

pub(super) fn approved(
    run: &mut Run,
    stage: &StageName,
    reviewer: u32,
    subject: Hash,
) -> Result<(), Damage> {
    let panel = panel(run, stage)?;
    panel.approvals.insert(reviewer, subject);
    panel.turn = after(reviewer);
    Ok(())
}

pub(super) fn found(run: &mut Run, stage: &StageName, reviewer: u32) -> Result<(), Damage> {
    let panel = panel(run, stage)?;
    panel.approvals.remove(&reviewer);
    panel.turn = Turn::Fixing { reviewer };
    Ok(())
}

pub(super) fn fixed(run: &mut Run, stage: &StageName, reviewer: u32) -> Result<(), Damage> {
    panel(run, stage)?.turn = after(reviewer);
    Ok(())
}

pub(super) fn round_started(run: &mut Run, stage: &StageName, round: u32) {
    let panel = Panel {
        round,
        turn: Turn::Reviewing { reviewer: 0 },
        approvals: BTreeMap::new(),
    };
    run.panels.insert(stage.clone(), panel);
    run.position.retries = 0;
}

pub(super) fn spent(run: &mut Run, stage: &StageName) -> Result<(), Damage> {
    panel(run, stage)?.turn = Turn::Spent;
    Ok(())
}

fn after(reviewer: u32) -> Turn {
    let reviewer = reviewer + 1;
    Turn::Reviewing { reviewer }
}

fn panel<'a>(run: &'a mut Run, stage: &StageName) -> Result<&'a mut Panel, Damage> {
    match run.panels.get_mut(stage) {
        Some(panel) => Ok(panel),
        None => damage(format!("stage {stage} has no panel")),
    }
}
