//! Many durations: their sum, the median, and the 90th percentile.

/// In milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations(Vec<u64>);

impl Durations {
    pub fn push(&mut self, milliseconds: u64) {
        self.0.push(milliseconds);
    }

    pub fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, one| sum.saturating_add(*one))
    }

    pub fn longest(&self) -> Option<u64> {
        self.0.iter().max().copied()
    }

    pub fn median(&self) -> Option<u64> {
        self.rank(50)
    }

    pub fn p90(&self) -> Option<u64> {
        self.rank(90)
    }

    /// The smallest value that this many of a hundred do not exceed. It is found without sorting, so
    /// that the time stays linear.
    fn rank(&self, percent: usize) -> Option<u64> {
        let place = (self.0.len() * percent).div_ceil(100).checked_sub(1)?;
        let mut values = self.0.clone();
        Some(*values.select_nth_unstable(place).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_values_that_occurred() {
        for (values, median, p90) in [
            (vec![], None, None),
            (vec![7], Some(7), Some(7)),
            (vec![9, 1], Some(1), Some(9)),
            (vec![3, 1, 2], Some(2), Some(3)),
            ((1..=10).rev().collect(), Some(5), Some(9)),
            ((1..=100).collect(), Some(50), Some(90)),
        ] {
            let spread = Durations(values);
            assert_eq!(spread.median(), median, "{spread:?}");
            assert_eq!(spread.p90(), p90, "{spread:?}");
        }
    }

    #[test]
    fn sums_stay_within_their_bounds() {
        let mut spread = Durations(vec![u64::MAX]);
        spread.push(2);
        assert_eq!(spread.total(), u64::MAX);
        assert_eq!((spread.count(), spread.longest()), (2, Some(u64::MAX)));
    }
}
