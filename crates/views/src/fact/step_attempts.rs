//! Which attempt each admitted work at a step of a task graph is: steps are retried one by one.

use std::collections::{BTreeMap, BTreeSet};

use engine::{DispatchId, Fact, MemberState, Run, StageName, StepId};

type Place = (StageName, StepId);

/// Folded from the entries, as the engine counts the retries of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StepAttempts {
    retries: BTreeMap<Place, u32>,
    failed: BTreeSet<Place>,
    of: BTreeMap<DispatchId, u32>,
}

impl StepAttempts {
    pub(super) fn of(&self, dispatch: DispatchId) -> Option<u32> {
        self.of.get(&dispatch).copied()
    }

    pub(super) fn add(&mut self, fact: &Fact) {
        match fact {
            Fact::Planned { stage, steps } => {
                self.forget(stage);
                let places = steps.iter().map(|step| (stage.clone(), step.id.clone()));
                self.retries.extend(places.map(|place| (place, 0)));
            }
            Fact::Admitted { dispatch } => {
                let step = dispatch.duty.step().cloned();
                let place = step.map(|step| (dispatch.stage.clone(), step));
                if let Some(retries) = place.and_then(|place| self.retries.get(&place)) {
                    self.of.insert(dispatch.id, retries + 1);
                }
            }
            Fact::StepRetried { stage, step, .. } => {
                if let Some(retries) = self.retries.get_mut(&(stage.clone(), step.clone())) {
                    *retries += 1;
                }
            }
            Fact::StepFailed { stage, step, .. } => {
                self.failed.insert((stage.clone(), step.clone()));
            }
            Fact::StepsRevived { stage } => self.revive(stage),
            Fact::Forked { state, .. } | Fact::Restored { state, .. } => self.take(state),
            _ => {}
        }
    }

    fn forget(&mut self, stage: &StageName) {
        self.retries.retain(|(own, _), _| own != stage);
        self.failed.retain(|(own, _)| own != stage);
    }

    /// Failed steps begin again.
    fn revive(&mut self, stage: &StageName) {
        let Self {
            retries, failed, ..
        } = self;
        failed.retain(|place| {
            let is_here = place.0 == *stage;
            if is_here && let Some(retries) = retries.get_mut(place) {
                *retries = 0;
            }
            !is_here
        });
    }

    /// An earlier state counts again.
    fn take(&mut self, state: &Run) {
        self.retries.clear();
        self.failed.clear();
        for (stage, graph) in &state.graphs {
            for member in &graph.members {
                let place = (stage.clone(), member.step.id.clone());
                if matches!(member.state, MemberState::Failed { .. }) {
                    self.failed.insert(place.clone());
                }
                self.retries.insert(place, member.retries);
            }
        }
    }
}
