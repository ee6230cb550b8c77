//! A digest as text that is kept between two renderings. It is a cache: an unreadable one is rebuilt.

use std::collections::BTreeMap;

use engine::{AgentName, DispatchId, SessionId, StageName, Time};
use serde_json::{Value, json};

use super::{JournalDigest, Verdict};
use crate::fact::AgentNames;

/// Before each line of a list.
const HISTORY: char = 'h';
const LOG: char = 'l';

impl JournalDigest {
    /// One line with all that is short, and one for each line of its lists.
    pub fn text(&self) -> String {
        let workers = self.names.workers();
        let workers: Vec<Value> = workers
            .map(|(id, agent)| json!([id.0, agent.as_str()]))
            .collect();
        let sessions = self.sessions.iter().map(SessionId::as_str);
        let visited = self.visited.iter().map(StageName::as_str);
        let reached = self.reached.iter().map(|(name, at)| json!([name, at.0]));
        let verdicts = self.verdicts.iter();
        let verdicts = verdicts.map(|(name, said)| json!([name, said.passed, said.failed]));
        let head = json!({
            "version": self.version,
            "place": self.place.as_ref().map(StageName::as_str),
            "workers": workers,
            "sessions": sessions.collect::<Vec<_>>(),
            "was_reset": self.was_reset,
            "visited": visited.collect::<Vec<_>>(),
            "reached": reached.collect::<Vec<_>>(),
            "verdicts": verdicts.collect::<Vec<_>>(),
        });
        let mut text = head.to_string();
        let lists = self.history.iter().chain(&self.log);
        text.reserve(lists.map(|line| line.len() + 2).sum());
        for (mark, list) in [(HISTORY, &self.history), (LOG, &self.log)] {
            for line in list {
                text.push('\n');
                text.push(mark);
                text.push_str(line);
            }
        }
        text
    }

    /// The digest of such a text.
    pub fn read(text: &str) -> Option<Self> {
        let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
        let head: Value = serde_json::from_str(head).ok()?;
        let (mut history, mut log) = (Vec::new(), Vec::new());
        for line in rest.lines() {
            match (line.strip_prefix(HISTORY), line.strip_prefix(LOG)) {
                (Some(item), _) => history.push(item.to_owned()),
                (None, Some(item)) => log.push(item.to_owned()),
                (None, None) => return None,
            }
        }
        let place = head["place"].as_str();
        Some(Self {
            version: head["version"].as_u64()?,
            place: place.map(StageName::parse).transpose().ok()?,
            names: names(&head["workers"])?,
            sessions: sessions(&head["sessions"])?,
            was_reset: head["was_reset"].as_bool()?,
            visited: visited(&head["visited"])?,
            reached: reached(&head["reached"])?,
            verdicts: verdicts(&head["verdicts"])?,
            history,
            log,
        })
    }
}

fn names(workers: &Value) -> Option<AgentNames> {
    let mut names = AgentNames::default();
    for worker in workers.as_array()? {
        let id = u32::try_from(worker[0].as_u64()?).ok()?;
        let agent = AgentName::parse(worker[1].as_str()?).ok()?;
        names.insert(DispatchId(id), agent);
    }
    Some(names)
}

fn sessions(list: &Value) -> Option<Vec<SessionId>> {
    let sessions = list.as_array()?.iter();
    sessions
        .map(|session| SessionId::parse(session.as_str()?).ok())
        .collect()
}

fn visited(list: &Value) -> Option<Vec<StageName>> {
    let names = list.as_array()?.iter();
    names
        .map(|name| StageName::parse(name.as_str()?).ok())
        .collect()
}

fn verdicts(list: &Value) -> Option<BTreeMap<String, Verdict>> {
    let verdict = |said: &Value| {
        let passed = said[1].as_bool()?;
        let failed = u32::try_from(said[2].as_u64()?).ok()?;
        Some((said[0].as_str()?.to_owned(), Verdict { passed, failed }))
    };
    list.as_array()?.iter().map(verdict).collect()
}

fn reached(list: &Value) -> Option<BTreeMap<String, Time>> {
    let list = list.as_array()?.iter();
    list.map(|pair| Some((pair[0].as_str()?.to_owned(), Time(pair[1].as_u64()?))))
        .collect()
}
