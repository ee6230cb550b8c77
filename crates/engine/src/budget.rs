//! The budget of a run: what was used of it, what is left, and the one way to write both.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use crate::amount::Amount;
use crate::limits::amount;
use crate::names::{Seconds, Time};
use crate::pipeline::Pipeline;
use crate::run::{Driver, Run, Standing};
use crate::usage::Usage;

/// What a budget can limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    Turns,
    Tokens,
    CostCents,
    /// In seconds.
    Time,
}

/// What was used of one resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetLine {
    pub what: Resource,
    /// Over the whole run.
    pub used: u64,
    /// How far `used` may rise. When a person grants the budget again, that is what was used so far and the
    /// whole amount once more.
    pub limit: Option<u64>,
    /// Part of it is an estimate: a program tells the cost of a turn at its end.
    pub is_estimate: bool,
}

/// What was used and is not in the journal yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    pub usage: Usage,
    pub driven_ms: u64,
}

impl BudgetLine {
    /// A cost, which may have a limit.
    pub fn cost(used: u64, limit: Option<u64>, is_estimate: bool) -> Self {
        Self {
            what: Resource::CostCents,
            used,
            limit,
            is_estimate,
        }
    }

    /// Tokens, which may have a limit.
    pub fn tokens(used: u64, limit: Option<u64>) -> Self {
        Self {
            what: Resource::Tokens,
            used,
            limit,
            is_estimate: false,
        }
    }

    /// `turns 9 of 40`, `cost 0.21 of 5.00`, `estimated cost 0.21`, `time 2m 5s of 2h`: the one way to write it.
    pub fn text(&self) -> String {
        let amount = |value: u64| match self.what {
            Resource::Turns | Resource::Tokens => value.to_string(),
            Resource::CostCents => cents(value),
            Resource::Time => span(Seconds(value)),
        };
        let what = match self.what {
            Resource::Turns => "turns",
            Resource::Tokens => "tokens",
            Resource::CostCents => "cost",
            Resource::Time => "time",
        };
        let estimated = if self.is_estimate { "estimated " } else { "" };
        let used = amount(self.used);
        match self.limit {
            Some(limit) => format!("{estimated}{what} {used} of {}", amount(limit)),
            None => format!("{estimated}{what} {used}"),
        }
    }

    /// Nothing is left.
    pub fn is_used_up(&self) -> bool {
        self.limit.is_some_and(|limit| self.used >= limit)
    }

    /// A turn that is under way counts as one turn, however much it uses, and may use what is left to the last.
    fn ends_turn(&self) -> bool {
        match self.what {
            Resource::Turns => false,
            Resource::Tokens | Resource::CostCents => {
                self.limit.is_some_and(|limit| self.used > limit)
            }
            Resource::Time => self.is_used_up(),
        }
    }
}

/// What was used of each resource, also of those without a limit. Time counts only where it is limited.
pub fn budget_lines(
    pipeline: &Pipeline,
    run: &Run,
    now: Time,
    more: InFlight,
) -> impl Iterator<Item = BudgetLine> {
    let budget = &pipeline.definition().budget;
    let (used, before) = (run.used.and(more.usage), run.granted.used);
    let limit = |amount: &Option<Amount>, before: u64| {
        number(amount, run).map(|amount| before.saturating_add(amount))
    };
    let turns = BudgetLine {
        what: Resource::Turns,
        used: used.turns,
        limit: limit(&budget.turns, before.turns),
        is_estimate: false,
    };
    let tokens = BudgetLine::tokens(used.tokens, limit(&budget.tokens, before.tokens));
    let most = limit(&budget.cost_cents, before.cost_cents);
    let cost = BudgetLine::cost(used.cost_cents, most, used.estimated_cents.is_some());
    let time = budget.time.map(|time| time_line(run, now, more, time));
    [turns, tokens, cost].into_iter().chain(time)
}

/// The part of the budget that is used up, if any: `turns 40 of 40`.
pub fn overspent(pipeline: &Pipeline, run: &Run, now: Time) -> Option<String> {
    overspent_with(pipeline, run, now, InFlight::default())
}

/// Does the run wait because of a cap on all runs? Then its own budget is not used up.
pub fn is_capped(pipeline: &Pipeline, run: &Run) -> bool {
    let waits = matches!(run.standing, Standing::OverBudget { .. });
    waits && overspent(pipeline, run, run.touched_at).is_none()
}

/// The same with what is not in the journal yet.
pub fn overspent_with(pipeline: &Pipeline, run: &Run, now: Time, more: InFlight) -> Option<String> {
    let mut lines = budget_lines(pipeline, run, now, more);
    lines.find(BudgetLine::is_used_up).map(|line| line.text())
}

