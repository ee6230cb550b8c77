//! What a piece of work has used, over all its processes, from what their programs tell as they work.

use engine::{Service, Usage};
use hosts::UsageScope;
use hosts::agent_process::AgentOutput;
use runtime::state::State;

use super::rates::{self, Rate};

/// A program that limits its own cost is trusted until our estimate is so many times what it may cost.
const MARGIN: u64 = 3;

/// Counts the use of one piece of work.
pub struct Meter {
    scope: UsageScope,
    /// What earlier processes used and the journal does not have.
    earlier: Usage,
    /// What the conversation had used before, if its program counts that again.
    before: Usage,
    /// What does the work, where its program tells the cost only at the end of a turn.
    service: Option<Service>,
    /// What tokens of the service have cost so far.
    rate: Option<Rate>,
    /// What the current process may cost, if its program ends its turn then.
    most_cents: Option<u64>,
}

impl Meter {
    pub fn new(scope: UsageScope, earlier: Usage, service: Option<Service>) -> Self {
        Self {
            scope,
            earlier,
            before: Usage::default(),
            service,
            rate: None,
            most_cents: None,
        }
    }

    /// The work goes on in a conversation that had used this much.
    pub fn continues(&mut self, before: Usage) {
        self.before = before;
    }

    /// Turns of the same service may have ended meanwhile, in other runs, too.
    pub fn look_up_rate(&mut self, state: &State) {
        let service = self.service.as_ref();
        self.rate = service.and_then(|service| rates::seen(state, service));
    }

    /// The next process may cost this much, and its program ends its turn then.
    pub fn allow(&mut self, most_cents: Option<u64>) {
        self.most_cents = most_cents;
    }

    /// What the current process may cost.
    pub fn most_cents(&self) -> Option<u64> {
        self.most_cents
    }

    /// All that is not in the journal, with what the current process has told.
    pub fn so_far(&self, output: &AgentOutput) -> Usage {
        let now = output.usage;
        let estimate = self.estimate(output);
        // A turn that is under way counts, whatever ends it.
        let under_way = u64::from(output.is_turn_open());
        let told = Usage {
            turns: now.turns.saturating_add(under_way),
            cost_cents: now.cost_cents.saturating_add(estimate),
            estimated_cents: Some(estimate).filter(|cents| *cents > 0),
            ..now
        };
        Usage {
            tokens: match self.scope {
                UsageScope::Process => self.earlier.tokens.saturating_add(now.tokens),
                // The program reported nothing, so nothing is known to be added.
                UsageScope::Conversation if now.tokens == 0 => self.earlier.tokens,
                UsageScope::Conversation => now.tokens.saturating_sub(self.before.tokens),
            },
            ..self.earlier.and(told)
        }
    }

    /// Does the program let its turn cost far more than it was allowed, by our estimate?
    pub fn is_unlimited(&self, output: &AgentOutput) -> bool {
        let left = self.left(output);
        left.is_some_and(|left| self.by_rate(output) > left.saturating_mul(MARGIN))
    }

    /// What the turn that is under way has cost. As long as the program has not ended it, it costs less than
    /// the program was allowed, unless the program does not keep to that.
    fn estimate(&self, output: &AgentOutput) -> u64 {
        match self.left(output) {
            Some(left) if self.is_unlimited(output) => left,
            Some(left) => self.by_rate(output).min(left.saturating_sub(1)),
            None => self.by_rate(output),
        }
    }

    /// What the turn that is under way may cost.
    fn left(&self, output: &AgentOutput) -> Option<u64> {
        let most = self.most_cents;
        most.map(|most| most.saturating_sub(output.usage.cost_cents))
    }

    fn by_rate(&self, output: &AgentOutput) -> u64 {
        let weight = output.open_weight();
        self.rate.map_or(0, |rate| rate.cents(weight))
    }

    /// The current process has ended.
    pub fn add(&mut self, output: &AgentOutput) {
        self.earlier = self.so_far(output);
    }

    /// All processes so far.
    pub fn total(&self) -> Usage {
        self.earlier
    }
}
