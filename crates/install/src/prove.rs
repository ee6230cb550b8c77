//! `prove-guards`: shows a refusal, a pass and a fault for every gate of a pipeline, through the real hook.
//!
//! It runs the hook as the host does, in a temporary copy of the project. It calls no model and runs no
//! command of the pipeline.

mod case_error;
mod example_artifacts;
mod exchange;
mod external_worker;
mod gates;
mod hook_commands;
mod hook_process;
mod host_reaction;
mod payloads;
mod person;
mod play_route;
mod prepare;
mod report;
mod sandbox;
mod simulated_worker;
mod simulation;
mod work_products;

use std::time::Instant;

use evidence::Project;

pub use gates::Gate;
use gates::{CaseResult, GateDone};
use hook_commands::HookCommands;
pub use report::{Detail, json, text};
use runtime::context::Context;
use runtime::definition::DefinitionError;
use runtime::enrolment;
use runtime::failure::Failure;

use crate::trial::Trial;

/// The results for one pipeline.
pub struct Proof {
    pub pipeline: String,
    /// Which hooks were called, for people.
    pub through: String,
    pub gates: Vec<Gate>,
    pub seconds: f64,
}

impl Proof {
    /// Did every case run, and did every guard hold?
    pub fn holds(&self) -> bool {
        let mut cases = self.gates.iter().flat_map(|gate| &gate.cases);
        cases.all(|case| case.result == CaseResult::Held)
    }
}

/// The pipelines that are installed in this project, as arguments of `start`.
pub fn installed(context: &Context) -> Result<Vec<String>, Failure> {
    let state = context.state()?;
    let project = crate::project(context, &state)?;
    let installed =
        enrolment::of(&state, &project).map_err(Failure::file("read from", state.folder()))?;
    let pipelines = installed
        .map(|installed| installed.pipelines)
        .unwrap_or_default();
    let words = pipelines.into_iter().map(|pipeline| match pipeline.file {
        Some(file) => project.root.join(file).to_string_lossy().into_owned(),
        None => pipeline.name.to_string(),
    });
    Ok(words.collect())
}

/// Proves the guards of this pipeline.
pub fn prove(context: &Context, word: &str, done: GateDone<'_>) -> Result<Proof, DefinitionError> {
    let begun = Instant::now();
    let project = Project::find(&context.folder).map_err(Failure::from)?;
    let chosen = prepare::choose(context, &project, word)?;
    let hook_commands = HookCommands::of_project(&context.environment, &project)?;
    let through = hook_commands.describe();
    let claimed = hook_commands.claimed_state(context)?;
    let mut simulation = prepare::set(context, &chosen, hook_commands)?;
    let own = simulation.context.state()?;
    let _trial = claimed
        .map(|state| Trial::begin(&state, &own))
        .transpose()?;
    let gates = gates::all(&mut simulation, done)?;
    Ok(Proof {
        pipeline: chosen.pipeline.definition().name.to_string(),
        through,
        gates,
        seconds: begun.elapsed().as_secs_f64(),
    })
}
