//! A digest as text that is kept between two renderings. It is a cache: an unreadable one is rebuilt.
//!
//! Every change of a run reads and writes it, so there is no tree of values in between.

use std::collections::BTreeMap;
use std::fmt;

use engine::{AgentName, DispatchId, SessionId, StageName, Time};
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::{JournalDigest, KeptReplies, StateRows, Verdict};
use crate::fact::AgentNames;

/// Before each line of a list.
const HISTORY: char = 'h';
const LOG: char = 'l';

/// The line behind which the replies and the rows of `pipeline-state` stand.
const ROWS: &str = "r";

/// The usual length of the short part.
const SHORT: usize = 512;

impl JournalDigest {
    /// One line with all that is short, one for each line of its lists, and the replies and rows of `pipeline-state`.
    pub fn text(&self) -> String {
        let (short, rows) = self.parts();
        short + rows
    }

    /// The same in two parts: the second one is long.
    pub fn parts(&self) -> (String, &str) {
        let lists = self.history.iter().chain(&self.log);
        let length: usize = lists.map(|line| line.len() + 2).sum();
        let (rows, replies) = (self.state_rows.text(), self.replies.text.as_str());
        let mut head = Vec::with_capacity(SHORT + length + replies.len());
        // Numbers and texts can always be written, and the text is JSON.
        let _ = serde_json::to_writer(&mut head, &Head(self));
        let mut text = String::from_utf8(head).unwrap_or_default();
        for (mark, list) in [(HISTORY, &self.history), (LOG, &self.log)] {
            for line in list {
                text.push('\n');
                text.push(mark);
                text.push_str(line);
            }
        }
        if !rows.is_empty() || !replies.is_empty() {
            text.push('\n');
            text.push_str(ROWS);
            text.push('\n');
            text.push_str(replies);
        }
        (text, rows)
    }

    /// The digest of such a text.
    pub fn read(text: &str) -> Option<Self> {
        Self::read_behind(text.to_owned(), 0)
    }

    /// The digest that stands behind this place of a text.
    pub fn read_behind(text: String, from: usize) -> Option<Self> {
        let (head, mut rest) = first_line(text.get(from..)?);
        let (mut history, mut log) = (Vec::new(), Vec::new());
        let mut row_bytes = 0;
        while !rest.is_empty() {
            let (line, behind) = first_line(rest);
            match (line.strip_prefix(HISTORY), line.strip_prefix(LOG)) {
                (Some(item), _) => history.push(item.to_owned()),
                (None, Some(item)) => log.push(item.to_owned()),
                (None, None) if line == ROWS => {
                    row_bytes = behind.len();
                    break;
                }
                (None, None) => return None,
            }
            rest = behind;
        }
        let ReadHead {
            digest,
            rows,
            replies: (of, reply_bytes),
        } = serde_json::from_str(head).ok()?;
        // Nobody parses these again, so a part of them must not pass for all.
        if rows.1.checked_add(reply_bytes)? != row_bytes {
            return None;
        }
        let begin = text.len() - rows.1;
        let said = text.get(begin - reply_bytes..begin)?.to_owned();
        text.get(begin..)?;
        Some(Self {
            replies: KeptReplies { of, text: said },
            history,
            log,
            state_rows: StateRows::read(text, begin, rows.0),
            ..digest
        })
    }
}

/// The first line, and all behind it.
fn first_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// All that is short.
struct Head<'a>(&'a JournalDigest);

