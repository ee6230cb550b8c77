//! Generates scenarios that cover every transition of a definition, by a search on the real engine.

mod beginning;
mod normal;
mod possible;
mod route;
mod search;
mod tour;
mod transition;
mod write;

use engine::{HostName, Pipeline};

pub use possible::examples;
pub use route::{Leg, Route, Routes};
use search::Search;
pub(crate) use transition::Transition;

/// A scenario file that covers everything that can be covered.
#[derive(Clone, Debug)]
pub struct Generated {
    pub text: String,
    pub covered: Vec<Transition>,
    /// What no scenario reaches, and why.
    pub uncovered: Vec<(Transition, String)>,
}

/// Writes scenarios for a pipeline; `reference` is the text of its block, and `host` the agent
/// program of the sessions.
pub fn generate(pipeline: &Pipeline, reference: &str, host: &HostName) -> Generated {
    let wanted = transition::all(pipeline.definition());
    let search = Search::run(pipeline, host, &wanted);
    let tours = tour::tours(&search, &wanted);
    let covered = wanted
        .iter()
        .filter(|one| search.reaches(one))
        .cloned()
        .collect();
    let missed = wanted.iter().filter(|one| !search.reaches(one));
    let uncovered: Vec<(Transition, String)> = missed
        .map(|one| (one.clone(), search.why_not(one)))
        .collect();
    let text = write::file(pipeline, host, reference, &tours, &uncovered);
    Generated {
        text,
        covered,
        uncovered,
    }
}
