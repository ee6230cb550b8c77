//! Import: a complete run from the lines of an export. It is verified before anything is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read as _};

use engine::{Decision, Definition, Entry, Fact, Hash, Reply, Rule, Run, RunId, Time};
use serde_json::{Map, Value};

use crate::chain::{self, Tip};
use crate::error::Error;
use crate::files::Files;
use crate::journal::{self, Addition};
use crate::key::Key;
use crate::line::Line;
use crate::request::{Content, StatusOf};
use crate::{content_hash, record};

/// The format of the lines; it increases when a line changes its meaning.
pub(crate) const FORMAT: u32 = 1;

/// The longest line that is read. A captured content is one line.
const MOST_LINE: u64 = 256 * 1024 * 1024;

/// A run as an export has it: its chain is whole, and every content has its hash.
#[derive(Debug)]
pub struct Backup {
    /// Where the run was.
    pub project: String,
    pub files: Files,
    pub(crate) run: Run,
    pub(crate) tip: Tip,
    pub(crate) lines: Vec<Line>,
    entries: Vec<Entry>,
    contents: BTreeMap<Hash, Vec<u8>>,
}

/// A run as it was shipped.
pub struct ShippedRun {
    pub run: RunId,
    /// Where it was on its machine.
    pub project: String,
    pub files: Files,
    pub lines: Vec<Line>,
    pub contents: Vec<Vec<u8>>,
}

/// Where an imported run goes, and what it gets besides.
#[derive(Clone, Copy)]
pub struct Import<'a> {
    pub project: &'a str,
    pub worktree: &'a str,
    pub compiled: &'a Definition,
    /// What the journal says about where the run comes from: at least one entry.
    pub notes: &'a [Entry],
    /// Values that must not be stored, such as tokens of the environment.
    pub secrets: &'a [String],
    pub status: StatusOf<'a>,
}

impl Backup {
    /// Reads an export. A file that is cut off, was edited, or that a newer version wrote is refused.
    pub fn read(input: &mut dyn BufRead) -> Result<Self, Error> {
        let mut parts = Parts::default();
        let mut number = 0;
        while let Some(line) = next_line(input, number + 1)? {
            number += 1;
            let wrong = |what: String| Error::NotABackup { line: number, what };
            let object = match serde_json::from_str(&line) {
                Ok(Value::Object(object)) => object,
                Ok(_) | Err(_) => return Err(wrong("it is not a JSON object".to_owned())),
            };
            match parts.take(object) {
                Ok(()) => {}
                Err(Refused::Newer { found }) => {
                    let known = FORMAT;
                    return Err(Error::NewerBackup { found, known });
                }
                Err(Refused::Wrong(what)) => return Err(wrong(what)),
            }
        }
        let end = |what: String| Error::NotABackup {
            line: number + 1,
            what,
        };
        parts.whole().map_err(end)
    }

    /// The same from a copy that was shipped, with the contents that came with it.
    pub fn assemble(copy: ShippedRun) -> Result<Self, Error> {
        let wrong = |what: String| Error::NotABackup { line: 0, what };
        let last = copy.lines.last().map(|last| Tip {
            version: last.number,
            head: last.hash,
        });
        let header = Header {
            id: copy.run.clone(),
            project: copy.project,
            definition: copy.files.hash(),
            tip: last.unwrap_or(Tip {
                version: 0,
                head: chain::root(&copy.run),
            }),
            contents: None,
        };
        let files = copy.files.iter();
        let files = files.map(|(path, bytes)| (path.to_owned(), bytes.to_vec()));
        let contents = copy.contents.into_iter();
        let mut parts = Parts {
            header: Some(header),
            main: Some(copy.files.main().to_owned()),
            files: files.collect(),
            contents: contents
                .map(|bytes| (content_hash(&bytes), bytes))
                .collect(),
            ..Parts::default()
        };
        for line in copy.lines {
            let entry = line.entry();
            let unread = |fault| wrong(format!("entry {} cannot be read: {fault}", line.number));
            let entry = entry.map_err(unread)?;
            parts.follow(&copy.run, line, entry).map_err(wrong)?;
        }
        parts.whole().map_err(wrong)
    }

    /// Its lines, as they were stored.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The entries, each with the number of its decision.
    pub fn entries(&self) -> impl Iterator<Item = (u64, &Entry)> {
        let decisions = self.lines.iter().map(|line| line.decision);
        decisions.zip(&self.entries)
    }