impl Serialize for Head<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(digest) = self;
        let place = digest.place.as_ref().map(StageName::as_str);
        let workers = digest.names.workers();
        let workers: Vec<(u32, &str)> = workers.map(|(id, name)| (id.0, name.as_str())).collect();
        let sessions: Vec<&str> = digest.sessions.iter().map(SessionId::as_str).collect();
        let visited: Vec<&str> = digest.visited.iter().map(StageName::as_str).collect();
        let reached = digest.reached.iter().map(|(name, at)| (name, at.0));
        let verdicts = digest.verdicts.iter();
        let verdicts = verdicts.map(|(name, said)| (name, said.passed, said.failed));
        let mut head = to.serialize_struct("digest", 10)?;
        head.serialize_field("version", &digest.version)?;
        head.serialize_field("place", &place)?;
        head.serialize_field("workers", &workers)?;
        head.serialize_field("sessions", &sessions)?;
        head.serialize_field("was_reset", &digest.was_reset)?;
        head.serialize_field("visited", &visited)?;
        head.serialize_field("reached", &reached.collect::<Vec<_>>())?;
        head.serialize_field("verdicts", &verdicts.collect::<Vec<_>>())?;
        let rows = &digest.state_rows;
        head.serialize_field("rows", &(rows.count(), rows.text().len()))?;
        let replies = &digest.replies;
        head.serialize_field("replies", &(replies.of, replies.text.len()))?;
        head.end()
    }
}

/// The same as it is read: a digest without lists, the number and the length of its rows, and which replies it has
/// and how long they are.
struct ReadHead {
    digest: JournalDigest,
    rows: (usize, usize),
    replies: (Option<u64>, usize),
}

impl<'de> Deserialize<'de> for ReadHead {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(HeadVisitor)
    }
}

struct HeadVisitor;

impl<'de> Visitor<'de> for HeadVisitor {
    type Value = ReadHead;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the head of a digest")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<ReadHead, M::Error> {
        let mut digest = JournalDigest::default();
        let (mut known, mut rows, mut replies) = (0, (0, 0), (None, 0));
        while let Some(name) = members.next_key()? {
            known += 1;
            match name {
                "version" => digest.version = members.next_value()?,
                "place" => digest.place = place(members.next_value()?)?,
                "workers" => digest.names = names(members.next_value()?)?,
                "sessions" => digest.sessions = sessions(&members.next_value::<Vec<_>>()?)?,
                "was_reset" => digest.was_reset = members.next_value()?,
                "visited" => digest.visited = visited(&members.next_value::<Vec<_>>()?)?,
                "reached" => digest.reached = reached(members.next_value()?),
                "verdicts" => digest.verdicts = verdicts(members.next_value()?),
                "rows" => rows = members.next_value()?,
                "replies" => replies = members.next_value()?,
                _ => {
                    members.next_value::<IgnoredAny>()?;
                    known -= 1;
                }
            }
        }
        match known {
            10 => Ok(ReadHead {
                digest,
                rows,
                replies,
            }),
            _ => Err(M::Error::custom("a part is missing")),
        }
    }
}

fn place<E: serde::de::Error>(name: Option<&str>) -> Result<Option<StageName>, E> {
    name.map(StageName::parse).transpose().map_err(E::custom)
}

fn names<E: serde::de::Error>(workers: Vec<(u32, &str)>) -> Result<AgentNames, E> {
    let mut names = AgentNames::default();
    for (id, agent) in workers {
        names.insert(DispatchId(id), AgentName::parse(agent).map_err(E::custom)?);
    }
    Ok(names)
}

fn sessions<E: serde::de::Error>(list: &[String]) -> Result<Vec<SessionId>, E> {
    let sessions = list.iter().map(|session| SessionId::parse(session));
    sessions.collect::<Result<_, _>>().map_err(E::custom)
}

fn visited<E: serde::de::Error>(list: &[&str]) -> Result<Vec<StageName>, E> {
    let names = list.iter().map(|name| StageName::parse(name));
    names.collect::<Result<_, _>>().map_err(E::custom)
}

fn reached(list: Vec<(String, u64)>) -> BTreeMap<String, Time> {
    list.into_iter()
        .map(|(name, at)| (name, Time(at)))
        .collect()
}

fn verdicts(list: Vec<(String, bool, u32)>) -> BTreeMap<String, Verdict> {
    let verdicts = list.into_iter();
    verdicts
        .map(|(name, passed, failed)| (name, Verdict { passed, failed }))
        .collect()
}
