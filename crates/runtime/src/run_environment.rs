//! The environment in which the checks of a new run run on this machine.

use engine::{Hash, Who};
use evidence::Project;

use crate::accepted_programs;
use crate::check_environment::{self, Given};
use crate::clock;
use crate::failure::Failure;
use crate::state::State;

/// Fixes it. A person who starts the run, or the worker that drives it, vouches for what they find there.
pub(crate) fn fix(state: &State, project: &Project, by: &Who) -> Result<Hash, Failure> {
    let chosen = check_environment::chosen(state, project, by);
    if let Who::Person(name) = by {
        accepted_programs::accept_new_folders(state, project, &chosen)?;
        if check_environment::of_project(state, project).is_none() {
            let given = Given {
                environment: chosen.clone(),
                at: clock::now(),
                by: name.clone(),
            };
            check_environment::give(state, project, &given)?;
        }
    }
    check_environment::keep(state, &chosen)
}
