//! What work has used: turns, tokens and money.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Usage {
    pub turns: u64,
    pub tokens: u64,
    pub cost_cents: u64,
    /// How much of the cost is an estimate, if any of it is.
    pub estimated_cents: Option<u64>,
}

impl Usage {
    /// Both together.
    pub fn and(self, more: Self) -> Self {
        Self {
            turns: self.turns.saturating_add(more.turns),
            tokens: self.tokens.saturating_add(more.tokens),
            cost_cents: self.cost_cents.saturating_add(more.cost_cents),
            estimated_cents: match (self.estimated_cents, more.estimated_cents) {
                (Some(one), Some(other)) => Some(one.saturating_add(other)),
                (one, other) => one.or(other),
            },
        }
    }
}
