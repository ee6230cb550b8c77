//! Tokens by kind: kinds differ in price by factors that hardly change, while prices differ by model.

/// What a piece of work of a model used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenCounts {
    /// Read, and not from the cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
    /// Those of `cache_write` that the cache keeps for long, which costs more.
    pub long_cache_write: u64,
}

/// The price of each kind, where a token of input has 20.
const INPUT: u64 = 20;
const OUTPUT: u64 = 100;
const CACHE_READ: u64 = 2;
const CACHE_WRITE: u64 = 25;
const LONG_CACHE_WRITE: u64 = 40;

impl TokenCounts {
    pub(crate) fn total(self) -> u64 {
        let all = [self.input, self.output, self.cache_read, self.cache_write];
        all.into_iter().fold(0, u64::saturating_add)
    }

    /// What they cost in comparison with others of the same model.
    pub(crate) fn weight(self) -> u64 {
        let long = self.long_cache_write.min(self.cache_write);
        let weighed = [
            self.input.saturating_mul(INPUT),
            self.output.saturating_mul(OUTPUT),
            self.cache_read.saturating_mul(CACHE_READ),
            (self.cache_write - long).saturating_mul(CACHE_WRITE),
            long.saturating_mul(LONG_CACHE_WRITE),
        ];
        weighed.into_iter().fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_weighs_what_its_kind_costs() {
        let read = TokenCounts {
            cache_read: 1000,
            ..TokenCounts::default()
        };
        let written = TokenCounts {
            cache_write: 1000,
            ..TokenCounts::default()
        };
        let kept = TokenCounts {
            long_cache_write: 1000,
            ..written
        };
        assert_eq!(
            (read.total(), written.total(), kept.total()),
            (1000, 1000, 1000)
        );
        assert_eq!(written.weight() * 10, read.weight() * 125);
        assert_eq!(kept.weight(), read.weight() * 20);
        let more = TokenCounts {
            long_cache_write: u64::MAX,
            cache_write: u64::MAX,
            ..TokenCounts::default()
        };
        assert_eq!(more.weight(), u64::MAX);
    }
}
