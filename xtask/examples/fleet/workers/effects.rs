//! What the stand-in noted outside of all projects, and the blows that explain why work was begun a second time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::Result;

/// What a blow does to a lease shows within its term.
const TERM_MS: u64 = 10_000;

/// A line of the stand-in: a process began or ended its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub began: bool,
    pub run: String,
    pub stage: String,
    /// The call of the dispatch, which is in its entry of the journal.
    pub call: String,
    /// One start of it.
    pub start: String,
    pub home: PathBuf,
    pub at_ms: u64,
}

/// Something was done to a machine, or to all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blow {
    /// `None` for the server, which concerns every machine.
    pub home: Option<PathBuf>,
    pub from_ms: u64,
    pub until_ms: u64,
}

impl Blow {
    /// Can it be the reason that work of `first` was begun again by `second`?
    pub(crate) fn explains(&self, first: &Effect, second: &Effect) -> bool {
        let concerns = self.home.as_ref().is_none_or(|home| *home == first.home);
        concerns && self.from_ms <= second.at_ms && self.until_ms + TERM_MS >= first.at_ms
    }
}

/// All lines, in the order in which they were written. A last one without an end was never finished.
pub(crate) fn read(text: &str) -> Result<Vec<Effect>> {
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lines = whole.lines();
    lines
        .map(|line| parse(line).ok_or_else(|| format!("no line of the stand-in: {line}").into()))
        .collect()
}

fn parse(line: &str) -> Option<Effect> {
    let words: Vec<&str> = line.split(' ').collect();
    let [what, run, stage, call, start, home, at_ms] = words.as_slice() else {
        return None;
    };
    let began = match *what {
        "began" => true,
        "ended" => false,
        _ => return None,
    };
    Some(Effect {
        began,
        run: (*run).to_owned(),
        stage: (*stage).to_owned(),
        call: (*call).to_owned(),
        start: (*start).to_owned(),
        home: PathBuf::from(home),
        at_ms: at_ms.parse().ok()?,
    })
}

/// The lines of each call.
pub(crate) fn by_call(effects: &[Effect]) -> BTreeMap<&str, Vec<&Effect>> {
    let mut calls: BTreeMap<&str, Vec<&Effect>> = BTreeMap::new();
    for effect in effects {
        calls.entry(&effect.call).or_default().push(effect);
    }
    calls
}

/// Milliseconds by the clock that the stand-in reads.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
