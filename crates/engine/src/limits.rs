//! Limits in a run: a number of the definition, or the value of a parameter.

use crate::amount::Amount;
use crate::names::CounterName;
use crate::pipeline::Pipeline;
use crate::run::Run;
use crate::stage::{ReviewWork, StepsWork};

/// The limit in this run. A parameter that is not a number gives none; `begin` refuses such runs.
pub fn amount(limit: &Amount, run: &Run) -> Option<u32> {
    match limit {
        Amount::Fixed(number) => Some(*number),
        Amount::Param(param) => run.params.get(param)?.parse().ok(),
    }
}

/// How far this counter may count in this run.
pub fn counter_limit(pipeline: &Pipeline, run: &Run, counter: &CounterName) -> u32 {
    let declared = pipeline.definition().counters.get(counter);
    declared
        .and_then(|counter| amount(&counter.max, run))
        .unwrap_or(0)
}

/// How many rounds this review may have in this run.
pub fn round_limit(run: &Run, review: &ReviewWork) -> u32 {
    amount(&review.rounds, run).unwrap_or(1)
}

/// How many steps of this task graph may work at once in this run.
pub fn parallel_limit(run: &Run, steps: &StepsWork) -> u32 {
    let limit = steps.max_parallel.as_ref();
    limit.map_or(u32::MAX, |limit| amount(limit, run).unwrap_or(1))
}
