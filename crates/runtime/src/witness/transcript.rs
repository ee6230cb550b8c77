//! The host's own record of a conversation, read on from where we were.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use engine::{Binding, Time, Unguarded, Witness};
use hosts::{RecordedCall, SessionHost};

use super::memory::{Memory, ReadPosition};
use super::seen_calls::Noted;
use crate::state::State;
use crate::workspace::OpenRun;

/// How much of a record is read at once; the next event reads on.
const MOST_READ: u64 = 16 * 1024 * 1024;

/// What is longer may take long to read.
const MUCH: u64 = 256 * 1024;

/// Folders below a conversation that may have records of its agents.
const MOST_DEPTH: u32 = 3;

/// A conversation whose calls the hooks should all have seen since a time.
pub(super) struct Conversation {
    record: PathBuf,
    since: Time,
    noted: Noted,
}

/// A call that ran although no hook saw it.
struct Unseen {
    tool: String,
    at: Time,
}

impl Conversation {
    pub(super) fn find(
        state: &State,
        opened: &OpenRun,
        binding: &Binding,
        record: Option<&Path>,
    ) -> Option<Self> {
        let noted = Noted::read(state, &opened.run().id, &binding.session);
        let record = record.or_else(|| noted.record())?.to_owned();
        let since = binding.since?;
        // Another conversation's record says nothing about this one.
        let name = record.file_stem()?.to_str()?;
        (name == binding.session.as_str()).then_some(Self {
            record,
            since,
            noted,
        })
    }

    /// The calls that ran and that no hook saw, in all records of the conversation.
    /// `expect_delay` is called before much of them is read.
    pub(super) fn unguarded(
        &self,
        memory: &mut Memory,
        host: &SessionHost,
        expect_delay: &dyn Fn(),
    ) -> Option<Unguarded> {
        let mut unseen = Vec::new();
        for path in records(&self.record) {
            let name = path.to_string_lossy().into_owned();
            let known = memory.record(&name).cloned();
            let read = self.read_on(&path, known, host, expect_delay);
            if let Ok((place, found)) = read {
                unseen.extend(found);
                memory.set_record(name, place);
            }
        }
        told(&unseen)
    }

    fn read_on(
        &self,
        path: &Path,
        known: Option<ReadPosition>,
        host: &SessionHost,
        expect_delay: &dyn Fn(),
    ) -> io::Result<(ReadPosition, Vec<Unseen>)> {
        let length = fs::metadata(path)?.len();
        // What came long before the run is of no interest, and neither is the rest of its line.
        let first = || ReadPosition {
            offset: length.saturating_sub(MOST_READ),
            ..ReadPosition::default()
        };
        let is_new = known.is_none();
        let mut place = known.unwrap_or_else(first);
        if length < place.offset {
            place.offset = 0;
        }
        // Calls that were read before a record was written anew are not read twice.
        let after = if place.offset == 0 {
            place.through
        } else {
            Time(0)
        };
        if length == place.offset {
            return Ok((place, Vec::new()));
        }
        if length - place.offset > MUCH {
            expect_delay();
        }
        let seen = self.noted.calls();
        let bytes = part(path, place.offset)?;
        let end = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map(|at| at + 1);
        // A line that is longer than what is read at once says nothing that we could read.
        let whole = end.unwrap_or(if bytes.len() as u64 >= MOST_READ {
            bytes.len()
        } else {
            0
        });
        let skipped = is_new && place.offset > 0;
        let lines = bytes
            .get(..whole)
            .unwrap_or_default()
            .split(|byte| *byte == b'\n');
        let mut unseen = Vec::new();
        for line in lines.skip(usize::from(skipped)) {
            for recorded in (host.read_record)(line) {
                unseen.extend(self.judge(&mut place, after, &seen, recorded));
            }
        }
        place.offset += whole as u64;
        Ok((place, unseen))
    }

    /// A call counts when it has a result that shows that it ran: by then its hook was over.
    fn judge(
        &self,
        place: &mut ReadPosition,
        after: Time,
        seen: &BTreeSet<&str>,
        recorded: RecordedCall,
    ) -> Option<Unseen> {
        match recorded {
            RecordedCall::Called { call, tool, at } => {
                place.through = place.through.max(at);
                if at >= self.since && at > after {
                    place.open.insert(call, (tool, at));
                }
                None
            }
            RecordedCall::Returned { call, ran } => {
                let (tool, at) = place.open.remove(&call)?;
                (ran && !seen.contains(call.as_str())).then_some(Unseen { tool, at })
            }
        }
    }
}

/// The record of a session itself, and those of its agents beside it.
pub(super) fn records(record: &Path) -> Vec<PathBuf> {
    let mut all = vec![record.to_owned()];
    let mut folders = vec![(record.with_extension(""), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let listed = fs::read_dir(&folder).into_iter().flatten();
        for entry in listed.filter_map(Result::ok) {
            let (path, kind) = (entry.path(), entry.file_type());
            if kind.as_ref().is_ok_and(fs::FileType::is_dir) && depth < MOST_DEPTH {
                folders.push((path, depth + 1));
            } else if path.extension().is_some_and(|end| end == "jsonl") {
                all.push(path);
            }
        }
    }
    all.sort();
    all
}

fn part(path: &Path, offset: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.take(MOST_READ).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// `3 calls that no hook saw: Agent, Bash (2)`.
fn told(unseen: &[Unseen]) -> Option<Unguarded> {
    let from = unseen.iter().map(|call| call.at).min()?;
    let until = unseen.iter().map(|call| call.at).max()?;
    let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
    for call in unseen {
        *tools.entry(call.tool.as_str()).or_default() += 1;
    }
    let tools: Vec<String> = tools
        .into_iter()
        .map(|(tool, number)| match number {
            1 => tool.to_owned(),
            number => format!("{tool} ({number})"),
        })
        .collect();
    let calls = match unseen.len() {
        1 => "1 tool call".to_owned(),
        number => format!("{number} tool calls"),
    };
    Some(Unguarded {
        witness: Witness::Transcript,
        what: format!("no hook saw {calls}: {}", tools.join(", ")),
        from,
        until,
    })
}
