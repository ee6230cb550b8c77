//! What happens in one night: ten tasks, in some order, and when the machine crashes.

use std::time::Duration;

use crate::battery::chance::Chance;

/// How long after a worker begins the machine crashes at latest: a night without a crash takes about as long.
const LATEST: Duration = Duration::from_secs(5);

/// Half of the crashes come this early: while git makes the worktrees.
const EARLY: Duration = Duration::from_secs(1);

const MOST_CRASHES: usize = 3;

const MOST_AT_ONCE: usize = 6;

/// What comes in the way of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Incident {
    Nothing,
    /// It takes long enough to be killed.
    Slow,
    /// A person is asked.
    Ask,
    /// The service names a time at which its limit ends.
    Limit,
    /// It passes its budget within a turn.
    Spend,
    /// It changes the line that the person changes, too.
    Edit,
    /// Its check fails.
    Break,
}

/// How a task stands in the morning, in the words of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Done,
    Waits,
    Failed,
}

impl Standing {
    /// The word of the summary.
    pub(super) fn result(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Waits => "waits_for_you",
            Self::Failed => "failed",
        }
    }

    /// The word of `status`.
    pub(super) fn status(self) -> &'static str {
        match self {
            Self::Done => "completed",
            Self::Waits => "waiting",
            Self::Failed => "failed",
        }
    }
}

impl Incident {
    pub(super) fn pipeline(self) -> &'static str {
        match self {
            Self::Ask => "asking.toml",
            Self::Spend => "frugal.toml",
            Self::Nothing | Self::Slow | Self::Limit | Self::Edit | Self::Break => "making.toml",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Nothing => "PLAIN",
            Self::Slow => "SLOW",
            Self::Ask => "ASK",
            Self::Limit => "LIMIT",
            Self::Spend => "SPEND",
            Self::Edit => "EDIT",
            Self::Break => "BREAK",
        }
    }

    /// Before the person has answered anything.
    pub(super) fn in_the_morning(self) -> Standing {
        match self {
            Self::Ask | Self::Spend => Standing::Waits,
            Self::Break => Standing::Failed,
            Self::Nothing | Self::Slow | Self::Limit | Self::Edit => Standing::Done,
        }
    }
}

/// One of the ten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NightTask {
    pub run: String,
    /// `LIMIT-3`: the worker names its file so, and knows it only from its task.
    pub part: String,
    pub incident: Incident,
    pub runner: &'static str,
}

impl NightTask {
    pub(super) fn text(&self) -> String {
        format!("Make PART-{}", self.part)
    }

    /// The files of its branch that differ from the base.
    pub(super) fn changes(&self) -> Vec<String> {
        let heading = (self.incident == Incident::Edit).then(|| "heading.txt".to_owned());
        let part = format!("made/{}.txt", self.part);
        heading.into_iter().chain([part]).collect()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub tasks: Vec<NightTask>,
    /// How long after the beginning of each worker everything is killed.
    pub crashes: Vec<Duration>,
    /// How many runs a worker drives at once.
    pub at_once: usize,
}

impl Plan {
    /// Every incident comes once at least.
    pub(super) fn by(chance: &mut Chance) -> Self {
        const ALWAYS: [Incident; 7] = [
            Incident::Nothing,
            Incident::Slow,
            Incident::Ask,
            Incident::Limit,
            Incident::Spend,
            Incident::Edit,
            Incident::Break,
        ];
        let more = (0..3).filter_map(|_| chance.one_of(&ALWAYS));
        let mut incidents: Vec<Incident> = ALWAYS.into_iter().chain(more).collect();
        for at in (1..incidents.len()).rev() {
            incidents.swap(at, chance.below(at + 1));
        }
        let tasks = incidents.into_iter().enumerate();
        let tasks = tasks.map(|(number, incident)| {
            // Only Claude Code tells within a turn what it used.
            let free = incident != Incident::Spend && chance.coin();
            NightTask {
                run: format!("r-{number}"),
                part: format!("{}-{number}", incident.word()),
                incident,
                runner: if free { "codex" } else { "claude" },
            }
        });
        let tasks = tasks.collect();
        let crashes = 1 + chance.below(MOST_CRASHES);
        Self {
            tasks,
            crashes: (0..crashes).map(|_| moment(chance)).collect(),
            at_once: 1 + chance.below(MOST_AT_ONCE),
        }
    }
}

fn moment(chance: &mut Chance) -> Duration {
    let latest = if chance.coin() { EARLY } else { LATEST };
    chance.moment(latest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_night_has_ten_tasks_both_vendors_and_every_incident() {
        let nights = (0..50).map(|round| Plan::by(&mut Chance::of(1, round)));
        for plan in nights {
            assert_eq!(plan.tasks.len(), 10);
            assert!((1..=MOST_CRASHES).contains(&plan.crashes.len()));
            for word in ["PLAIN", "SLOW", "ASK", "LIMIT", "SPEND", "EDIT", "BREAK"] {
                assert!(
                    plan.tasks.iter().any(|it| it.part.starts_with(word)),
                    "{word}"
                );
            }
            let spends = plan
                .tasks
                .iter()
                .filter(|it| it.incident == Incident::Spend);
            assert!(spends.clone().all(|it| it.runner == "claude"));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_night() {
        let plan = |round| Plan::by(&mut Chance::of(7, round));
        assert_eq!(plan(3).tasks, plan(3).tasks);
        assert_eq!(plan(3).crashes, plan(3).crashes);
        assert_ne!(plan(3).tasks, plan(4).tasks);
    }
}
