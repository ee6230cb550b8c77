//! Caps of a person on what all headless runs of this machine use together: in 24 hours, and in all.
//!
//! What is used is appended to files of the state folder as it comes, a line each, so that several processes
//! count together and nothing is lost with one of them.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use engine::{BudgetLine, Time, Usage};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::failure::Failure;
use crate::state::{self, State};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The caps that a person has set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Caps {
    /// For any 24 hours.
    pub day: Amounts,
    /// For all since a person set it.
    pub machine: Amounts,
    #[serde(with = "crate::serde_names")]
    pub machine_since: Option<Time>,
}

/// Amounts; absent ones have no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Amounts {
    pub tokens: Option<u64>,
    pub cost_cents: Option<u64>,
}

/// What was used, over all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub tokens: u64,
    pub cost_cents: u64,
    /// How much of the cost is an estimate.
    pub estimated_cents: u64,
}

/// A cap is used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapReached {
    /// `the cap of 24 hours is used up (cost 20.10 of 20.00)`.
    pub what: String,
    /// When enough of it is older than a day; `None` if only a person can raise it.
    pub until: Option<Time>,
}

/// One line of what was used. A later line may correct an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    at: u64,
    tokens: i64,
    cents: i64,
    /// How much of it is an estimate. Earlier versions did not note that.
    estimated: i64,
}

impl Amounts {
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// What was used, beside what may be.
    pub fn lines(self, spent: Spent) -> [BudgetLine; 2] {
        [
            BudgetLine::tokens(spent.tokens, self.tokens),
            BudgetLine::cost(spent.cost_cents, self.cost_cents, spent.estimated_cents > 0),
        ]
    }

    /// The amount that is used up, if any.
    fn reached(self, spent: Spent) -> Option<String> {
        let [tokens, cost] = self.lines(spent);
        let mut lines = [cost, tokens].into_iter();
        lines.find(BudgetLine::is_used_up).map(|line| line.text())
    }

    /// The cost that is left, if it has a cap.
    fn cost_left(self, spent: Spent) -> Option<u64> {
        let cap = self.cost_cents?;
        Some(cap.saturating_sub(spent.cost_cents))
    }
}

impl Caps {
    /// The stored caps. What cannot be read is an error, because a cap might be in it.
    pub fn load(state: &State) -> Result<Self, Failure> {
        let path = caps_path(state);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(cause) => return Err(Failure::file("read", &path)(cause)),
        };
        serde_json::from_str(&text).map_err(|_| {
            Failure::store(format!("cannot read {}", path.display()))
                .hint("remove it, and set the caps again with `gatewright caps`")
        })
    }

    pub fn save(&self, state: &State) -> Result<(), Failure> {
        let path = caps_path(state);
        state::write_durably(&path, &json!(self).to_string())
            .map_err(Failure::file("write to", &path))
    }
}

/// Appends what was used since the last line of the same work.
pub fn note(state: &State, at: Time, before: Usage, now: Usage) -> Result<(), Failure> {
    let change = |now: u64, before: u64| {
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        signed(now) - signed(before)
    };
    let tokens = change(now.tokens, before.tokens);
    let cents = change(now.cost_cents, before.cost_cents);
    let estimate = |usage: Usage| usage.estimated_cents.unwrap_or(0);
    let estimated = change(estimate(now), estimate(before));
    if tokens == 0 && cents == 0 && estimated == 0 {
        return Ok(());
    }
    let line = format!("{} {tokens} {cents} {estimated}\n", at.0);
    let folder = folder(state);
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(Failure::file("write to", &folder))?;
    let path = folder.join((at.0 / DAY_MS).to_string());
    // One short write at the end of the file: lines of several processes do not mix.
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .map_err(Failure::file("write to", &path))
}

/// The cap that is used up, if any.
pub fn reached(state: &State, now: Time) -> Result<Option<CapReached>, Failure> {
    let caps = Caps::load(state)?;
    if let Some(what) = machine_reached(state, &caps) {
        let what = format!("the cap of this machine is used up: {what}");
        return Ok(Some(CapReached { what, until: None }));
    }
    if caps.day.is_empty() {
        return Ok(None);
    }
    let mut lines = lines_since(state, Time(now.0.saturating_sub(DAY_MS)));
    let Some(what) = caps.day.reached(sum(&lines)) else {
        return Ok(None);
    };
    lines.sort_by_key(|line| line.at);
    let until = (0..lines.len()).find_map(|place| {
        let rest = sum(&lines[place + 1..]);
        let is_enough = caps.day.reached(rest).is_none();
        is_enough.then(|| Time(lines[place].at.saturating_add(DAY_MS)))
    });
    let what = format!("the cap of 24 hours is used up ({what})");
    Ok(Some(CapReached {
        what,
        until: until.or(Some(Time(now.0.saturating_add(DAY_MS)))),
    }))
}

/// What the caps leave of the cost, in cents, if there are any: the least of them.
pub fn cost_left(state: &State, now: Time) -> Result<Option<u64>, Failure> {
    let caps = Caps::load(state)?;
    let of_day = || caps.day.cost_left(spent_in_a_day(state, now));
    let day = caps.day.cost_cents.and_then(|_| of_day());
    let since = caps
        .machine_since
        .filter(|_| caps.machine.cost_cents.is_some());
    let machine = since.and_then(|since| caps.machine.cost_left(spent_since(state, since)));
    Ok([day, machine].into_iter().flatten().min())
}

fn machine_reached(state: &State, caps: &Caps) -> Option<String> {
    if caps.machine.is_empty() {
        return None;
    }
    caps.machine
        .reached(spent_since(state, caps.machine_since?))
}

/// What all runs have used since then.
pub fn spent_since(state: &State, since: Time) -> Spent {
    sum(&lines_since(state, since))
}

