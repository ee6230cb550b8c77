//! Folding gates and the turns of review panels.

use alloc::collections::BTreeMap;
use alloc::format;

use super::{Damage, damage};
use crate::entry::Fact;
use crate::names::StageName;
use crate::run::{Panel, Run, Turn};

pub(super) fn fold(run: &mut Run, fact: &Fact) -> Result<(), Damage> {
    match fact {
        Fact::GatePassed { stage, gate } => {
            run.gates.insert(stage.clone(), gate.clone());
        }
        Fact::ReviewerApproved {
            stage,
            reviewer,
            subject,
        } => {
            let panel = panel(run, stage)?;
            panel.approvals.insert(*reviewer, *subject);
            panel.turn = after(*reviewer);
        }
        Fact::ReviewerFound { stage, reviewer } => {
            let panel = panel(run, stage)?;
            panel.approvals.remove(reviewer);
            let reviewer = *reviewer;
            panel.turn = Turn::Fixing { reviewer };
        }
        Fact::Fixed { stage, reviewer } => panel(run, stage)?.turn = after(*reviewer),
        Fact::RoundStarted { stage, round } => {
            let (round, turn) = (*round, Turn::Reviewing { reviewer: 0 });
            let approvals = BTreeMap::new();
            run.panels.insert(
                stage.clone(),
                Panel {
                    round,
                    turn,
                    approvals,
                },
            );
            run.position.retries = 0;
        }
        Fact::RoundsSpent { stage } => panel(run, stage)?.turn = Turn::Spent,
        _ => return damage("an entry is not about a review"),
    }
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
