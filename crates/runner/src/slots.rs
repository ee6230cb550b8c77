//! Slots: how many agents work at once on this machine, whoever started them.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

use runtime::failure::Failure;
use runtime::state::State;

/// The limits that somebody set. Without one there is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub agents: Option<u32>,
    /// By the runner's name.
    pub runners: BTreeMap<String, u32>,
}

/// Places that are taken as long as this lives, or until the process ends.
#[derive(Debug, Default)]
pub struct Slot(Vec<File>);

impl Limits {
    /// Takes a place for an agent of this runner; nothing if all are taken.
    pub fn take(&self, state: &State, runner: &str) -> Result<Option<Slot>, Failure> {
        let all = self.agents.map(|most| ("agents".to_owned(), most));
        let own = self.runners.get(runner);
        let own = own.map(|most| (format!("runner-{runner}"), *most));
        let mut taken = Slot::default();
        for (name, most) in all.into_iter().chain(own) {
            match take_one(state, &name, most)? {
                Some(file) => taken.0.push(file),
                None => return Ok(None),
            }
        }
        Ok(Some(taken))
    }
}

/// One of the first places of this name that nobody has.
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

/// `codex=2`, as a person types it.
pub fn parse(text: &str) -> Result<(String, u32), String> {
    let parsed = text.split_once('=').and_then(|(runner, most)| {
        let most: u32 = most.parse().ok().filter(|most| *most > 0)?;
        Some((runner.to_owned(), most))
    });
    parsed.ok_or_else(|| "write it as RUNNER=NUMBER, as in codex=2".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_one_agents_until_it_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(folder.path().to_owned());
        let limits = Limits {
            agents: Some(2),
            runners: BTreeMap::from([("codex".to_owned(), 1)]),
        };
        let take = |runner| limits.take(&state, runner).unwrap();
        let first = take("codex").unwrap();
        assert!(take("codex").is_none(), "one codex");
        let second = take("claude").unwrap();
        assert!(take("claude").is_none(), "two agents");
        drop(second);
        assert!(take("codex").is_none());
        drop(first);
        assert!(take("codex").is_some());
        let free = Limits::default();
        assert!(free.take(&state, "codex").unwrap().is_some());
    }

    #[test]
    fn a_limit_is_a_runner_and_a_number() {
        assert_eq!(parse("codex=2"), Ok(("codex".to_owned(), 2)));
        for text in ["codex", "codex=", "codex=0", "codex=x"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