/// What all runs have used in the last 24 hours.
pub fn spent_in_a_day(state: &State, now: Time) -> Spent {
    spent_since(state, Time(now.0.saturating_sub(DAY_MS)))
}

fn sum(lines: &[Line]) -> Spent {
    let all = |number: fn(&Line) -> i64| {
        let sum = lines.iter().map(number).fold(0_i64, i64::saturating_add);
        u64::try_from(sum).unwrap_or(0)
    };
    Spent {
        tokens: all(|line| line.tokens),
        cost_cents: all(|line| line.cents),
        estimated_cents: all(|line| line.estimated),
    }
}

fn lines_since(state: &State, since: Time) -> Vec<Line> {
    let first = since.0 / DAY_MS;
    let files = fs::read_dir(folder(state)).into_iter().flatten().flatten();
    let files = files.filter(|file| {
        let day = file
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u64>().ok());
        day.is_some_and(|day| day >= first)
    });
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    let lines = texts.flat_map(|text| text.lines().filter_map(parse).collect::<Vec<_>>());
    lines.filter(|line| line.at >= since.0).collect()
}

fn parse(line: &str) -> Option<Line> {
    let mut numbers = line.split(' ');
    Some(Line {
        at: numbers.next()?.parse().ok()?,
        tokens: numbers.next()?.parse().ok()?,
        cents: numbers.next()?.parse().ok()?,
        estimated: numbers.next().unwrap_or("0").parse().ok()?,
    })
}

fn folder(state: &State) -> PathBuf {
    state.folder().join("spent")
}

fn caps_path(state: &State) -> PathBuf {
    state.folder().join("caps.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Time = Time(1_794_916_800_000);

    fn used(tokens: u64, cost_cents: u64) -> Usage {
        Usage {
            turns: 1,
            tokens,
            cost_cents,
            estimated_cents: None,
        }
    }

    fn later(ms: u64) -> Time {
        Time(NOON.0 + ms)
    }

    #[test]
    fn a_day_frees_what_is_older_and_a_correction_counts() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let spend = |at, before, now| note(&state, at, before, now).unwrap();
        spend(NOON, used(0, 0), used(100, 10));
        spend(later(5), used(100, 10), used(300, 10));
        spend(later(9), used(300, 10), used(250, 4));
        assert_eq!(reached(&state, later(9)).unwrap(), None, "there is no cap");
        let tokens = |most| Amounts {
            tokens: Some(most),
            cost_cents: None,
        };
        let caps = |day| Caps {
            day,
            ..Caps::default()
        };
        caps(tokens(251)).save(&state).unwrap();
        assert_eq!(reached(&state, later(9)).unwrap(), None);
        caps(tokens(200)).save(&state).unwrap();
        let cap = reached(&state, later(9)).unwrap().unwrap();
        assert_eq!(cap.until, Some(later(DAY_MS)), "{cap:?}");
        assert_eq!(reached(&state, later(DAY_MS + 1)).unwrap(), None);
        let cost = Amounts {
            tokens: None,
            cost_cents: Some(4),
        };
        caps(cost).save(&state).unwrap();
        assert!(reached(&state, later(9)).unwrap().is_some());
    }

    #[test]
    fn a_cap_of_the_machine_counts_from_its_time_on_and_only_a_person_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        note(&state, NOON, used(0, 0), used(100, 10)).unwrap();
        let caps = Caps {
            machine: Amounts {
                tokens: None,
                cost_cents: Some(20),
            },
            machine_since: Some(later(1)),
            ..Caps::default()
        };
        caps.save(&state).unwrap();
        assert_eq!(Caps::load(&state).unwrap(), caps);
        let then = later(3 * DAY_MS);
        note(&state, then, used(0, 0), used(100, 19)).unwrap();
        assert_eq!(reached(&state, then).unwrap(), None);
        note(&state, then, used(0, 0), used(0, 1)).unwrap();
        let cap = reached(&state, then).unwrap().unwrap();
        assert_eq!(cap.until, None);
        fs::write(caps_path(&state), "{").unwrap();
        assert!(reached(&state, then).is_err(), "a cap might be in it");
    }

    #[test]
    fn many_threads_count_together() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for number in 0..100 {
                        note(&state, NOON, used(number, 0), used(number + 1, 0)).unwrap();
                    }
                });
            }
        });
        assert_eq!(spent_since(&state, NOON).tokens, 800);
    }

    #[test]
    fn stored_bytes_are_read_and_written_as_they_always_were() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let load = |text: &str| {
            fs::write(caps_path(&state), text).unwrap();
            Caps::load(&state)
        };
        let stored = r#"{"day":{"tokens":5,"cost_cents":null},"machine":{"tokens":null,"cost_cents":20},"machine_since":7}"#;
        let caps = Caps {
            day: Amounts {
                tokens: Some(5),
                cost_cents: None,
            },
            machine: Amounts {
                tokens: None,
                cost_cents: Some(20),
            },
            machine_since: Some(Time(7)),
        };
        assert_eq!(load(stored).unwrap(), caps);
        caps.save(&state).unwrap();
        assert_eq!(fs::read_to_string(caps_path(&state)).unwrap(), stored);
        // Another version may say less, or more.
        assert_eq!(load("{}").unwrap(), Caps::default());
        let other = r#"{"day":{"tokens":5,"more":1},"machine_since":null,"more":1}"#;
        assert_eq!(load(other).unwrap().day, caps.day);
        // What is not an amount may have been meant as a cap.
        for damaged in [r#"{"day":{"tokens":"5"}}"#, r#"{"machine":5}"#, "null"] {
            assert!(load(damaged).is_err(), "{damaged}");
        }
    }
}
