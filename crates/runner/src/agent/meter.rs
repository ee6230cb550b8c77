//! What a piece of work has used, over all its processes, from what their programs tell as they work.

use engine::Usage;
use hosts::UsageScope;
use hosts::agent_process::AgentOutput;

use super::rates::Rate;

/// Counts the use of one piece of work.
pub struct Meter {
    scope: UsageScope,
    /// What earlier processes used and the journal does not have.
    earlier: Usage,
    /// What the conversation had used before, if its program counts that again.
    before: Usage,
    /// What a token has cost so far, where the program tells the cost only at the end of a turn.
    rate: Option<Rate>,
}

impl Meter {
    pub fn new(scope: UsageScope, earlier: Usage, rate: Option<Rate>) -> Self {
        Self {
            scope,
            earlier,
            before: Usage::default(),
            rate,
        }
    }

    /// The work goes on in a conversation that had used this much.
    pub fn continues(&mut self, before: Usage) {
        self.before = before;
    }

    /// All that is not in the journal, with what the current process has told.
    pub fn so_far(&self, output: &AgentOutput) -> Usage {
        let now = output.usage;
        let open = output.open_tokens();
        let estimate = self.rate.map_or(0, |rate| rate.cents(open));
        Usage {
            turns: self.earlier.turns.saturating_add(now.turns),
            tokens: match self.scope {
                UsageScope::Process => self.earlier.tokens.saturating_add(now.tokens),
                // The program reported nothing, so nothing is known to be added.
                UsageScope::Conversation if now.tokens == 0 => self.earlier.tokens,
                UsageScope::Conversation => now.tokens.saturating_sub(self.before.tokens),
            },
            cost_cents: self
                .earlier
                .cost_cents
                .saturating_add(now.cost_cents)
                .saturating_add(estimate),
        }
    }

    /// The current process has ended. A turn that did not end counts, too.
    pub fn add(&mut self, output: &AgentOutput) {
        let broken_off = u64::from(output.open_tokens() > 0);
        self.earlier = self.so_far(output);
        self.earlier.turns = self.earlier.turns.saturating_add(broken_off);
    }

    /// All processes so far.
    pub fn total(&self) -> Usage {
        self.earlier
    }
}
