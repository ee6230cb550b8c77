//! How many runs wait for a person, for a worker that looks every second.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use engine::RunId;
use runtime::facts::RunsReader;
use runtime::failure::Failure;
use runtime::workspace::Workspace;
use runtime::{clock, undelivered};
use store::Backend as _;

/// What waits may change without an entry, too: a `ttl` passes, or another machine has written.
const ANEW: Duration = Duration::from_secs(60);

/// The number of runs that wait for a person. It is only information: a count that fails leaves the last one.
#[derive(Default)]
pub(super) struct Waiting {
    reader: RunsReader,
    counted: Option<(Instant, Looked)>,
    number: usize,
}

/// What the number depends on: the active runs with their versions, and those whose work may be undelivered.
/// Each look opens the store anew, so the number of its changes says nothing.
#[derive(PartialEq, Eq)]
struct Looked {
    active: Vec<(RunId, u64)>,
    undelivered: BTreeSet<RunId>,
}

impl Waiting {
    /// Opens the runs only where one has changed since the last count.
    pub(super) fn number(&mut self, workspace: &mut Workspace<'_>, now: Instant) -> usize {
        let Ok(summaries) = workspace.store.active_runs() else {
            return self.number;
        };
        let active = summaries.iter().map(|it| (it.id.clone(), it.version));
        let looked = Looked {
            active: active.collect(),
            undelivered: undelivered::runs(&workspace.state).into_iter().collect(),
        };
        let Self {
            reader,
            counted,
            number,
        } = self;
        let count = || reader.count_waiting_among(workspace, &summaries, clock::now());
        *number = counted_anew(counted, looked, now, count).unwrap_or(*number);
        self.number
    }
}

/// The number, if it has to be counted and can be.
fn counted_anew(
    counted: &mut Option<(Instant, Looked)>,
    looked: Looked,
    now: Instant,
    count: impl FnOnce() -> Result<usize, Failure>,
) -> Option<usize> {
    let is_known = counted
        .as_ref()
        .is_some_and(|(at, known)| *known == looked && now.duration_since(*at) < ANEW);
    if is_known {
        return None;
    }
    *counted = Some((now, looked));
    count().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(version: u64) -> Looked {
        let run = RunId::parse("r-test").unwrap();
        Looked {
            active: vec![(run, version)],
            undelivered: BTreeSet::new(),
        }
    }

    #[test]
    fn runs_are_opened_only_where_one_has_changed_and_once_a_minute() {
        let begun = Instant::now();
        let mut counted = None;
        let mut opens = |version: u64, seconds: u64| {
            let now = begun + Duration::from_secs(seconds);
            counted_anew(&mut counted, looked(version), now, || Ok(2)).is_some()
        };
        let asked = [
            (1, 0),
            (1, 1),
            (1, 59),
            (2, 60),
            (2, 61),
            (2, 119),
            (2, 120),
        ];
        let opened = asked.map(|(version, seconds)| opens(version, seconds));
        assert_eq!(opened, [true, false, false, true, false, false, true]);
    }

    #[test]
    fn a_count_that_fails_ends_nothing_and_is_not_repeated_each_second() {
        let now = Instant::now();
        let mut counted = None;
        let fails = || Err(Failure::refused(String::from("busy")));
        assert_eq!(counted_anew(&mut counted, looked(1), now, fails), None);
        let unasked = || unreachable!("nothing has changed");
        assert_eq!(counted_anew(&mut counted, looked(1), now, unasked), None);
    }
}
