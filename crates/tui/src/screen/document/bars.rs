//! The bars of a stage: when the run was in it, attempt by attempt, on one scale for all stages.

use engine::{CheckVerdict, StageName, Time};
use views::facts::{Visit, WaitSpan};
use views::status::JournalFacts;

/// From the start of a run until now, or until its end, on so many columns.
pub(super) struct TimeScale {
    from: Time,
    to: Time,
    columns: usize,
}

/// An agent worked; every second attempt looks different from the one before it.
const WORKED: [char; 2] = ['█', '▓'];
/// Only a person could help.
const WAITED: char = '░';
/// The run was there, and nobody worked.
const STAYED: char = '·';

impl TimeScale {
    pub(super) fn new(from: Time, to: Time, columns: usize) -> Self {
        Self { from, to, columns }
    }

    fn column(&self, at: Time) -> usize {
        let whole = self.to.0.saturating_sub(self.from.0).max(1);
        let part = at.0.saturating_sub(self.from.0).min(whole);
        let last = self.columns.saturating_sub(1) as u64;
        usize::try_from(part.saturating_mul(last) / whole).unwrap_or(0)
    }

    fn fill(&self, bar: &mut [char], from: Time, to: Time, with: char) {
        let (first, last) = (self.column(from), self.column(to));
        if let Some(part) = bar.get_mut(first..=last) {
            part.fill(with);
        }
    }
}

/// The bar of one stage.
pub(super) fn bar(
    journal: &JournalFacts,
    stage: &StageName,
    asks: bool,
    scale: &TimeScale,
) -> String {
    let mut bar = vec![' '; scale.columns];
    for visit in journal.visits.iter().filter(|visit| visit.stage == *stage) {
        let end = visit.left.as_ref().map_or(scale.to, |left| left.at);
        let stayed = if asks { WAITED } else { STAYED };
        scale.fill(&mut bar, visit.entered_at, end, stayed);
        waits(&mut bar, visit, end, &journal.waits, scale);
        work(&mut bar, visit, scale);
    }
    let bar: String = bar.into_iter().collect();
    bar.trim_end().to_owned()
}

/// The times of this visit in which the run was stuck.
fn waits(bar: &mut [char], visit: &Visit, end: Time, waits: &[WaitSpan], scale: &TimeScale) {
    for wait in waits {
        let to = wait.to.unwrap_or(scale.to).min(end);
        let from = wait.from.max(visit.entered_at);
        if from < to {
            scale.fill(bar, from, to, WAITED);
        }
    }
}

fn work(bar: &mut [char], visit: &Visit, scale: &TimeScale) {
    for (place, attempt) in visit.attempts.iter().enumerate() {
        let to = attempt.end.as_ref().map_or(scale.to, |end| end.at);
        scale.fill(bar, attempt.started_at, to, WORKED[place % WORKED.len()]);
    }
    for check in &visit.checks {
        let mark = match check.verdict {
            CheckVerdict::Passed => '✓',
            CheckVerdict::Failed => '✗',
            CheckVerdict::Void => '?',
        };
        scale.fill(bar, check.at, check.at, mark);
    }
}
