//! Chance that can be had again: the same seed gives the same numbers.

use std::time::{Duration, SystemTime};

/// Numbers by the splitmix64 algorithm: few lines, and good enough to choose by.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    /// The chance of one round of a battery with this seed.
    pub(super) fn of(seed: u64, round: usize) -> Self {
        let mut chance = Self(seed ^ (round as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        chance.next();
        chance
    }

    /// A seed that nobody has chosen.
    pub(super) fn seed() -> u64 {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        u64::from(since.subsec_nanos()) ^ (since.as_secs() << 20)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// A number below this one.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = end.max(1) as u64;
        usize::try_from(self.next() % end).unwrap_or_default()
    }

    /// One of these.
    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.below(all.len())).copied()
    }

    pub(super) fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    pub(super) fn moment(&mut self, longest: Duration) -> Duration {
        let longest = usize::try_from(longest.as_micros()).unwrap_or(usize::MAX);
        Duration::from_micros(self.below(longest) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten(mut chance: Chance) -> Vec<usize> {
        (0..10).map(|_| chance.below(1000)).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_and_another_round_does_not() {
        assert_eq!(ten(Chance::of(7, 3)), ten(Chance::of(7, 3)));
        assert_ne!(ten(Chance::of(7, 3)), ten(Chance::of(7, 4)));
        assert_ne!(ten(Chance::of(7, 3)), ten(Chance::of(8, 3)));
    }

    #[test]
    fn all_that_can_come_comes() {
        let mut chance = Chance::of(1, 0);
        let mut seen = [false; 7];
        (0..200).for_each(|_| seen[chance.below(7)] = true);
        assert_eq!(seen, [true; 7]);
    }
}
