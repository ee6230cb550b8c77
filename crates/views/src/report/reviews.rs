//! The reviews of a gate in a report: those that count now one by one, those of earlier content in few words.

use crate::facts::{GateEvidence, ReviewEvidence};
use crate::words;

pub(super) struct GateReviews<'g> {
    /// Those of the content that the gate holds for; all where it does not hold.
    pub shown: Vec<&'g ReviewEvidence>,
    earlier: Vec<&'g ReviewEvidence>,
}

impl<'g> GateReviews<'g> {
    pub(super) fn of(gate: &'g GateEvidence) -> Self {
        let counts = |review: &&ReviewEvidence| review.approved == gate.subject;
        let all = || gate.reviews.iter();
        if gate.subject.is_none() || !all().any(|it| counts(&it)) {
            let (shown, earlier) = (all().collect(), Vec::new());
            return Self { shown, earlier };
        }
        Self {
            shown: all().filter(counts).collect(),
            earlier: all().filter(|it| !counts(it)).collect(),
        }
    }

    /// `earlier: 5 approvals, 1 review with problems (entry 63)`.
    pub(super) fn earlier_words(&self) -> Option<String> {
        let found = self.earlier.iter().filter(|it| it.approved.is_none());
        let entries: Vec<String> = found.map(|it| it.entry.to_string()).collect();
        let approvals = (self.earlier.len() - entries.len()) as u64;
        let approved = (approvals > 0).then(|| words::count(approvals, "approval"));
        let problems = match entries.len() {
            0 => None,
            1 => Some(format!("1 review with problems (entry {})", entries[0])),
            many => Some(format!(
                "{many} reviews with problems (entries {})",
                entries.join(", ")
            )),
        };
        let parts: Vec<String> = approved.into_iter().chain(problems).collect();
        (!parts.is_empty()).then(|| format!("earlier: {}", parts.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use engine::{Hash, StageName, Time};

    use super::*;
    use crate::facts::GateState;

    fn gate(subject: Option<Hash>, reviews: &[Option<Hash>]) -> GateEvidence {
        let review = |(entry, approved): (u64, &Option<Hash>)| ReviewEvidence {
            reviewer: 1,
            agent: None,
            approved: *approved,
            at: Time(0),
            entry,
        };
        GateEvidence {
            stage: StageName::parse("reviewing").unwrap(),
            kind: "review",
            state: GateState::Holds,
            entry: None,
            at: None,
            subject,
            artifact: None,
            verdict: None,
            commands: Vec::new(),
            failed_before: 0,
            failures: Vec::new(),
            round: None,
            reviews: (1..).zip(reviews).map(review).collect(),
        }
    }

    #[test]
    fn reviews_of_earlier_content_are_counted_and_those_with_problems_named() {
        let (old, new) = (Some(Hash([1; 32])), Some(Hash([2; 32])));
        let held = gate(new, &[old, None, old, new, None, new]);
        let reviews = GateReviews::of(&held);
        let shown: Vec<u64> = reviews.shown.iter().map(|it| it.entry).collect();
        assert_eq!(shown, [4, 6]);
        let words = reviews.earlier_words().unwrap();
        assert!(words.contains("2 approvals"), "{words}");
        assert!(words.contains("entries 2, 5"), "{words}");
        let open = gate(None, &[old, None]);
        assert_eq!(GateReviews::of(&open).shown.len(), 2);
        assert_eq!(GateReviews::of(&open).earlier_words(), None);
    }
}