/// The same for a turn that is under way.
pub fn overspent_within_turn(
    pipeline: &Pipeline,
    run: &Run,
    now: Time,
    more: InFlight,
) -> Option<String> {
    let mut lines = budget_lines(pipeline, run, now, more);
    lines.find(BudgetLine::ends_turn).map(|line| line.text())
}

/// What the run may still cost, in cents, if that is limited.
pub fn cost_left(pipeline: &Pipeline, run: &Run, more: Usage) -> Option<u64> {
    let amount = number(&pipeline.definition().budget.cost_cents, run)?;
    let most = run.granted.used.cost_cents.saturating_add(amount);
    Some(most.saturating_sub(run.used.and(more).cost_cents))
}

/// Gatewright drives a headless run itself, so the time in the queue, asleep or waiting is not its own.
fn time_line(run: &Run, now: Time, more: InFlight, time: Seconds) -> BudgetLine {
    let (used_ms, before_ms) = match run.driver {
        Driver::Headless => {
            let driven = run.driven_ms.unwrap_or(0).saturating_add(more.driven_ms);
            (driven, run.granted.driven_ms.unwrap_or(0))
        }
        Driver::Guarded | Driver::ByHand => {
            let since_start = |time: Time| time.0.saturating_sub(run.started_at.0);
            (since_start(now), since_start(run.granted.at))
        }
    };
    let limit_ms = before_ms.saturating_add(time.0.saturating_mul(1000));
    BudgetLine {
        what: Resource::Time,
        used: used_ms / 1000,
        limit: Some(limit_ms.div_ceil(1000)),
        is_estimate: false,
    }
}

fn number(limit: &Option<Amount>, run: &Run) -> Option<u64> {
    let limit = limit.as_ref().and_then(|limit| amount(limit, run));
    limit.map(u64::from)
}

/// `1.05`: the definition names no currency.
pub fn cents(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// `0.12`, `0.12 estimated` if some of it is an estimate.
pub fn cost_text(usage: &Usage) -> String {
    let estimated = usage.estimated_cents.map_or("", |_| " estimated");
    format!("{}{estimated}", cents(usage.cost_cents))
}

/// `turns 12, tokens 3400, cost 0.12`; empty when nothing was counted.
pub fn usage_text(usage: &Usage) -> String {
    let turns = BudgetLine {
        what: Resource::Turns,
        used: usage.turns,
        limit: None,
        is_estimate: false,
    };
    let cost = BudgetLine::cost(usage.cost_cents, None, usage.estimated_cents.is_some());
    let lines = [turns, BudgetLine::tokens(usage.tokens, None), cost];
    let used = lines.iter().filter(|line| line.used > 0);
    let texts: Vec<String> = used.map(BudgetLine::text).collect();
    texts.join(", ")
}

/// The two largest units that are not zero: `45s`, `3m`, `2h 5m`, `4d 3h`.
pub fn span(seconds: Seconds) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "d"), (3600, "h"), (60, "m"), (1, "s")];
    let Some(place) = UNITS.iter().position(|(size, _)| seconds.0 >= *size) else {
        return String::from("0s");
    };
    let (size, unit) = UNITS[place];
    let whole = format!("{}{unit}", seconds.0 / size);
    let rest = UNITS
        .get(place + 1)
        .map(|(size_below, unit)| (seconds.0 % size / size_below, unit));
    match rest {
        Some((count, unit)) if count > 0 => format!("{whole} {count}{unit}"),
        Some(_) | None => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_written_in_one_way_and_an_estimate_says_so() {
        let told = BudgetLine::cost(72, Some(50), false);
        assert_eq!(told.text(), "cost 0.72 of 0.50");
        let estimated = BudgetLine::cost(72, Some(50), true);
        assert_eq!(estimated.text(), "estimated cost 0.72 of 0.50");
        let turns = BudgetLine {
            what: Resource::Turns,
            ..BudgetLine::tokens(9, Some(40))
        };
        assert_eq!(turns.text(), "turns 9 of 40");
        let used = Usage {
            turns: 1,
            tokens: 20,
            cost_cents: 7,
            estimated_cents: None,
        };
        assert_eq!(usage_text(&used), "turns 1, tokens 20, cost 0.07");
        assert_eq!(cost_text(&used), "0.07");
        let sum = used.and(Usage {
            estimated_cents: Some(5),
            ..used
        });
        assert_eq!(usage_text(&sum), "turns 2, tokens 40, estimated cost 0.14");
        assert_eq!(cost_text(&sum), "0.14 estimated");
        assert_eq!(sum.estimated_cents, Some(5));
    }
}
