//! A chronicle as text that is kept between two renderings. It is a cache: what cannot be read is made anew.

use std::collections::BTreeMap;

use engine::{AgentName, DispatchId, SessionId, StageName, Time};
use serde_json::{Value, json};

use super::{Chronicle, Validations};
use crate::fact::Cast;

/// Before each line of a list.
const HISTORY: char = 'h';
const LINE: char = 'l';

impl Chronicle {
    /// One line with all that is short, and one for each line of its lists.
    pub fn text(&self) -> String {
        let workers = self.cast.workers();
        let workers: Vec<Value> = workers
            .map(|(id, agent)| json!([id.0, agent.as_str()]))
            .collect();
        let sessions = self.sessions.iter().map(SessionId::as_str);
        let arrived = self.arrived.iter().map(|(name, at)| json!([name, at.0]));
        let head = json!({
            "version": self.version,
            "place": self.place.as_ref().map(StageName::as_str),
            "workers": workers,
            "sessions": sessions.collect::<Vec<_>>(),
            "was_reset": self.was_reset,
            "words": self.words,
            "arrived": arrived.collect::<Vec<_>>(),
            "failed": self.validations.failed,
            "passed": self.validations.passed,
        });
        let mut text = head.to_string();
        let lists = self.history.iter().chain(&self.lines);
        text.reserve(lists.map(|line| line.len() + 2).sum());
        for (mark, list) in [(HISTORY, &self.history), (LINE, &self.lines)] {
            for line in list {
                text.push('\n');
                text.push(mark);
                text.push_str(line);
            }
        }
        text
    }

    /// The chronicle of such a text.
    pub fn read(text: &str) -> Option<Self> {
        let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
        let head: Value = serde_json::from_str(head).ok()?;
        let (mut history, mut lines) = (Vec::new(), Vec::new());
        for line in rest.lines() {
            match (line.strip_prefix(HISTORY), line.strip_prefix(LINE)) {
                (Some(item), _) => history.push(item.to_owned()),
                (None, Some(told)) => lines.push(told.to_owned()),
                (None, None) => return None,
            }
        }
        let words = head["words"].as_array()?.iter();
        let place = head["place"].as_str();
        Some(Self {
            version: head["version"].as_u64()?,
            place: place.map(StageName::parse).transpose().ok()?,
            cast: cast(&head["workers"])?,
            sessions: sessions(&head["sessions"])?,
            was_reset: head["was_reset"].as_bool()?,
            words: words
                .map(|word| word.as_str().map(str::to_owned))
                .collect::<Option<_>>()?,
            arrived: arrived(&head["arrived"])?,
            validations: Validations {
                failed: u32::try_from(head["failed"].as_u64()?).ok()?,
                passed: head["passed"].as_bool()?,
            },
            history,
            lines,
        })
    }
}

fn cast(workers: &Value) -> Option<Cast> {
    let mut cast = Cast::default();
    for worker in workers.as_array()? {
        let id = u32::try_from(worker[0].as_u64()?).ok()?;
        let agent = AgentName::parse(worker[1].as_str()?).ok()?;
        cast.know(DispatchId(id), agent);
    }
    Some(cast)
}

fn sessions(list: &Value) -> Option<Vec<SessionId>> {
    let sessions = list.as_array()?.iter();
    sessions
        .map(|session| SessionId::parse(session.as_str()?).ok())
        .collect()
}

fn arrived(list: &Value) -> Option<BTreeMap<String, Time>> {
    let list = list.as_array()?.iter();
    list.map(|pair| Some((pair[0].as_str()?.to_owned(), Time(pair[1].as_u64()?))))
        .collect()
}