    pub fn contents(&self) -> Vec<Content<'_>> {
        let contents = self.contents.iter();
        contents
            .map(|(hash, bytes)| Content { hash: *hash, bytes })
            .collect()
    }

    /// Every hash in the entries.
    pub fn named(&self) -> Vec<Hash> {
        self.entries.iter().flat_map(record::hashes).collect()
    }
}

impl Import<'_> {
    /// When the run came.
    pub fn at(&self) -> Time {
        self.notes.last().map_or(Time(0), |note| note.at)
    }
}

/// The entries that say where the run comes from, as the next ones of its journal.
pub fn noted(backup: &Backup, import: &Import<'_>) -> Result<Addition, Error> {
    let mut decision = Decision {
        reply: Reply::Done,
        entries: import.notes.to_vec(),
        rule: import
            .notes
            .first()
            .map_or(Rule::Imported, |note| note.rule),
    };
    let run = backup.run.clone();
    journal::append(run, backup.tip, None, import.secrets, &mut decision)
}

fn next_line(input: &mut dyn BufRead, number: usize) -> Result<Option<String>, Error> {
    let mut bytes = Vec::new();
    let read = input.take(MOST_LINE + 1).read_until(b'\n', &mut bytes);
    read.map_err(|source| Error::Import { source })?;
    let wrong = |what: &str| Error::NotABackup {
        line: number,
        what: what.to_owned(),
    };
    match bytes.last() {
        None => return Ok(None),
        Some(b'\n') => bytes.truncate(bytes.len() - 1),
        Some(_) => return Err(wrong("it is cut off")),
    }
    let line = String::from_utf8(bytes).map_err(|_| wrong("it is not text"))?;
    Ok(Some(line))
}

enum Refused {
    Newer { found: u64 },
    Wrong(String),
}

impl From<String> for Refused {
    fn from(what: String) -> Self {
        Self::Wrong(what)
    }
}

/// The first line of an export.
struct Header {
    id: RunId,
    project: String,
    definition: Hash,
    tip: Tip,
    /// How many contents follow. Earlier versions did not say it.
    contents: Option<u64>,
}

/// The lines so far.
#[derive(Default)]
struct Parts {
    header: Option<Header>,
    main: Option<String>,
    files: BTreeMap<String, Vec<u8>>,
    run: Option<Run>,
    lines: Vec<Line>,
    entries: Vec<Entry>,
    contents: BTreeMap<Hash, Vec<u8>>,
}

impl Parts {
    fn take(&mut self, mut line: Map<String, Value>) -> Result<(), Refused> {
        let kind = text(&mut line, "kind")?;
        match (kind.as_str(), &self.header) {
            ("run", None) => {
                self.header = Some(header(line)?);
                Ok(())
            }
            (_, None) => Err(Refused::Wrong(
                "it does not begin an export of a run".to_owned(),
            )),
            ("file", Some(_)) => Ok(self.file(line)?),
            ("entry", Some(header)) => {
                let id = header.id.clone();
                Ok(self.entry(&id, line)?)
            }
            ("content", Some(_)) => Ok(self.content(line)?),
            (other, Some(_)) => Err(Refused::Wrong(format!("`{other}` is not known here"))),
        }
    }

    fn file(&mut self, mut line: Map<String, Value>) -> Result<(), String> {
        let path = text(&mut line, "path")?;
        if line.remove("main") == Some(Value::Bool(true)) {
            self.main = Some(path.clone());
        }
        self.files.insert(path, body(&mut line)?);
        Ok(())
    }

    fn entry(&mut self, run: &RunId, mut line: Map<String, Value>) -> Result<(), String> {
        let number = number(&mut line, "number")?;
        let wrong = |what: &str| format!("entry {number} {what}");
        let value = line.remove("entry").unwrap_or_default();
        let entry = record::entry_from_json(&value.to_string())
            .map_err(|fault| wrong(&format!("cannot be read: {fault}")))?;
        let key = match line.remove("key") {
            None | Some(Value::Null) => None,
            Some(key) => {
                let key = key.as_str().and_then(|key| Key::parse(key).ok());
                Some(key.ok_or_else(|| wrong("has a wrong key"))?)
            }
        };
        let line = Line {
            number,
            decision: self::number(&mut line, "decision")?,
            key,
            // An export may escape characters that a terminal obeys; the hash covers them written out.
            text: record::entry_to_json(&entry),
            previous: hash(&mut line, "previous")?,
            hash: hash(&mut line, "hash")?,
        };
        self.follow(run, line, entry)
    }

