//! Versions of packages, and the ranges in which advisories name them.

/// A version, as far as order needs it: build metadata is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    numbers: [u64; 3],
    /// A version before the release is smaller than the release.
    is_release: bool,
}

/// Comparisons that all have to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range(Vec<Comparison>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    AtLeast(Version),
    Above(Version),
    AtMost(Version),
    Below(Version),
    Exactly(Version),
}

type Compare = fn(Version) -> Comparison;

/// Longer operators first, so that `>=` is not read as `>`.
const OPERATORS: [(&str, Compare); 5] = [
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::Above),
    ("<", Comparison::Below),
    ("=", Comparison::Exactly),
];

impl Version {
    /// One to three numbers; what is missing is 0.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let version = text.split('+').next()?;
        let (numbers_text, is_release) = match version.split_once('-') {
            Some((numbers, _)) => (numbers, false),
            None => (version, true),
        };
        let mut numbers = [0; 3];
        for (index, part) in numbers_text.split('.').enumerate() {
            *numbers.get_mut(index)? = part.parse().ok()?;
        }
        Some(Self {
            numbers,
            is_release,
        })
    }

    /// The first version that a caret does not include.
    fn next_incompatible(self) -> Self {
        let numbers = match self.numbers {
            [0, 0, patch] => [0, 0, patch + 1],
            [0, minor, _] => [0, minor + 1, 0],
            [major, _, _] => [major + 1, 0, 0],
        };
        Self {
            numbers,
            is_release: true,
        }
    }
}

impl Range {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut comparisons = Vec::new();
        for part in text.split(',').map(str::trim) {
            let operator = OPERATORS.iter().find_map(|(operator, comparison)| {
                Some((part.strip_prefix(operator)?, comparison))
            });
            match operator {
                Some((rest, comparison)) => {
                    comparisons.push(comparison(Version::parse(rest.trim())?));
                }
                // A bare version means the same as one with a caret.
                None => {
                    let version = Version::parse(part.strip_prefix('^').unwrap_or(part).trim())?;
                    comparisons.push(Comparison::AtLeast(version));
                    comparisons.push(Comparison::Below(version.next_incompatible()));
                }
            }
        }
        Some(Self(comparisons))
    }

    pub(super) fn has(&self, version: Version) -> bool {
        self.0.iter().all(|comparison| match *comparison {
            Comparison::AtLeast(bound) => version >= bound,
            Comparison::Above(bound) => version > bound,
            Comparison::AtMost(bound) => version <= bound,
            Comparison::Below(bound) => version < bound,
            Comparison::Exactly(bound) => version == bound,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_the_versions_between_its_bounds() {
        for (range, inside, outside) in [
            (">= 1.2.3", "1.2.3", "1.2.2"),
            ("> 1.2.3", "1.2.4", "1.2.3"),
            ("<= 1.2.3", "1.2.3", "1.2.4"),
            ("< 1.2.3", "1.2.2", "1.2.3"),
            ("= 0.15.0", "0.15.0", "0.15.1"),
            (">= 0.6.14, < 1.0.0", "0.9.0", "1.0.0"),
            ("^0.3.4", "0.3.9", "0.4.0"),
            ("^1.2", "1.9.0", "2.0.0"),
            ("0.0.3", "0.0.3", "0.0.4"),
            ("0.25.4", "0.25.7", "0.26.0"),
            (">= 1.10", "1.10.0+build.7", "1.9.0"),
            (">= 2.0.0", "2.0.0", "2.0.0-beta.1"),
        ] {
            let parsed = Range::parse(range).unwrap();
            assert!(parsed.has(Version::parse(inside).unwrap()), "{range}");
            assert!(!parsed.has(Version::parse(outside).unwrap()), "{range}");
        }
    }

    #[test]
    fn what_is_no_version_is_no_range() {
        for text in ["", ">= ", "one", "1.2.3.4", ">= 1.0.0,", "~> 1.0", "*"] {
            assert_eq!(Range::parse(text), None, "{text}");
        }
    }
}
