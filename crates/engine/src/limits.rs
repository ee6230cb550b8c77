//! Limits in a run: a number of the definition, or the value of a parameter.

use alloc::format;
use alloc::string::String;

use crate::amount::Amount;
use crate::names::{CounterName, Time};
use crate::pipeline::Pipeline;
use crate::run::{Driver, Run, Standing, Usage};
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

/// The part of the budget that is used up since it was last granted, if any: `turns 40 of 40`.
pub fn overspent(pipeline: &Pipeline, run: &Run, now: Time) -> Option<String> {
    let budget = &pipeline.definition().budget;
    let turns = number(&budget.turns, run);
    let turns = turns.filter(|limit| since_grant(run).turns >= *limit);
    let turns = turns.map(|limit| format!("turns {} of {limit}", since_grant(run).turns));
    turns.or_else(|| spent(pipeline, run, now, InFlight::default(), u64::ge))
}

/// Does the run wait because of a cap on all runs? Then its own budget is not used up.
pub fn is_capped(pipeline: &Pipeline, run: &Run) -> bool {
    let waits = matches!(run.standing, Standing::OverBudget { .. });
    waits && overspent(pipeline, run, run.touched_at).is_none()
}

/// What was used and is not in the journal yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    pub usage: Usage,
    pub driven_ms: u64,
}

/// The same for a turn that is under way: it counts as one turn, however much it uses, and may use what is
/// left to the last.
pub fn overspent_within_turn(
    pipeline: &Pipeline,
    run: &Run,
    now: Time,
    more: InFlight,
) -> Option<String> {
    spent(pipeline, run, now, more, u64::gt)
}

fn spent(
    pipeline: &Pipeline,
    run: &Run,
    now: Time,
    more: InFlight,
    is_too_much: fn(&u64, &u64) -> bool,
) -> Option<String> {
    let budget = &pipeline.definition().budget;
    let used = since_grant(run).and(more.usage);
    let tokens = number(&budget.tokens, run);
    let tokens = tokens.filter(|limit| is_too_much(&used.tokens, limit));
    let tokens = tokens.map(|limit| format!("tokens {} of {limit}", used.tokens));
    let cost = || {
        let limit = number(&budget.cost_cents, run)?;
        let limit = Some(limit).filter(|limit| is_too_much(&used.cost_cents, limit))?;
        Some(format!(
            "cost {} of {}",
            cents(used.cost_cents),
            cents(limit)
        ))
    };
    let time = || {
        let elapsed = elapsed_ms(run, now).saturating_add(more.driven_ms) / 1000;
        let limit = budget.time.filter(|limit| elapsed >= limit.0)?;
        Some(format!("time {elapsed}s of {limit}"))
    };
    tokens.or_else(cost).or_else(time)
}

fn number(limit: &Option<Amount>, run: &Run) -> Option<u64> {
    let limit = limit.as_ref().and_then(|limit| amount(limit, run));
    limit.map(u64::from)
}

fn since_grant(run: &Run) -> Usage {
    let (used, before) = (run.used, run.granted.used);
    Usage {
        turns: used.turns.saturating_sub(before.turns),
        tokens: used.tokens.saturating_sub(before.tokens),
        cost_cents: used.cost_cents.saturating_sub(before.cost_cents),
    }
}

/// The time that counts since the budget was last granted. Gatewright drives a headless run itself, so the
/// time in the queue, asleep or waiting is not its own.
fn elapsed_ms(run: &Run, now: Time) -> u64 {
    let from = run.granted;
    match run.driver {
        Driver::Headless => {
            let (driven, before) = (run.driven_ms.unwrap_or(0), from.driven_ms.unwrap_or(0));
            driven.saturating_sub(before)
        }
        Driver::Guarded | Driver::ByHand => now.0.saturating_sub(from.at.0),
    }
}

/// `1.05`: the definition names no currency.
pub fn cents(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}
