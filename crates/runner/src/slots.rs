//! Slots: how many agents work at once on this machine, no matter who started them.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use runtime::failure::Failure;
use runtime::state::State;

use crate::agent::choice::Runner;

/// The limit for all agents of the machine.
const AGENTS: &str = "agents";

/// Limits set by a person. None means no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentLimits {
    pub agents: Option<u32>,
    /// By the runner's name.
    pub runners: BTreeMap<String, u32>,
}

/// Slots that are held until this is dropped or the process ends.
#[derive(Debug, Default)]
pub struct Slot(Vec<File>);

/// What came of asking for slots.
#[derive(Debug)]
pub enum Asked {
    Taken(Slot),
    /// All slots of this name are taken.
    Full(String),
}

impl AgentLimits {
    /// The names of the limits for an agent of this runner.
    pub fn names(&self, runner: &str) -> Vec<String> {
        self.of(runner).map(|(name, _)| name).collect()
    }

    /// The names of all limits.
    pub fn all_names(&self) -> Vec<String> {
        let runners = self.runners.keys().map(|runner| of_runner(runner));
        let all = self.agents.map(|_| AGENTS.to_owned());
        all.into_iter().chain(runners).collect()
    }

    /// Its own runner first: an agent that waits for that does not keep the others from theirs.
    fn of(&self, runner: &str) -> impl Iterator<Item = (String, u32)> {
        let own = self.runners.get(runner);
        let own = own.map(|most| (of_runner(runner), *most));
        let all = self.agents.map(|most| (AGENTS.to_owned(), most));
        own.into_iter().chain(all)
    }

    /// Takes a slot for an agent of this runner.
    pub fn take(&self, state: &State, runner: &str) -> Result<Asked, Failure> {
        let mut taken = Slot::default();
        for (name, most) in self.of(runner) {
            match take_one(state, &name, most)? {
                Some(file) => taken.0.push(file),
                None => return Ok(Asked::Full(name)),
            }
        }
        Ok(Asked::Taken(taken))
    }
}

fn of_runner(runner: &str) -> String {
    format!("runner-{runner}")
}

/// The first free slot of this name.
fn take_one(state: &State, name: &str, most: u32) -> Result<Option<File>, Failure> {
    let folder = state.folder().join("slots");
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .map_err(Failure::file("write to", &folder))?;
    for number in 0..most {
        let path = folder.join(format!("{name}-{number}"));
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(Failure::file("write to", &path))?;
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(cause)) => return Err(Failure::file("lock", &path)(cause)),
        }
    }
    Ok(None)
}

/// Parses `codex=2`.
pub fn parse(text: &str) -> Result<(String, u32), String> {
    let parsed = text.split_once('=').and_then(|(runner, most)| {
        let most: u32 = most.parse().ok().filter(|most| *most > 0)?;
        Some((runner.to_owned(), most))
    });
    let (runner, most) = parsed.ok_or("write it as RUNNER=NUMBER, as in codex=2")?;
    let known = Runner::words();
    if known.contains(&runner.as_str()) {
        return Ok((runner, most));
    }
    let near = engine::nearest(&runner, known.iter().copied());
    Err(match near {
        Some(near) => format!("there is no runner '{runner}'; did you mean {near}?"),
        None => format!(
            "there is no runner '{runner}'; there are {}",
            known.join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_about_a_runner_that_there_is() {
        for known in ["claude=1", "codex=2", "gemini=3", "command=4", "stand-in=5"] {
            assert!(parse(known).is_ok(), "{known}");
        }
        for unknown in ["cladue=1", "foo=2", "codex=0", "codex", "=1"] {
            assert!(parse(unknown).is_err(), "{unknown}");
        }
    }

    #[test]
    fn a_place_is_one_agents_until_it_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let limits = AgentLimits {
            agents: Some(2),
            runners: BTreeMap::from([("codex".to_owned(), 1)]),
        };
        let take = |runner| match limits.take(&state, runner).unwrap() {
            Asked::Taken(slot) => Some(slot),
            Asked::Full(_) => None,
        };
        let first = take("codex").unwrap();
        assert!(take("codex").is_none(), "one codex");
        let second = take("claude").unwrap();
        assert!(take("claude").is_none(), "two agents");
        drop(second);
        assert!(take("codex").is_none());
        drop(first);
        assert!(take("codex").is_some());
        let free = AgentLimits::default();
        assert!(matches!(
            free.take(&state, "codex").unwrap(),
            Asked::Taken(_)
        ));
    }

    #[test]
    fn a_limit_is_a_runner_and_a_number() {
        assert_eq!(parse("codex=2"), Ok(("codex".to_owned(), 2)));
        for text in ["codex", "codex=", "codex=0", "codex=x"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