    /// The next line, if it continues the chain.
    fn follow(&mut self, run: &RunId, line: Line, entry: Entry) -> Result<(), String> {
        let number = line.number;
        let wrong = |what: &str| format!("entry {number} {what}");
        let last = self.lines.last();
        let (before, head) = last.map_or((0, chain::root(run)), |last| (last.number, last.hash));
        if number != before + 1 {
            return Err(wrong(&format!("does not follow entry {before}")));
        }
        if !line.is_intact(run) || line.previous != head {
            return Err(wrong("was altered"));
        }
        let folded = engine::apply(self.run.take(), &entry)
            .map_err(|damage| wrong(&format!("does not fit: {}", damage.what)))?;
        self.run = Some(folded);
        self.lines.push(line);
        self.entries.push(entry);
        Ok(())
    }

    fn content(&mut self, mut line: Map<String, Value>) -> Result<(), String> {
        let named = hash(&mut line, "hash")?;
        let bytes = body(&mut line)?;
        if content_hash(&bytes) != named {
            return Err(format!("the content {named} was altered"));
        }
        self.contents.insert(named, bytes);
        Ok(())
    }

    /// All parts, if nothing is missing at the end.
    fn whole(self) -> Result<Backup, String> {
        let Self {
            header: Some(header),
            main,
            files,
            run: Some(run),
            lines,
            entries,
            contents,
        } = self
        else {
            return Err("it ends before the first entry of a run".to_owned());
        };
        let version = lines.last().map_or(0, |last| last.number);
        let head = lines.last().map(|last| last.hash);
        if version != header.tip.version || head != Some(header.tip.head) {
            let told = header.tip.version;
            return Err(format!("it ends with entry {version} of {told}"));
        }
        let found = contents.len() as u64;
        if let Some(told) = header.contents.filter(|told| *told != found) {
            return Err(format!("it ends with content {found} of {told}"));
        }
        let captured = entries.iter().filter_map(captured);
        let captured: BTreeSet<Hash> = captured.collect();
        if let Some(lost) = captured.iter().find(|hash| !contents.contains_key(hash)) {
            return Err(format!("the captured content {lost} is missing"));
        }
        let files = Files::new(&main.unwrap_or_default(), files)
            .map_err(|_| "the main file of its definition is missing".to_owned())?;
        if files.hash() != header.definition || run.definition != header.definition {
            return Err("the files of its definition were altered".to_owned());
        }
        if run.id != header.id {
            return Err("its entries are those of another run".to_owned());
        }
        Ok(Backup {
            project: header.project,
            files,
            run,
            tip: header.tip,
            lines,
            entries,
            contents,
        })
    }
}

fn captured(entry: &Entry) -> Option<Hash> {
    if let Fact::Captured { content, .. } = &entry.fact {
        Some(*content)
    } else {
        None
    }
}

fn header(mut line: Map<String, Value>) -> Result<Header, Refused> {
    let found = number(&mut line, "format")?;
    if found > u64::from(FORMAT) {
        return Err(Refused::Newer { found });
    }
    let id = text(&mut line, "id")?;
    let contents = line.remove("contents").and_then(|told| told.as_u64());
    Ok(Header {
        id: RunId::parse(&id).map_err(|problem| problem.to_string())?,
        project: text(&mut line, "project")?,
        definition: hash(&mut line, "definition")?,
        tip: Tip {
            version: number(&mut line, "version")?,
            head: hash(&mut line, "head")?,
        },
        contents,
    })
}

fn text(line: &mut Map<String, Value>, name: &str) -> Result<String, String> {
    match line.remove(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) | None => Err(format!("it has no `{name}`")),
    }
}

fn number(line: &mut Map<String, Value>, name: &str) -> Result<u64, String> {
    let value = line.remove(name).and_then(|value| value.as_u64());
    value.ok_or_else(|| format!("it has no `{name}`"))
}

fn hash(line: &mut Map<String, Value>, name: &str) -> Result<Hash, String> {
    Hash::parse(&text(line, name)?).ok_or_else(|| format!("`{name}` is not a hash"))
}

/// Text as text, anything else as hexadecimal digits.
fn body(line: &mut Map<String, Value>) -> Result<Vec<u8>, String> {
    if let Some(Value::String(text)) = line.remove("text") {
        return Ok(text.into_bytes());
    }
    let digits = text(line, "hex")?;
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    };
    let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
    bytes.ok_or_else(|| "`hex` has other characters than hexadecimal digits".to_owned())
}
