//! Proving guards: for every gate of a pipeline a refusal, a pass and a fault, through the real hook.
//!
//! The hook is run as the host runs it, in a copy that goes when the proof is over. There is no
//! model, and no command of the pipeline is run.

mod elsewhere;
mod exchange;
mod folder;
mod gates;
mod heard;
mod leaving;
mod lines;
mod made;
mod process;
mod report;
mod scene;
mod setting;
mod travel;
mod trouble;
mod wire;
mod work;

use std::time::Instant;

use evidence::Project;

use gates::{CaseResult, Gate};
use lines::Lines;
pub use report::{Detail, json, text};
use runtime::context::Context;
use runtime::definition::Trouble;
use runtime::enrolment;
use runtime::failure::Failure;

/// What was shown of one pipeline.
pub struct Proof {
    pub pipeline: String,
    /// Who was asked, for people.
    pub through: String,
    pub gates: Vec<Gate>,
    pub seconds: f64,
}

impl Proof {
    /// Did every guard hold, and could all be shown?
    pub fn holds(&self) -> bool {
        let mut cases = self.gates.iter().flat_map(|gate| &gate.cases);
        cases.all(|case| case.result == CaseResult::Held)
    }
}

/// The pipelines that are installed in this project, as they are found again.
pub fn installed(context: &Context) -> Result<Vec<String>, Failure> {
    let project = Project::find(&context.folder)?;
    let state = context.state()?;
    let installed = enrolment::of_project(&state, &project.key)
        .map_err(Failure::file("read from", state.folder()))?;
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
pub fn prove(context: &Context, word: &str) -> Result<Proof, Trouble> {
    let begun = Instant::now();
    let project = Project::find(&context.folder).map_err(Failure::from)?;
    let chosen = setting::choose(context, &project, word)?;
    let lines = Lines::of_project(&context.environment, &project)?;
    let through = lines.told();
    let mut scene = setting::set(context, &chosen, lines)?;
    let gates = gates::all(&mut scene)?;
    Ok(Proof {
        pipeline: chosen.pipeline.definition().name.to_string(),
        through,
        gates,
        seconds: begun.elapsed().as_secs_f64(),
    })
}
