//! Steps: the rules that the nodes of a task graph must keep before they can be planned.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;

use crate::definition::Definition;
use crate::names::StepId;
use crate::stage::{Step, StepsWork};

/// More steps than this are not a plan.
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
            return Err(format!("step '{}' is there twice", step.id));
        }
        if !work.agents.is_empty() && !definition.lists(&work.agents, step.agent.as_str()) {
            return Err(format!(
                "step '{}' names '{}', who has no part here",
                step.id, step.agent
            ));
        }
    }
    for step in steps {
        if let Some(need) = step.needs.iter().find(|need| !ids.contains(need)) {
            return Err(format!(
                "step '{}' needs '{need}', which is not there",
                step.id
            ));
        }
    }
    match first_in_a_cycle(steps) {
        Some(id) => Err(format!("step '{id}' needs itself in the end")),
        None => Ok(()),
    }
}

/// Takes away the steps whose needs are met until none is left; what stays is a circle.
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
