//! Steps: the rules for the nodes of a task graph, checked before they are planned.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

use crate::definition::Definition;
use crate::names::StepId;
use crate::stage::{Step, StepsWork};

/// The most steps of a plan.
const MOST_STEPS: usize = 1_000;

/// Can these steps be worked through? The checker asks the same of steps in a definition.
pub fn usable_steps(
    definition: &Definition,
    work: &StepsWork,
    steps: &[Step],
) -> Result<(), String> {
    if steps.is_empty() {
        return Err(String::from("there are no steps"));
    }
    if steps.len() > MOST_STEPS {
        return Err(format!(
            "{} steps are too many; {MOST_STEPS} are allowed",
            steps.len()
        ));
    }
    let mut ids = BTreeSet::new();
    for step in steps {
        if !ids.insert(&step.id) {
            return Err(format!("step '{}' is defined twice", step.id));
        }
        if !work.agents.is_empty() && !definition.lists(&work.agents, step.agent.as_str()) {
            return Err(format!(
                "step '{}' names '{}', which is not an agent of this stage",
                step.id, step.agent
            ));
        }
    }
    for step in steps {
        if let Some(need) = step.needs.iter().find(|need| !ids.contains(need)) {
            return Err(format!(
                "step '{}' needs '{need}', which does not exist",
                step.id
            ));
        }
    }
    match first_in_a_cycle(steps) {
        Some(id) => Err(format!("step '{id}' is in a cycle of `needs`")),
        None => Ok(()),
    }
}

/// Removes the steps whose needs are met until none is left; what remains is in a cycle.
fn first_in_a_cycle(steps: &[Step]) -> Option<&StepId> {
    let mut met: BTreeSet<&StepId> = BTreeSet::new();
    loop {
        let before = met.len();
        for step in steps {
            if step.needs.iter().all(|need| met.contains(need)) {
                met.insert(&step.id);
            }
        }
        if met.len() == before {
            return steps
                .iter()
                .map(|step| &step.id)
                .find(|id| !met.contains(id));
        }
    }
}
